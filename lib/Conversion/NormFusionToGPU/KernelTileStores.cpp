//===- KernelTileStores.cpp - Transposed outputs through shared memory ----===//
//
// Blocks that work on neighbouring rows (structure=tile, and rings with tiles)
// leave what is transposed in a tile of shared memory, row by row.
//
// Behind one barrier each lane takes the 16 bytes of a column that lie side by
// side in the output (a *piece*), so that a warp writes whole sectors (or,
// where columns don't begin at 16 bytes, an element, and neighbouring lanes
// have neighbouring rows): by matrices of 8 x 8 16-bit words, transposed as
// they are read, where a column has four pieces or eight; else by 32-bit words.
// The tile's rows are swizzled: an exclusive or of the piece, and of the row's
// lowest bit, keeps apart the banks of what is read at once.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/SaveAndRestore.h"

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
  Value swizzle = arith::DivUIOp::create(b, row, i32(rows));
  if (readsMatrices(schedule, output.bytes)) {
    Value bit = arith::AndIOp::create(b, row, i32(1));
    swizzle = arith::AndIOp::create(b, swizzle, i32(3));
    swizzle =
        arith::AddIOp::create(b, arith::MulIOp::create(b, swizzle, i32(32)),
                              arith::MulIOp::create(b, bit, i32(16)));
  } else {
    swizzle = arith::MulIOp::create(b, swizzle, i32(128 / pieces));
  }
  bytes = arith::XOrIOp::create(b, bytes, swizzle);
  Value line = arith::MulIOp::create(
      b, row, i32(schedule.getBlockColumns() * output.bytes));
  return arith::AddIOp::create(b, arith::AddIOp::create(b, line, bytes),
                               i32(output.offset));
}

