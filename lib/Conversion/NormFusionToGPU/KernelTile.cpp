//===- KernelTile.cpp - Transposed copies through shared memory -----------===//
//
// Row-only groups that write an output in transposed order too: a block (or a
// cluster, each of its blocks some of the columns) takes `row-groups` x `rows`
// consecutive rows, `rows` of them in the registers of a row group at once, and
// leaves what is transposed in a tile of shared memory, row by row. Behind one
// barrier each lane takes the 16 bytes of a column that lie side by side in the
// output, so that a warp writes whole sectors.
//
// The tile's words are swizzled: lanes of a warp read the same words of several
// pieces of rows, whose banks an exclusive or of the piece keeps apart.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Of an output in the tile: rows that 16 bytes of a column hold, and how many
/// such pieces the tile has.
static std::pair<unsigned, unsigned> getPieces(ScheduleAttr schedule,
                                               unsigned bytes) {
  unsigned rows = 16 / bytes;
  return {rows, getTileRows(schedule) / rows};
}

/// Byte of the tile at which row `row` (i32) has `column` (i32).
Value KernelEmitter::tileOffset(const TiledOutput &output, Value row,
                                Value column) {
  auto [rows, pieces] = getPieces(schedule, output.bytes);
  Value bytes = arith::MulIOp::create(b, column, i32(output.bytes));
  Value piece = arith::DivUIOp::create(b, row, i32(rows));
  Value swizzle = arith::MulIOp::create(b, piece, i32(128 / pieces));
  bytes = arith::XOrIOp::create(b, bytes, swizzle);
  Value line = arith::MulIOp::create(
      b, row, i32(schedule.getBlockColumns() * output.bytes));
  return arith::AddIOp::create(b, arith::AddIOp::create(b, line, bytes),
                               i32(output.offset));
}

void KernelEmitter::findTiledOutputs() {
  unsigned offset = exchangeBytes;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i) {
    if (!isTiledOutput(op, i))
      continue;
    Type type = getElementTypeOrSelf(op.getOutputs()[i].getType());
    unsigned bytes = getMemoryType(type).getIntOrFloatBitWidth() / 8;
    tiled.push_back({numInputs + i, bytes, offset});
    offset += getTileRows(schedule) * schedule.getBlockColumns() * bytes;
  }
}

bool KernelEmitter::storeInTile(unsigned operand, Value value,
                                ColumnView &view) {
  auto output = llvm::find_if(
      tiled, [&](const TiledOutput &t) { return t.operand == operand; });
  if (output == tiled.end() || !tileRow)
    return false;
  Type type = getElementTypeOrSelf(op.getOperand(operand).getType());
  Value column = arith::SubIOp::create(
      b, arith::TruncIOp::create(b, b.getI32Type(), view.column),
      arith::MulIOp::create(b, rank, i32(schedule.getBlockColumns())));
  LLVM::StoreOp::create(b, toMemory(value, type),
                        sharedPointer(tileOffset(*output, tileRow, column)),
                        std::min(view.width * output->bytes, 16u));
  return true;
}

void KernelEmitter::writeTile(const TiledOutput &output, Value firstRow) {
  auto pieceShape = getPieces(schedule, output.bytes);
  unsigned rows = pieceShape.first, pieces = pieceShape.second;
  unsigned columnsAWord = 4 / output.bytes;
  unsigned words = schedule.getBlockColumns() / columnsAWord;
  Value lane = laneId();
  Value piece = arith::RemUIOp::create(b, lane, i32(pieces));
  Value word = arith::AddIOp::create(
      b, arith::DivUIOp::create(b, lane, i32(pieces)),
      arith::MulIOp::create(b, warpId(), i32(32 / pieces)));
  Value rowInTile = arith::MulIOp::create(b, piece, i32(rows));
  Value row = add(firstRow, toI64(rowInTile));
  // A piece's rows lie side by side if all exist and the last row dimension is
  // a multiple of them: they differ in it alone.
  unsigned lastRowDim = reducedRowDims.find_last();
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                        add(row, i64(rows)), rowCount);
  Value rest = arith::RemUIOp::create(b, arguments.dims[lastRowDim], i64(rows));
  isWhole = arith::AndIOp::create(
      b, isWhole,
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, i64(0)));

  auto loop = scf::ForOp::create(b, toI64(word), i64(words),
                                 i64(threads / pieces), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value local = mul(loop.getInductionVar(), i64(columnsAWord));
  Value local32 = arith::TruncIOp::create(b, b.getI32Type(), local);
  Value column = add(local, mul(toI64(rank), i64(schedule.getBlockColumns())));
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, columnCount);
  b.setInsertionPointToStart(scf::IfOp::create(b, exists).thenBlock());
  Type element = b.getIntegerType(output.bytes * 8);
  Value packed =
      LLVM::PoisonOp::create(b, VectorType::get({rows}, b.getI32Type()));
  for (unsigned i = 0; i < rows; ++i) {
    Value at = tileOffset(output, arith::AddIOp::create(b, rowInTile, i32(i)),
                          local32);
    packed = LLVM::InsertElementOp::create(
        b, packed,
        LLVM::LoadOp::create(b, b.getI32Type(), sharedPointer(at), 4), i32(i));
  }
  Value elements = LLVM::BitcastOp::create(
      b, VectorType::get({rows * columnsAWord}, element), packed);
  auto pointer = [&](Value ofRow, unsigned e) {
    SmallVector<Value> indices(segmentIndices);
    delinearize(ofRow, reducedRowDims, indices);
    delinearize(add(column, i64(e)), columnDims, indices);
    return address(output.operand, offset(output.operand, indices));
  };
  auto columnExists = [&](unsigned e) -> Value {
    if (problem.columns % columnsAWord == 0)
      return {};
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                 add(column, i64(e)), columnCount);
  };
  auto ifWhole = scf::IfOp::create(b, isWhole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(ifWhole.thenBlock());
  for (unsigned e = 0; e < columnsAWord; ++e) {
    SmallVector<int32_t> order;
    for (unsigned i = 0; i < rows; ++i)
      order.push_back(i * columnsAWord + e);
    Value ofColumn =
        LLVM::ShuffleVectorOp::create(b, elements, elements, order);
    Value stored = LLVM::BitcastOp::create(
        b, VectorType::get({4}, b.getI32Type()), ofColumn);
    // The neighbouring tiles write the rest of the lines: these stay in the L2.
    guarded(columnExists(e),
            [&] { LLVM::StoreOp::create(b, stored, pointer(row, e), 16); });
  }
  b.setInsertionPointToStart(ifWhole.elseBlock());
  for (unsigned i = 0; i < rows; ++i) {
    Value ofRow = add(row, i64(i));
    guarded(
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, ofRow, rowCount),
        [&] {
          for (unsigned e = 0; e < columnsAWord; ++e)
            guarded(columnExists(e), [&] {
              LLVM::StoreOp::create(b,
                                    LLVM::ExtractElementOp::create(
                                        b, elements, i32(i * columnsAWord + e)),
                                    pointer(ofRow, e), output.bytes);
            });
        });
  }
}

