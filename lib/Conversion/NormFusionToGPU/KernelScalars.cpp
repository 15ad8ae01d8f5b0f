//===- KernelScalars.cpp - Reductions of everything, in the same launch ---===//
//
// An amax of all elements, say: every thread keeps one value over all of its
// rows, a block leaves one word in the workspace, and one block merges the
// words and writes the results. With combine=tags a word is 8 bytes, the parity
// of the launch beside the whole value, so that this block sees by the word
// alone whether it is new; else the launch's barrier, or the second kernel,
// says so. The order depends on the grid alone.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// True for a row reduction that only a reduction of the rows needs, with the
/// same combiner.
bool KernelEmitter::isFolded(Operation *source) {
  auto reduce = dyn_cast<RowReduceOp>(source);
  if (!reduce || isBlockReduction(reduce) || !reduce->hasOneUse())
    return false;
  auto accumulate = dyn_cast<PartialAccumulateOp>(*reduce->user_begin());
  return accumulate && accumulate.getCombiner() == reduce.getCombiner();
}

SmallVector<Value> KernelEmitter::getScalarIdentities() {
  SmallVector<Value> identities;
  for (const ScalarAccumulation &scalar : scalars) {
    PartialAccumulateOp accumulate = scalar.op;
    identities.push_back(arith::ConstantOp::create(
        b, getIdentity(accumulate.getCombiner(),
                       accumulate.getOperand().getType())));
  }
  return identities;
}

void KernelEmitter::addScalars(unsigned p, MutableArrayRef<ColumnView> views,
                               Value isLeader, MutableArrayRef<Value> state) {
  for (auto [k, scalar] : llvm::enumerate(scalars)) {
    PartialAccumulateOp accumulate = scalar.op;
    if (phase(accumulate.getOperand()) != p)
      continue;
    Value value, counts = rowExists;
    if (scalar.folded) {
      if (views.empty())
        continue;
      SmallVector<Value> chains;
      for (ColumnView &view : views)
        addView(chains, scalar.folded, view);
      value = addChains(chains, accumulate.getCombiner());
    } else {
      if (!isLeader)
        continue;
      value = evaluateRow(accumulate.getOperand());
      counts = both(isLeader, rowExists);
    }
    Value next = createCombine(b, b.getLoc(), accumulate.getCombiner(),
                               state[k], value, /*contract=*/true);
    state[k] = select(counts, next, state[k]);
  }
}

/// Over the threads of the block; the result is thread 0's. The shared memory
/// of the column sums is free.
Value KernelEmitter::reduceBlockScalar(Value value, unsigned k) {
  PartialAccumulateOp accumulate = scalars[k].op;
  Type type = accumulate.getOperand().getType();
  auto combine = [&](Value a, Value c) {
    return createCombine(b, b.getLoc(), accumulate.getCombiner(), a, c,
                         /*contract=*/true);
  };
  for (unsigned distance = 16; distance > 0; distance /= 2)
    value = combine(value, shuffleXor(value, distance));
  unsigned warps = threads / 32;
  auto scratch = [&](Value warp) {
    return sharedPointer(
        add(mul(add(i64(k * warps), warp), i64(8)), i64(sumsOffset)));
  };
  Value isLane0 =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneId(), i32(0));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, isLane0).thenBlock());
    LLVM::StoreOp::create(b, toWord(value), scratch(toI64(warpId())));
  }
  syncBlock();
  Value total;
  for (unsigned w = 0; w < warps; ++w) {
    Value part = fromWord(
        LLVM::LoadOp::create(b, getWordType(type), scratch(i64(w))), type);
    total = total ? combine(total, part) : part;
  }
  return total;
}

/// Behind the partial rows: [scalar][entry], 8 bytes each.
Value KernelEmitter::scalarAddress(unsigned k, Value entry) {
  Value items = mul(segmentCount, arguments.splits);
  Value base = add(mul(mul(items, pitch), i64(getWorkspaceColumnBytes(op))),
                   i64(kWorkspaceHeaderBytes));
  Value index = add(mul(mul(items, i64(schedule.getCluster())), i64(k)), entry);
  return byteAddress(arguments.workspace, add(base, mul(index, i64(8))));
}

void KernelEmitter::writeScalars(Value item, ArrayRef<Value> state) {
  if (scalars.empty())
    return;
  // What lies in the shared memory, the ring for one, is read.
  syncBlock();
  SmallVector<Value> totals;
  for (auto [k, value] : llvm::enumerate(state))
    totals.push_back(reduceBlockScalar(value, k));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId(), i32(0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, isFirst).thenBlock());
  Value entry = add(mul(item, i64(schedule.getCluster())), toI64(rank));
  for (auto [k, total] : llvm::enumerate(totals)) {
    Value word = toWord(total);
    if (word.getType().isInteger(32))
      word = toI64(word);
    if (schedule.getCombine() != Combine::tags) {
      LLVM::StoreOp::create(b, word, scalarAddress(k, entry), 8);
      continue;
    }
    storeTagged(scalarAddress(k, entry), word, parity);
  }
}

void KernelEmitter::emitScalarResults() {
  Block *combine = op.getCombineBlock();
  auto yield = cast<YieldOp>(combine->getTerminator());
  SmallVector<std::pair<unsigned, Value>> results;
  unsigned next = 0;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    if (op.isColumnOutput(i)) {
      Value value = yield.getValues()[next++];
      if (op.getOutputMap(i).getNumResults() == 0)
        results.push_back({numInputs + i, value});
    }
  if (results.empty())
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, isKeeper()).thenBlock());

  Value entries =
      mul(mul(segmentCount, arguments.splits), i64(schedule.getCluster()));
  bool tags = schedule.getCombine() == Combine::tags;
  SmallVector<Value> totals;
  if (!scalars.empty()) {
    auto loop = scf::ForOp::create(b, toI64(threadId()), entries, i64(threads),
                                   getScalarIdentities());
    {
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(loop.getBody());
      SmallVector<Value> sums;
      for (auto [k, scalar] : llvm::enumerate(scalars)) {
        PartialAccumulateOp accumulate = scalar.op;
        Type type = accumulate.getOperand().getType();
        Value pointer = scalarAddress(k, loop.getInductionVar());
        Value word = tags ? awaitTagged(pointer, parity).front()
                          : loadRelaxed64(pointer);
        if (getWordType(type).isInteger(32))
          word = arith::TruncIOp::create(b, b.getI32Type(), word);
        sums.push_back(createCombine(b, b.getLoc(), accumulate.getCombiner(),
                                     loop.getRegionIterArgs()[k],
                                     fromWord(word, type), /*contract=*/true));
      }
      scf::YieldOp::create(b, sums);
    }
    // The tiles, or this block's own values, were in the same shared memory.
    if (tags || !accumulations.empty())
      syncBlock();
    for (auto [k, value] : llvm::enumerate(loop.getResults()))
      totals.push_back(reduceBlockScalar(value, k));
  }
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId(), i32(0));
  b.setInsertionPointToStart(scf::IfOp::create(b, isFirst).thenBlock());
  rowValues.clear();
  uniformValues.clear();
  for (auto [scalar, total] : llvm::zip(scalars, totals))
    uniformValues[combine->getArgument(scalar.argument)] = total;
  for (auto [operand, value] : results)
    storeGlobal(operand, i64(0), evaluateRow(value));
  uniformValues.clear();
}
