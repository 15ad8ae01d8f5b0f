//===- KernelRing.cpp - Rows in registers, streamed through shared memory -===//
//
// A row group of `warps` warps in each of `cluster` blocks holds one row: lane
// l of the row's warp w owns, for each of its `chunks`, the `vector`
// consecutive columns from ((w * chunks + c) * lanes + l) * vector on. Where a
// row needs fewer than 32 lanes, a warp holds 32 / lanes rows side by side, and
// each lane `rows` of them at once (structure=small). Rows come through a ring
// that is private to each lane: it copies and reads only its own bytes, so the
// ring needs no barrier (copy=bulk: one lane copies for its warp, and with
// row-inputs=copy one the row's, see KernelRingCopies.cpp; copy=rows: all lanes
// of a warp copy its rows together, see KernelRingRows.cpp). `slots`
// steps are in flight; one slot more lets the copies of the next step start
// before this one is read. Column accumulators stay in registers over all rows.
//
// Rows that begin at any address (an odd number of bf16 columns, say) are
// *framed* (KernelRingFrames.cpp), or, if short, *shifted*: a warp copies the
// aligned 16-byte pieces that cover its part of the row, and its lanes put
// their elements together from the aligned words around them.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Warps of a row from which on the partials are written before its last wave.
static constexpr unsigned kManyWarps = 3;

/// The row group, the columns and the steps that are this lane's.
KernelEmitter::Ring KernelEmitter::makeRing(Value firstRow) {
  unsigned groups = schedule.getRowGroups(), lanes = schedule.getLanes();
  Ring ring;
  ring.async = schedule.getCopy() != Copy::load;
  ring.bulk = schedule.getCopy() == Copy::bulk;
  ring.together = schedule.getCopy() == Copy::rows;
  ring.copiesEnds = schedule.getCopiesEnds();
  ring.loadsEnds =
      haveEnds(problem, schedule) && !ring.together && !ring.copiesEnds;
  ring.slots = ring.async ? schedule.getSlots() : 1;
  ring.units = schedule.getRows();
  ring.rowsAStep = schedule.getRowsAStep();
  ring.shifted = isShifted(problem, schedule);
  ring.exact = problem.columns ==
               int64_t(schedule.getCluster()) * schedule.getBlockColumns();

  ring.lane = laneId();
  ring.laneOfRow = ring.lane;
  if (lanes < 32) {
    ring.laneOfRow = arith::AndIOp::create(b, ring.lane, i32(lanes - 1));
    ring.rowOfLane =
        arith::ShRUIOp::create(b, ring.lane, i32(llvm::Log2_32(lanes)));
  }
  ring.part = getRowPart(ring.laneOfRow);

  // Steps of this row group: first + k * stride, of `rowsAStep` rows each.
  ring.steps = toI32(rowCount);
  if (ring.rowsAStep > 1)
    ring.steps = arith::DivUIOp::create(
        b, add(ring.steps, i32(ring.rowsAStep - 1)), i32(ring.rowsAStep));
  ring.firstRow = firstRow;
  Value splits = toI32(arguments.splits);
  ring.first = add(toI32(firstRow), mul(ring.part.rowGroup, splits));
  ring.stride = mul(splits, i32(groups));
  ring.end = ring.steps;
  if (schedule.getTile() != 0)
    ring.share = getTileShare(firstRow, arguments.splits);
  if (framed) {
    makeFrames(ring);
  } else {
    ring.views = getLaneViews(ring.part.partOfRow, ring.laneOfRow, ring.exact,
                              &ring.firstColumn, &ring.allExist);
    if (ring.bulk)
      boundBulkCopies(
          ring, arith::TruncIOp::create(b, b.getI32Type(), ring.firstColumn),
          i32(problem.columns));
  }
  placeStreams(ring);
  if (ring.takesTiles())
    ring.any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                     ring.share.steps, i64(0));
  else if (!ring.any)
    ring.any = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, ring.first,
                                     ring.end);
  return ring;
}