void KernelEmitter::emitTileBlocks() {
  unsigned groups = schedule.getRowGroups();
  unsigned units = schedule.getRows(), tileRows = getTileRows(schedule);
  bool exact = problem.columns ==
               int64_t(schedule.getCluster()) * schedule.getBlockColumns();
  findTiledOutputs();

  bool awaitsInShare = schedule.getGrid() == 0;
  initExchange();
  if (!awaitsInShare)
    awaitExchange();
  Value lane = laneId();
  auto [rowGroup, warpOfRow, partOfRow, isLeader] = getRowPart(lane);
  Value allExist;
  SmallVector<ColumnView> views =
      getLaneViews(partOfRow, lane, exact, /*firstColumn=*/nullptr, &allExist);

  Value tiles = arith::DivUIOp::create(b, add(rowCount, i64(tileRows - 1)),
                                       i64(tileRows));
  emitShare(cluster, tiles, clusterStride, [&](Value tile, Value step) {
    Value firstRow = mul(tile, i64(tileRows));
    // All loads first: the rows' own, then what other rows read too.
    Block *body = op.getBodyBlock();
    SmallVector<RowView> rows(units);
    SmallVector<Value> rowsInTile;
    Value last = arith::SubIOp::create(b, rowCount, i64(1));
    for (auto [u, row] : llvm::enumerate(rows)) {
      rowsInTile.push_back(arith::AddIOp::create(b, rowGroup, i32(u * groups)));
      Value index = add(firstRow, toI64(rowsInTile.back()));
      row.exists =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, rowCount);
      row.indices = segmentIndices;
      delinearize(arith::MinUIOp::create(b, index, last), reducedRowDims,
                  row.indices);
      row.columns = views;
      swapRow(row);
      for (ColumnView &view : row.columns)
        for (BlockArgument argument : body->getArguments())
          if (!argument.use_empty() && hasColumns(argument) &&
              hasRows(argument))
            view.values[argument] = loadAt(argument.getArgNumber(), view);
      prepareRowValues(0);
      swapRow(row);
    }
    for (auto [c, view] : llvm::enumerate(views))
      for (BlockArgument argument : body->getArguments())
        if (!argument.use_empty() && hasColumns(argument) &&
            !hasRows(argument)) {
          Value value = loadAt(argument.getArgNumber(), view);
          for (RowView &row : rows)
            row.columns[c].values[argument] = value;
        }

    if (awaitsInShare)
      awaitExchange();
    SmallVector<SmallVector<PackedElement>> packed;
    for (RowView &row : rows)
      packed.push_back(packElements(row.columns, /*ofColumns=*/units > 1));

    for (unsigned p = 0; p <= waves.size(); ++p) {
      SmallVector<RowReduceOp> wave;
      SmallVector<Value> sums;
      for (auto [u, row] : llvm::enumerate(rows)) {
        // What only needs the row's elements is unpacked again, not kept.
        if (p > 0) {
          for (ColumnView &view : row.columns)
            for (Operation &inner : body->without_terminator())
              if (inner.getNumResults() == 1 && isCheapOp(&inner) &&
                  (units > 1 || hasRows(inner.getResult(0))))
                view.values.erase(inner.getResult(0));
          unpackElements(packed[u], row.columns);
        }
        swapRow(row);
        tileRow = rowsInTile[u];
        prepareRowValues(p);
        storeRowOutputs(p, isLeader);
        if (p < waves.size())
          for (RowReduceOp reduce : waves[p]) {
            SmallVector<Value> chains;
            for (ColumnView &view : row.columns)
              addView(chains, reduce, view);
            wave.push_back(reduce);
            sums.push_back(addChains(chains, reduce.getCombiner()));
          }
        storeElementOutputs(p, row.columns, allExist);
        tileRow = Value();
        swapRow(row);
      }
      if (p == waves.size())
        break;
      exchangeRowSums(wave, sums, rowGroup, warpOfRow, step);
      unsigned next = 0;
      for (RowView &row : rows)
        for (RowReduceOp reduce : waves[p])
          row.values[reduce.getResult()] = sums[next++];
      step = arith::AddIOp::create(b, step, i32(1));
    }

    syncBlock();
    for (const TiledOutput &output : tiled)
      writeTile(output, firstRow);
    // The next tile takes the same place.
    if (schedule.getGrid() != 0)
      syncBlock();
    return step;
  });
}
