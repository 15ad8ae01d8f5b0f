//===- KernelTile.cpp - Blocks of a few rows, with transposed outputs -----===//
//
// Row-only groups that write an output in transposed order too: a block (or a
// cluster, each of its blocks some of the columns) takes `slots` x `row-groups`
// x `rows` consecutive rows, `rows` of them in the registers of a row group at
// once, and leaves what is transposed in a tile (KernelTileStores.cpp).
// With more than one slot a tile is filled in as many steps, and the next
// step's rows are loaded while this one's are computed: also over a tile's end,
// so that memory is read while a tile is written. The blocks then last as long
// as the launch, and reductions of everything are theirs, too
// (KernelScalars.cpp): the last one to begin waits for the others' words.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// The rows of a step of the tile from `firstRow` on, without values; `step` is
/// null where a tile has one.
SmallVector<RowView> KernelEmitter::getRowsOfStep(Value firstRow, Value step,
                                                  Value rowGroup,
                                                  ArrayRef<ColumnView> views) {
  unsigned groups = schedule.getRowGroups(), units = schedule.getRows();
  SmallVector<RowView> rows(units);
  Value first = rowGroup;
  if (step)
    first = arith::AddIOp::create(
        b, first, arith::MulIOp::create(b, step, i32(units * groups)));
  for (auto [u, row] : llvm::enumerate(rows)) {
    row.inTile = arith::AddIOp::create(b, first, i32(u * groups));
    Value index = add(firstRow, toI64(row.inTile));
    row.exists = isRow(index);
    row.indices = segmentIndices;
    delinearize(lastRowAtMost(index), reducedRowDims, row.indices);
    row.columns.assign(views.begin(), views.end());
  }
  return rows;
}

/// Loads what a step's rows have of their own, as it lies in memory: 32-bit
/// words, where it fills some.
SmallVector<Value> KernelEmitter::loadStepRows(MutableArrayRef<RowView> rows) {
  SmallVector<Value> loaded;
  for (RowView &row : rows) {
    swapRow(row);
    for (ColumnView &view : row.columns)
      for (BlockArgument argument : op.getBodyBlock()->getArguments())
        if (!argument.use_empty() && hasColumns(argument) && hasRows(argument))
          loaded.push_back(toWords(toMemory(
              loadAt(argument.getArgNumber(), view), argument.getType())));
    swapRow(row);
  }
  return loaded;
}

/// A vector as 32-bit words, where it fills some.
Value KernelEmitter::toWords(Value vector) {
  auto type = dyn_cast<VectorType>(vector.getType());
  unsigned bits =
      type ? type.getDimSize(0) * type.getElementType().getIntOrFloatBitWidth()
           : 0;
  if (bits == 0 || bits % 32)
    return vector;
  return LLVM::BitcastOp::create(
      b, VectorType::get({bits / 32}, b.getI32Type()), vector);
}

/// Gives the rows what loadStepRows() loaded; what came as words to `packed`.
void KernelEmitter::setStepRows(
    MutableArrayRef<RowView> rows, ArrayRef<Value> loaded,
    MutableArrayRef<SmallVector<PackedElement>> packed) {
  const Value *next = loaded.begin();
  for (auto [row, ofRow] : llvm::zip(rows, packed))
    for (auto [c, view] : llvm::enumerate(row.columns))
      for (BlockArgument argument : op.getBodyBlock()->getArguments()) {
        if (argument.use_empty() || !hasColumns(argument) || !hasRows(argument))
          continue;
        Value value = *next++;
        Type memory = getMemoryType(argument.getType());
        if (view.width > 1)
          memory = VectorType::get({view.width}, memory);
        if (value.getType() != memory) {
          ofRow.push_back({unsigned(c), argument, value});
          value = LLVM::BitcastOp::create(b, memory, value);
        }
        view.values[argument] = fromMemory(value, argument.getType());
      }
}

