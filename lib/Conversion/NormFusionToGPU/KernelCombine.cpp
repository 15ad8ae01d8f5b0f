//===- KernelCombine.cpp - Merging the partial rows of the blocks ---------===//
//
// Partial rows lie in the workspace as [accumulator][item][column]. A block
// takes tiles of a segment's columns, in `parts` of 32 lanes with 1, 2 or 4
// columns each, or of framed rows as many as there are for a block, of those
// accumulators that a result hangs on or of all. W warps share a part: each
// adds the items w, w + W, ..., with its loads in flight together, the first
// warps add the warps' sums in order and run the op's combine region. The order
// depends on the number of items and warps, and on that of columns, alone.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/SaveAndRestore.h"
#include <limits>

using namespace mlir;
using namespace mlir::norm_fusion;

/// Registers of a thread at most, on all targets.
static constexpr unsigned kMaxRegisters = 255;

/// Partial rows of a segment, on most devices, for each of `warps`.
static unsigned getUsualItems(ScheduleAttr schedule, unsigned warps) {
  unsigned blocks = schedule.getGrid();
  if (blocks == 0) // some devices run a few more than the usual ones
    blocks = getUsualBlocks(schedule.getCluster()) * 17 / 16;
  return llvm::divideCeil(llvm::divideCeil(blocks, schedule.getCluster()),
                          warps);
}

/// Items that a thread loads at once, of `words` 32-bit words each: all that a
/// warp of `warps` has on most devices, for each further round waits for the L2
/// cache anew, or where these take more than a fifth of the thread's registers,
/// a third where it has all there are, as many in each round. (More spill: two
/// fifths 8 to 12 bytes in LayerNorm of 6656 to 6912 columns, 12 warps.) Not of
/// `areFramed` ones, each of which has an address of its own: ptxas takes 190
/// ms in place of 220 for LayerNorm 19999, which runs no longer.
static unsigned getItemsAtOnce(ScheduleAttr schedule, unsigned words,
                               unsigned warps, bool areFramed = false) {
  unsigned items = getUsualItems(schedule, warps);
  unsigned registers =
      std::min(kRegisters / schedule.getThreads(), kMaxRegisters);
  bool mayBeMore = registers == kMaxRegisters && !areFramed;
  unsigned mostWords = registers / (mayBeMore ? 3 : 5);
  unsigned most = std::max(mostWords / std::max(words, 1u), 1u);
  return llvm::divideCeil(items, llvm::divideCeil(items, most));
}

/// What a load of a lane takes, a further round of loads, and four columns a
/// lane, in columns of a tile. (H200, f32 LayerNorm, 25 MB, us. 8192 columns in
/// tiles of 160, 192 and 256 of one sum with five, three and two loads 8.77,
/// 8.88 and 9.00; 16384 of 288, 320 and 384 with 15, five and three 9.45, 9.12
/// and 9.31; 3000 of 64 with five and three 9.06 and 8.85. bf16 RMSNorm
/// 512x4096 of 32, 64 and 128 5.85, 6.10 and 6.24.)
static constexpr int64_t kColumnsOfLoad = 10, kColumnsOfRound = 100,
                         kColumnsOfFour = 60;

