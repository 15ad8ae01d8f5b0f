//===- KernelRingCopies.cpp - Rows from global memory to registers --------===//
//
// A lane copies its own vectors of a row to its own bytes of a slot, or one
// lane all of its warp's (copy=bulk); where rows are shifted, the lanes of a
// warp copy the aligned pieces around the warp's part together; and with
// copy=rows all of its rows (KernelRingRows.cpp). From there to
// registers as 32-bit words. One lane of a row copies its inputs of the row
// level, for all lanes, with row-inputs=copy.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// The inputs by when they are read, and the places of those that come through
/// slots: in vectors, which what lacks the last column dimension, a scale of
/// each head of a row for one, doesn't have; and those of the row level.
void KernelEmitter::placeStreams(Ring &ring) {
  unsigned width = schedule.getVector(), chunks = schedule.getChunks();
  for (BlockArgument argument : op.getBodyBlock()->getArguments()) {
    if (argument.use_empty())
      continue;
    unsigned i = argument.getArgNumber();
    if (!hasColumns(argument)) {
      if (!hasRows(argument))
        continue;
      bool isCopied = copiesRowInput(schedule, getBytes(argument.getType()));
      (isCopied ? ring.copiedRowInputs : ring.rowInputs).push_back(argument);
      continue;
    }
    if (!hasRows(argument)) {
      ring.columnInputs.push_back(i);
      continue;
    }
    if (!ring.async ||
        !op.getInputMap(i).isFunctionOfDim(columnDims.find_last())) {
      ring.loadedInputs.push_back(i);
      continue;
    }
    unsigned elementBytes = getBytes(argument.getType());
    unsigned bytes = elementBytes * width;
    unsigned partBytes = ring.units * chunks * 32 * bytes;
    ring.streams.push_back({i, bytes, ring.slotBytes, partBytes / 16 + 1});
    ring.slotBytes += getStreamBytes(problem, schedule, elementBytes);
  }
  ring.base = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, warpId(),
                            i32((ring.slots + 1) * ring.slotBytes)),
      i32(exchangeBytes));
  unsigned slots = ring.slots + 1;
  ring.rowInputBase = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, warpId(),
                            i32(slots * getRowInputBytes(problem, schedule))),
      i32(exchangeBytes + threads / 32 * slots * ring.slotBytes));
  if (ring.together)
    placeSlotOutputs(ring);
}

void KernelEmitter::loadInputs(ArrayRef<unsigned> inputs,
                               MutableArrayRef<ColumnView> views) {
  for (unsigned input : inputs)
    for (ColumnView &view : views)
      view.values[op.getBodyBlock()->getArgument(input)] = loadAt(input, view);
}

/// Row `u` of a lane in step `k`. A warp's last rows may not exist.
Value KernelEmitter::getRow(const Ring &ring, Value k, unsigned u) {
  if (ring.takesTiles()) {
    TileStep step = getTileStep(ring.share, toI64(k));
    return add(step.firstRow, toI64(getRowInTile(ring, step, u)));
  }
  if (ring.firstSteps) {
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, ring.firstSteps);
    return toI64(
        add(select(isFirst, ring.first, ring.secondRow), mul(k, ring.stride)));
  }
  if (ring.takesTurns())
    k = add(mul(k, i32(ring.units)), i32(u));
  Value row = add(ring.first, mul(k, ring.stride));
  if (ring.rowsAStep > 1)
    row = add(mul(row, i32(ring.rowsAStep)), i32(u * schedule.getRowsAWarp()));
  return toI64(ring.rowOfLane ? add(row, ring.rowOfLane) : row);
}

/// The place of row `u` of a lane in its tile, i32.
Value KernelEmitter::getRowInTile(const Ring &ring, const TileStep &step,
                                  unsigned u) {
  Value row = arith::MulIOp::create(b, ring.part.rowGroup, i32(ring.rowsAStep));
  if (ring.rowOfLane)
    row = arith::AddIOp::create(b, row, ring.rowOfLane);
  row = arith::AddIOp::create(
      b, row,
      arith::MulIOp::create(b, step.inTile, i32(getStepRows(schedule))));
  unsigned apart =
      ring.rowsAStep == 1 ? schedule.getRowGroups() : schedule.getRowsAWarp();
  return arith::AddIOp::create(b, row, i32(u * apart));
}