void KernelEmitter::findTiledOutputs() {
  unsigned offset =
      getSharedMemoryBytes(problem, schedule) - getTileBytes(problem, schedule);
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i) {
    if (!isTiledOutput(op, i))
      continue;
    Type type = getElementTypeOrSelf(op.getOutputs()[i].getType());
    unsigned bytes = getBytes(type);
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

/// The lane's piece of each of its columns, from 32-bit words of the piece's
/// rows: as many columns as a word has.
SmallVector<Value> KernelEmitter::readWords(const TiledOutput &output,
                                            Value firstColumn) {
  auto [rows, pieces] = getPieces(schedule, output.bytes);
  unsigned columns = 4 / output.bytes;
  Value lane = laneId();
  Value row = arith::MulIOp::create(
      b, arith::RemUIOp::create(b, lane, i32(pieces)), i32(rows));
  Value column = arith::AddIOp::create(
      b, firstColumn,
      arith::MulIOp::create(b, arith::DivUIOp::create(b, lane, i32(pieces)),
                            i32(columns)));
  Value packed =
      LLVM::PoisonOp::create(b, VectorType::get({rows}, b.getI32Type()));
  for (unsigned i = 0; i < rows; ++i) {
    Value at =
        tileOffset(output, arith::AddIOp::create(b, row, i32(i)), column);
    packed = LLVM::InsertElementOp::create(
        b, packed,
        LLVM::LoadOp::create(b, b.getI32Type(), sharedPointer(at), 4), i32(i));
  }
  Type element = b.getIntegerType(output.bytes * 8);
  Value elements = LLVM::BitcastOp::create(
      b, VectorType::get({rows * columns}, element), packed);
  SmallVector<Value> result;
  for (unsigned e = 0; e < columns; ++e) {
    SmallVector<int32_t> order;
    for (unsigned i = 0; i < rows; ++i)
      order.push_back(i * columns + e);
    result.push_back(
        LLVM::ShuffleVectorOp::create(b, elements, elements, order));
  }
  return result;
}

/// The same from 16-bit words, one of bf16 or two columns of one byte. Row 2j+k
/// of matrix q is the word of row 2q+k of piece j, whose transpose leaves lane
/// 4c+j with the piece's rows 2q and 2q+1 of word c: four matrices are eight
/// rows.
SmallVector<Value> KernelEmitter::readMatrices(const TiledOutput &output,
                                               Value firstColumn) {
  unsigned rows = getPieces(schedule, output.bytes).first;
  Value lane = laneId();
  auto bits = [&](unsigned shift, unsigned mask) -> Value {
    return arith::AndIOp::create(b, arith::ShRUIOp::create(b, lane, i32(shift)),
                                 i32(mask));
  };
  Value row = arith::MulIOp::create(b, bits(1, 3), i32(rows));
  row = arith::AddIOp::create(b, row,
                              arith::MulIOp::create(b, bits(3, 3), i32(2)));
  row = arith::AddIOp::create(b, row, bits(0, 1));
  Type word = b.getI32Type();
  Type four = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               SmallVector<Type>(4, word));
  SmallVector<Value> result;
  for (unsigned first = 0; first < getTileRows(schedule); first += 4 * rows) {
    SmallVector<Value> words;
    for (unsigned i = 0; i < rows; i += 8) {
      Value at = tileOffset(
          output, arith::AddIOp::create(b, row, i32(first + i)), firstColumn);
      Value read = createAsm(b, four, sharedPointer(at),
                             "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                             "{$0,$1,$2,$3}, [$4];",
                             "=r,=r,=r,=r,r,~{memory}");
      for (unsigned q = 0; q < 4; ++q)
        words.push_back(LLVM::ExtractValueOp::create(b, read, q));
    }
    for (unsigned e = 0; e < 2 / output.bytes; ++e) {
      Value piece = LLVM::PoisonOp::create(b, VectorType::get({4}, word));
      for (unsigned q = 0; q < 4; ++q) {
        Value ofRows = words[q];
        if (output.bytes == 1)
          ofRows = NVVM::PermuteOp::create(
              b, word, words[2 * q], words[2 * q + 1], i32(e ? 0x7531 : 0x6420),
              NVVM::PermuteMode::DEFAULT);
        piece = LLVM::InsertElementOp::create(b, piece, ofRows, i32(q));
      }
      result.push_back(LLVM::BitcastOp::create(
          b, VectorType::get({rows}, b.getIntegerType(output.bytes * 8)),
          piece));
    }
  }
  return result;
}

/// Writes the rows of the tile from `firstRow` up to `endRow`, in pieces or, if
/// these don't lie side by side in memory, element by element.
void KernelEmitter::writeTile(const TiledOutput &output, Value firstRow,
                              Value endRow) {
  // Computed here and not before the rows, which take the registers.
  llvm::SaveAndRestore savedDims(arguments.dims);
  for (Value &dim : arguments.dims)
    if (!matchPattern(dim, m_Constant()))
      dim = createOpaque(b, dim);
  // A piece's rows lie side by side if the last row dimension is a multiple of
  // them: they differ in it alone. Then each piece exists or doesn't.
  unsigned rows = getPieces(schedule, output.bytes).first;
  Value rest = arith::RemUIOp::create(
      b, arguments.dims[reducedRowDims.find_last()], i64(rows));
  auto ifPieces = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, i64(0)),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifPieces.thenBlock());
  writeTilePieces(output, firstRow, endRow);
  b.setInsertionPointToStart(ifPieces.elseBlock());
  writeTileElements(output, firstRow, endRow);
}

/// Where the transposed output has row `row` of `column`, all i64.
Value KernelEmitter::tiledAddress(const TiledOutput &output, Value row,
                                  Value column) {
  SmallVector<Value> indices(segmentIndices);
  delinearize(row, reducedRowDims, indices);
  delinearize(column, columnDims, indices);
  return address(output.operand, offset(output.operand, indices));
}

