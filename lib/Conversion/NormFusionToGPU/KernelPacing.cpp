//===- KernelPacing.cpp - Blocks in soft lockstep -------------------------===//
//
// Blocks that stream many rows drift apart, and memory serves rows that are far
// apart worse than neighbours. With pace=W no row group starts step k before
// the first row groups of all clusters have done k - W steps on average: each
// adds one to a count in the workspace behind every step. The count is read one
// step ahead. Short walks aren't paced. It orders nothing, results don't depend
// on it. All blocks must run at once: combine=tags sees to that.
//
// Two counts take turns by the launch's parity. At its start each launch clears
// the one that the next will use, unless it is zero, so that the host never has
// to.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// With fewer steps blocks don't drift far enough for pacing to pay.
static constexpr int64_t kFewSteps = 48;

/// Stands for the count in warps that never wait: it is always enough, and no
/// count comes so far. (A register of its own would be one too many.)
static constexpr int64_t kUnpaced = 1 << 30;

/// Computed where it is used: a pointer kept over the loop is two registers.
Value KernelEmitter::getPaceCount(Value parity) {
  parity = createOpaque(b, parity);
  return byteAddress(
      arguments.workspace,
      add(mul(toI64(parity), i64(kPaceCountStride)), i64(kPaceCountOffset)));
}

Value KernelEmitter::loadPace() { return loadRelaxed(getPaceCount(parity), 1); }

/// The thread that counts the steps of a cluster.
Value KernelEmitter::isCounting(const Ring &ring) {
  Value thread = arith::OrIOp::create(
      b, arith::OrIOp::create(b, ring.part.rowGroup, ring.part.partOfRow),
      ring.lane);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, i32(0));
}

Value KernelEmitter::isPaced(Value seen) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, seen,
                               i32(kUnpaced));
}

/// The count before the first step.
Value KernelEmitter::startPace(const Ring &ring) {
  Value steps = ring.steps;
  int64_t few = kFewSteps * (ring.takesTurns() ? ring.units : 1);
  // Blocks that do several items don't count all of them in the same step.
  Value runAtOnce = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                          arguments.splits, clusterStride);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        ring.part.partOfRow, i32(0));
  Value isMany = arith::CmpIOp::create(
      b, arith::CmpIPredicate::uge, arith::DivUIOp::create(b, steps, i32(few)),
      ring.stride);
  Value isCountable =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, steps, i32(kUnpaced));
  return select(both(both(isFirst, runAtOnce), both(isMany, isCountable)),
                i32(0), i32(kUnpaced));
}

/// Waits until step `k` may start. `seen` is the count as it was a step ago.
void KernelEmitter::waitForPace(Value k, Value seen) {
  guarded(isPaced(seen), [&] {
    Value wanted = mul(arith::SubIOp::create(b, k, i32(schedule.getPace())),
                       toI32(arguments.splits));
    auto loop = scf::WhileOp::create(b, TypeRange(b.getI32Type()), seen);
    OpBuilder::InsertionGuard inner(b);
    Block *before =
        b.createBlock(&loop.getBefore(), {}, b.getI32Type(), b.getLoc());
    scf::ConditionOp::create(b,
                             arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                   before->getArgument(0),
                                                   wanted),
                             before->getArguments());
    b.createBlock(&loop.getAfter(), {}, b.getI32Type(), b.getLoc());
    scf::YieldOp::create(b, loadPace());
  });
}

/// Reads the count for the next step. This belongs beside the loads of the next
/// step's row inputs: what waits for those must not wait for a younger load,
/// and a multiprocessor tells the loads of a warp apart by a few counters only.
Value KernelEmitter::readPace(Value seen) {
  auto ifPaced = scf::IfOp::create(b, b.getI32Type(), isPaced(seen),
                                   /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifPaced.thenBlock());
  scf::YieldOp::create(b, loadPace());
  b.setInsertionPointToStart(ifPaced.elseBlock());
  scf::YieldOp::create(b, seen);
  return ifPaced.getResult(0);
}

/// A step is done. Every row group has as many as any, but for one: so the
/// count reaches what the last step waits for.
void KernelEmitter::countPace(const Ring &ring, Value seen) {
  guarded(both(isPaced(seen), isCounting(ring)), [&] {
    LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add, getPaceCount(parity),
                              i32(1), LLVM::AtomicOrdering::monotonic, "device",
                              /*alignment=*/4);
  });
}

/// The next launch counts from zero: its parity is the other one, which nobody
/// uses now. Most often it is zero already, and the store, for which the end of
/// the kernel would wait, isn't made.
void KernelEmitter::resetPace() {
  if (schedule.getPace() == 0)
    return;
  Value isSet =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, paceBefore, i32(0));
  inKeeperThread([&] {
    guarded(isSet, [&] {
      storeRelaxed(getPaceCount(arith::XOrIOp::create(b, parity, i32(1))),
                   i32(0));
    });
  });
}