/// A tile a block, of the shape that takes least: few columns, so that all
/// blocks have some, and few loads a lane. (H200, LayerNorm, us, tiles of all
/// sums, as many columns as a power of two, and these: f32, 25 MB, 3000 columns
/// 9.3 and 8.8, 8192 9.25 and 8.75, 10000 9.5 and 9.2, 16384 9.5 and 9.1, 75 MB
/// 16384 20.9 and 20.6; bf16 512x4096 6.45 and 6.2, 12345 and more no change.
/// Of 19 cells at most 0.1 more than the best of six shapes.) More than a tile
/// a block if there is no other way: the second one waits for all of the first.
KernelEmitter::TileShape
KernelEmitter::getTileShape(ArrayRef<CombineShare> shares) {
  TileShape best;
  if (ShapedType::isDynamic(problem.columns))
    return best;
  int64_t tiles = getUsualBlocks(schedule.getCluster());
  unsigned warps = threads / 32;
  if (llvm::any_of(problem.accumulatorBytes,
                   [](unsigned bytes) { return bytes > 4; })) {
    int64_t ofShare = llvm::divideCeil(problem.columns, best.getColumns());
    best.ofShare = ofShare * int64_t(shares.size()) <= tiles;
    return best;
  }
  // The columns of a lane are 32 apart, so that it may have any number of them,
  // and all warps share each column's items.
  if (arePartialsFramed(problem, schedule)) {
    best.width = getFramedTileWidth(problem, schedule);
    return best;
  }
  best.width = 4;
  best.parts = warps;
  int64_t least = std::numeric_limits<int64_t>::max();
  auto consider = [&](bool ofShare, unsigned width, unsigned accumulators) {
    int64_t columns = problem.columns * (ofShare ? shares.size() : 1);
    TileShape shape{width, /*parts=*/1, ofShare};
    int64_t parts =
        std::max<int64_t>(llvm::divideCeil(columns, 32 * width * tiles), 1);
    if (parts > warps)
      return;
    shape.parts = parts;
    unsigned sharers = warps / shape.parts;
    unsigned items = getUsualItems(schedule, sharers);
    unsigned rounds = llvm::divideCeil(
        items, getItemsAtOnce(schedule, width * accumulators, sharers));
    int64_t cost =
        accumulators * (shape.getColumns() + kColumnsOfLoad * items) +
        kColumnsOfRound * (rounds - 1) + (width == 4 ? kColumnsOfFour : 0);
    if (cost >= least)
      return;
    least = cost;
    best = shape;
  };
  unsigned most = 0;
  for (const CombineShare &share : shares)
    most = std::max<unsigned>(most, share.accumulators.count());
  for (unsigned width : {1u, 2u, 4u}) {
    consider(/*ofShare=*/false, width, accumulations.size());
    consider(/*ofShare=*/true, width, most);
  }
  return best;
}

/// `word`, i32, in each element of `like`, if that is a vector.
Value KernelEmitter::fill(Value word, Value like) {
  return isa<VectorType>(like.getType())
             ? vector::BroadcastOp::create(b, like.getType(), word)
             : word;
}

/// The identity of an accumulator as `count` words of its: a vector of i32, if
/// they are more than one.
Value KernelEmitter::toWords(unsigned accumulator, unsigned count) {
  PartialAccumulateOp accumulate = accumulations[accumulator];
  Value word = toWord(arith::ConstantOp::create(
      b, getIdentity(accumulate.getCombiner(),
                     accumulate.getOperand().getType())));
  if (count == 1 && word.getType().isInteger(32))
    return word;
  Value words = vector::BroadcastOp::create(
      b, VectorType::get({count}, word.getType()), word);
  int64_t bits = word.getType().getIntOrFloatBitWidth();
  return LLVM::BitcastOp::create(
      b, VectorType::get({count * bits / 32}, b.getI32Type()), words);
}

/// Where `column` is in a partial row, but for the shift of a framed one, i64.
Value KernelEmitter::getPlaceOfPartial(Value column) {
  if (!arePartialsFramed(problem, schedule))
    return column;
  int64_t owned = getOwnedColumns(problem, schedule);
  Value rank = arith::DivUIOp::create(b, toI32(column), i32(owned));
  return add(column, toI64(mul(rank, i32(schedule.getBlockColumns() - owned))));
}

