//===- KernelRingShifts.cpp - Row groups whose rows have two shifts -------===//
//
// Where row groups take framed rows of one shift alone (KernelRingFrames.cpp),
// those that are left over when the number of shifts has been taken out of
// theirs have no rows: of 15 clusters of one row group each, say, which have
// 16 shifts, none would do. With shifts=2 none is left over: the rows are dealt
// out to *jobs* of one shift each, as many as the next multiple of the number
// of shifts, and a row group has the first rows of one job and the last ones of
// the next (McNaughton, "Scheduling with deadlines and loss functions", 1959:
// the wrap-around rule for jobs that may be interrupted), so that all row
// groups are at about the same rows at any time, which memory serves best. In
// between, copies go on, what the lanes added up goes to shared memory, and
// they take other columns.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Job j of J has the rows j, j + J, j + 2J, .... The G row groups make J - G
/// sets of n or n + 1 neighbours, each of which does one job more than it has
/// row groups: of the set's jobs, in order, its row group m does what row group
/// m - 1 leaves of job m, all but the last m / n, first, and then the last
/// (m + 1) / n of job m + 1. Of fewer rows than row groups each is a job.
void KernelEmitter::shareOutRows(Ring &ring) {
  Value rows = ring.steps, groups = ring.stride, group = ring.first;
  auto sub = [&](Value a, Value c) -> Value {
    return arith::SubIOp::create(b, a, c);
  };
  auto div = [&](Value a, Value c) -> Value {
    return arith::DivUIOp::create(b, a, c);
  };
  auto divUp = [&](Value a, Value c) { return div(sub(add(a, c), i32(1)), c); };
  unsigned classes = getFrameClasses(problem, schedule);
  assert(llvm::isPowerOf2_32(classes) && "a frame is a power of two");
  Value jobs = arith::AndIOp::create(b, add(groups, i32(classes - 1)),
                                     i32(-int(classes)));
  Value numSets = sub(jobs, groups);
  Value hasOne = arith::OrIOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, numSets, i32(0)),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ule, rows, groups));
  numSets = select(hasOne, i32(1), numSets);
  Value set = div(mul(group, numSets), groups);
  Value begin = divUp(mul(set, groups), numSets);
  Value size = sub(divUp(mul(add(set, i32(1)), groups), numSets), begin);
  Value place = sub(group, begin);

  auto countRows = [&](Value job) {
    return div(sub(add(rows, sub(jobs, i32(1))), job), jobs);
  };
  Value job = add(group, set), rowsOfJob = countRows(job);
  Value later = div(mul(rowsOfJob, place), size);
  Value firstSteps = sub(rowsOfJob, select(hasOne, i32(0), later));
  Value next = add(job, i32(1)), rowsOfNext = countRows(next);
  Value secondSteps =
      select(hasOne, i32(0), div(mul(rowsOfNext, add(place, i32(1))), size));
  Value secondRow = add(next, mul(sub(rowsOfNext, secondSteps), jobs));

  ring.stride = jobs;
  ring.mine = add(firstSteps, secondSteps);
  ring.any =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, ring.mine, i32(0));
  Value hasFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, firstSteps, i32(0));
  ring.first = select(hasFirst, job, secondRow);
  ring.firstSteps = select(hasFirst, firstSteps, secondSteps);
  ring.secondRow = sub(secondRow, mul(firstSteps, jobs));
}

/// Where a row group's shifts are in shared memory.
Value KernelEmitter::getShiftsPointer(Value group) {
  return sharedPointer(
      add(mul(toI32(group), i32(8)), i32(getShiftsOffset(problem, schedule))));
}

