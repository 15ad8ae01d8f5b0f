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
void KernelEmitter::exchangeAcross(ArrayRef<RowReduceOp> wave,
                                   SmallVectorImpl<Value> &sums, Value step) {
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
  Value stride = i64(int64_t(schedule.getWarps()) * kColumnsAcross);
  auto exists = [&](Value column) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column,
                                 columnCount);
  };
  // Lanes behind the last row read it again.
  llvm::SaveAndRestore saved(rowExists);
  auto setRowOfTile = [&](Value tile) {
    Value row = add(mul(tile, i64(32)), toI64(laneId()));
    rowExists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row, rowCount);
    setRow(arith::MinSIOp::create(b, row, lastRow));
  };
  auto getViews = [&](Value column) {
    SmallVector<ColumnView> views(kColumnsAcross);
    for (auto [e, view] : llvm::enumerate(views)) {
      Value at = add(column, i64(e));
      view.mask = exists(at);
      view.column = select(view.mask, at, column);
    }
    loadAcross(views);
    return views;
  };
  // Lane l's of the warp's columns.
  Value isKeeper = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, laneId(),
                                         i32(kColumnsAcross));
  auto forKept = [&](Value column, llvm::function_ref<void(Value)> emit) {
    Value kept = add(column, toI64(laneId()));
    guarded(both(isKeeper, exists(kept)), [&] { emit(kept); });
  };
  auto addPartials = [&](unsigned p, Value column,
                         MutableArrayRef<ColumnView> views) {
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
        for (auto [a, total] : totals)
          addToPartial(a, item, kept, total);
      });
  };
  auto exchange = [&](ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &sums,
                      Value step) { exchangeAcross(wave, sums, step); };
  Value tiles = arith::CeilDivUIOp::create(b, rowCount, i64(32));
  return emitWalk(item, firstTile, step,
                  {tiles, first, stride, isFirstWarp, setRowOfTile, getViews,
                   forKept, addPartials, exchange});
}