/// The sums of the items `warp`, `warp` + `warps`, ..., `width` scalars an
/// accumulator one after the other, of the columns from the one of `columns`
/// on, or of `width` of them; of the accumulators of that one of `shares`, all
/// alike, which `shareOfTile` is, i64, if they are several.
SmallVector<Value> KernelEmitter::loadTile(ArrayRef<CombineShare> shares,
                                           Value shareOfTile, Value firstItem,
                                           ArrayRef<Value> columns, Value warp,
                                           unsigned warps, unsigned width) {
  SmallVector<unsigned> chosen(shares[0].accumulators.set_bits());
  unsigned numColumns = width / columns.size(); // of a load
  unsigned wordsAnItem = 0;
  SmallVector<Value> identities; // an accumulator and load
  SmallVector<Value> bytesBefore;
  for (auto [n, a] : llvm::enumerate(chosen)) {
    wordsAnItem += width * getWordBytes(accumulations[a]) / 4;
    identities.append(columns.size(), createIdentity(a, numColumns));
    Value before = i64(getBytesBefore(a));
    for (unsigned k = 1; k < shares.size(); ++k) {
      SmallVector<unsigned> others(shares[k].accumulators.set_bits());
      before = select(arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                            shareOfTile, i64(k)),
                      i64(getBytesBefore(others[n])), before);
    }
    bytesBefore.push_back(before);
  }
  bool areFramed = arePartialsFramed(problem, schedule);
  unsigned batch = getItemsAtOnce(schedule, wordsAnItem, warps, areFramed);
  bool tags = schedule.getCombine() == Combine::tags;
  auto batches = scf::ForOp::create(b, warp, arguments.splits,
                                    i64(warps * batch), identities);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(batches.getBody());
  Value first = batches.getInductionVar();
  Value left = toI32(arith::SubIOp::create(b, arguments.splits, first));

  // All words of a batch are on their way together, from one address an
  // accumulator. Those of items that don't exist are the identity's.
  struct Load {
    unsigned accumulator, sum; ///< an index of `batches`' results
    Value start;               ///< of the batch's first item, i64
    unsigned u;                ///< of the batch's items
  };
  SmallVector<Load> loads;
  SmallVector<Value> state; // words, then whether an item's are to be loaded
  for (auto [n, a] : llvm::enumerate(chosen)) {
    Value identity = toWords(a, numColumns);
    if (tags)
      identity = arith::OrIOp::create(b, identity, fill(parity, identity));
    for (auto [k, column] : llvm::enumerate(columns)) {
      Value start =
          partialAddress(a, arith::AddIOp::create(b, firstItem, first),
                         getPlaceOfPartial(column), bytesBefore[n]);
      for (unsigned u = 0; u < batch; ++u) {
        loads.push_back({a, unsigned(n * columns.size() + k), start, u});
        state.push_back(identity);
      }
    }
  }
  unsigned numWords = loads.size();
  for (unsigned u = 0; u < batch; ++u)
    state.push_back(arith::ExtUIOp::create(
        b, b.getI32Type(),
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left,
                              i32(u * warps))));
  // Framed partial rows have the shifts of their first rows.
  auto loadAll = [&](Value first, MutableArrayRef<Value> state) {
    for (auto [k, load] : llvm::enumerate(loads)) {
      int64_t bytes = getWordBytes(accumulations[load.accumulator]);
      Value pointer = load.start;
      Value offset = mul(pitch, i64(warps * bytes * load.u));
      if (areFramed) {
        Value shift = toI64(getShift(add(first, i64(load.u * warps))));
        offset = arith::AddIOp::create(b, offset, mul(shift, i64(bytes)));
      } else {
        pointer = byteAddress(load.start, offset);
        offset = Value();
      }
      state[k] =
          loadRelaxedIf(state[numWords + load.u], pointer, offset, state[k]);
    }
  };
  if (!tags || loads.empty()) {
    loadAll(first, state);
  } else {
    // Items of which a word has the other launch's parity are loaded again.
    SmallVector<Type> types(
        llvm::map_range(state, [](Value v) { return v.getType(); }));
    SmallVector<Location> locations(types.size(), b.getLoc());
    auto loop = scf::WhileOp::create(b, types, state);
    OpBuilder::InsertionGuard inner(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
    b.setInsertionPointToStart(before);
    llvm::copy(before->getArguments(), state.begin());
    // Addresses take registers from one load to the next, not all the time.
    loadAll(areFramed ? createOpaque(b, first) : first, state);
    // Columns beyond the last one in a lane's words are never written.
    int64_t rest = problem.columns % numColumns;
    Value isLast;
    if (rest)
      isLast =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, columns.front(),
                                i64(problem.columns - rest));
    Value anyStale;
    for (unsigned u = 0; u < batch; ++u) {
      SmallVector<Value> written, beyond;
      for (auto [k, load] : llvm::enumerate(loads))
        for (unsigned e = 0; load.u == u && e < numColumns; ++e)
          (rest && e >= rest ? beyond : written)
              .push_back(getWord(state[k], e));
      Value stale = createDifference(written, parity);
      if (rest)
        stale = arith::OrIOp::create(
            b, stale, select(isLast, i32(0), createDifference(beyond, parity)));
      stale = arith::AndIOp::create(b, stale, i32(1)); // the tag's bit
      state[numWords + u] = stale;
      anyStale = anyStale ? arith::OrIOp::create(b, anyStale, stale) : stale;
    }
    scf::ConditionOp::create(
        b, arith::TruncIOp::create(b, b.getI1Type(), anyStale), state);
    Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
    b.setInsertionPointToStart(after);
    scf::YieldOp::create(b, after->getArguments());
    llvm::copy(loop.getResults(), state.begin());
  }
  b.setInsertionPointToEnd(batches.getBody());
  SmallVector<Value> next(batches.getRegionIterArgs());
  for (auto [load, vector] : llvm::zip(loads, state)) {
    PartialAccumulateOp accumulate = accumulations[load.accumulator];
    if (tags) // the tag isn't a part of the sum
      vector = arith::AndIOp::create(b, vector, fill(i32(-2), vector));
    if (getWordBytes(accumulate) == 8)
      vector = LLVM::BitcastOp::create(b, b.getI64Type(), vector);
    next[load.sum] = createCombine(
        b, b.getLoc(), accumulate.getCombiner(), next[load.sum],
        fromWord(vector, accumulate.getOperand().getType()), /*contract=*/true);
  }
  if (!next.empty())
    scf::YieldOp::create(b, next);
  b.setInsertionPointAfter(batches);
  SmallVector<Value> sums;
  for (Value sum : batches.getResults())
    for (unsigned e = 0; e < numColumns; ++e)
      sums.push_back(numColumns == 1 ? sum
                                     : vector::ExtractOp::create(b, sum, e));
  return sums;
}

