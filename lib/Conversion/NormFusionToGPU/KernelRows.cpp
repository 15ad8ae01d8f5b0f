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

void KernelEmitter::emitRowBlocks() {
  unsigned groups = schedule.getRowGroups();
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  bool exact = problem.columns == schedule.getBlockColumns();

  Value lane = laneId();
  auto [rowGroup, warpOfRow, partOfRow, isLeader] = getRowPart(lane);
  Value allExist;
  SmallVector<ColumnView> views =
      getLaneViews(partOfRow, lane, exact, /*firstColumn=*/nullptr, &allExist);

  Value first = add(mul(blockId(), i64(groups)), toI64(rowGroup));
  auto loop = scf::ForOp::create(
      b, first, rowCount, mul(gridSize(), i64(groups)), ValueRange{i32(0)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  setRow(loop.getInductionVar());
  Value step = loop.getRegionIterArgs()[0];

  // All loads first: the row's own, then what other rows read too.
  Block *body = op.getBodyBlock();
  for (bool ofRow : {true, false})
    for (ColumnView &view : views)
      for (BlockArgument argument : body->getArguments())
        if (!argument.use_empty() && hasColumns(argument) &&
            hasRows(argument) == ofRow)
          view.values[argument] = loadAt(argument.getArgNumber(), view);
  prepareRowValues(0);

  struct Packed {
    unsigned chunk;
    BlockArgument argument;
    Value words;
  };
  SmallVector<Packed> packedRow;
  if (waves.size() > 0)
    for (auto [c, view] : llvm::enumerate(views))
      for (BlockArgument argument : body->getArguments())
        if (Value value = view.values.lookup(argument);
            value && hasRows(argument) && !argument.getType().isIndex() &&
            !argument.getType().isInteger(1)) {
          Value memory = toMemory(value, argument.getType());
          auto type = dyn_cast<VectorType>(memory.getType());
          unsigned bits =
              getElementTypeOrSelf(memory.getType()).getIntOrFloatBitWidth() *
              width;
          if (!type || bits % 32)
            continue;
          auto words = VectorType::get({bits / 32}, b.getI32Type());
          packedRow.push_back({unsigned(c), argument,
                               LLVM::BitcastOp::create(b, words, memory)});
        }

  for (unsigned p = 0; p <= waves.size(); ++p) {
    if (p > 0) {
      // What only needs the row's elements is unpacked again, rather than kept.
      for (ColumnView &view : views)
        for (Operation &inner : body->without_terminator())
          if (inner.getNumResults() == 1 && isCheapOp(&inner) &&
              hasRows(inner.getResult(0)) &&
              (phase(inner.getResult(0)) == 0 || chunks * width > kKeptColumns))
            view.values.erase(inner.getResult(0));
      for (Packed &packed : packedRow) {
        packed.words = createOpaque(b, packed.words);
        auto type =
            VectorType::get({width}, getMemoryType(packed.argument.getType()));
        views[packed.chunk].values[packed.argument] =
            fromMemory(LLVM::BitcastOp::create(b, type, packed.words),
                       packed.argument.getType());
      }
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
      sums.push_back(addChains(chain, RowReduceOp(reduction).getCombiner()));
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
  scf::YieldOp::create(b, step);
}