/// Two i64 values, or the 32-bit ones that both are extended from, as rings'
/// rows and the number of these are: comparing those takes half as long.
static std::pair<Value, Value> withoutExtension(Value a, Value c) {
  auto first = a.getDefiningOp<arith::ExtUIOp>();
  auto second = c.getDefiningOp<arith::ExtUIOp>();
  if (first && second)
    return {first.getIn(), second.getIn()};
  return {a, c};
}

Value KernelEmitter::isRow(Value row) {
  auto [index, count] = withoutExtension(row, rowCount);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, count);
}

Value KernelEmitter::isLastRow(Value row) {
  auto [index, last] = withoutExtension(row, lastRow);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, last);
}

Value KernelEmitter::lastRowAtMost(Value row) {
  auto [index, last] = withoutExtension(row, lastRow);
  Value least = arith::MinUIOp::create(b, index, last);
  return least.getType().isInteger(32) ? toI64(least) : least;
}

/// Where the warp's bytes of a slot begin, i32.
Value KernelEmitter::getSlot(const Ring &ring, Value slot) {
  return arith::AddIOp::create(
      b, ring.base, arith::MulIOp::create(b, slot, i32(ring.slotBytes)));
}

/// Where those of an input begin.
Value KernelEmitter::getSlot(const Ring &ring, const Stream &stream,
                             Value slot) {
  return arith::AddIOp::create(b, getSlot(ring, slot), i32(stream.slotOffset));
}

/// The lane's own vector in a slot.
Value KernelEmitter::getSlotPointer(const Ring &ring, const Stream &stream,
                                    Value slot, unsigned u, unsigned chunk) {
  Value ofLane = arith::MulIOp::create(b, ring.lane, i32(stream.bytes));
  unsigned constant = (u * schedule.getChunks() + chunk) * 32 * stream.bytes;
  if (ring.together) {
    unsigned bytes = stream.bytes / schedule.getVector();
    ofLane =
        add(getOffsetInRows(ring, bytes), getPlaceInSector(stepRow, bytes));
    constant = u * schedule.getRowsAWarp() * problem.columns * bytes +
               chunk * schedule.getLanes() * stream.bytes;
  }
  return sharedPointer(arith::AddIOp::create(
      b, arith::AddIOp::create(b, getSlot(ring, slot), ofLane),
      i32(stream.slotOffset + constant)));
}

/// Where the warp's part of row `indices` of a shifted input begins: the piece
/// of 16 bytes, and in `shift` the byte in it.
Value KernelEmitter::getPartStart(const Ring &ring, const Stream &stream,
                                  SmallVector<Value> indices, Value &shift) {
  delinearize(ring.firstColumn, columnDims, indices);
  Value start = address(stream.input, offset(stream.input, indices));
  Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), start);
  shift = arith::TruncIOp::create(b, b.getI32Type(),
                                  arith::AndIOp::create(b, bits, i64(15)));
  return byteAddress(start, arith::SubIOp::create(b, i64(0), toI64(shift)));
}

/// Starts the copies of a shifted input's pieces; the last one ends with the
/// part, so that nothing beyond the operand is read.
void KernelEmitter::copyPart(const Ring &ring, const Stream &stream,
                             const SmallVector<Value> &indices, Value slot) {
  unsigned width = schedule.getVector();
  Value shift;
  Value source = getPartStart(ring, stream, indices, shift);
  Value end = arith::AddIOp::create(
      b, shift,
      arith::MulIOp::create(
          b,
          arith::MinSIOp::create(
              b, i32(schedule.getChunks() * 32 * width),
              arith::TruncIOp::create(
                  b, b.getI32Type(),
                  arith::SubIOp::create(b, i64(problem.columns),
                                        ring.firstColumn))),
          i32(stream.bytes / width)));
  for (unsigned piece = 0; piece < stream.pieces; piece += 32) {
    Value at = arith::MulIOp::create(
        b, arith::AddIOp::create(b, ring.lane, i32(piece)), i32(16));
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, end);
    guarded(exists, [&] {
      Value size =
          arith::MinSIOp::create(b, arith::SubIOp::create(b, end, at), i32(16));
      Value target = arith::AddIOp::create(b, getSlot(ring, stream, slot), at);
      NVVM::CpAsyncOp::create(b, sharedPointer(target),
                              byteAddress(source, toI64(at)), 16,
                              NVVM::LoadCacheModifierKind::CG, size);
    });
  }
}