/// Leaves the row group's shifts where loadShifts() finds them.
void KernelEmitter::storeShifts(const Ring &ring) {
  Value thread = arith::OrIOp::create(b, ring.part.warpOfRow, ring.laneOfRow);
  guarded(
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, i32(0)), [&] {
        Value hasTwo = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             ring.firstSteps, ring.mine);
        Value words =
            LLVM::PoisonOp::create(b, VectorType::get({2}, b.getI32Type()));
        Value first = select(hasTwo, ring.shift, i32(-1));
        words = LLVM::InsertElementOp::create(b, words, first, i32(0));
        words =
            LLVM::InsertElementOp::create(b, words, getLastShift(ring), i32(1));
        LLVM::StoreOp::create(b, words, getShiftsPointer(ring.part.rowGroup),
                              8);
      });
}

/// A row group's first shift, -1 if it has one alone, and its last, i32.
std::pair<Value, Value> KernelEmitter::loadShifts(Value group) {
  Value words = LLVM::LoadOp::create(b, VectorType::get({2}, b.getI32Type()),
                                     getShiftsPointer(group), 8);
  return {LLVM::ExtractElementOp::create(b, words, i32(0)),
          LLVM::ExtractElementOp::create(b, words, i32(1))};
}

/// The shift of the last row, i32.
Value KernelEmitter::getLastShift(const Ring &ring) {
  return getShift(getRow(ring, arith::SubIOp::create(b, ring.mine, i32(1)), 0));
}

/// As emitSteps(), of one shift and then of the other; in between, the sums of
/// the first go to shared memory, while what the columns of the second read is
/// on its way. The ring's views are the last row's behind it.
SmallVector<Value> KernelEmitter::emitShifts(
    Ring &ring, ArrayRef<Value> carried, unsigned firstPartial,
    llvm::function_ref<void(Value, MutableArrayRef<Value>)> writeIfLast) {
  SmallVector<Value> initial(carried);
  initial.push_back(i32(0)); // the shift's first step
  SmallVector<Type> types(ValueRange(initial).getTypes());
  auto loop = scf::WhileOp::create(b, types, initial);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Location> locations(types.size(), b.getLoc());
  b.createBlock(&loop.getAfter(), {}, types, locations);
  scf::YieldOp::create(b, loop.getAfterArguments());
  b.createBlock(&loop.getBefore(), {}, types, locations);
  SmallVector<Value> state(loop.getBeforeArguments());
  Value from = state.pop_back_val();
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, from, i32(0));
  Value to = select(isFirst, ring.firstSteps, ring.mine);
  {
    // What is the same for all rows is known behind here no longer.
    llvm::SaveAndRestore savedUniform(uniformValues);
    setShift(ring, getShift(getRow(ring, from, 0)));
    loadInputs(ring.columnInputs, ring.views);
    moveFirstSums(ring, isFirst,
                  MutableArrayRef(state)
                      .drop_front(firstPartial + scalars.size())
                      .take_front(accumulations.size() * ring.views.size()));
    state = emitSteps(ring, state, from, to, firstPartial, writeIfLast);
  }
  state.push_back(to);
  scf::ConditionOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, to, ring.mine),
      state);
  b.setInsertionPointAfter(loop);
  setShift(ring, getLastShift(ring));
  return SmallVector<Value>(loop.getResults().drop_back());
}

/// Moves the sums of the first shift to shared memory, unless it `isFirst`.
void KernelEmitter::moveFirstSums(const Ring &ring, Value isFirst,
                                  MutableArrayRef<Value> sums) {
  if (sums.empty())
    return;
  auto ifFirst = scf::IfOp::create(b, ValueRange(sums).getTypes(), isFirst,
                                   /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifFirst.thenBlock());
  scf::YieldOp::create(b, ValueRange(sums));
  b.setInsertionPointToStart(ifFirst.elseBlock());
  Ring before = ring;
  setShift(before, getShift(getRow(ring, i32(0), 0)));
  for (unsigned a = 0; a < accumulations.size(); ++a)
    storeSums(before, a, sums, /*writes=*/Value(),
              getSumsStart(a, getFirstSumsOffset(problem, schedule)));
  scf::YieldOp::create(b, getColumnIdentities(ring.views));
  llvm::copy(ifFirst.getResults(), sums.begin());
}