/// Computes and stores a step's rows, and leaves them in the tile. `step`
/// counts the exchanges, `ofScalars` are the sums of everything.
void KernelEmitter::emitTileStep(
    MutableArrayRef<RowView> rows,
    MutableArrayRef<SmallVector<PackedElement>> packed, const RowPart &part,
    Value allExist, Value &step, MutableArrayRef<Value> ofScalars) {
  Block *body = op.getBodyBlock();
  bool keepsPacked = rows.size() > 1 || schedule.getSlots() > 1;
  for (unsigned p = 0; p <= waves.size(); ++p) {
    SmallVector<RowReduceOp> wave;
    SmallVector<Value> sums;
    for (auto [u, row] : llvm::enumerate(rows)) {
      // What only needs the row's elements is unpacked again, not kept.
      if (p > 0) {
        for (ColumnView &view : row.columns)
          for (Operation &inner : body->without_terminator())
            if (inner.getNumResults() == 1 && isCheapOp(&inner) &&
                (keepsPacked || hasRows(inner.getResult(0))))
              view.values.erase(inner.getResult(0));
        unpackElements(packed[u], row.columns);
      }
      swapRow(row);
      prepareRowValues(p);
      storeRowOutputs(p, part.isLeader);
      if (p < waves.size()) {
        llvm::append_range(wave, waves[p]);
        llvm::append_range(sums, addViews(waves[p], row.columns));
      }
      addScalars(p, /*views=*/{}, part.isLeader, ofScalars);
      // View by view where both take the same values: few live at once.
      MutableArrayRef<ColumnView> columns = row.columns;
      size_t count = ofScalars.empty() ? columns.size() : 1;
      for (size_t c = 0; c < columns.size(); c += count) {
        MutableArrayRef<ColumnView> some = columns.slice(c, count);
        addScalars(p, some, /*isLeader=*/Value(), ofScalars);
        storeElementOutputs(p, some, allExist);
      }
      swapRow(row);
    }
    if (p == waves.size())
      break;
    exchangeRowSums(wave, sums, part.rowGroup, part.warpOfRow, step);
    unsigned next = 0;
    for (RowView &row : rows)
      for (RowReduceOp reduce : waves[p])
        row.values[reduce.getResult()] = sums[next++];
    step = arith::AddIOp::create(b, step, i32(1));
  }
}

/// Computes what no row changes, so that nested regions only use it.
void KernelEmitter::prepareUniformValues() {
  auto isUniform = [&](Value value) {
    return !hasRows(value) && !hasColumns(value);
  };
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    if (!argument.use_empty() && isUniform(argument))
      evaluateRow(argument);
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    for (Value result : inner.getResults())
      if (isUniform(result))
        evaluateRow(result);
}

/// Loads what all rows read.
void KernelEmitter::loadColumns(MutableArrayRef<ColumnView> views) {
  for (ColumnView &view : views)
    for (BlockArgument argument : op.getBodyBlock()->getArguments())
      if (!argument.use_empty() && hasColumns(argument) && !hasRows(argument))
        view.values[argument] = loadAt(argument.getArgNumber(), view);
}

void KernelEmitter::emitTileBlocks() {
  unsigned tileRows = getTileRows(schedule);
  bool exact = problem.columns ==
               int64_t(schedule.getCluster()) * schedule.getBlockColumns();

  bool hasOneTile = schedule.getGrid() == 0;
  initExchange();
  if (!hasOneTile && schedule.getSlots() == 1)
    awaitExchange();
  Value lane = laneId();
  RowPart part = getRowPart(lane);
  Value allExist;
  SmallVector<ColumnView> views = getLaneViews(
      part.partOfRow, lane, exact, /*firstColumn=*/nullptr, &allExist);
  Value tiles = arith::DivUIOp::create(b, add(rowCount, i64(tileRows - 1)),
                                       i64(tileRows));
  if (schedule.getSlots() > 1)
    return emitTileSteps(part, views, allExist);
  emitShare(cluster, tiles, clusterStride, [&](Value tile, Value step) {
    Value firstRow = mul(tile, i64(tileRows));
    SmallVector<RowView> rows =
        getRowsOfStep(firstRow, /*step=*/Value(), part.rowGroup, views);
    // All loads first: the rows' own, then what other rows read too.
    SmallVector<Value> loaded = loadStepRows(rows);
    for (RowView &row : rows) {
      swapRow(row);
      prepareRowValues(0);
      swapRow(row);
    }
    SmallVector<ColumnView> ofColumns(views);
    loadColumns(ofColumns);
    SmallVector<SmallVector<PackedElement>> packed(
        rows.size(), packElements(ofColumns, /*ofColumns=*/rows.size() > 1));
    for (RowView &row : rows)
      row.columns = ofColumns;
    setStepRows(rows, loaded, packed);
    if (hasOneTile)
      awaitExchange();
    emitTileStep(rows, packed, part, allExist, step, /*ofScalars=*/{});
    writeTiles(firstRow, rowCount);
    // The next tile takes the same place.
    if (!hasOneTile)
      syncBlock();
    return step;
  });
}