/// Constants that were added last to the address in shared memory are written
/// into the instruction: ptxas wouldn't do so by itself. Rows that begin
/// anywhere fetch whole lines of the L2 cache (rowsBeginAnywhere()).
void KernelEmitter::copyIf(Value condition, Value target, Value source,
                           unsigned bytes) {
  std::string cache = bytes == 16 ? "cg" : "ca", at = "$0";
  StringRef line = rowsBeginAnywhere() ? ".L2::128B" : "";
  int64_t constant = 0;
  while (auto gep = target.getDefiningOp<LLVM::GEPOp>()) {
    if (!gep.getDynamicIndices().empty() ||
        gep.getRawConstantIndices().size() != 1 ||
        !gep.getElemType().isInteger(8) || gep.getRawConstantIndices()[0] < 0)
      break;
    target = gep.getBase();
    constant += gep.getRawConstantIndices()[0];
  }
  if (constant != 0)
    at += "+" + std::to_string(constant);
  createAsmIf(b, condition, {target, source},
              "cp.async." + cache + ".shared.global" + line.str() + " [" + at +
                  "], [$1], " + std::to_string(bytes) + ";",
              "r,l");
}

/// Starts the copies of step `k` into `slot`, if it `exists` (null: it does),
/// one group a step.
void KernelEmitter::issueStep(const Ring &ring, Value k, Value slot,
                              Value exists) {
  if (ring.bulk)
    return issueBulkCopies(ring, k, slot, exists);
  if (ring.together)
    copyRows(ring, k, slot, exists);
  for (unsigned u = 0; !ring.together && u < ring.units; ++u) {
    Value row = getRow(ring, k, u);
    Value inside = exists;
    if (ring.mayBeBehind(u)) {
      // The first step copies the last row in place of those behind it: of
      // copies with a predicate, and addresses that only they use, ptxas would
      // make branches. (Not of framed rows, which begin elsewhere. Where a
      // result has its input's memory, what is read so may be written
      // meanwhile; nobody uses it.)
      if (exists || framed || ring.takesTiles())
        inside = isRow(row);
      else
        row = lastRowAtMost(row);
    }
    // What comes behind the last step are rows of others.
    if (ring.takesTiles())
      inside = both(inside, exists);
    SmallVector<Value> indices(segmentIndices);
    if (ring.shifted) {
      guarded(inside, [&] {
        delinearize(row, reducedRowDims, indices);
        for (const Stream &stream : ring.streams)
          copyPart(ring, stream, indices, slot);
      });
      continue;
    }
    delinearize(row, reducedRowDims, indices);
    Ring ofRow = ring;
    if (ring.firstSteps)
      setShift(ofRow, getShift(row));
    ArrayRef<ColumnView> vectors = ofRow.views;
    for (auto [c, view] :
         llvm::enumerate(vectors.take_front(schedule.getChunks()))) {
      Value mask = mayCopy(ofRow, row, c);
      for (const Stream &stream : ring.streams) {
        delinearize(view.column, columnDims, indices);
        Value source = address(stream.input, offset(stream.input, indices));
        Value target = getSlotPointer(ring, stream, slot, u, c);
        unsigned piece = std::min(stream.bytes, 16u);
        for (unsigned at = 0; at < stream.bytes; at += piece)
          copyIf(both(inside, mask), byteAddress(target, i32(at)),
                 byteAddress(source, i64(at)), piece);
      }
    }
  }
  copyRowInputs(ring, k, slot, exists);
  NVVM::CpAsyncCommitGroupOp::create(b);
}