/// True if step `k` has a row: but for tiles without the division that counts
/// the steps.
Value KernelEmitter::isStep(const Ring &ring, unsigned k) {
  if (k == 0)
    return ring.any;
  if (ring.takesTiles())
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, i64(k),
                                 ring.share.steps);
  if (ring.firstSteps)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, i32(k),
                                 ring.mine);
  unsigned rows = ring.takesTurns() ? k * ring.units : k;
  Value row = add(ring.first, mul(ring.stride, i32(rows)));
  return both(ring.any, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row,
                                              ring.steps));
}

/// The steps that have a row, i32.
Value KernelEmitter::countSteps(const Ring &ring) {
  if (ring.takesTiles())
    return toI32(ring.share.steps);
  Value span = arith::SubIOp::create(
      b, add(ring.steps, arith::SubIOp::create(b, ring.stride, i32(1))),
      ring.first);
  Value steps =
      select(ring.any, arith::DivUIOp::create(b, span, ring.stride), i32(0));
  if (ring.takesTurns())
    steps = arith::CeilDivUIOp::create(b, steps, i32(ring.units));
  return steps;
}

/// The rows of step `k`, with masks for what doesn't exist.
SmallVector<RowView> KernelEmitter::getRows(const Ring &ring, Value k) {
  unsigned width = schedule.getVector(), lanes = schedule.getLanes();
  SmallVector<RowView> rows(ring.units);
  if (ring.together)
    stepRow = getFirstRow(ring, k);
  // What is loaded of a row, or computed from its index, isn't masked.
  auto isOfRow = [&](IndexOp index) {
    return !columnDims.test(index.getDim());
  };
  bool clamps = !ring.loadedInputs.empty() ||
                llvm::any_of(op.getBodyBlock()->getOps<IndexOp>(), isOfRow);
  for (auto [u, row] : llvm::enumerate(rows)) {
    Value index = getRow(ring, k, u);
    if (ring.mayBeBehind(u)) {
      row.exists = isRow(index);
      if (clamps)
        index = lastRowAtMost(index);
    }
    if (ring.takesTiles())
      row.inTile = getRowInTile(ring, getTileStep(ring.share, toI64(k)), u);
    if (ring.together) {
      row.inTile = i32(u * schedule.getRowsAWarp());
      if (ring.rowOfLane)
        row.inTile = arith::AddIOp::create(b, row.inTile, ring.rowOfLane);
    }
    row.indices = segmentIndices;
    delinearize(index, reducedRowDims, row.indices);
    row.columns = ring.views;
  }
  // A mask an element is too many to keep.
  if (!framed && !ring.exact && problem.columns % width != 0) {
    Value first =
        arith::TruncIOp::create(b, b.getI32Type(), ring.views[0].column);
    Value left = arith::SubIOp::create(b, i32(problem.columns), first);
    left = createOpaque(b, left);
    for (RowView &row : rows)
      for (auto [c, view] : llvm::enumerate(row.columns)) {
        for (auto [e, exists] : llvm::enumerate(view.elementMasks))
          exists = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left,
                                         i32(c * lanes * width + e));
        view.mask = view.elementMasks[0];
      }
  }
  return rows;
}

/// Cheap values are computed again from their packed inputs, rather than kept
/// in registers over a wait; not those of a row that hang on a row reduction,
/// which take more to compute, and which few are needed of.
void KernelEmitter::forgetCheapValues(MutableArrayRef<RowView> rows,
                                      MutableArrayRef<PackedInput> inputs) {
  for (RowView &row : rows)
    for (ColumnView &view : row.columns)
      for (Operation &inner : op.getBodyBlock()->without_terminator())
        if (inner.getNumResults() == 1 && isCheapOp(&inner) &&
            hasRows(inner.getResult(0)) && phase(inner.getResult(0)) == 0)
          view.values.erase(inner.getResult(0));
  for (PackedInput &packed : inputs) {
    packed.words = createOpaque(b, packed.words);
    rows[packed.unit].columns[packed.chunk].values[packed.argument] =
        unpack(packed.words, packed.argument);
  }
}