/// The columns of the block's tile that a warp takes, `columns` at once. `emit`
/// gets the first of them in the tile, i32, and the one of the row that is
/// `ofLane` (i32) behind it, i64.
void KernelEmitter::forTileColumns(
    unsigned columns, Value ofLane,
    llvm::function_ref<void(Value first, Value column)> emit) {
  Value first = arith::MulIOp::create(b, warpId(), i32(columns));
  auto loop =
      scf::ForOp::create(b, toI64(first), i64(schedule.getBlockColumns()),
                         i64(threads / 32 * columns), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value local = loop.getInductionVar();
  emit(arith::TruncIOp::create(b, b.getI32Type(), local),
       add(add(local, toI64(ofLane)),
           mul(toI64(rank), i64(schedule.getBlockColumns()))));
}

void KernelEmitter::writeTilePieces(const TiledOutput &output, Value firstRow,
                                    Value endRow) {
  auto pieceShape = getPieces(schedule, output.bytes);
  unsigned rows = pieceShape.first, pieces = pieceShape.second;
  bool isMatrix = readsMatrices(schedule, output.bytes);
  unsigned columnsALane = (isMatrix ? 2 : 4) / output.bytes;
  // Of a column, at once.
  unsigned piecesAWarp = isMatrix ? 4 : pieces;
  Value lane = laneId();
  Value piece = arith::RemUIOp::create(b, lane, i32(piecesAWarp));
  Value ofLane = arith::MulIOp::create(
      b, arith::DivUIOp::create(b, lane, i32(piecesAWarp)), i32(columnsALane));
  Value firstOfLane =
      add(firstRow, toI64(arith::MulIOp::create(b, piece, i32(rows))));

  // The neighbouring tiles write the rest of the lines: what is written of them
  // stays in the L2, whatever else passes through it.
  Value policy = createEvictLastPolicy();
  auto storePiece = [&](Value pointer, Value elements) {
    Value words = LLVM::BitcastOp::create(
        b, VectorType::get({4}, b.getI32Type()), elements);
    storeWords("st.global", pointer, words, /*condition=*/Value(), policy);
  };

  unsigned columnsAWarp = 32 / piecesAWarp * columnsALane;
  forTileColumns(columnsAWarp, ofLane, [&](Value local, Value column) {
    SmallVector<Value> read =
        isMatrix ? readMatrices(output, local) : readWords(output, local);
    guarded(isTileColumn(column, 0, columnsALane), [&] {
      for (unsigned p = 0; p < pieces; p += piecesAWarp) {
        ArrayRef<Value> ofColumns = ArrayRef<Value>(read).slice(
            p / piecesAWarp * columnsALane, columnsALane);
        Value row = add(firstOfLane, i64(p * rows));
        Value exists =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, endRow);
        guarded(exists, [&] {
          for (unsigned e = 0; e < columnsALane; ++e)
            guarded(e ? isTileColumn(column, e, columnsALane) : Value(), [&] {
              storePiece(tiledAddress(output, row, add(column, i64(e))),
                         ofColumns[e]);
            });
        });
      }
    });
  });
}

/// True if column `e` of a lane's `columns` from `first` on exists; null if it
/// does where the first one does.
Value KernelEmitter::isTileColumn(Value first, unsigned e, unsigned columns) {
  if (problem.columns % columns == 0 && e > 0)
    return {};
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, add(first, i64(e)),
                               columnCount);
}

