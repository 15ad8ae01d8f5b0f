//===- KernelColumns.cpp - Few rows: a block owns columns of all of them --===//
//
// Where there are fewer rows than blocks that could share them, each block
// takes some columns of every row instead: a warp holds `rows` rows at once,
// its lanes the block's columns of them, in registers. Column reductions end in
// the block, so there are no partial rows to combine; the row sums cross the
// grid. A warp leaves its block's part of a row's sum in the workspace and
// reads the parts of all blocks back, [buffer][word][row of a batch][block], 8
// bytes each.
//
// A batch is as many rows as the warps of a block hold at once. Batches are
// counted over launches, and a word carries the count beside its 32 bits: a
// reader sees by the word alone whether it is new, without a barrier, a fence
// or a reset. Every second batch has the same buffer: who writes to it has read
// what the other blocks wrote to the other one, which they did after they read
// this one. (The count wraps: a word that isn't written for 2^32 batches, and is
// awaited in the next one, would be taken for new.)
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Blocks whose words a lane loads together: 160 of them a warp.
static constexpr unsigned kBlocksOfLane = 5;

/// Two words a row reduction hold any type.
int64_t norm_fusion::getWorkspaceRowBytes(const Problem &problem) {
  return int64_t(2) * 8 * 2 * problem.rowReductions;
}

/// Word `word` of what row `row` of a batch exchanges, of block 0; that of the
/// next block is 8 bytes on.
Value KernelEmitter::exchangeWord(Value count, unsigned word, Value row) {
  int64_t rows = schedule.getRowGroups() * schedule.getRows();
  Value buffer = toI64(arith::AndIOp::create(b, count, i32(1)));
  Value index = add(mul(buffer, i64(2 * problem.rowReductions)), i64(word));
  index = mul(add(mul(index, i64(rows)), row), gridSize());
  return byteAddress(arguments.workspace,
                     add(mul(index, i64(8)), i64(kWorkspaceHeaderBytes)));
}

/// The first lane leaves the block's part of row `row`'s sums.
void KernelEmitter::sendToGrid(ArrayRef<Value> sums, unsigned word, Value count,
                               Value row) {
  Value isLane0 =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneId(), i32(0));
  guarded(both(isLane0, rowExists), [&] {
    for (Value sum : sums)
      for (Value part : splitWord(toWord(sum))) {
        Value pointer = byteAddress(exchangeWord(count, word++, row),
                                    mul(blockId(), i64(8)));
        storeTagged(pointer, toI64(part), count);
      }
  });
}

/// The sums of row `row` over all blocks, in the order of these.
SmallVector<Value> KernelEmitter::receiveFromGrid(ArrayRef<RowReduceOp> wave,
                                                  unsigned word, Value count,
                                                  Value row) {
  SmallVector<Value> identities, bases;
  SmallVector<unsigned> words;
  for (RowReduceOp reduce : wave) {
    identities.push_back(arith::ConstantOp::create(
        b, getIdentity(reduce.getCombiner(), reduce.getType())));
    words.push_back(getWordType(reduce.getType()).getIntOrFloatBitWidth() / 32);
    for (unsigned k = 0; k < words.back(); ++k)
      bases.push_back(exchangeWord(count, word++, row));
  }
  Value blocks = gridSize(), lane = toI64(laneId());
  // A warp without a row reads no words.
  auto loop = scf::ForOp::create(b, i64(0), select(rowExists, blocks, i64(0)),
                                 i64(32 * kBlocksOfLane), identities);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> inside, pointers;
    for (unsigned k = 0; k < kBlocksOfLane; ++k) {
      Value block =
          add(loop.getInductionVar(), add(lane, i64(int64_t(32) * k)));
      inside.push_back(
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, block, blocks));
      block = select(inside.back(), block, i64(0));
      for (Value base : bases)
        pointers.push_back(byteAddress(base, mul(block, i64(8))));
    }
    ValueRange loaded = awaitTagged(pointers, count);
    SmallVector<Value> sums(loop.getRegionIterArgs());
    for (unsigned k = 0, next = 0; k < kBlocksOfLane; ++k)
      for (auto [r, reduction] : llvm::enumerate(wave)) {
        RowReduceOp reduce = reduction;
        SmallVector<Value> parts;
        for (unsigned w = 0; w < words[r]; ++w)
          parts.push_back(
              arith::TruncIOp::create(b, b.getI32Type(), loaded[next++]));
        Value value =
            select(inside[k], fromWord(joinWord(parts), reduce.getType()),
                   identities[r]);
        sums[r] = createCombine(b, b.getLoc(), reduce.getCombiner(), sums[r],
                                value, /*contract=*/true);
      }
    if (!sums.empty())
      scf::YieldOp::create(b, sums);
  }
  SmallVector<Value> sums(loop.getResults());
  reduceLanes(wave, sums, 32);
  return sums;
}

