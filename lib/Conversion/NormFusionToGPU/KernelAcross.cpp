//===- KernelAcross.cpp - Rows that lie side by side in memory ------------===//
//
// The plain structure for arrays whose neighbours in memory are rows, not
// columns (channels first), lanes=1: a lane has a row, a warp 32 of them, and
// the warps of a block share out the columns, some at a time. Their loads and
// stores are whole lines then. Row sums are exchanged by the warps, column sums
// by the lanes of one. Rows are read once a wave of row reductions, the second
// time mostly from the caches.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// `values`, one a column, of each lane's row: reduced over the rows of the
/// warp. Lane l gets the one of column l % kColumnsAcross. Lanes swap halves of
/// what they have, so that it takes few shuffles more than one column does.
Value KernelEmitter::reduceAcross(SmallVector<Value> values,
                                  Combiner combiner) {
  auto combine = [&](Value a, Value c) {
    return createCombine(b, b.getLoc(), combiner, a, c, /*contract=*/true);
  };
  unsigned distance = 1;
  for (; values.size() > 1; distance *= 2) {
    Value bit = arith::AndIOp::create(b, laneId(), i32(distance));
    Value isUpper =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, i32(0));
    SmallVector<Value> kept;
    for (unsigned k = 0; k < values.size(); k += 2) {
      Value sent = select(isUpper, values[k], values[k + 1]);
      kept.push_back(combine(select(isUpper, values[k + 1], values[k]),
                             shuffleXor(sent, distance)));
    }
    values = kept;
  }
  for (; distance < 32; distance *= 2)
    values.front() =
        combine(values.front(), shuffleXor(values.front(), distance));
  return values.front();
}

/// The row sums of a wave: each warp's part of them, `sums`, is what its lanes
/// add up of its columns for their rows. Two steps take turns in the shared
/// memory, so that one barrier is enough.
void KernelEmitter::exchangeAcross(SmallVectorImpl<Value> &sums,
                                   ArrayRef<RowReduceOp> wave, Value step) {
  unsigned warps = schedule.getWarps();
  if (warps == 1)
    return;
  Value turn = arith::AndIOp::create(b, step, i32(1));
  auto pointer = [&](unsigned k, Value warp) {
    Value place = add(mul(turn, i32(problem.rowReductions * warps)),
                      add(warp, i32(k * warps)));
    place = add(mul(place, i32(32)), laneId());
    return sharedPointer(add(mul(toI64(place), i64(8)), i64(sumsOffset)));
  };
  for (auto [k, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(b, toWord(sum), pointer(k, warpId()));
  syncBlock();
  for (auto [k, sum] : llvm::enumerate(sums)) {
    RowReduceOp reduce = wave[k];
    Type type = sum.getType();
    Value total;
    for (unsigned w = 0; w < warps; ++w) {
      Value part = fromWord(
          LLVM::LoadOp::create(b, getWordType(type), pointer(k, i32(w))), type);
      total = total ? createCombine(b, b.getLoc(), reduce.getCombiner(), total,
                                    part, /*contract=*/true)
                    : part;
    }
    sum = total;
  }
}

/// The elements of inputs whose columns are contiguous all the same: whole
/// vectors where a lane's begin at a multiple of 16 bytes, for a warp's loads
/// of single elements would be one of each of 32 lines. (H200, channels-first
/// dy and dx with a channels-last x, 768 channels: LayerNorm 214 us.)
void KernelEmitter::loadAcross(MutableArrayRef<ColumnView> views) {
  if (ShapedType::isDynamic(problem.innerColumns) ||
      problem.innerColumns % kColumnsAcross != 0)
    return;
  unsigned lastColumn = columnDims.find_last();
  for (BlockArgument argument : op.getBodyBlock()->getArguments()) {
    unsigned i = argument.getArgNumber();
    AffineMap map = op.getInputMap(i);
    Type element = argument.getType();
    if (argument.use_empty() || !hasRows(argument) ||
        !map.isFunctionOfDim(lastColumn) ||
        cast<AffineDimExpr>(map.getResults().back()).getPosition() !=
            lastColumn)
      continue;
    SmallVector<Value> indices(rowIndices);
    delinearize(views.front().column, columnDims, indices);
    Value first = offset(i, indices);
    Value place =
        LLVM::PtrToIntOp::create(b, b.getI64Type(), address(i, first));
    int64_t align = std::min<int64_t>(kColumnsAcross * getBytes(element), 16);
    Value isAligned = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, place, i64(align - 1)), i64(0));
    SmallVector<Type> types(kColumnsAcross, element);
    auto ifAligned =
        scf::IfOp::create(b, types, isAligned, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAligned.thenBlock());
    Value vector = loadGlobal(i, first, kColumnsAcross);
    SmallVector<Value> loaded;
    for (unsigned e = 0; e < kColumnsAcross; ++e)
      loaded.push_back(vector::ExtractOp::create(b, vector, int64_t(e)));
    scf::YieldOp::create(b, loaded);
    b.setInsertionPointToStart(ifAligned.elseBlock());
    for (unsigned e = 0; e < kColumnsAcross; ++e)
      loaded[e] = loadGlobal(i, add(first, i64(e)), /*width=*/1);
    scf::YieldOp::create(b, loaded);
    for (auto [view, value] : llvm::zip(views, ifAligned.getResults()))
      view.values[argument] = value;
  }
}

