//===- KernelPacing.cpp - Blocks in soft lockstep -------------------------===//
//
// Blocks that stream many rows drift apart, and memory serves rows that are far
// apart worse than neighbours. With pace=W no row group starts step k before
// the first row groups of all clusters have done k - W steps on average: each
// adds one to a count in the workspace behind every step. The count is read one
// step ahead. Short walks aren't paced. It orders nothing, results don't depend
// on it. All blocks must run at once: combine=tags sees to that.
//
// Two counts take turns by the launch's parity; each launch clears the other's,
// so that none has to be cleared by the host.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// With fewer steps blocks don't drift far enough for pacing to pay.
static constexpr int64_t kFewSteps = 48;

/// Paced are the steps that every row group has, where they are many.
void KernelEmitter::makePace(Ring &ring, Value steps) {
  if (schedule.getPace() == 0)
    return;
  auto countAt = [&](Value parity) {
    return byteAddress(
        arguments.workspace,
        add(mul(toI64(parity), i64(kPaceCountStride)), i64(kPaceCountOffset)));
  };
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        ring.part.partOfRow, i32(0));
  ring.pace.waits = isFirst; // of a row group in the cluster's first block
  ring.pace.counts =
      both(isFirst,
           arith::CmpIOp::create(
               b, arith::CmpIPredicate::eq,
               arith::OrIOp::create(b, ring.part.rowGroup, ring.lane), i32(0)));
  Value common = arith::DivUIOp::create(b, steps, ring.stride);
  Value isMany = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, common,
                                       i64(kFewSteps));
  ring.pace.steps = select(isMany, common, i64(0));
  ring.pace.count = countAt(parity);
  Value isBlock0 =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, blockId(), i64(0));
  guarded(both(isBlock0, ring.pace.counts), [&] {
    storeRelaxed(countAt(arith::XOrIOp::create(b, parity, i32(1))), i32(0));
  });
}

/// Waits until step `k` may start. `seen`: the count as it was when last read;
/// returns what a read that is now under way will give.
Value KernelEmitter::waitForPace(const Ring &ring, Value k, Value seen) {
  int64_t ahead = schedule.getPace();
  auto load = [&]() -> Value {
    return LLVM::ExtractElementOp::create(b, loadRelaxed(ring.pace.count, 1),
                                          i32(0));
  };
  auto ifWaits = scf::IfOp::create(b, b.getI32Type(), ring.pace.waits,
                                   /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifWaits.elseBlock());
  scf::YieldOp::create(b, seen);
  b.setInsertionPointToStart(ifWaits.thenBlock());
  Value isPaced = both(
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, k, i64(ahead)),
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, k, ring.pace.steps));
  guarded(isPaced, [&] {
    Value wanted = arith::TruncIOp::create(
        b, b.getI32Type(),
        mul(arith::SubIOp::create(b, k, i64(ahead)), arguments.splits));
    auto loop = scf::WhileOp::create(b, TypeRange(b.getI32Type()), seen);
    OpBuilder::InsertionGuard inner(b);
    Block *before =
        b.createBlock(&loop.getBefore(), {}, b.getI32Type(), b.getLoc());
    Value missing = arith::SubIOp::create(b, before->getArgument(0), wanted);
    scf::ConditionOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::slt, missing, i32(0)),
        before->getArguments());
    b.createBlock(&loop.getAfter(), {}, b.getI32Type(), b.getLoc());
    scf::YieldOp::create(b, load());
  });
  scf::YieldOp::create(b, load());
  return ifWaits.getResult(0);
}

/// Step `k` is done.
void KernelEmitter::countPace(const Ring &ring, Value k) {
  guarded(
      both(ring.pace.counts, arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                   k, ring.pace.steps)),
      [&] {
        LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, ring.pace.count,
                                  i32(1), LLVM::AtomicOrdering::monotonic,
                                  "device", /*alignment=*/4);
      });
}