/// What phase `p` computes of a row, quotients of all chunks behind one branch,
/// all else a chunk at a time, so that few values live at once: partial sums
/// into `accumulators` and `ofScalars`, stores, and the lane's sums of the
/// phase's wave.
SmallVector<Value>
KernelEmitter::emitPhase(const Ring &ring, unsigned p, RowView &row,
                         MutableArrayRef<Value> ofScalars,
                         MutableArrayRef<Value> accumulators) {
  prepareRowValues(p);
  storeRowOutputs(p, ring.part.isLeader);
  ArrayRef<RowReduceOp> wave;
  if (p < waves.size())
    wave = waves[p];
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    if (p > 0 && isDividedByRow(&inner) && phase(inner.getResult(0)) == p)
      divideByRow(&inner, row.columns);
  SmallVector<SmallVector<Value>> chains(wave.size());
  bool branches = branchesOverMissingRows();
  for (auto [c, view] : llvm::enumerate(row.columns)) {
    for (auto [reduction, chain] : llvm::zip(wave, chains))
      addView(chain, reduction, view);
    if (!branches)
      addPartials(p, c, view, accumulators);
  }
  if (branches)
    addPartialsIfExists(p, row.columns, accumulators);
  addScalars(p, row.columns, ring.part.isLeader, ofScalars);
  storeElementOutputs(p, row.columns, ring.allExist);
  SmallVector<Value> sums;
  for (auto [reduction, chain] : llvm::zip(wave, chains))
    sums.push_back(addChains(chain, RowReduceOp(reduction).getCombiner()));
  return sums;
}

/// What comes before the first step: first its copies; what takes its time, or
/// waits, behind them, and the copies of the next steps behind all that the
/// first one needs. (0.1 to 0.4 us less than the other way round.) Returns what
/// the first step begins with: slot, step of the exchange, and what is loaded
/// one step ahead, row inputs and, with Ring::loadsEnds, rows' ends.
SmallVector<Value> KernelEmitter::startRing(Ring &ring, Value step,
                                            bool awaits) {
  if (ring.bulk)
    forCopyBarriers(ring, [&](Value barrier) {
      NVVM::MBarrierInitOp::create(b, barrier, i32(ring.units),
                                   /*predicate=*/Value());
    });
  auto issue = [&](unsigned from, unsigned to) {
    if (ring.async) // without rows, their dimensions may divide by zero
      guarded(ring.any, [&] {
        for (unsigned k = from; k < to; ++k)
          issueStep(ring, i32(k), i32(k), k > 0 ? isStep(ring, k) : Value());
      });
  };
  issue(0, 1);
  if (awaits)
    initExchange();

  SmallVector<Value> carried{i32(0), step};
  SmallVector<Type> types;
  for (unsigned u = 0; u < ring.units; ++u) {
    for (BlockArgument argument : ring.rowInputs)
      types.push_back(argument.getType());
    if (ring.loadsEnds)
      for (const Stream &stream : ring.streams)
        types.push_back(op.getBodyBlock()->getArgument(stream.input).getType());
  }
  if (!types.empty()) {
    auto ifAny = scf::IfOp::create(b, types, ring.any, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAny.thenBlock());
    scf::YieldOp::create(b, loadRowInputs(ring, i32(0)));
    b.setInsertionPointToStart(ifAny.elseBlock());
    SmallVector<Value> zeros;
    for (Type type : types)
      zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
    scf::YieldOp::create(b, zeros);
    llvm::append_range(carried, ifAny.getResults());
  }
  if (!ring.firstSteps)
    loadInputs(ring.columnInputs, ring.views);
  issue(1, ring.slots);
  if (ring.firstSteps)
    storeShifts(ring);
  else
    ring.mine = countSteps(ring);
  if (awaits)
    resetPace();
  return carried;
}

