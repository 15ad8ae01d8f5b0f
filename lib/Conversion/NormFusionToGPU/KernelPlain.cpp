//===- KernelPlain.cpp - Masked loops over any number of columns ----------===//
//
// The floor: a block takes a row at a time, its threads stride over the
// columns, once a wave of row reductions. Any size, any layout. The walk itself
// (emitWalk()) is that of rows side by side, too (KernelAcross.cpp).
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

void KernelEmitter::addToPartial(unsigned a, Value item, Value column,
                                 Value value) {
  PartialAccumulateOp accumulate = accumulations[a];
  Value old = fromWord(LLVM::LoadOp::create(b, getWordType(value.getType()),
                                            partialAddress(a, item, column)),
                       value.getType());
  storePartial(a, item, column,
               createCombine(b, b.getLoc(), accumulate.getCombiner(), old,
                             value, /*contract=*/true));
}

/// The rows of an item from `first` on, wave by wave. Every thread owns the
/// partials of some of the columns: no other touches them before the blocks
/// meet.
Value KernelEmitter::emitWalk(Value item, Value first, Value step,
                              const PlainWalk &walk) {
  auto forColumns =
      [&](ValueRange init,
          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body)
      -> ValueRange {
    auto loop =
        scf::ForOp::create(b, walk.firstColumn, columnCount, walk.stride, init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!init.empty())
      scf::YieldOp::create(b, next);
    return loop.getResults();
  };
  if (!accumulations.empty())
    forColumns({}, [&](Value column, ValueRange) {
      walk.forKept(column, [&](Value kept) {
        for (auto [a, accumulate] : llvm::enumerate(accumulations)) {
          TypedAttr identity = getIdentity(accumulate.getCombiner(),
                                           accumulate.getOperand().getType());
          storePartial(a, item, kept, arith::ConstantOp::create(b, identity));
        }
      });
      return SmallVector<Value>();
    });

  SmallVector<Value> carried{step};
  llvm::append_range(carried, getScalarIdentities());
  auto rows = scf::ForOp::create(b, first, walk.end, arguments.splits, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  walk.setRow(rows.getInductionVar());
  step = rows.getRegionIterArgs()[0];
  SmallVector<Value> ofScalars(rows.getRegionIterArgs().drop_front());
  for (unsigned p = 0; p <= waves.size(); ++p) {
    prepareRowValues(p);
    storeRowOutputs(p, walk.isLeader);
    SmallVector<RowReduceOp> wave;
    if (p < waves.size())
      wave = waves[p];
    SmallVector<Value> init;
    for (RowReduceOp reduce : wave)
      init.push_back(arith::ConstantOp::create(
          b, getIdentity(reduce.getCombiner(), reduce.getType())));
    // What is the row's is added by its leader, what is the columns' by all.
    addScalars(p, {}, walk.isLeader, ofScalars);
    llvm::append_range(init, ofScalars);
    ValueRange sums = forColumns(init, [&](Value column, ValueRange iter) {
      SmallVector<ColumnView> views = walk.getViews(column);
      SmallVector<Value> next(iter);
      for (auto [k, reduce] : llvm::enumerate(wave))
        for (ColumnView &view : views)
          next[k] = createCombine(b, b.getLoc(), reduce.getCombiner(), next[k],
                                  masked(evaluate(reduce.getOperand(), view),
                                         view, reduce.getCombiner()),
                                  /*contract=*/true);
      walk.addPartials(p, column, views);
      addScalars(p, views, /*isLeader=*/Value(),
                 MutableArrayRef(next).drop_front(wave.size()));
      storeElementOutputs(p, views, /*allExist=*/Value());
      return next;
    });
    storeOutputsOfEmptyBlocks(p);
    llvm::copy(sums.drop_front(wave.size()), ofScalars.begin());
    if (wave.empty())
      continue;
    SmallVector<Value> totals(sums.take_front(wave.size()));
    walk.exchange(wave, totals, step);
    for (auto [reduce, total] : llvm::zip(wave, totals))
      rowValues[reduce.getResult()] = total;
    step = arith::AddIOp::create(b, step, i32(1));
  }
  SmallVector<Value> next{step};
  llvm::append_range(next, ofScalars);
  scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(rows);
  SmallVector<Value> totals(rows.getResults().drop_front());
  writeScalars(item, totals);
  return rows.getResult(0);
}

Value KernelEmitter::emitPlain(Value item, Value firstRow, Value step) {
  Value thread = threadId();
  Value column0 = toI64(thread), stride = i64(threads);
  Value isLeader =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, i32(0));
  Value warp = warpId();
  auto getView = [](Value column) {
    SmallVector<ColumnView> views(1);
    views.front().column = column;
    return views;
  };
  auto keep = [](Value column, llvm::function_ref<void(Value)> emit) {
    emit(column);
  };
  auto addPartials = [&](unsigned p, Value column,
                         MutableArrayRef<ColumnView> views) {
    for (auto [a, accumulate] : llvm::enumerate(accumulations))
      if (phase(accumulate.getOperand()) == p)
        addToPartial(a, item, column,
                     evaluate(accumulate.getOperand(), views.front()));
  };
  auto exchange = [&](ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &sums,
                      Value step) {
    exchangeRowSums(wave, sums, /*rowGroup=*/i32(0), warp, step);
  };
  return emitWalk(item, firstRow, step,
                  {rowCount, column0, stride, isLeader,
                   [&](Value row) { setRow(row); }, getView, keep, addPartials,
                   exchange});
}