/// Where copied row input `i` of the lane's row `u` lies in a slot.
Value KernelEmitter::getRowInputPointer(const Ring &ring, Value slot,
                                        unsigned u, unsigned i) {
  unsigned rowBytes = ring.copiedRowInputs.size() * 8;
  Value bytes = arith::AddIOp::create(
      b, ring.rowInputBase,
      arith::MulIOp::create(b, slot, i32(getRowInputBytes(problem, schedule))));
  if (ring.rowOfLane)
    bytes = arith::AddIOp::create(
        b, bytes, arith::MulIOp::create(b, ring.rowOfLane, i32(rowBytes)));
  unsigned first = u * schedule.getRowsAWarp() * rowBytes;
  return sharedPointer(arith::AddIOp::create(b, bytes, i32(first + i * 8)));
}

/// Starts the copies of a step's row inputs, a row's by its first lane in the
/// warp; those of the last row for rows that don't exist.
void KernelEmitter::copyRowInputs(const Ring &ring, Value k, Value slot,
                                  Value exists) {
  if (ring.copiedRowInputs.empty())
    return;
  Value isFirstLane = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                            ring.laneOfRow, i32(0));
  for (unsigned u = 0; u < ring.units; ++u) {
    Value row = getRow(ring, k, u);
    if (ring.mayBeBehind(u))
      row = lastRowAtMost(row);
    SmallVector<Value> indices(segmentIndices);
    delinearize(row, reducedRowDims, indices);
    for (auto [i, argument] : llvm::enumerate(ring.copiedRowInputs)) {
      unsigned input = argument.getArgNumber();
      copyIf(both(exists, isFirstLane), getRowInputPointer(ring, slot, u, i),
             address(input, offset(input, indices)),
             getBytes(argument.getType()));
    }
  }
}

/// What copyRowInputs() copied for a step.
void KernelEmitter::readRowInputs(const Ring &ring, Value slot,
                                  MutableArrayRef<RowView> rows) {
  for (auto [u, row] : llvm::enumerate(rows))
    for (auto [i, argument] : llvm::enumerate(ring.copiedRowInputs)) {
      Value loaded = LLVM::LoadOp::create(b, getMemoryType(argument.getType()),
                                          getRowInputPointer(ring, slot, u, i),
                                          getBytes(argument.getType()));
      row.values[argument] = fromMemory(loaded, argument.getType());
    }
}

/// The vectors of a warp whose first one is at column `first`, as far as they
/// exist: from column 0 to before `end`, i32.
void KernelEmitter::boundBulkCopies(Ring &ring, Value first, Value end) {
  unsigned width = schedule.getVector();
  auto vectorsTo = [&](Value column) -> Value { // from the first one on
    Value columns = arith::AddIOp::create(
        b, arith::SubIOp::create(b, column, first), i32(width - 1));
    Value vectors =
        arith::ShRSIOp::create(b, columns, i32(llvm::Log2_32(width)));
    return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, vectors, i32(0)),
                                  i32(32 * schedule.getChunks()));
  };
  ring.firstVector = vectorsTo(i32(0));
  ring.numVectors = arith::SubIOp::create(b, vectorsTo(end), ring.firstVector);
}

/// A slot's barrier has a phase for each step that comes through the slot; it
/// ends when all bytes of the step's rows are there.
Value KernelEmitter::getCopyBarrier(const Ring &ring, Value slot) {
  Value index = arith::AddIOp::create(
      b, arith::MulIOp::create(b, warpId(), i32(ring.slots + 1)), slot);
  return sharedPointer(
      arith::AddIOp::create(b, arith::MulIOp::create(b, index, i32(8)),
                            i32(getCopyBarriersOffset(problem, schedule))));
}

/// Lane 0 makes or ends the warp's barriers, before or behind all copies.
void KernelEmitter::forCopyBarriers(const Ring &ring,
                                    llvm::function_ref<void(Value)> visit) {
  guarded(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, ring.lane, i32(0)),
          [&] {
            for (unsigned k = 0; k <= ring.slots; ++k)
              visit(getCopyBarrier(ring, i32(k)));
            NVVM::FenceMbarrierInitOp::create(b);
          });
  NVVM::SyncWarpOp::create(b, i32(-1));
}

