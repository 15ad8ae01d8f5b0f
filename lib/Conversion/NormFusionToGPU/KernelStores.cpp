//===- KernelStores.cpp - Where a kernel stores the body's results --------===//
//
// Each output is stored in the phase that its value is first known in: a row's
// by the row's leader, an element's by the lane that holds its columns, as wide
// as its map and its alignment allow.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

static bool variesOver(AffineMap map, const llvm::SmallBitVector &dims) {
  return llvm::any_of(dims.set_bits(),
                      [&](unsigned d) { return map.isFunctionOfDim(d); });
}

/// The outputs that the body (not the combine region) writes, in order.
static SmallVector<unsigned> getBodyOutputs(MixedReductionOp op) {
  SmallVector<unsigned> outputs;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    if (!op.isSplit() || !op.isColumnOutput(i))
      outputs.push_back(i);
  return outputs;
}

/// True if stores are to be spread among a row's arithmetic: a multiprocessor
/// sends 16 to 27 bytes a cycle (H200), and what comes behind them waits. With
/// fewer vectors a lane nothing is gained, and some kernels spill.
bool KernelEmitter::spreadsStores() {
  return schedule.getStructure() == Structure::ring && schedule.getChunks() > 3;
}

/// Where all columns exist for the whole warp, one branch says so; or each
/// store of a whole vector has a predicate instead.
void KernelEmitter::storeElementOutputs(unsigned p,
                                        MutableArrayRef<ColumnView> views,
                                        Value allExist) {
  auto yield = cast<YieldOp>(op.getBodyBlock()->getTerminator());
  SmallVector<std::pair<unsigned, Value>> ready;
  for (auto [k, output] : llvm::enumerate(getBodyOutputs(op))) {
    Value value = yield.getValues()[k];
    if (variesOver(op.getOutputMap(output), columnDims) && phase(value) == p)
      ready.push_back({numInputs + output, value});
  }
  if (ready.empty())
    return;
  bool isSpread = views.front().elementMasks.empty() &&
                  (rowExists ? framed && (!branchesOverMissingRows() ||
                                          !slotOutputs.empty())
                             : spreadsStores());
  // Known before the branches, within which nothing else could use them.
  if (!isSpread)
    for (ColumnView &view : views)
      for (auto [operand, value] : ready)
        evaluate(value, view);
  // A barrier of the warp, which must have the row as a whole, keeps ptxas from
  // gathering the stores of framed rows: 1 to 5%. Other rows don't gain.
  bool isOrdered = isSpread && framed && !rowExists;
  auto store = [&](bool masked) {
    for (auto [c, view] : llvm::enumerate(views)) {
      if (isOrdered && c > 0 && view.width > 1)
        NVVM::SyncWarpOp::create(b, i32(-1));
      for (auto [operand, value] : ready)
        storeView(operand, evaluate(value, view), view, masked, isSpread);
    }
  };
  guarded(isSpread ? Value() : rowExists, [&] {
    if (!allExist || isSpread)
      return store(/*masked=*/true);
    auto ifAll = scf::IfOp::create(b, allExist, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAll.thenBlock());
    store(/*masked=*/false);
    b.setInsertionPointToStart(ifAll.elseBlock());
    store(/*masked=*/true);
  });
}

/// A vector where the columns are contiguous, else element by element; once
/// what is the same for several columns.
void KernelEmitter::storeView(unsigned operand, Value value, ColumnView &view,
                              bool isMasked, bool isSpread) {
  OpBuilder::InsertionGuard guard(b);
  Value mask; // a predicate rather than a branch
  if (isMasked && view.mask && view.elementMasks.empty()) {
    if (isSpread)
      mask = view.mask;
    else
      b.setInsertionPointToStart(scf::IfOp::create(b, view.mask).thenBlock());
  }
  // Rows that don't exist aren't taken from the slot.
  if (storeInTile(operand, value, view) ||
      storeInSlot(operand, value, view, mask))
    return;
  Value condition = both(isSpread ? rowExists : Value(), mask);
  AffineMap map = op.getInputMap(operand);
  SmallVector<Value> indices(rowIndices);
  delinearize(view.column, columnDims, indices);
  Value isFirst;
  for (unsigned d : columnDims.set_bits())
    if (!map.isFunctionOfDim(d))
      isFirst = both(isFirst, arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                    indices[d], i64(0)));
  condition = both(condition, isFirst);
  unsigned last = columnDims.find_last();
  bool isFine = map.isFunctionOfDim(last);
  if (view.width == 1 ||
      (isFine &&
       cast<AffineDimExpr>(map.getResults().back()).getPosition() == last)) {
    storeVector(operand, offset(operand, indices), value, view, isMasked,
                condition);
    return;
  }
  if (condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
  Value first = indices[last];
  for (unsigned e = 0; e < (isFine ? view.width : 1); ++e) {
    indices[last] = add(first, i64(e));
    storeElement(operand, offset(operand, indices), value, e, view, isMasked);
  }
}