void KernelEmitter::emitTileSteps(const RowPart &part,
                                  ArrayRef<ColumnView> views, Value allExist) {
  Value ticket;
  if (!scalars.empty())
    ticket = takeTicket();
  TileShare share = getTileShare(cluster, clusterStride);
  SmallVector<Value> identities = getScalarIdentities();
  auto ifAny = scf::IfOp::create(
      b, ValueRange(identities).getTypes(),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, share.steps, i64(0)),
      /*withElseRegion=*/!scalars.empty());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAny.thenBlock());
    SmallVector<Value> totals =
        emitShareSteps(share, part, views, allExist, identities, ticket);
    if (!scalars.empty()) {
      scf::YieldOp::create(b, totals);
      b.setInsertionPointToStart(ifAny.elseBlock());
      keepTicket(ticket);
      scf::YieldOp::create(b, identities);
    }
  }
  if (scalars.empty())
    return;
  readLaunchCount();
  writeScalars(cluster, SmallVector<Value>(ifAny.getResults()));
  emitScalarResults();
  countLaunch(parity);
}

/// The steps of a share that has some. Returns the sums of everything, which
/// start from `identities`. `ticket`: the block's, or null.
SmallVector<Value> KernelEmitter::emitShareSteps(const TileShare &share,
                                                 const RowPart &part,
                                                 ArrayRef<ColumnView> views,
                                                 Value allExist,
                                                 ArrayRef<Value> identities,
                                                 Value ticket) {
  auto load = [&](Value k) {
    TileStep step = getTileStep(share, k);
    SmallVector<RowView> rows =
        getRowsOfStep(step.firstRow, step.inTile, part.rowGroup, views);
    return loadStepRows(rows);
  };
  Value last = arith::SubIOp::create(b, share.steps, i64(1));
  unsigned ahead = getStepsAhead(problem, schedule, kRegisters);
  SmallVector<Value> carried;
  for (unsigned k = 0; k < ahead; ++k)
    llvm::append_range(
        carried,
        load(k ? arith::MinUIOp::create(b, i64(k), last).getResult() : i64(0)));
  if (ticket)
    keepTicket(ticket);
  SmallVector<ColumnView> ofColumns(views);
  loadColumns(ofColumns);
  SmallVector<PackedElement> packedColumns =
      packElements(ofColumns, /*ofColumns=*/true);
  prepareUniformValues();
  awaitExchange();

  unsigned numLoaded = carried.size() / ahead, numScalars = identities.size();
  llvm::append_range(carried, identities);
  auto loop = scf::ForOp::create(b, i64(0), share.steps, i64(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  carried.assign(loop.getRegionIterArgs().begin(),
                 loop.getRegionIterArgs().end() - numScalars);
  SmallVector<Value> ofScalars(loop.getRegionIterArgs().take_back(numScalars));
  SmallVector<Value> loaded(ArrayRef<Value>(carried).take_front(numLoaded));
  SmallVector<Value> latest(ArrayRef<Value>(carried).take_back(numLoaded));
  Value next = add(k, i64(ahead));
  auto ifNext = scf::IfOp::create(
      b, ValueRange(loaded).getTypes(),
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next, share.steps),
      /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inIf(b);
    b.setInsertionPointToStart(ifNext.thenBlock());
    scf::YieldOp::create(b, load(next));
    b.setInsertionPointToStart(ifNext.elseBlock());
    scf::YieldOp::create(b, latest);
  }
  TileStep now = getTileStep(share, k);
  SmallVector<RowView> rows =
      getRowsOfStep(now.firstRow, now.inTile, part.rowGroup, ofColumns);
  SmallVector<SmallVector<PackedElement>> packed(rows.size(), packedColumns);
  for (auto [row, ofRow] : llvm::zip(rows, packed))
    unpackElements(ofRow, row.columns);
  setStepRows(rows, loaded, packed);
  Value step = arith::MulIOp::create(
      b, arith::TruncIOp::create(b, b.getI32Type(), k), i32(waves.size()));
  emitTileStep(rows, packed, part, allExist, step, ofScalars);
  finishTile(share, k);
  carried.erase(carried.begin(), carried.begin() + numLoaded);
  llvm::append_range(carried, ifNext.getResults());
  llvm::append_range(carried, ofScalars);
  scf::YieldOp::create(b, carried);
  return SmallVector<Value>(loop.getResults().take_back(numScalars));
}
