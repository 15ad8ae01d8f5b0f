//===- KernelRingRows.cpp - Rows side by side in a warp, as one piece -----===//
//
// The rows that a warp works on at once follow each other in memory. Where
// lanes copy and store their own vectors of each row, an instruction touches
// bytes of many sectors, and rows that don't end with one share it with the
// next. With copy=rows the lanes of a warp copy all of a step's bytes together,
// 8 or 16 a lane, whatever the columns, and read their vectors from the slot,
// which holds the rows as memory does, down to where they begin in a sector of
// the L2 cache. What they compute for such an array goes into the slot, too,
// once the step's inputs are read, and leaves in the same way. Rows that are
// framed (KernelRingFrames.cpp) have elements at their ends besides.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Bytes that a lane copies at once, where a step's rows of an array have
/// `stepBytes`: steps follow each other in memory. Of framed rows 8, but for
/// two at once. (H200, 600 MB, 16 and 8 bytes, us: LayerNorm 130 columns 151.5
/// and 147.1, 150 147.4 and 146.1, RMSNorm 102 147.0 and 145.6; rows that
/// aren't framed the same.)
unsigned KernelEmitter::getPieceBytes(unsigned stepBytes) {
  bool isFine = framed && schedule.getRows() == 1;
  return stepBytes % 16 == 0 && !isFine ? 16 : 8;
}

/// The results whose rows fit into a slot, and take whole pieces of it.
void KernelEmitter::placeSlotOutputs(const Ring &ring) {
  unsigned used = 0;
  for (unsigned i = numInputs, e = op->getNumOperands(); i < e; ++i) {
    AffineMap map = op.getInputMap(i);
    if (!map.isIdentity())
      continue;
    Type type = getElementTypeOrSelf(op.getOperand(i).getType());
    unsigned bytes = getBytes(type);
    unsigned ofStep = ring.rowsAStep * problem.columns * bytes;
    unsigned held = getPieceRoom(ofStep);
    if (ofStep % 8 != 0 || bytes * schedule.getVector() % 4 != 0 ||
        used + held > ring.slotBytes)
      continue;
    slotOutputs.push_back({i, bytes, used});
    used += held;
  }
}

/// The first row of the warp's step `k`, i64.
Value KernelEmitter::getFirstRow(const Ring &ring, Value k) {
  return toI64(mul(add(ring.first, mul(k, ring.stride)), i32(ring.rowsAStep)));
}

/// Where the first row of a step, `row` (i64), begins in a sector of the L2
/// cache, bytes, i32. It begins so in its slot, too: else copies of 16 bytes
/// each put a sector's halves into two of shared memory.
Value KernelEmitter::getPlaceInSector(Value row, unsigned elementBytes) {
  unsigned rowBytes = problem.columns * elementBytes;
  if (schedule.getRowsAStep() * rowBytes % kSectorBytes == 0)
    return i32(0);
  return arith::AndIOp::create(
      b, arith::MulIOp::create(b, toI32(row), i32(rowBytes)),
      i32(kSectorBytes - 1));
}

/// How many rows of the step whose first one is `row` exist, i32: at least one,
/// if the step does.
Value KernelEmitter::countRows(const Ring &ring, Value row) {
  Value left = arith::SubIOp::create(b, rowCount, row);
  return toI32(arith::MinSIOp::create(b, left, i64(ring.rowsAStep)));
}

/// Visits what a lane copies of `rows` rows (i32) of elements of `elementBytes`
/// bytes: `bytes` at `at` + `constant` bytes from the first row, if `exists`.
void KernelEmitter::forPieces(
    const Ring &ring, Value rows, unsigned elementBytes,
    llvm::function_ref<void(Value at, unsigned constant, unsigned bytes,
                            Value exists)>
        visit) {
  unsigned rowBytes = problem.columns * elementBytes;
  unsigned piece = getPieceBytes(ring.rowsAStep * rowBytes);
  Value all = arith::MulIOp::create(b, rows, i32(rowBytes));
  Value at = arith::MulIOp::create(b, ring.lane, i32(piece));
  Value left = arith::SubIOp::create(b, all, at);
  for (unsigned c = 0; c < ring.rowsAStep * rowBytes; c += 32 * piece)
    visit(at, c, piece,
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left,
                                i32(c + piece)));
  if (rowBytes % piece == 0)
    return;
  // The last rows may end within a piece, with a vector, of which a row has
  // several, or if they are framed with an element.
  unsigned bytes = haveEnds(problem, schedule)
                       ? elementBytes
                       : elementBytes * schedule.getVector();
  Value rest = arith::AndIOp::create(b, all, i32(piece - 1));
  at = arith::MulIOp::create(b, ring.lane, i32(bytes));
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, rest);
  visit(arith::AddIOp::create(b, arith::SubIOp::create(b, all, rest), at), 0,
        bytes, exists);
}

/// What is too short for an asynchronous copy, or a store of words.
static void copyElement(ImplicitLocOpBuilder &b, Value to, Value from,
                        unsigned bytes) {
  Value element =
      LLVM::LoadOp::create(b, b.getIntegerType(bytes * 8), from, bytes);
  LLVM::StoreOp::create(b, element, to, bytes);
}