/// Runs the combine region for `column` of the segment at hand.
void KernelEmitter::storeColumnResults(const CombineShare &share, Value column,
                                       ArrayRef<Value> totals) {
  // What is known of a row, or computed here, is known there alone.
  llvm::SaveAndRestore savedRow(rowValues, llvm::DenseMap<Value, Value>());
  llvm::SaveAndRestore savedUniform(uniformValues,
                                    llvm::DenseMap<Value, Value>());
  llvm::SaveAndRestore savedIndices(rowIndices);
  rowIndices = segmentIndices;
  Block *combine = op.getCombineBlock();
  ColumnView view;
  view.column = column;
  for (auto [a, total] : llvm::zip(share.accumulators.set_bits(), totals))
    view.values[combine->getArgument(combineArguments[a])] = total;
  SmallVector<Value> indices(segmentIndices);
  delinearize(column, columnDims, indices);
  for (auto [i, value] : share.outputs)
    storeGlobal(numInputs + i, offset(numInputs + i, indices),
                evaluate(value, view));
}

/// The accumulators, by index, that `value` of the combine region hangs on.
static llvm::SmallBitVector findAccumulators(Value value,
                                             ArrayRef<unsigned> arguments) {
  llvm::SmallBitVector found(arguments.size());
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      auto *at = llvm::find(arguments, argument.getArgNumber());
      if (at != arguments.end())
        found.set(at - arguments.begin());
    } else if (Operation *defining = next.getDefiningOp();
               seen.insert(defining).second) {
      llvm::append_range(open, defining->getOperands());
    }
  }
  return found;
}

void KernelEmitter::CombineShare::merge(const CombineShare &other) {
  accumulators |= other.accumulators;
  llvm::append_range(outputs, other.outputs);
  llvm::sort(outputs, llvm::less_first());
}

