//===- KernelRows.cpp - One block a row, all of it in registers -----------===//
//
// For groups of row reductions alone: nothing outlives a row, so the hardware
// hands the rows out, `row-groups` of them to a block, and the many blocks of a
// multiprocessor hide each other's waits. A row group of `warps` warps loads
// its whole row at once, `chunks` vectors a lane; the row reductions are
// combined by butterflies and shared memory, as everywhere. No ring, no
// workspace.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Columns of a thread whose values in f32 are kept from one wave to the next:
/// with more, only the packed elements are.
static constexpr unsigned kKeptColumns = 32;

SmallVector<PackedElement>
KernelEmitter::packElements(MutableArrayRef<ColumnView> views, bool ofColumns) {
  SmallVector<PackedElement> packed;
  if (waves.empty())
    return packed;
  for (auto [c, view] : llvm::enumerate(views))
    for (BlockArgument argument : op.getBodyBlock()->getArguments()) {
      Value value = view.values.lookup(argument);
      if (!value ||
          !(hasRows(argument) || (ofColumns && hasColumns(argument))) ||
          argument.getType().isIndex() || argument.getType().isInteger(1))
        continue;
      Value memory = toMemory(value, argument.getType());
      if (Value words = toWords(memory); words != memory)
        packed.push_back({unsigned(c), argument, words});
    }
  return packed;
}

void KernelEmitter::unpackElements(MutableArrayRef<PackedElement> packed,
                                   MutableArrayRef<ColumnView> views) {
  for (PackedElement &element : packed) {
    element.words = createOpaque(b, element.words);
    Type type = element.argument.getType();
    ColumnView &view = views[element.chunk];
    view.values[element.argument] =
        fromMemory(LLVM::BitcastOp::create(
                       b, VectorType::get({view.width}, getMemoryType(type)),
                       element.words),
                   type);
  }
}

void KernelEmitter::emitShare(
    Value first, Value count, Value stride,
    llvm::function_ref<Value(Value index, Value step)> emit) {
  OpBuilder::InsertionGuard guard(b);
  if (schedule.getGrid() == 0) {
    // The grid has a block for each: what a loop would keep takes registers.
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, first, count);
    b.setInsertionPointToStart(scf::IfOp::create(b, exists).thenBlock());
    emit(first, i32(0));
    return;
  }
  auto loop = scf::ForOp::create(b, first, count, stride, ValueRange{i32(0)});
  b.setInsertionPointToStart(loop.getBody());
  Value step = emit(loop.getInductionVar(), loop.getRegionIterArgs()[0]);
  scf::YieldOp::create(b, step);
}

void KernelEmitter::emitRowBlocks() {
  unsigned groups = schedule.getRowGroups();
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  bool exact = problem.columns == schedule.getBlockColumns();

  // All warps of a block have a row, or none.
  bool awaitsInShare = schedule.getGrid() == 0 && groups == 1;
  initExchange();
  if (!awaitsInShare)
    awaitExchange();
  Value lane = laneId();
  auto [rowGroup, warpOfRow, partOfRow, isLeader] = getRowPart(lane);
  Value allExist;
  SmallVector<ColumnView> views =
      getLaneViews(partOfRow, lane, exact, /*firstColumn=*/nullptr, &allExist);

  Value first = add(mul(blockId(), i64(groups)), toI64(rowGroup));
  emitShare(first, rowCount, mul(gridSize(), i64(groups)),
            [&](Value row, Value step) {
              setRow(row);
              // All loads first: the row's own, then what other rows read too.
              Block *body = op.getBodyBlock();
              for (bool ofRow : {true, false})
                for (ColumnView &view : views)
                  for (BlockArgument argument : body->getArguments())
                    if (!argument.use_empty() && hasColumns(argument) &&
                        hasRows(argument) == ofRow)
                      view.values[argument] =
                          loadAt(argument.getArgNumber(), view);
              prepareRowValues(0);
              if (awaitsInShare)
                awaitExchange();

              SmallVector<PackedElement> packed =
                  packElements(views, /*ofColumns=*/false);
              for (unsigned p = 0; p <= waves.size(); ++p) {
                if (p > 0) {
                  // What only needs the row's elements is unpacked again,
                  // rather than kept.
                  for (ColumnView &view : views)
                    for (Operation &inner : body->without_terminator())
                      if (inner.getNumResults() == 1 && isCheapOp(&inner) &&
                          hasRows(inner.getResult(0)) &&
                          (phase(inner.getResult(0)) == 0 ||
                           chunks * width > kKeptColumns))
                        view.values.erase(inner.getResult(0));
                  unpackElements(packed, views);
                }
                prepareRowValues(p);
                storeRowOutputs(p, isLeader);
                ArrayRef<RowReduceOp> wave;
                if (p < waves.size())
                  wave = waves[p];
                SmallVector<SmallVector<Value>> chains(wave.size());
                SmallVector<Value> sums;
                for (ColumnView &view : views)
                  for (auto [reduction, chain] : llvm::zip(wave, chains))
                    addView(chain, reduction, view);
                for (auto [reduction, chain] : llvm::zip(wave, chains))
                  sums.push_back(
                      addChains(chain, RowReduceOp(reduction).getCombiner()));
                storeElementOutputs(p, views, allExist);
                if (p == waves.size())
                  break;
                exchangeRowSums(wave, sums, rowGroup, warpOfRow, step);
                for (auto [reduction, sum] : llvm::zip(wave, sums)) {
                  RowReduceOp reduce = reduction;
                  rowValues[reduce.getResult()] = sum;
                }
                step = arith::AddIOp::create(b, step, i32(1));
              }
              return step;
            });
}