/// Adds the warps' sums of the block's columns up to `end` in shared memory,
/// [accumulator][warp][column], and stores the results.
void KernelEmitter::storeColumnTotals(ArrayRef<ColumnView> views,
                                      ArrayRef<Value> accumulators,
                                      Value firstColumn, Value end) {
  int64_t warps = threads / 32, columns = schedule.getBlockColumns(), base = 0;
  SmallVector<int64_t> bases;
  for (auto [a, accumulate] : llvm::enumerate(accumulations)) {
    int64_t bytes = getWordBytes(accumulate);
    bases.push_back(base);
    for (auto [c, view] : llvm::enumerate(views)) {
      Value column = arith::SubIOp::create(b, view.column, firstColumn);
      Value index = add(mul(toI64(warpId()), i64(columns)), column);
      LLVM::StoreOp::create(
          b, toWord(accumulators[a * views.size() + c]),
          sharedPointer(add(mul(index, i64(bytes)), i64(base))),
          /*alignment=*/std::min<int64_t>(bytes * view.width, 16));
    }
    base += warps * columns * bytes;
  }
  syncBlock();
  Value owned = arith::SubIOp::create(b, end, firstColumn);
  auto loop = scf::ForOp::create(b, toI64(threadId()), owned, i64(threads),
                                 ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value column = loop.getInductionVar();
  SmallVector<Value> totals(accumulations.size());
  for (auto [a, accumulation] : llvm::enumerate(accumulations)) {
    PartialAccumulateOp accumulate = accumulation;
    Type type = accumulate.getOperand().getType(), word = getWordType(type);
    int64_t bytes = getWordBytes(accumulate);
    for (int64_t w = 0; w < warps; ++w) {
      Value at =
          add(mul(column, i64(bytes)), i64(bases[a] + w * columns * bytes));
      Value part = fromWord(
          LLVM::LoadOp::create(b, word, sharedPointer(at), bytes), type);
      totals[a] = w == 0
                      ? part
                      : createCombine(b, b.getLoc(), accumulate.getCombiner(),
                                      totals[a], part, /*contract=*/true);
    }
  }
  for (const CombineShare &share : getCombineShares())
    storeColumnResults(
        share, add(firstColumn, column),
        llvm::map_to_vector(share.accumulators.set_bits(),
                            [&](unsigned a) -> Value { return totals[a]; }));
}

void KernelEmitter::emitColumnBlocks() {
  unsigned warps = threads / 32, units = schedule.getRows();
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  Block *body = op.getBodyBlock();
  Value launched =
      loadRelaxed(byteAddress(arguments.workspace, i64(kLaunchCountOffset)), 1);
  Value lane = laneId();
  Value firstColumn = mul(blockId(), arguments.splits);
  Value end = arith::MinUIOp::create(b, add(firstColumn, arguments.splits),
                                     columnCount);
  Value isLeader = both(
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, i32(0)),
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, blockId(), i64(0)));
  SmallVector<ColumnView> views(chunks);
  for (auto [c, view] : llvm::enumerate(views)) {
    view.width = width;
    view.column =
        add(firstColumn, add(toI64(arith::MulIOp::create(b, lane, i32(width))),
                             i64(int64_t(c) * 32 * width)));
    view.mask =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, view.column, end);
  }

  SmallVector<Value> carried{launched};
  llvm::append_range(carried, getColumnIdentities(views));
  Value batchRows = i64(warps * units);
  auto batches = scf::ForOp::create(b, i64(0), rowCount, batchRows, carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(batches.getBody());
    Value firstRow = batches.getInductionVar();
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                         add(firstRow, batchRows), rowCount);
    Value count =
        arith::AddIOp::create(b, batches.getRegionIterArgs()[0], i32(1));
    SmallVector<Value> accumulators(batches.getRegionIterArgs().drop_front());

    // All loads first: the rows' own, then what other rows read too.
    SmallVector<RowView> rows =
        getRowsOfStep(firstRow, /*step=*/Value(), warpId(), views);
    SmallVector<Value> rowsOfBatch;
    for (RowView &row : rows) {
      rowsOfBatch.push_back(toI64(row.inTile));
      swapRow(row);
      for (ColumnView &view : row.columns) {
        view.mask = both(view.mask, rowExists);
        for (BlockArgument argument : body->getArguments())
          if (!argument.use_empty() && hasColumns(argument) &&
              hasRows(argument))
            view.values[argument] = loadAt(argument.getArgNumber(), view);
      }
      prepareRowValues(0);
      swapRow(row);
    }
    SmallVector<ColumnView> ofColumns(views);
    loadColumns(ofColumns);
    for (RowView &row : rows)
      for (auto [view, known] : llvm::zip(row.columns, ofColumns))
        view.values.insert(known.values.begin(), known.values.end());
    SmallVector<SmallVector<PackedElement>> packed;
    for (RowView &row : rows)
      packed.push_back(packElements(row.columns, /*ofColumns=*/true));

    unsigned word = 0;
    for (unsigned p = 0; p <= waves.size(); ++p) {
      ArrayRef<RowReduceOp> wave;
      if (p < waves.size())
        wave = waves[p];
      for (auto [u, row] : llvm::enumerate(rows)) {
        // What only needs the row's elements is unpacked again, not kept.
        if (p > 0) {
          for (ColumnView &view : row.columns)
            for (Operation &inner : body->without_terminator())
              if (inner.getNumResults() == 1 && isCheapOp(&inner))
                view.values.erase(inner.getResult(0));
          unpackElements(packed[u], row.columns);
        }
        swapRow(row);
        prepareRowValues(p);
        storeRowOutputs(p, isLeader);
        SmallVector<Value> sums = addViews(wave, row.columns);
        reduceLanes(wave, sums, 32);
        sendToGrid(sums, word, count, rowsOfBatch[u]);
        for (auto [c, view] : llvm::enumerate(row.columns))
          addPartials(p, c, view, accumulators);
        storeElementOutputs(p, row.columns, /*allExist=*/Value());
        swapRow(row);
      }
      // While the sums are on their way.
      if (p == getPartialsPhase())
        guarded(isLast, [&] {
          storeColumnTotals(views, accumulators, firstColumn, end);
        });
      if (wave.empty())
        continue;
      for (auto [u, row] : llvm::enumerate(rows)) {
        swapRow(row);
        SmallVector<Value> sums =
            receiveFromGrid(wave, word, count, rowsOfBatch[u]);
        for (auto [reduction, sum] : llvm::zip(wave, sums)) {
          RowReduceOp reduce = reduction;
          rowValues[reduce.getResult()] = sum;
        }
        swapRow(row);
      }
      for (RowReduceOp reduce : wave)
        word += getWordType(reduce.getType()).getIntOrFloatBitWidth() / 32;
    }
    SmallVector<Value> next{count};
    llvm::append_range(next, accumulators);
    scf::YieldOp::create(b, next);
  }
  // Every warp of the block has read all blocks' words of its rows: each warp
  // that wrote some had read the count before.
  syncBlock();
  countLaunch(batches.getResult(0));
}
