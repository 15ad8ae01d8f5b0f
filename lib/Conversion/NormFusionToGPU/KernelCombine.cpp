//===- KernelCombine.cpp - Merging the partial rows of the blocks ---------===//
//
// Partial rows lie in the workspace as [accumulator][item][column]. A block
// takes tiles of 32 columns of a segment: each warp adds the items w, w + W,
// ..., with its loads in flight together, the first warp adds the warps' sums
// in order and runs the op's combine region. The order depends on the number of
// items and warps alone.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Loads of a thread that are in flight together.
static constexpr unsigned kBatch = 12;

static unsigned getAccumulatorBytes(PartialAccumulateOp accumulate) {
  Type type = accumulate.getOperand().getType();
  return type.isIndex() ? 8 : type.getIntOrFloatBitWidth() / 8;
}

Value KernelEmitter::partialAddress(unsigned accumulator, Value item,
                                    Value column) {
  // Items of all segments.
  Value items = mul(segmentCount, arguments.splits);
  Value plane = mul(items, columnCount);
  int64_t bytesBefore = 0;
  for (unsigned a = 0; a < accumulator; ++a)
    bytesBefore += getAccumulatorBytes(accumulations[a]);
  Value base = add(mul(plane, i64(bytesBefore)), i64(kWorkspaceHeaderBytes));
  Value element = add(mul(item, columnCount), column);
  return byteAddress(
      arguments.workspace,
      add(base,
          mul(element, i64(getAccumulatorBytes(accumulations[accumulator])))));
}

void KernelEmitter::emitTiles() {
  unsigned warps = threads / 32;
  Value thread = threadId();
  Value lane = toI64(arith::AndIOp::create(b, thread, i32(31)));
  Value warp = toI64(arith::ShRUIOp::create(b, thread, i32(5)));
  Value tilesOfSegment = arith::DivUIOp::create(
      b, arith::AddIOp::create(b, columnCount, i64(31)), i64(32));
  Value tiles = mul(segmentCount, tilesOfSegment);
  auto tileLoop = scf::ForOp::create(b, blockId(), tiles, gridSize());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(tileLoop.getBody());
  Value tile = tileLoop.getInductionVar();
  Value segment = arith::DivUIOp::create(b, tile, tilesOfSegment);
  Value column = arith::AddIOp::create(
      b,
      arith::MulIOp::create(
          b, arith::RemUIOp::create(b, tile, tilesOfSegment), i64(32)),
      lane);
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column,
                                       columnCount);
  Value safeColumn = select(exists, column, i64(0));
  Value firstItem = mul(segment, arguments.splits);

  // This warp's share of the items.
  SmallVector<Value> identities;
  for (PartialAccumulateOp accumulate : accumulations)
    identities.push_back(arith::ConstantOp::create(
        b, getIdentity(accumulate.getCombiner(),
                       accumulate.getOperand().getType())));
  auto batches = scf::ForOp::create(b, warp, arguments.splits,
                                    i64(warps * kBatch), identities);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(batches.getBody());
    SmallVector<SmallVector<Value>> loaded(accumulations.size());
    for (unsigned u = 0; u < kBatch; ++u) {
      Value k = arith::AddIOp::create(b, batches.getInductionVar(),
                                      i64(u * warps));
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k,
                                           arguments.splits);
      Value item =
          arith::AddIOp::create(b, firstItem, select(inside, k, i64(0)));
      for (unsigned a = 0; a < accumulations.size(); ++a) {
        Type type = accumulations[a].getOperand().getType();
        Type word = b.getIntegerType(getAccumulatorBytes(accumulations[a]) * 8);
        // Other blocks wrote these: they are read past the first-level cache.
        Value value = LLVM::LoadOp::create(
            b, word, partialAddress(a, item, safeColumn),
            /*alignment=*/getAccumulatorBytes(accumulations[a]),
            /*isVolatile=*/false, /*isNonTemporal=*/false,
            /*isInvariant=*/false, /*isInvariantGroup=*/false,
            LLVM::AtomicOrdering::monotonic, "device");
        if (type.isIndex())
          value = arith::IndexCastOp::create(b, type, value);
        else if (type != word)
          value = arith::BitcastOp::create(b, type, value);
        loaded[a].push_back(select(inside, value, identities[a]));
      }
    }
    SmallVector<Value> next(batches.getRegionIterArgs());
    for (unsigned a = 0; a < accumulations.size(); ++a)
      for (Value value : loaded[a])
        next[a] = createCombine(b, b.getLoc(), accumulations[a].getCombiner(),
                                next[a], value, /*contract=*/true);
    if (!next.empty())
      scf::YieldOp::create(b, next);
  }

  // The warps' sums, [accumulator][warp][lane], 8 bytes each, beyond the
  // exchange of row sums.
  auto scratch = [&](unsigned a, Value w) {
    Value index = add(mul(add(i64(a * warps), w), i64(32)), lane);
    return sharedPointer(add(mul(index, i64(8)), i64(exchangeBytes)));
  };
  auto toWord = [&](Value v) -> Value {
    return v.getType().isIndex()
               ? arith::IndexCastOp::create(b, b.getI64Type(), v).getResult()
               : v;
  };
  for (unsigned a = 0; a < accumulations.size(); ++a)
    LLVM::StoreOp::create(b, toWord(batches.getResult(a)), scratch(a, warp));
  syncBlock();
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warp, i64(0));
  auto ifFirst =
      scf::IfOp::create(b, arith::AndIOp::create(b, isFirst, exists));
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(ifFirst.thenBlock());
    ColumnView view;
    view.column = column;
    Block *combine = op.getCombineBlock();
    for (unsigned a = 0; a < accumulations.size(); ++a) {
      Value total;
      Type type = accumulations[a].getOperand().getType();
      for (unsigned w = 0; w < warps; ++w) {
        Value part = LLVM::LoadOp::create(
            b, toWord(identities[a]).getType(), scratch(a, i64(w)));
        if (type.isIndex())
          part = arith::IndexCastOp::create(b, type, part);
        total = total ? createCombine(b, b.getLoc(),
                                      accumulations[a].getCombiner(), total,
                                      part, /*contract=*/true)
                      : part;
      }
      view.values[combine->getArgument(numInputs + a)] = total;
    }
    rowValues.clear();
    uniformValues.clear();
    segmentIndices.assign(op.getNumDims(), Value());
    if (segmentDims.any())
      delinearize(segment, segmentDims, segmentIndices);
    rowIndices = segmentIndices;
    SmallVector<Value> indices(segmentIndices);
    delinearize(column, columnDims, indices);
    auto yield = cast<YieldOp>(combine->getTerminator());
    unsigned k = 0;
    for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
      if (op.isColumnOutput(i))
        storeGlobal(numInputs + i, offset(numInputs + i, indices),
                    evaluate(yield.getValues()[k++], view));
  }
  syncBlock();
}