Value KernelEmitter::emitAcross(Value item, Value firstTile, Value step) {
  Value isFirstWarp =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warpId(), i32(0));
  Value first = mul(toI64(warpId()), i64(kColumnsAcross));

  // From `columnCount` on there are none: a warp's views are all masked there.
  auto forColumns =
      [&](ValueRange init,
          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body)
      -> ValueRange {
    auto loop = scf::ForOp::create(
        b, first, columnCount,
        i64(int64_t(schedule.getWarps()) * kColumnsAcross), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!init.empty())
      scf::YieldOp::create(b, next);
    return loop.getResults();
  };
  auto exists = [&](Value column) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column,
                                 columnCount);
  };
  // Lane l's of the warp's columns, whose sums no other lane touches before the
  // blocks meet.
  Value isKeeper = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, laneId(),
                                         i32(kColumnsAcross));
  auto forKept = [&](Value column, llvm::function_ref<void(Value)> emit) {
    Value kept = add(column, toI64(laneId()));
    guarded(both(isKeeper, exists(kept)), [&] { emit(kept); });
  };
  if (!accumulations.empty())
    forColumns({}, [&](Value column, ValueRange) {
      forKept(column, [&](Value kept) {
        for (auto [a, accumulate] : llvm::enumerate(accumulations)) {
          TypedAttr identity = getIdentity(accumulate.getCombiner(),
                                           accumulate.getOperand().getType());
          storePartial(a, item, kept, arith::ConstantOp::create(b, identity));
        }
      });
      return SmallVector<Value>();
    });

  Value tiles = arith::CeilDivUIOp::create(b, rowCount, i64(32));
  SmallVector<Value> carried{step};
  llvm::append_range(carried, getScalarIdentities());
  auto rows =
      scf::ForOp::create(b, firstTile, tiles, arguments.splits, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  // Lanes behind the last row read it again.
  Value row = add(mul(rows.getInductionVar(), i64(32)), toI64(laneId()));
  llvm::SaveAndRestore saved(
      rowExists, Value(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row,
                                             rowCount)));
  setRow(arith::MinSIOp::create(b, row, lastRow));
  step = rows.getRegionIterArgs()[0];
  SmallVector<Value> ofScalars(rows.getRegionIterArgs().drop_front());
  for (unsigned p = 0; p <= waves.size(); ++p) {
    prepareRowValues(p);
    storeRowOutputs(p, isFirstWarp);
    SmallVector<RowReduceOp> wave;
    if (p < waves.size())
      wave = waves[p];
    SmallVector<Value> init;
    for (RowReduceOp reduce : wave)
      init.push_back(arith::ConstantOp::create(
          b, getIdentity(reduce.getCombiner(), reduce.getType())));
    addScalars(p, {}, isFirstWarp, ofScalars);
    llvm::append_range(init, ofScalars);
    ValueRange sums = forColumns(init, [&](Value column, ValueRange iter) {
      SmallVector<ColumnView> views(kColumnsAcross);
      for (auto [e, view] : llvm::enumerate(views)) {
        Value at = add(column, i64(e));
        view.mask = exists(at);
        view.column = select(view.mask, at, column);
      }
      loadAcross(views);
      SmallVector<Value> next(iter);
      for (auto [k, reduce] : llvm::enumerate(wave))
        for (ColumnView &view : views)
          next[k] = createCombine(b, b.getLoc(), reduce.getCombiner(), next[k],
                                  masked(evaluate(reduce.getOperand(), view),
                                         view, reduce.getCombiner()),
                                  /*contract=*/true);
      SmallVector<std::pair<unsigned, Value>> totals;
      for (auto [a, accumulate] : llvm::enumerate(accumulations)) {
        if (phase(accumulate.getOperand()) != p)
          continue;
        SmallVector<Value> values;
        for (ColumnView &view : views) {
          Value value = evaluate(accumulate.getOperand(), view);
          TypedAttr identity =
              getIdentity(accumulate.getCombiner(), value.getType());
          values.push_back(
              select(rowExists, value, arith::ConstantOp::create(b, identity)));
        }
        totals.push_back(
            {a, reduceAcross(std::move(values), accumulate.getCombiner())});
      }
      if (!totals.empty())
        forKept(column, [&](Value kept) {
          for (auto [a, total] : totals) {
            Value old =
                fromWord(LLVM::LoadOp::create(b, getWordType(total.getType()),
                                              partialAddress(a, item, kept)),
                         total.getType());
            PartialAccumulateOp accumulate = accumulations[a];
            storePartial(a, item, kept,
                         createCombine(b, b.getLoc(), accumulate.getCombiner(),
                                       old, total, /*contract=*/true));
          }
        });
      MutableArrayRef<Value> more =
          MutableArrayRef(next).drop_front(wave.size());
      addScalars(p, views, /*isLeader=*/Value(), more);
      storeElementOutputs(p, views, /*allExist=*/Value());
      return next;
    });
    storeOutputsOfEmptyBlocks(p);
    llvm::copy(sums.drop_front(wave.size()), ofScalars.begin());
    if (wave.empty())
      continue;
    SmallVector<Value> totals(sums.take_front(wave.size()));
    exchangeAcross(totals, wave, step);
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
