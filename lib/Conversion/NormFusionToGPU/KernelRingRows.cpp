//===- KernelRingRows.cpp - Rows side by side in a warp, as one piece -----===//
//
// The rows that a warp works on at once follow each other in memory. Where
// lanes copy and store their own vectors of each row, an instruction touches
// bytes of many sectors, and rows that don't end with one share it with the
// next. With copy=rows the lanes of a warp copy all of a step's bytes together,
// 16 a lane, whatever the columns, and read their vectors from the slot, which
// holds the rows as memory does. What they compute for such an array goes into
// the slot, too, once the step's inputs are read, and leaves in the same way.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Bytes that a lane copies at once.
static constexpr unsigned kPiece = 16;

/// The results whose rows fit into a slot, and take whole pieces of it.
void KernelEmitter::placeSlotOutputs(const Ring &ring) {
  unsigned used = 0;
  for (unsigned i = numInputs, e = op->getNumOperands(); i < e; ++i) {
    AffineMap map = op.getInputMap(i);
    if (!map.isIdentity())
      continue;
    Type type = getElementTypeOrSelf(op.getOperand(i).getType());
    unsigned bytes = getMemoryType(type).getIntOrFloatBitWidth() / 8;
    unsigned ofStep = ring.rowsAStep * problem.columns * bytes;
    if (ofStep % kPiece != 0 || bytes * schedule.getVector() % 4 != 0 ||
        used + ofStep > ring.slotBytes)
      continue;
    slotOutputs.push_back({i, bytes, used});
    used += ofStep;
  }
}

/// The first row of the warp's step `k`, i64.
Value KernelEmitter::getFirstRow(const Ring &ring, Value k) {
  return toI64(mul(add(ring.first, mul(k, ring.stride)), i32(ring.rowsAStep)));
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
  Value all = arith::MulIOp::create(b, rows, i32(rowBytes));
  Value at = arith::MulIOp::create(b, ring.lane, i32(kPiece));
  Value left = arith::SubIOp::create(b, all, at);
  for (unsigned c = 0; c < ring.rowsAStep * rowBytes; c += 32 * kPiece)
    visit(at, c, kPiece,
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left,
                                i32(c + kPiece)));
  if (rowBytes % kPiece == 0)
    return;
  // The last rows may end within a piece, with a vector, of which a row has
  // several.
  unsigned bytes = elementBytes * schedule.getVector();
  Value rest = arith::AndIOp::create(b, all, i32(kPiece - 1));
  at = arith::MulIOp::create(b, ring.lane, i32(bytes));
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, rest);
  visit(arith::AddIOp::create(b, arith::SubIOp::create(b, all, rest), at), 0,
        bytes, exists);
}

/// Starts the copies of step `k`, if it `exists`.
void KernelEmitter::copyRows(const Ring &ring, Value k, Value slot,
                             Value exists) {
  Value row = getFirstRow(ring, k);
  Value rows = select(exists, countRows(ring, row), i32(0));
  for (const Stream &stream : ring.streams) {
    Value source = address(stream.input, mul(row, i64(problem.columns)));
    Value target = getSlot(ring, stream, slot);
    forPieces(ring, rows, stream.bytes / schedule.getVector(),
              [&](Value at, unsigned constant, unsigned bytes, Value exists) {
                Value to = arith::AddIOp::create(
                    b, arith::AddIOp::create(b, target, at), i32(constant));
                Value from =
                    byteAddress(byteAddress(source, toI64(at)), i64(constant));
                copyIf(exists, sharedPointer(to), from, bytes);
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

/// A result of the row, which leaves with storeRows(), to the slot; false if it
/// doesn't go there.
bool KernelEmitter::storeInSlot(unsigned operand, Value value,
                                const ColumnView &view) {
  auto output = llvm::find_if(slotOutputs, [&](const SlotOutput &output) {
    return output.operand == operand;
  });
  if (output == slotOutputs.end())
    return false;
  Type type = getElementTypeOrSelf(op.getOperand(operand).getType());
  Value at = arith::AddIOp::create(
      b, arith::MulIOp::create(b, tileRow, i32(problem.columns)),
      arith::TruncIOp::create(b, b.getI32Type(), view.column));
  at = arith::MulIOp::create(b, at, i32(output->bytes));
  at = arith::AddIOp::create(b, at, i32(output->slotOffset));
  LLVM::StoreOp::create(b, toMemory(value, type),
                        sharedPointer(arith::AddIOp::create(b, outputSlot, at)),
                        std::min(view.width * output->bytes, kPiece));
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
    forPieces(ring, rows, output.bytes,
              [&](Value at, unsigned constant, unsigned bytes, Value exists) {
                // Lanes behind the last piece read the first: what follows may
                // be others'.
                Value offset =
                    select(exists, arith::AddIOp::create(b, at, i32(constant)),
                           i32(0));
                Value from = arith::AddIOp::create(b, source, offset);
                Value words = LLVM::LoadOp::create(
                    b, VectorType::get({bytes / 4}, b.getI32Type()),
                    sharedPointer(from), bytes);
                // Not read again by this kernel: it leaves the caches first.
                storeWords(
                    "st.global.cs",
                    byteAddress(byteAddress(target, toI64(at)), i64(constant)),
                    words, exists);
              });
  }
}