/// Lane 0 copies for the warp, whose vectors of a row are contiguous, in memory
/// as in the slot.
void KernelEmitter::issueBulkCopies(const Ring &ring, Value k, Value slot,
                                    Value exists) {
  Value isLane0 =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, ring.lane, i32(0));
  isLane0 = both(isLane0, exists);
  Value barrier = getCopyBarrier(ring, slot);
  unsigned width = schedule.getVector(), bytesAVector = 0;
  for (const Stream &stream : ring.streams)
    bytesAVector += stream.bytes;
  // Lane 0's column is the warp's.
  Value column =
      add(ring.views[0].column, mul(toI64(ring.firstVector), i64(width)));
  for (unsigned u = 0; u < ring.units; ++u) {
    Value row = getRow(ring, k, u);
    Value vectors = ring.numVectors;
    if (ring.mayBeBehind(u))
      vectors = select(isRow(row), vectors, i32(0));
    // All units arrive, whether they have a row or not.
    createAsmIf(b, isLane0,
                {barrier, arith::MulIOp::create(b, vectors, i32(bytesAVector))},
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
                "r,r");
    Value copies =
        both(isLane0, arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                            vectors, i32(0)));
    SmallVector<Value> indices(segmentIndices);
    delinearize(row, reducedRowDims, indices);
    delinearize(column, columnDims, indices);
    for (const Stream &stream : ring.streams) {
      Value target = arith::AddIOp::create(
          b, getSlot(ring, stream, slot),
          arith::AddIOp::create(
              b, arith::MulIOp::create(b, ring.firstVector, i32(stream.bytes)),
              i32(u * schedule.getChunks() * 32 * stream.bytes)));
      createAsmIf(b, copies,
                  {sharedPointer(target),
                   address(stream.input, offset(stream.input, indices)),
                   arith::MulIOp::create(b, vectors, i32(stream.bytes)),
                   barrier},
                  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                  "bytes [$0], [$1], $2, [$3];",
                  "r,l,r,r");
    }
  }
}

/// Waits for the copies of step `k` into `slot`.
void KernelEmitter::awaitCopies(const Ring &ring, Value k, Value slot) {
  if (!ring.bulk) {
    NVVM::CpAsyncWaitGroupOp::create(b, ring.slots - 1);
    return;
  }
  Value use = arith::DivUIOp::create(b, k, i32(ring.slots + 1));
  awaitBarrier(getCopyBarrier(ring, slot),
               arith::AndIOp::create(b, use, i32(1)), /*suspends=*/true);
}

/// The inputs of the row level in step `k` that aren't copied, row by row, and
/// the elements at the row's ends, if they are loaded (Ring::loadsEnds).
SmallVector<Value> KernelEmitter::loadRowInputs(const Ring &ring, Value k) {
  SmallVector<Value> loaded;
  for (unsigned u = 0; u < ring.units; ++u) {
    SmallVector<Value> indices(segmentIndices);
    delinearize(lastRowAtMost(getRow(ring, k, u)), reducedRowDims, indices);
    for (BlockArgument argument : ring.rowInputs)
      loaded.push_back(loadGlobal(argument.getArgNumber(),
                                  offset(argument.getArgNumber(), indices), 1));
    if (ring.loadsEnds)
      llvm::append_range(loaded, loadEnds(ring, indices));
  }
  return loaded;
}