/// Element `e` of a lane's vector, if it exists.
void KernelEmitter::storeElement(unsigned operand, Value elementOffset,
                                 Value vector, unsigned e, ColumnView &view,
                                 bool isMasked) {
  bool mayLack = isMasked && !view.elementMasks.empty();
  guarded(mayLack ? view.elementMasks[e] : Value(), [&] {
    storeGlobal(operand, elementOffset,
                vector::ExtractOp::create(b, vector, int64_t(e)));
  });
}

/// A lane's vector, contiguous in memory: whole where it exists and begins at a
/// multiple of its size (as framed ones do), else element by element.
void KernelEmitter::storeVector(unsigned operand, Value elementOffset,
                                Value value, ColumnView &view, bool isMasked,
                                Value condition) {
  Type type = getElementTypeOrSelf(op.getOperand(operand).getType());
  unsigned bytes = getBytes(type);
  bool isAligned = view.width == 1 || framed ||
                   problem.columns * bytes % (bytes * view.width) == 0;
  bool isWhole = !isMasked || view.elementMasks.empty();
  if (isAligned && isWhole)
    return storeGlobal(operand, elementOffset, value, condition);
  OpBuilder::InsertionGuard guard(b);
  if (condition)
    b.setInsertionPointToStart(scf::IfOp::create(b, condition).thenBlock());
  Value whole = isWhole ? Value() : view.elementMasks.back();
  if (!isAligned) {
    Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(),
                                          address(operand, elementOffset));
    bits = arith::AndIOp::create(b, bits, i64(bytes * view.width - 1));
    whole = both(whole, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, bits,
                                              i64(0)));
  }
  auto ifWhole = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(ifWhole.thenBlock());
  storeGlobal(operand, elementOffset, value);
  b.setInsertionPointToStart(ifWhole.elseBlock());
  for (unsigned e = 0; e < view.width; ++e)
    storeElement(operand, add(elementOffset, i64(e)), value, e, view, isMasked);
}

// No column stores them, though they have elements: each is what the body makes
// of an empty block.
void KernelEmitter::storeOutputsOfEmptyBlocks(unsigned p) {
  auto yield = cast<YieldOp>(op.getBodyBlock()->getTerminator());
  for (auto [k, output] : llvm::enumerate(getBodyOutputs(op))) {
    Value value = yield.getValues()[k];
    llvm::SmallBitVector blocks = columnDims, inner = columnDims;
    for (unsigned d : columnDims.set_bits())
      (op.getOutputMap(output).isFunctionOfDim(d) ? inner : blocks).reset(d);
    SmallVector<int64_t> sizes = op.getStaticDimSizes();
    bool mayBeEmpty = llvm::any_of(inner.set_bits(), [&](unsigned d) {
      return ShapedType::isDynamic(sizes[d]) || sizes[d] == 0;
    });
    if (blocks.none() || !mayBeEmpty || phase(value) != p)
      continue;
    Value isEmpty = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          product(inner), i64(0));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, isEmpty).thenBlock());
    auto loop = scf::ForOp::create(b, toI64(threadId()), product(blocks),
                                   i64(threads), ValueRange());
    b.setInsertionPointToStart(loop.getBody());
    // As if each block had one column; no element of it is read.
    SmallVector<Value> dims(arguments.dims);
    for (unsigned d : inner.set_bits())
      arguments.dims[d] = i64(1);
    SmallVector<Value> indices(op.getNumDims(), i64(0));
    delinearize(loop.getInductionVar(), blocks, indices);
    ColumnView view;
    view.column = linearize(columnDims, indices);
    for (auto reduce : op.getBodyBlock()->getOps<RowReduceOp>())
      if (isBlockReduction(reduce))
        view.values[reduce.getResult()] = arith::ConstantOp::create(
            b, getIdentity(reduce.getCombiner(), reduce.getType()));
    storeView(numInputs + output, evaluate(value, view), view,
              /*isMasked=*/false, /*isSpread=*/false);
    arguments.dims = dims;
  }
}

void KernelEmitter::storeRowOutputs(unsigned p, Value isLeader) {
  auto yield = cast<YieldOp>(op.getBodyBlock()->getTerminator());
  SmallVector<std::pair<unsigned, Value>> ready;
  for (auto [k, output] : llvm::enumerate(getBodyOutputs(op))) {
    Value value = yield.getValues()[k];
    if (!variesOver(op.getOutputMap(output), columnDims) && phase(value) == p)
      ready.push_back({numInputs + output, evaluateRow(value)});
  }
  if (ready.empty())
    return;
  auto ifOp = scf::IfOp::create(b, both(isLeader, rowExists));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  for (auto [operand, value] : ready)
    storeGlobal(operand, offset(operand, rowIndices), value);
}