/// Neighbouring lanes have neighbouring rows of a column, which they read as
/// words of several columns.
void KernelEmitter::writeTileElements(const TiledOutput &output, Value firstRow,
                                      Value endRow) {
  unsigned tileRows = getTileRows(schedule), columns = 4 / output.bytes;
  unsigned rows = std::min(tileRows, 32u);
  Value lane = laneId();
  Value rowOfLane = arith::RemUIOp::create(b, lane, i32(rows));
  Value columnOfLane = arith::MulIOp::create(
      b, arith::DivUIOp::create(b, lane, i32(rows)), i32(columns));
  Type element = b.getIntegerType(output.bytes * 8);
  unsigned columnsAWarp = 32 / rows * columns;
  forTileColumns(columnsAWarp, columnOfLane, [&](Value local, Value column) {
    Value ofTile = arith::AddIOp::create(b, local, columnOfLane);
    for (unsigned at = 0; at < tileRows; at += rows) {
      Value inTile = arith::AddIOp::create(b, rowOfLane, i32(at));
      Value row = add(firstRow, toI64(inTile));
      Value exists = both(
          isTileColumn(column, 0, columns),
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, endRow));
      guarded(exists, [&] {
        Value word = LLVM::LoadOp::create(
            b, b.getI32Type(),
            sharedPointer(tileOffset(output, inTile, ofTile)), 4);
        Value elements = LLVM::BitcastOp::create(
            b, VectorType::get({columns}, element), word);
        for (unsigned e = 0; e < columns; ++e)
          guarded(e ? isTileColumn(column, e, columns) : Value(), [&] {
            LLVM::StoreOp::create(
                b, LLVM::ExtractElementOp::create(b, elements, i32(e)),
                tiledAddress(output, row, add(column, i64(e))), output.bytes);
          });
      });
    }
  });
}

/// Writes what is transposed of the rows from `firstRow` up to `endRow`, which
/// all of the block have left in the tile.
void KernelEmitter::writeTiles(Value firstRow, Value endRow) {
  syncBlock();
  for (const TiledOutput &output : tiled)
    writeTile(output, firstRow, endRow);
}

/// Writes the tile that step `k` completes, if it does.
void KernelEmitter::finishTile(const TileShare &share, Value k) {
  TileStep step = getTileStep(share, k);
  Value isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, step.inTile,
                                       i32(getTileSteps(schedule) - 1));
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, k,
                            arith::SubIOp::create(b, share.steps, i64(1)));
  guarded(arith::OrIOp::create(b, isFull, isLast), [&] {
    writeTiles(step.firstRow, step.endRow);
    // The next tile takes the same place.
    syncBlock();
  });
}

/// The share of the one that begins with tile `first` of `stride`, i64.
TileShare KernelEmitter::getTileShare(Value first, Value stride) {
  unsigned stepRows = getStepRows(schedule), tileRows = getTileRows(schedule);
  unsigned least = getTilePart(schedule);
  Value round = mul(stride, i64(tileRows));
  TileShare share;
  share.first = first;
  share.stride = stride;
  share.wholeTiles = arith::DivUIOp::create(b, rowCount, round);
  Value done = mul(share.wholeTiles, round);
  Value rest = arith::SubIOp::create(b, rowCount, done);
  auto ceilDiv = [&](Value a, Value c) -> Value {
    return arith::DivUIOp::create(
        b, add(a, arith::SubIOp::create(b, c, i64(1))), c);
  };
  share.restRows = mul(ceilDiv(ceilDiv(rest, stride), i64(least)), i64(least));
  share.restFirst = add(done, mul(first, share.restRows));
  Value exists = isRow(share.restFirst);
  share.steps = add(
      mul(share.wholeTiles, i64(getTileSteps(schedule))),
      select(exists, arith::DivUIOp::create(b, share.restRows, i64(stepRows)),
             i64(0)));
  return share;
}

TileStep KernelEmitter::getTileStep(const TileShare &share, Value k) {
  unsigned steps = getTileSteps(schedule), tileRows = getTileRows(schedule);
  Value tile = arith::DivUIOp::create(b, k, i64(steps));
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, tile,
                                        share.wholeTiles);
  TileStep step;
  step.inTile = arith::TruncIOp::create(
      b, b.getI32Type(), arith::RemUIOp::create(b, k, i64(steps)));
  step.firstRow = select(
      isWhole, mul(add(mul(tile, share.stride), share.first), i64(tileRows)),
      share.restFirst);
  step.endRow = arith::MinUIOp::create(
      b, rowCount,
      add(step.firstRow, select(isWhole, i64(tileRows), share.restRows)));
  return step;
}
