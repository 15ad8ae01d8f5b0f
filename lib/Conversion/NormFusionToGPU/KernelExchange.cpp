//===- KernelExchange.cpp - How threads and blocks of a kernel meet -------===//
//
// Shuffles within a warp, the row sums that the warps of a row exchange through
// shared memory, and the barrier over the grid.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::norm_fusion;

Value KernelEmitter::shuffleXor(Value value, unsigned distance) {
  Type type = value.getType(), word = b.getI32Type();
  auto shuffleWord = [&](Value v) -> Value {
    return NVVM::ShflOp::create(b, v.getType(), i32(-1), v, i32(distance),
                                i32(31), NVVM::ShflKind::bfly, UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return shuffleWord(value);
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
    return arith::IndexCastOp::create(b, type, shuffleXor(value, distance));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  if (type != integer)
    value = arith::BitcastOp::create(b, integer, value);
  if (bits < 32) {
    value = arith::ExtUIOp::create(b, word, value);
    value = arith::TruncIOp::create(b, integer, shuffleWord(value));
  } else {
    auto pair = VectorType::get({2}, word);
    Value words = LLVM::BitcastOp::create(b, pair, value);
    for (int64_t k = 0; k < 2; ++k) {
      Value part = LLVM::ExtractElementOp::create(b, words, i32(k));
      words = LLVM::InsertElementOp::create(b, words, shuffleWord(part), i32(k));
    }
    value = LLVM::BitcastOp::create(b, integer, words);
  }
  return type == integer ? value
                         : arith::BitcastOp::create(b, type, value).getResult();
}

/// All elements of a vector, as a tree.
Value KernelEmitter::reduceVector(Value vector, Combiner combiner) {
  auto type = dyn_cast<VectorType>(vector.getType());
  if (!type)
    return vector;
  SmallVector<Value> values;
  for (int64_t k = 0; k < type.getDimSize(0); ++k)
    values.push_back(vector::ExtractOp::create(b, vector, k));
  while (values.size() > 1) {
    SmallVector<Value> next;
    for (size_t k = 0; k + 1 < values.size(); k += 2)
      next.push_back(createCombine(b, b.getLoc(), combiner, values[k],
                                   values[k + 1], /*contract=*/true));
    if (values.size() % 2)
      next.push_back(values.back());
    values = next;
  }
  return values.front();
}

Value KernelEmitter::reduceWarp(Value value, Combiner combiner) {
  for (unsigned distance = 16; distance > 0; distance /= 2)
    value = createCombine(b, b.getLoc(), combiner, value,
                          shuffleXor(value, distance), /*contract=*/true);
  return value;
}

/// Barrier 0, of all threads of the block.
void KernelEmitter::syncBlock() { NVVM::BarrierOp::create(b); }

/// Row group g has barrier g + 1.
void KernelEmitter::syncRowGroup(Value rowGroup) {
  if (schedule.getRowGroups() == 1)
    return syncBlock();
  NVVM::BarrierOp::create(b, TypeRange(),
                          arith::AddIOp::create(b, rowGroup, i32(1)),
                          i32(schedule.getWarps() * 32),
                          NVVM::BarrierReductionAttr(), Value());
}

void KernelEmitter::exchangeRowSums(ArrayRef<RowReduceOp> wave,
                                    SmallVectorImpl<Value> &sums,
                                    Value rowGroup, Value warpOfRow,
                                    Value buffer,
                                    llvm::function_ref<void()> meanwhile) {
  for (auto [k, reduce] : llvm::enumerate(wave))
    sums[k] = reduceWarp(sums[k], RowReduceOp(reduce).getCombiner());
  unsigned warps = schedule.getWarps();
  if (warps == 1)
    return meanwhile();

  // Two buffers: a warp writes the next wave's sums while another still reads
  // this one's. The barrier between orders every second use of a buffer.
  // Sum k of warp w: [buffer][rowGroup][k][w], 8 bytes a sum reserved.
  unsigned perGroup = std::max(problem.rowReductions, 1u) * warps;
  Value slot = arith::AddIOp::create(
      b, arith::MulIOp::create(b, buffer, i32(schedule.getRowGroups())),
      rowGroup);
  slot = arith::MulIOp::create(b, slot, i32(perGroup * 8));
  auto stride = [&](unsigned k) {
    Type type = sums[k].getType();
    return type.isIndex() || type.getIntOrFloatBitWidth() > 32 ? 8 : 4;
  };
  auto pointer = [&](unsigned k, Value warp) {
    Value bytes = arith::AddIOp::create(
        b, slot, arith::MulIOp::create(b, warp, i32(stride(k))));
    return sharedPointer(
        arith::AddIOp::create(b, bytes, i32(k * warps * 8)));
  };
  auto storable = [&](Value value) -> Value {
    if (value.getType().isIndex())
      return arith::IndexCastOp::create(b, b.getI64Type(), value);
    if (value.getType().isInteger(1))
      return arith::ExtUIOp::create(b, b.getI8Type(), value);
    return value;
  };
  Value lane = arith::AndIOp::create(b, threadId(), i32(31));
  auto ifLane0 = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, i32(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifLane0.thenBlock());
    for (auto [k, sum] : llvm::enumerate(sums))
      LLVM::StoreOp::create(b, storable(sum), pointer(k, warpOfRow));
  }
  meanwhile();
  syncRowGroup(rowGroup);
  for (auto [k, reduction] : llvm::enumerate(wave)) {
    RowReduceOp reduce = reduction;
    Type type = sums[k].getType();
    Type memoryType = storable(sums[k]).getType();
    // Four 32-bit sums at once where there are four.
    unsigned batch = warps % 4 == 0 && (type.isF32() || type.isInteger(32)) ? 4 : 1;
    SmallVector<Value> parts;
    for (unsigned w = 0; w < warps; w += batch) {
      Value loaded = LLVM::LoadOp::create(
          b, batch == 1 ? memoryType : VectorType::get({batch}, memoryType),
          pointer(k, i32(w)), batch == 1 ? stride(k) : 16);
      for (unsigned e = 0; e < batch; ++e)
        parts.push_back(batch == 1 ? loaded
                                   : LLVM::ExtractElementOp::create(
                                         b, loaded, i32(e)).getResult());
    }
    Value total;
    for (Value part : parts) {
      if (type.isIndex())
        part = arith::IndexCastOp::create(b, type, part);
      else if (type.isInteger(1))
        part = arith::TruncIOp::create(b, type, part);
      total = total ? createCombine(b, b.getLoc(), reduce.getCombiner(), total,
                                    part, /*contract=*/true)
                    : part;
    }
    sums[k] = total;
  }
}

/// Every block arrives by adding to one word; block 0 adds what makes the sum
/// of a round exactly 2^31, so the top bit flips when all have arrived: no
/// reset, whatever the grid of the next launch. (The scheme of CUDA's
/// cooperative groups.) All blocks must be resident.
void KernelEmitter::gridBarrier() {
  // All of the block's partial rows are written; where blocks take several
  // items, the barrier after the last one has said so.
  if (segmentDims.none())
    syncBlock();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId(),
                                        i32(0));
  auto ifFirst = scf::IfOp::create(b, isFirst);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifFirst.thenBlock());
    Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
    Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
    Value isBlock0 =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, block, i32(0));
    Value top = i32(std::numeric_limits<int32_t>::min());
    Value rest = arith::SubIOp::create(
        b, top, arith::SubIOp::create(b, blocks, i32(1)));
    Value increment = select(isBlock0, rest, i32(1));
    // The block's partial rows are visible before its arrival is.
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "device");
    Value old = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::add, arguments.workspace, increment,
        LLVM::AtomicOrdering::monotonic, "device", /*alignment=*/4);
    auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
    Block *before = b.createBlock(&loop.getBefore());
    b.setInsertionPointToStart(before);
    Value now = LLVM::LoadOp::create(
        b, b.getI32Type(), arguments.workspace, /*alignment=*/4,
        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire, "device");
    Value flipped = arith::AndIOp::create(
        b, arith::XOrIOp::create(b, now, old), top);
    scf::ConditionOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, flipped, i32(0)),
        ValueRange());
    Block *after = b.createBlock(&loop.getAfter());
    b.setInsertionPointToStart(after);
    scf::YieldOp::create(b);
  }
  syncBlock();
}