/// The results of columns, apart where they have no accumulator in common:
/// other blocks can combine them.
SmallVector<KernelEmitter::CombineShare> KernelEmitter::getCombineShares() {
  Block *combine = op.getCombineBlock();
  auto yield = cast<YieldOp>(combine->getTerminator());
  SmallVector<CombineShare> shares;
  unsigned k = 0;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i) {
    if (!op.isColumnOutput(i))
      continue;
    Value value = yield.getValues()[k++];
    if (op.getOutputMap(i).getNumResults() == 0)
      continue;
    CombineShare mine{{{i, value}}, findAccumulators(value, combineArguments)};
    SmallVector<CombineShare> apart;
    for (const CombineShare &other : shares) {
      // One that hangs on none goes with the others.
      if (mine.accumulators.any() && other.accumulators.any() &&
          !mine.accumulators.anyCommon(other.accumulators))
        apart.push_back(other);
      else
        mine.merge(other);
    }
    apart.push_back(mine);
    shares = std::move(apart);
  }
  return shares;
}

void KernelEmitter::emitTiles() {
  SmallVector<CombineShare> shares = getCombineShares();
  if (shares.empty())
    return;
  TileShape shape = getTileShape(shares);
  if (!shape.ofShare) {
    for (const CombineShare &share : llvm::drop_begin(shares))
      shares[0].merge(share);
    shares.truncate(1);
  }
  Value tilesOfSegment = arith::DivUIOp::create(
      b, arith::AddIOp::create(b, columnCount, i64(shape.getColumns() - 1)),
      i64(shape.getColumns()));
  Value tiles = mul(segmentCount, tilesOfSegment);
  // (Kept over the rows, a framed kernel's first tile makes LayerNorm of 2050
  // to 2242 columns spill 4 bytes; read again, other rows of as many.)
  Value first =
      schedule.getFrame() != 0 ? toI64(readAgain("ctaid.x")) : blockId();
  auto loop =
      scf::ForOp::create(b, first, mul(tiles, i64(shares.size())), gridSize());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value tile = loop.getInductionVar(), shareOfTile;
  if (shares.size() > 1) {
    shareOfTile = arith::DivUIOp::create(b, tile, tiles);
    tile = arith::RemUIOp::create(b, tile, tiles);
  }
  Value segment = arith::DivUIOp::create(b, tile, tilesOfSegment);
  Value firstColumn =
      arith::MulIOp::create(b, arith::RemUIOp::create(b, tile, tilesOfSegment),
                            i64(shape.getColumns()));
  if (areAlike(shares))
    return emitTile(shares, shareOfTile, shape, segment, firstColumn);
  for (auto [k, share] : llvm::enumerate(shares))
    guarded(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, shareOfTile, i64(k)),
        [&, &share = share] {
          emitTile(share, /*shareOfTile=*/Value(), shape, segment, firstColumn);
        });
}

/// Whether the same instructions add up any of `shares`.
bool KernelEmitter::areAlike(ArrayRef<CombineShare> shares) {
  auto getSums = [&](const CombineShare &share) {
    SmallVector<std::pair<Combiner, Type>> sums;
    for (unsigned a : share.accumulators.set_bits())
      sums.emplace_back(accumulations[a].getCombiner(),
                        accumulations[a].getOperand().getType());
    return sums;
  };
  return llvm::all_of(shares, [&](const CombineShare &share) {
    return getSums(share) == getSums(shares[0]);
  });
}