/// The steps of a row group from `from` to before `to`, i32, one after the
/// other. `carried` and what is returned: slot, step of the exchange, what is
/// loaded a step ahead, from `firstPartial` on the sums of everything and of
/// columns, and the count of pacing. `writeIfLast` takes the step, where its
/// sums are complete.
SmallVector<Value> KernelEmitter::emitSteps(
    Ring &ring, ArrayRef<Value> carried, Value from, Value to,
    unsigned firstPartial,
    llvm::function_ref<void(Value, MutableArrayRef<Value>)> writeIfLast) {
  unsigned slots = ring.slots, units = ring.units;
  unsigned lastPartials = getPartialsPhase();
  unsigned numPartials =
      scalars.size() + accumulations.size() * ring.views.size();
  auto loop = scf::ForOp::create(b, from, to, i32(1), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    SmallVector<Value> state(loop.getRegionIterArgs());
    Value slot = state[0], step = state[1];
    if (schedule.getPace() != 0)
      waitForPace(k, state.back());
    SmallVector<RowView> rows = getRows(ring, k);
    // A step begins when the row inputs that were loaded a step ago, and its
    // copies, are there. The shuffle waits for the former: a copy could wait as
    // early as in the step before. Waiting also keeps warps from running ahead
    // where memory is congested.
    unsigned next = 2;
    Value source = ring.rowOfLane ? ring.lane : i32(0);
    for (RowView &row : rows) {
      for (BlockArgument argument : ring.rowInputs)
        row.values[argument] =
            shuffle(state[next++], source, NVVM::ShflKind::idx);
      if (ring.loadsEnds)
        for (const Stream &stream : ring.streams)
          row.columns.back()
              .values[op.getBodyBlock()->getArgument(stream.input)] =
              state[next++];
    }
    if (ring.async)
      awaitCopies(ring, k, slot);
    llvm::copy(loadRowInputs(ring, add(k, i32(1))), state.begin() + 2);
    if (schedule.getPace() != 0)
      state.back() = readPace(state.back());
    // Lanes read what others copied, and copy over what others have read; the
    // first exchange may write where the last one was read. Besides, ptxas
    // would move the loads above behind the step's arithmetic and copies.
    bool sharesCopies = ring.shifted || ring.bulk || ring.together ||
                        ring.copiesEnds || !ring.copiedRowInputs.empty();
    bool isSynced = sharesCopies || !ring.rowInputs.empty();
    if (isSynced) {
      auto sync = NVVM::SyncWarpOp::create(b, i32(-1));
      if (!sharesCopies && schedule.getCluster() == 1)
        sync->setAttr("norm_fusion.scheduling", b.getUnitAttr());
    }
    // The slot of the step before is filled anew once this step's first row
    // sums are on their way: sooner, more is in flight than memory serves well.
    auto refill = [&, thisSlot = slot] {
      if (!ring.async)
        return;
      Value isFirstSlot =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thisSlot, i32(0));
      Value next = add(k, i32(slots));
      issueStep(
          ring, next,
          select(isFirstSlot, i32(slots),
                 arith::SubIOp::create(b, thisSlot, i32(1))),
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next, ring.mine));
    };
    readRowInputs(ring, slot, rows);
    SmallVector<PackedInput> inputs = readStep(ring, slot, rows);
    if (!slotOutputs.empty()) { // they come over what all lanes have read
      NVVM::SyncWarpOp::create(b, i32(-1));
      outputSlot = getSlot(ring, slot);
    }
    slot = select(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot, i32(slots)),
        i32(0), arith::AddIOp::create(b, slot, i32(1)));

    auto partials = MutableArrayRef(state).slice(firstPartial, numPartials);
    auto ofScalars = partials.take_front(scalars.size());
    auto accumulators = partials.drop_front(scalars.size());
    for (unsigned p = 0; p <= waves.size(); ++p) {
      if (p > 0)
        forgetCheapValues(rows, inputs);
      SmallVector<Value> sums;
      for (RowView &row : rows) {
        swapRow(row);
        llvm::append_range(sums,
                           emitPhase(ring, p, row, ofScalars, accumulators));
        swapRow(row);
      }
      if (p == waves.size()) {
        storeRows(ring, k);
        if (p == 0)
          refill();
        break;
      }
      // The rows of a step are exchanged together.
      SmallVector<RowReduceOp> wave;
      for (unsigned u = 0; u < units; ++u)
        llvm::append_range(wave, waves[p]);
      exchangeRowSums(
          wave, sums, ring.part.rowGroup, ring.part.warpOfRow, step,
          [&] {
            if (p == 0)
              refill();
            if (p == lastPartials)
              writeIfLast(k, partials);
          },
          isSynced && p == 0);
      for (auto [u, row] : llvm::enumerate(rows)) {
        swapRow(row);
        ArrayRef<Value> ofRow =
            ArrayRef(sums).slice(u * waves[p].size(), waves[p].size());
        for (auto [reduce, sum] : llvm::zip(waves[p], ofRow))
          rowValues[reduce.getResult()] = sum;
        swapRow(row);
      }
      step = arith::AddIOp::create(b, step, i32(1));
    }
    if (ring.takesTiles())
      finishTile(ring.share, toI64(k));
    if (schedule.getPace() != 0)
      countPace(ring, state.back());
    state[0] = slot;
    state[1] = step;
    scf::YieldOp::create(b, state);
  }
  return SmallVector<Value>(loop.getResults());
}

