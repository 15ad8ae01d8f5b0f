//===- KernelRingAhead.cpp - A ring one step ahead of its row sums --------===//
//
// Where a block has one row at a time, its warps wait for each other in every
// step: until all parts of the row's sums are there. With ahead=1 iteration k
// sends the sums of step k first, and then waits for those of step k - 1, which
// have been on their way for as long as step k's first half took. So that no
// registers hold a row meanwhile, what hangs on its sums reads it from its slot
// again; the slot is filled anew behind that.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Chunks whose column inputs are kept as they lie in memory, and unpacked for
/// each row, for want of registers: half of more than five. (LayerNorm's
/// weights in bf16, six vectors in 8 warps: 40 bytes are spilled with none
/// packed, 8 with two, 0 with three. H200, 20479 columns, 200 and 600 MB, us,
/// three and six packed: 54.1, 147.6 and 54.1, 148.8; 22501 54.6, 151.3 and
/// 54.6, 161.3.)
static unsigned getPackedChunks(ScheduleAttr schedule) {
  unsigned chunks = schedule.getChunks();
  return chunks > 5 ? chunks / 2 : 0;
}

/// As emitSteps().
SmallVector<Value> KernelEmitter::emitStepsAhead(
    Ring &ring, ArrayRef<Value> carried, unsigned firstPartial,
    llvm::function_ref<void(Value, MutableArrayRef<Value>)> writeIfLast) {
  unsigned slots = ring.slots, numLoaded = firstPartial - 2;
  // Behind what `carried` holds: what was loaded for the step before.
  SmallVector<Value> initial(carried);
  llvm::append_range(initial, carried.slice(2, numLoaded));
  Value end = select(ring.any, add(ring.mine, i32(1)), i32(0));
  SmallVector<PackedElement> ofColumns = packElements(
      MutableArrayRef(ring.views).take_front(getPackedChunks(schedule)),
      /*ofColumns=*/true);
  auto loop = scf::ForOp::create(b, i32(0), end, i32(1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  SmallVector<Value> state(loop.getRegionIterArgs());
  Value slot = state[0], step = state[1];
  Value isFirstSlot =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot, i32(0));
  Value slotBefore =
      select(isFirstSlot, i32(slots), arith::SubIOp::create(b, slot, i32(1)));

  // The row of step `at`, as it is in `from`.
  auto readRow = [&](Value at, Value from, ArrayRef<Value> loaded) {
    SmallVector<RowView> rows = getRows(ring, at);
    RowView &row = rows.front();
    // A copy, whose words become values of this region.
    SmallVector<PackedElement> packed(ofColumns);
    unpackElements(packed, row.columns);
    unsigned next = 0;
    for (BlockArgument argument : ring.rowInputs)
      row.values[argument] =
          shuffle(loaded[next++], i32(0), NVVM::ShflKind::idx);
    if (ring.loadsEnds)
      for (const Stream &stream : ring.streams)
        row.columns.back()
            .values[op.getBodyBlock()->getArgument(stream.input)] =
            loaded[next++];
    readRowInputs(ring, from, rows);
    readStep(ring, from, rows);
    return rows;
  };
  auto emitPhaseOf = [&](unsigned p, RowView &row,
                         MutableArrayRef<Value> partials) {
    swapRow(row);
    SmallVector<Value> sums =
        emitPhase(ring, p, row, partials.take_front(scalars.size()),
                  partials.drop_front(scalars.size()));
    swapRow(row);
    return sums;
  };
  // `emit` replaces what `values` holds where `condition` is true.
  auto emitIf = [&](Value condition, MutableArrayRef<Value> values,
                    llvm::function_ref<void(MutableArrayRef<Value>)> emit) {
    bool hasElse = !values.empty(); // without results the terminators are there
    auto ifOp = scf::IfOp::create(b, ValueRange(values).getTypes(), condition,
                                  /*withElseRegion=*/hasElse);
    OpBuilder::InsertionGuard guard(b);
    if (hasElse) {
      b.setInsertionPointToStart(ifOp.elseBlock());
      scf::YieldOp::create(b, ValueRange(values));
    }
    b.setInsertionPointToStart(ifOp.thenBlock());
    // What is the same for all rows is known behind here no longer.
    llvm::SaveAndRestore savedUniform(uniformValues);
    SmallVector<Value> inner(values);
    emit(inner);
    if (hasElse)
      scf::YieldOp::create(b, inner);
    llvm::copy(ifOp.getResults(), values.begin());
  };

  SmallVector<Value> loaded(ArrayRef(state).slice(2, numLoaded));
  ArrayRef<Value> loadedBefore = ArrayRef(state).take_back(numLoaded);
  // What is loaded a step ahead, and the partial sums.
  auto updated = MutableArrayRef(state).drop_front(2).drop_back(numLoaded);
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, ring.mine);
  emitIf(exists, updated, [&](MutableArrayRef<Value> inner) {
    awaitCopies(ring, k, slot);
    llvm::copy(loadRowInputs(ring, add(k, i32(1))), inner.begin());
    // Lanes read what others copied, and the exchange's next buffer is free.
    NVVM::SyncWarpOp::create(b, i32(-1));
    SmallVector<RowView> rows = readRow(k, slot, loaded);
    auto partials = inner.drop_front(numLoaded);
    SmallVector<Value> sums = emitPhaseOf(0, rows.front(), partials);
    sendSums(waves[0], sums, ring.part.rowGroup, ring.part.warpOfRow, step,
             /*isSynced=*/true);
    if (getPartialsPhase() == 0)
      writeIfLast(k, partials);
  });
  auto partials = updated.drop_front(numLoaded);
  Value hasBefore =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, k, i32(0));
  emitIf(hasBefore, partials, [&](MutableArrayRef<Value> inner) {
    SmallVector<Value> sums = receiveSums(
        waves[0], ring.part.rowGroup, arith::SubIOp::create(b, step, i32(1)));
    SmallVector<RowView> rows =
        readRow(arith::SubIOp::create(b, k, i32(1)), slotBefore, loadedBefore);
    RowView &row = rows.front();
    swapRow(row);
    for (auto [reduce, sum] : llvm::zip(waves[0], sums))
      rowValues[reduce.getResult()] = sum;
    swapRow(row);
    emitPhaseOf(1, row, inner);
    // Lanes copy over what others have read.
    NVVM::SyncWarpOp::create(b, i32(-1));
  });
  Value next = add(k, i32(slots));
  issueStep(
      ring, next, slotBefore,
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next, ring.mine));

  state[0] = select(
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot, i32(slots)),
      i32(0), arith::AddIOp::create(b, slot, i32(1)));
  state[1] = arith::AddIOp::create(b, step, i32(1));
  llvm::copy(loaded, state.end() - numLoaded);
  scf::YieldOp::create(b, state);

  b.setInsertionPointAfter(loop);
  SmallVector<Value> last(loop.getResults().drop_back(numLoaded));
  // The last iteration sends nothing.
  last[1] = arith::AddIOp::create(b, carried[1], ring.mine);
  return last;
}