/// Starts the copies of step `k`, if it `exists`.
void KernelEmitter::copyRows(const Ring &ring, Value k, Value slot,
                             Value exists) {
  Value row = getFirstRow(ring, k);
  Value rows = select(exists, countRows(ring, row), i32(0));
  for (const Stream &stream : ring.streams) {
    Value source = address(stream.input, mul(row, i64(problem.columns)));
    unsigned elementBytes = stream.bytes / schedule.getVector();
    Value target =
        add(getSlot(ring, stream, slot), getPlaceInSector(row, elementBytes));
    forPieces(ring, rows, elementBytes,
              [&](Value at, unsigned constant, unsigned bytes, Value exists) {
                Value to = arith::AddIOp::create(
                    b, arith::AddIOp::create(b, target, at), i32(constant));
                Value from =
                    byteAddress(byteAddress(source, toI64(at)), i64(constant));
                if (bytes >= 4)
                  return copyIf(exists, sharedPointer(to), from, bytes);
                guarded(exists, [&] {
                  copyElement(b, sharedPointer(to), from, bytes);
                });
              });
  }
}

/// Where the lane's vectors of its first row begin, in bytes from the warp's
/// rows, i32.
Value KernelEmitter::getOffsetInRows(const Ring &ring, unsigned elementBytes) {
  Value column =
      arith::TruncIOp::create(b, b.getI32Type(), ring.views[0].column);
  if (ring.rowOfLane)
    column = arith::AddIOp::create(
        b, column,
        arith::MulIOp::create(b, ring.rowOfLane, i32(problem.columns)));
  return arith::MulIOp::create(b, column, i32(elementBytes));
}

/// Where `column` (i64) of the row at hand lies in its warp's bytes of an array
/// in a slot, i32.
Value KernelEmitter::getPlaceInSlot(Value column, unsigned elementBytes) {
  Value at = arith::AddIOp::create(
      b, arith::MulIOp::create(b, tileRow, i32(problem.columns)),
      arith::TruncIOp::create(b, b.getI32Type(), column));
  return add(arith::MulIOp::create(b, at, i32(elementBytes)),
             getPlaceInSector(stepRow, elementBytes));
}

/// The lane's element of the ends of the row at hand, which is framed.
Value KernelEmitter::readEnd(const Ring &ring, const Stream &stream, Value slot,
                             const ColumnView &ends) {
  BlockArgument argument = op.getBodyBlock()->getArgument(stream.input);
  unsigned bytes = stream.bytes / schedule.getVector();
  Value at = arith::AddIOp::create(b, getSlot(ring, stream, slot),
                                   getPlaceInSlot(ends.column, bytes));
  Value loaded = LLVM::LoadOp::create(b, getMemoryType(argument.getType()),
                                      sharedPointer(at), bytes);
  return fromMemory(loaded, argument.getType());
}

/// A result of the row, which leaves with storeRows(), to the slot; false if it
/// doesn't go there.
bool KernelEmitter::storeInSlot(unsigned operand, Value value,
                                const ColumnView &view, Value condition) {
  auto output = llvm::find_if(slotOutputs, [&](const SlotOutput &output) {
    return output.operand == operand;
  });
  if (output == slotOutputs.end())
    return false;
  Type type = getElementTypeOrSelf(op.getOperand(operand).getType());
  value = toMemory(value, type);
  Value at = arith::AddIOp::create(
      b, getPlaceInSlot(view.column, output->bytes), i32(output->slotOffset));
  at = sharedPointer(arith::AddIOp::create(b, outputSlot, at));
  unsigned bytes = view.width * output->bytes;
  if (!condition || bytes < 4 || bytes > 16) {
    guarded(condition,
            [&] { LLVM::StoreOp::create(b, value, at, std::min(bytes, 16u)); });
    return true;
  }
  Value words = LLVM::BitcastOp::create(
      b, VectorType::get({bytes / 4}, b.getI32Type()), value);
  storeWords("st.shared", at, words, condition);
  return true;
}

/// What storeInSlot() left of step `k` to global memory.
void KernelEmitter::storeRows(const Ring &ring, Value k) {
  if (slotOutputs.empty())
    return;
  NVVM::SyncWarpOp::create(b, i32(-1));
  Value row = getFirstRow(ring, k), rows = countRows(ring, row);
  for (const SlotOutput &output : slotOutputs) {
    Value target = address(output.operand, mul(row, i64(problem.columns)));
    Value source = arith::AddIOp::create(b, outputSlot, i32(output.slotOffset));
    source = add(source, getPlaceInSector(row, output.bytes));
    forPieces(ring, rows, output.bytes,
              [&](Value at, unsigned constant, unsigned bytes, Value exists) {
                // Lanes behind the last piece read the first: what follows may
                // be others'.
                Value offset =
                    select(exists, arith::AddIOp::create(b, at, i32(constant)),
                           i32(0));
                Value from = arith::AddIOp::create(b, source, offset);
                Value to =
                    byteAddress(byteAddress(target, toI64(at)), i64(constant));
                if (bytes < 4)
                  return guarded(exists, [&] {
                    copyElement(b, to, sharedPointer(from), bytes);
                  });
                Value words = LLVM::LoadOp::create(
                    b, VectorType::get({bytes / 4}, b.getI32Type()),
                    sharedPointer(from), bytes);
                storeWords(getStreamedStore(), to, words, exists);
              });
  }
}