Value KernelEmitter::emitRing(Value item, Value firstRow, Value step,
                              bool awaits) {
  // The item before left what this one writes over.
  if (schedule.getShifts() > 1 && !hasOneItem())
    syncBlock();
  Ring ring = makeRing(firstRow);
  Value allHaveRows = ring.any;
  if (schedule.getShifts() > 1)
    allHaveRows = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                        ring.steps, ring.stride);
  else if (!ring.takesTiles())
    allHaveRows = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult,
        add(toI32(firstRow),
            mul(toI32(arguments.splits), i32(schedule.getRowGroups() - 1))),
        ring.end);
  // Loop-carried: slot, step of the exchange, row inputs, accumulators of
  // everything and of columns, count of pacing.
  SmallVector<Value> carried = startRing(ring, step, awaits);
  unsigned firstScalar = carried.size();
  unsigned numAccumulators = accumulations.size() * ring.views.size();
  llvm::append_range(carried, getScalarIdentities());
  llvm::append_range(carried, getColumnIdentities(ring.views));

  if (schedule.getPace() != 0)
    carried.push_back(startPace(ring));

  // Partials are complete before the last waves of the last row: written then,
  // they travel while that row goes on, if all row groups of the block, which
  // meet for it, have rows. (0.4 to 3 us less, but for rows of so few warps
  // that hardly anything is waited for.)
  SmallVector<Value> identities(ArrayRef<Value>(carried).slice(
      firstScalar, scalars.size() + numAccumulators));
  unsigned lastPartials = getPartialsPhase();
  bool writesEarly = lastPartials < waves.size() && !identities.empty() &&
                     schedule.getCluster() * schedule.getWarps() >= kManyWarps;
  auto writeIfLast = [&](Value k, MutableArrayRef<Value> partials) {
    if (!writesEarly)
      return;
    // Not kept in a register over all steps.
    llvm::SaveAndRestore savedShift(ring.shift);
    if (ring.firstSteps)
      ring.shift = getShift(getRow(ring, k, 0));
    writeEarly(both(arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          add(k, i32(1)), ring.mine),
                    allHaveRows),
               item, ring, identities, partials);
  };

  // The first rows are on their way meanwhile.
  if (awaits)
    awaitExchange();
  // Reductions of neighbouring columns alone aren't exchanged.
  bool isAhead = schedule.getAhead() != 0 && waves.size() == 1;
  SmallVector<Value> last;
  if (isAhead)
    last = emitStepsAhead(ring, carried, firstScalar, writeIfLast);
  else if (ring.firstSteps)
    last = emitShifts(ring, carried, firstScalar, writeIfLast);
  else
    last =
        emitSteps(ring, carried, i32(0), ring.mine, firstScalar, writeIfLast);
  if (ring.bulk && !hasOneItem())
    forCopyBarriers(ring, [&](Value barrier) {
      NVVM::MBarrierInvalOp::create(b, barrier);
    });
  OpBuilder::InsertionGuard guard(b);
  if (writesEarly)
    b.setInsertionPointToStart(
        scf::IfOp::create(b, allHaveRows, /*withElseRegion=*/true).elseBlock());
  // The only row group of a block without rows has nothing but identities.
  if (writesEarly && schedule.getRowGroups() == 1 &&
      arePartialsFramed(problem, schedule)) {
    writeScalars(item, ArrayRef(identities).take_front(scalars.size()));
    writeFramedIdentities(item);
  } else {
    write(item, ring, ArrayRef(last).slice(firstScalar, identities.size()));
  }
  return last[1];
}