/// What that one of `shares` holds which `shareOfTile` is, if they are several,
/// for the columns of a segment from `firstColumn` on.
void KernelEmitter::emitTile(ArrayRef<CombineShare> shares, Value shareOfTile,
                             const TileShape &shape, Value segment,
                             Value firstColumn) {
  const CombineShare &share = shares[0];       // which the others are like
  unsigned warps = threads / 32 / shape.parts; // of a part; some may be left
  unsigned width = shape.width;
  int64_t tileColumns = shape.getColumns(), partColumns = 32 * width;
  Value thread = readAgain("tid.x");
  Value lane = toI64(laneId()), warp = toI64(warpId());
  Value partColumn = i64(0), isBusy;
  if (threads / 32 % shape.parts != 0)
    isBusy = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp,
                                   i64(warps * shape.parts));
  if (shape.parts > 1) {
    partColumn =
        mul(arith::DivUIOp::create(b, warp, i64(warps)), i64(partColumns));
    warp = arith::RemUIOp::create(b, warp, i64(warps));
  }
  // A lane's columns are neighbours, which one load takes, but of framed rows,
  // which begin anywhere, 32 apart.
  bool isApart = arePartialsFramed(problem, schedule);
  SmallVector<Value> columns;
  for (unsigned k = 0; k < (isApart ? width : 1); ++k) {
    Value ofLane = mul(lane, i64(isApart ? 1 : width));
    Value column = add(add(firstColumn, partColumn), add(ofLane, i64(k * 32)));
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column,
                                         columnCount);
    columns.push_back(select(exists, column, i64(0)));
  }
  // The warps' sums, [accumulator][warp of a part][column], 8 bytes each,
  // beyond the exchange of row sums: what other warps still read there, the
  // ring or the sums of the tile before, must be read first.
  auto scratch = [&](unsigned a, Value w, Value tileColumn) {
    Value index =
        add(mul(add(i64(a * warps), w), i64(tileColumns)), tileColumn);
    return sharedPointer(add(mul(index, i64(8)), i64(exchangeBytes)));
  };
  if (isBusy) // else they look for their tags first
    syncBlock();
  guarded(isBusy, [&] {
    SmallVector<Value> sums =
        loadTile(shares, shareOfTile, mul(segment, arguments.splits), columns,
                 warp, warps, width);
    if (!isBusy)
      syncBlock();
    for (unsigned a = 0; a < share.accumulators.count(); ++a)
      for (unsigned e = 0; e < width; ++e)
        LLVM::StoreOp::create(
            b, toWord(sums[a * width + e]),
            scratch(a, warp, add(partColumn, add(i64(e * 32), lane))));
  });
  syncBlock();

  // A column a thread from here on. Column e of a part's lane l lies at e * 32
  // + l of the part.
  auto loop = scf::ForOp::create(b, toI64(thread), i64(tileColumns),
                                 i64(threads), ValueRange());
  b.setInsertionPointToStart(loop.getBody());
  Value tileColumn = loop.getInductionVar();
  Value inPart = tileColumn, mine = firstColumn;
  if (shape.parts > 1) {
    inPart = arith::RemUIOp::create(b, tileColumn, i64(partColumns));
    mine = add(mine, arith::SubIOp::create(b, tileColumn, inPart));
  }
  if (!isApart)
    inPart = add(mul(arith::AndIOp::create(b, inPart, i64(31)), i64(width)),
                 arith::ShRUIOp::create(b, inPart, i64(5)));
  mine = add(mine, inPart);
  Value isMine =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, mine, columnCount);
  auto ifMine = scf::IfOp::create(b, isMine);
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(ifMine.thenBlock());
    SmallVector<Value> totals;
    for (auto [a, index] : llvm::enumerate(share.accumulators.set_bits())) {
      Value total;
      PartialAccumulateOp accumulate = accumulations[index];
      Type type = accumulate.getOperand().getType();
      for (unsigned w = 0; w < warps; ++w) {
        Value part =
            fromWord(LLVM::LoadOp::create(b, getWordType(type),
                                          scratch(a, i64(w), tileColumn)),
                     type);
        total = total ? createCombine(b, b.getLoc(), accumulate.getCombiner(),
                                      total, part, /*contract=*/true)
                      : part;
      }
      totals.push_back(total);
    }
    segmentIndices.assign(op.getNumDims(), Value());
    if (segmentDims.any())
      delinearize(segment, segmentDims, segmentIndices);
    for (auto [k, share] : llvm::enumerate(shares)) {
      Value isOfShare;
      if (shares.size() > 1)
        isOfShare = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          shareOfTile, i64(k));
      guarded(isOfShare,
              [&, &share = share] { storeColumnResults(share, mine, totals); });
    }
  }
}