/// A lane's words of each chunk, from 32-bit words at the address rounded down.
SmallVector<Value> KernelEmitter::readShifted(const Ring &ring,
                                              const Stream &stream, Value slot,
                                              ArrayRef<Value> indices) {
  Value shift;
  getPartStart(ring, stream, SmallVector<Value>(indices), shift);
  Value at = arith::AddIOp::create(
      b, arith::AddIOp::create(b, getSlot(ring, stream, slot), shift),
      arith::MulIOp::create(b, ring.lane, i32(stream.bytes)));
  Value low = arith::AndIOp::create(b, at, i32(3));
  Value bits = arith::MulIOp::create(b, low, i32(8));
  Value aligned = arith::SubIOp::create(b, at, low);
  unsigned count = llvm::divideCeil(stream.bytes, 4);
  bool moves = stream.bytes / schedule.getVector() < 4;
  SmallVector<Value> chunkWords;
  for (unsigned c = 0; c < schedule.getChunks(); ++c) {
    SmallVector<Value> words;
    for (unsigned w = 0; w < count + moves; ++w)
      words.push_back(LLVM::LoadOp::create(
          b, b.getI32Type(),
          sharedPointer(arith::AddIOp::create(
              b, aligned, i32(c * 32 * stream.bytes + 4 * w))),
          4));
    Value packed =
        LLVM::PoisonOp::create(b, VectorType::get({count}, b.getI32Type()));
    for (unsigned w = 0; w < count; ++w) {
      Value word = words[w];
      if (moves)
        word = LLVM::FshrOp::create(b, words[w + 1], word, bits);
      packed = LLVM::InsertElementOp::create(b, packed, word, i32(w));
    }
    chunkWords.push_back(packed);
  }
  return chunkWords;
}

/// A lane's words of a chunk, which it, or lane 0 for it, copied.
Value KernelEmitter::readAligned(const Ring &ring, const Stream &stream,
                                 Value slot, unsigned u, unsigned chunk) {
  unsigned piece = std::min(stream.bytes, 16u);
  Value source = getSlotPointer(ring, stream, slot, u, chunk);
  if (piece == stream.bytes)
    return LLVM::LoadOp::create(b, VectorType::get({piece / 4}, b.getI32Type()),
                                source, piece);
  Value packed = LLVM::PoisonOp::create(
      b, VectorType::get({stream.bytes / 4}, b.getI32Type()));
  for (unsigned at = 0; at < stream.bytes; at += piece) {
    Value loaded =
        LLVM::LoadOp::create(b, VectorType::get({piece / 4}, b.getI32Type()),
                             byteAddress(source, i32(at)), piece);
    for (unsigned w = 0; w < piece / 4; ++w)
      packed = LLVM::InsertElementOp::create(
          b, packed, LLVM::ExtractElementOp::create(b, loaded, i32(w)),
          i32(at / 4 + w));
  }
  return packed;
}

/// The value of a streamed input from its words.
Value KernelEmitter::unpack(Value words, BlockArgument argument) {
  unsigned width = schedule.getVector();
  Type memoryType = getMemoryType(argument.getType());
  Type type = withWidth(memoryType, width);
  // Less than a word: its low part.
  unsigned bits = memoryType.getIntOrFloatBitWidth() * width;
  if (bits < 32) {
    words = LLVM::BitcastOp::create(b, b.getI32Type(), words);
    words = arith::TruncIOp::create(b, b.getIntegerType(bits), words);
  }
  return fromMemory(LLVM::BitcastOp::create(b, type, words),
                    argument.getType());
}

/// A step's rows to registers.
SmallVector<PackedInput>
KernelEmitter::readStep(const Ring &ring, Value slot,
                        MutableArrayRef<RowView> rows) {
  SmallVector<PackedInput> packedInputs;
  for (auto [u, row] : llvm::enumerate(rows)) {
    swapRow(row);
    loadInputs(ring.loadedInputs, row.columns);
    for (const Stream &stream : ring.streams) {
      BlockArgument argument = op.getBodyBlock()->getArgument(stream.input);
      SmallVector<Value> shiftedWords;
      if (ring.shifted)
        shiftedWords = readShifted(ring, stream, slot, rowIndices);
      MutableArrayRef<ColumnView> vectors = row.columns;
      for (auto [c, view] :
           llvm::enumerate(vectors.take_front(schedule.getChunks()))) {
        Value packed = ring.shifted ? shiftedWords[c]
                                    : readAligned(ring, stream, slot, u, c);
        packedInputs.push_back({unsigned(u), unsigned(c), argument, packed});
        view.values[argument] = unpack(packed, argument);
      }
      if (ring.together && haveEnds(problem, schedule))
        row.columns.back().values[argument] =
            readEnd(ring, stream, slot, row.columns.back());
      if (ring.copiesEnds)
        row.columns.back().values[argument] =
            readCopiedEnd(ring, stream, slot, u, row);
    }
    swapRow(row);
  }
  return packedInputs;
}
