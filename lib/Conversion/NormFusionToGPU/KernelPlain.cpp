//===- KernelPlain.cpp - Masked loops over any number of columns ----------===//
//
// The floor: a block takes a row at a time, its threads stride over the
// columns, once a wave of row reductions. Any size, any layout.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

Value KernelEmitter::emitPlain(Value item, Value firstRow, Value step) {
  Value thread = threadId();
  Value column0 = toI64(thread), stride = i64(threads);
  Value isLeader =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, i32(0));
  Value warp = warpId();

  // Every thread owns its columns of the item's partial row: no other touches
  // them before the blocks meet.
  auto forColumns =
      [&](ValueRange init,
          llvm::function_ref<SmallVector<Value>(ColumnView &, ValueRange)> body)
      -> ValueRange {
    auto loop = scf::ForOp::create(b, column0, columnCount, stride, init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ColumnView view;
    view.column = loop.getInductionVar();
    SmallVector<Value> next = body(view, loop.getRegionIterArgs());
    if (!init.empty())
      scf::YieldOp::create(b, next);
    return loop.getResults();
  };
  if (!accumulations.empty())
    forColumns({}, [&](ColumnView &view, ValueRange) {
      for (auto [a, accumulate] : llvm::enumerate(accumulations)) {
        TypedAttr identity = getIdentity(accumulate.getCombiner(),
                                         accumulate.getOperand().getType());
        storePartial(a, item, view.column,
                     arith::ConstantOp::create(b, identity));
      }
      return SmallVector<Value>();
    });

  SmallVector<Value> carried{step};
  llvm::append_range(carried, getScalarIdentities());
  auto rows =
      scf::ForOp::create(b, firstRow, rowCount, arguments.splits, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  setRow(rows.getInductionVar());
  step = rows.getRegionIterArgs()[0];
  SmallVector<Value> ofScalars(rows.getRegionIterArgs().drop_front());
  for (unsigned p = 0; p <= waves.size(); ++p) {
    prepareRowValues(p);
    storeRowOutputs(p, isLeader);
    SmallVector<RowReduceOp> wave;
    if (p < waves.size())
      wave = waves[p];
    SmallVector<Value> init;
    for (RowReduceOp reduce : wave)
      init.push_back(arith::ConstantOp::create(
          b, getIdentity(reduce.getCombiner(), reduce.getType())));
    // What is the row's is added by its leader, what is the columns' by all.
    addScalars(p, {}, isLeader, ofScalars);
    llvm::append_range(init, ofScalars);
    ValueRange sums = forColumns(init, [&](ColumnView &view, ValueRange iter) {
      SmallVector<Value> next;
      for (auto [reduce, sum] : llvm::zip(wave, iter.take_front(wave.size())))
        next.push_back(createCombine(b, b.getLoc(), reduce.getCombiner(), sum,
                                     evaluate(reduce.getOperand(), view),
                                     /*contract=*/true));
      for (auto [a, accumulate] : llvm::enumerate(accumulations)) {
        if (phase(accumulate.getOperand()) != p)
          continue;
        Value pointer = partialAddress(a, item, view.column);
        Value value = evaluate(accumulate.getOperand(), view);
        Value old = fromWord(
            LLVM::LoadOp::create(b, getWordType(value.getType()), pointer),
            value.getType());
        storePartial(a, item, view.column,
                     createCombine(b, b.getLoc(), accumulate.getCombiner(), old,
                                   value, /*contract=*/true));
      }
      SmallVector<Value> more(iter.drop_front(wave.size()));
      addScalars(p, view, /*isLeader=*/Value(), more);
      llvm::append_range(next, more);
      storeElementOutputs(p, view, /*allExist=*/Value());
      return next;
    });
    storeOutputsOfEmptyBlocks(p);
    llvm::copy(sums.drop_front(wave.size()), ofScalars.begin());
    if (wave.empty())
      continue;
    SmallVector<Value> totals(sums.take_front(wave.size()));
    exchangeRowSums(wave, totals, /*rowGroup=*/i32(0), warp, step);
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
