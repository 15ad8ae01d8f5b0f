//===- KernelCombine.cpp - Merging the partial rows of the blocks ---------===//
//
// Partial rows lie in the workspace as [accumulator][item][column]. A block
// takes tiles of a segment's columns, in `parts` of 32 lanes with 1, 2 or 4
// columns each, of all accumulators, or, of few columns, of those that a result
// hangs on. W warps share a part: each adds the items w, w + W, ..., with
// its loads in flight together, the first warps add the warps' sums in order
// and run the op's combine region. The order depends on the number of items and
// warps, and on that of columns, alone.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Registers of a thread at most, on all targets.
static constexpr unsigned kMaxRegisters = 255;

/// Items that a thread of a pair of blocks loads at once at least, if they have
/// no more words than that: more than there are, in 12 warps. Blocks that are
/// done early look for tags less often then. (H200, us, 6 items and 10: bf16
/// LayerNorm 2048x4096 16.7 and 16.3, 16384x4096 97.9 and 97.3, RMSNorm
/// 8192x4096 50.1 and 49.9, f32 LayerNorm 3125x2000 21.4 and 21.0; of few steps
/// 512x4096 7.2 and 7.3, f32 1024x2048 8.7 and 8.8. Sleeping instead gains
/// nothing, and larger clusters lose.)
static constexpr unsigned kPair = 2, kFewItemsOfPairs = 10, kFewWords = 24;

/// Items that a thread loads at once, of `words` 32-bit words each: all that a
/// warp of `warps` has on most devices, for each further round waits for the L2
/// cache anew (H200: 0.3 to 0.5 us), or where these take more than a fifth of
/// the thread's registers, as many in each round. (Loads of items that don't
/// exist cost as much as others: f32 LayerNorm of 8192x256 8.8 with 12 items,
/// 8.5 with the 9 that there are, RMSNorm of 512x4096 6.0 with 12, 5.9 with 6.)
static unsigned getItemsAtOnce(ScheduleAttr schedule, unsigned words,
                               unsigned warps) {
  words = std::max(words, 1u);
  unsigned blocks = schedule.getGrid();
  if (blocks == 0) // some devices run a few more than the usual ones
    blocks = getUsualBlocks(schedule.getCluster()) * 17 / 16;
  unsigned items =
      llvm::divideCeil(llvm::divideCeil(blocks, schedule.getCluster()), warps);
  unsigned registers =
      std::min(kRegisters / schedule.getThreads(), kMaxRegisters);
  unsigned rounds =
      llvm::divideCeil(items, std::max(registers / 5 / words, 1u));
  unsigned fewest = schedule.getCluster() == kPair ? kFewItemsOfPairs : 1u;
  return std::max(llvm::divideCeil(items, rounds),
                  std::min(fewest, kFewWords / words));
}

/// How a block shares out a tile of a partial row.
struct KernelEmitter::TileShape {
  unsigned width = 1; ///< columns of a lane, 1, 2 or 4
  unsigned parts = 1; ///< a divisor of the block's warps
  int64_t getColumns() const { return 32 * width * parts; }
};

/// As wide as it takes for a grid to do with a tile a block: a second one would
/// wait for all of the first.
KernelEmitter::TileShape KernelEmitter::getTileShape() {
  TileShape shape;
  unsigned warps = threads / 32;
  if (ShapedType::isDynamic(problem.columns) ||
      llvm::any_of(problem.accumulatorBytes,
                   [](unsigned bytes) { return bytes > 4; }))
    return shape;
  int64_t tiles = getUsualBlocks(schedule.getCluster());
  while (shape.width < kPitchColumns &&
         problem.columns > shape.getColumns() * tiles)
    shape.width *= 2;
  for (unsigned parts = 2;
       parts <= warps && problem.columns > shape.getColumns() * tiles; ++parts)
    if (warps % parts == 0)
      shape.parts = parts;
  return shape;
}

/// The sums of the items `warp`, `warp` + `warps`, ..., `width` scalars an
/// accumulator one after the other, for the columns from `column` on.
void KernelEmitter::loadTile(const CombineShare &share, Value firstItem,
                             Value column, Value warp, unsigned warps,
                             unsigned width, SmallVectorImpl<Value> &sums) {
  SmallVector<PartialAccumulateOp> accumulations;
  SmallVector<unsigned> chosen(share.accumulators.set_bits());
  for (unsigned a : chosen)
    accumulations.push_back(this->accumulations[a]);
  unsigned wordsAnItem = 0;
  for (PartialAccumulateOp accumulate : accumulations)
    wordsAnItem +=
        width *
        getWordType(accumulate.getOperand().getType()).getIntOrFloatBitWidth() /
        32;
  unsigned batch = getItemsAtOnce(schedule, wordsAnItem, warps);
  bool tags = schedule.getCombine() == Combine::tags;
  SmallVector<Value> identities;
  for (PartialAccumulateOp accumulate : accumulations)
    for (unsigned e = 0; e < width; ++e)
      identities.push_back(arith::ConstantOp::create(
          b, getIdentity(accumulate.getCombiner(),
                         accumulate.getOperand().getType())));
  auto batches = scf::ForOp::create(b, warp, arguments.splits,
                                    i64(warps * batch), identities);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(batches.getBody());

  struct Load {
    unsigned accumulator;
    Value pointer, inside;
  };
  SmallVector<Load> loads;
  SmallVector<Value> words;
  for (unsigned u = 0; u < batch; ++u) {
    Value k =
        arith::AddIOp::create(b, batches.getInductionVar(), i64(u * warps));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k,
                                         arguments.splits);
    Value item = arith::AddIOp::create(b, firstItem, select(inside, k, warp));
    for (unsigned a = 0; a < accumulations.size(); ++a)
      loads.push_back({a, partialAddress(chosen[a], item, column), inside});
  }
  auto load = [&](const Load &from) {
    Type word =
        getWordType(accumulations[from.accumulator].getOperand().getType());
    return loadRelaxed(from.pointer, width * word.getIntOrFloatBitWidth() / 32);
  };
  for (const Load &from : loads)
    words.push_back(load(from));
  if (tags) {
    // Any word with the other launch's parity is loaded again.
    // Columns beyond the last one in a lane's words are never written.
    int64_t rest = problem.columns % width;
    Value isLast;
    if (rest)
      isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, column,
                                     i64(problem.columns - rest));
    auto isStale = [&](Value vector) {
      Value differs = i32(0);
      for (unsigned e = 0; e < width; ++e) {
        Value differ = arith::XOrIOp::create(
            b, LLVM::ExtractElementOp::create(b, vector, i32(e)), parity);
        if (rest && e >= rest)
          differ = select(isLast, i32(0), differ);
        differs = arith::OrIOp::create(b, differs, differ);
      }
      return arith::TruncIOp::create(b, b.getI1Type(), differs).getResult();
    };
    SmallVector<Type> types(
        llvm::map_range(words, [](Value v) { return v.getType(); }));
    auto loop = scf::WhileOp::create(b, types, words);
    OpBuilder::InsertionGuard inner(b);
    SmallVector<Location> locations(types.size(), b.getLoc());
    Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
    b.setInsertionPointToStart(before);
    Value stale = arith::ConstantIntOp::create(b, 0, 1);
    for (Value vector : before->getArguments())
      stale = arith::OrIOp::create(b, stale, isStale(vector));
    scf::ConditionOp::create(b, stale, before->getArguments());
    Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
    b.setInsertionPointToStart(after);
    SmallVector<Value> again;
    for (auto [from, vector] : llvm::zip(loads, after->getArguments())) {
      auto ifStale = scf::IfOp::create(b, vector.getType(), isStale(vector),
                                       /*withElseRegion=*/true);
      OpBuilder::InsertionGuard branch(b);
      b.setInsertionPointToStart(ifStale.thenBlock());
      scf::YieldOp::create(b, load(from));
      b.setInsertionPointToStart(ifStale.elseBlock());
      scf::YieldOp::create(b, vector);
      again.push_back(ifStale.getResult(0));
    }
    scf::YieldOp::create(b, again);
    words.assign(loop.getResults().begin(), loop.getResults().end());
  }
  b.setInsertionPointToEnd(batches.getBody());
  SmallVector<Value> next(batches.getRegionIterArgs());
  for (auto [from, vector] : llvm::zip(loads, words)) {
    Type type = accumulations[from.accumulator].getOperand().getType();
    Type word = getWordType(type);
    if (tags) // the tag isn't a part of the sum
      vector = arith::AndIOp::create(
          b, vector,
          arith::ConstantOp::create(
              b, DenseElementsAttr::get(cast<ShapedType>(vector.getType()),
                                        b.getI32IntegerAttr(-2))));
    for (unsigned e = 0; e < width; ++e) {
      Value value =
          word.isInteger(64)
              ? LLVM::BitcastOp::create(b, word, vector).getResult()
              : LLVM::ExtractElementOp::create(b, vector, i32(e)).getResult();
      unsigned index = from.accumulator * width + e;
      next[index] = createCombine(
          b, b.getLoc(), accumulations[from.accumulator].getCombiner(),
          next[index],
          select(from.inside, fromWord(value, type), identities[index]),
          /*contract=*/true);
    }
  }
  if (!next.empty())
    scf::YieldOp::create(b, next);
  sums.assign(batches.getResults().begin(), batches.getResults().end());
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

/// True if tiles of a line of the L2 cache, a column a lane, are enough for
/// each of so many shares to have blocks of its own. (H200, LayerNorm, us, all
/// sums in each block and each by others. f32: 8192x256 9.1 and 8.8,
/// 6250x1000 21.3 and 20.9, 3125x2000 21.8 and 20.9; bf16: 4096x256 5.1
/// and 4.8, 4096x1024 9.6 and 9.3; but with two columns a lane 2048x4096 16.3
/// and 16.5. Smaller tiles, of which several blocks read a line: 8192x256 10.0,
/// 6250x1000 22.5.)
bool KernelEmitter::haveBlocksOfTheirOwn(unsigned shares) {
  return !ShapedType::isDynamic(problem.columns) &&
         llvm::divideCeil(problem.columns, TileShape().getColumns()) * shares <=
             getUsualBlocks(schedule.getCluster());
}

void KernelEmitter::emitTiles() {
  SmallVector<CombineShare> shares = getCombineShares();
  if (shares.empty())
    return;
  if (!haveBlocksOfTheirOwn(shares.size())) {
    for (const CombineShare &share : llvm::drop_begin(shares))
      shares[0].merge(share);
    shares.truncate(1);
  }
  TileShape shape = getTileShape();
  Value tilesOfSegment = arith::DivUIOp::create(
      b, arith::AddIOp::create(b, columnCount, i64(shape.getColumns() - 1)),
      i64(shape.getColumns()));
  Value tiles = mul(segmentCount, tilesOfSegment);
  auto loop = scf::ForOp::create(b, blockId(), mul(tiles, i64(shares.size())),
                                 gridSize());
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
  for (auto [k, share] : llvm::enumerate(shares)) {
    Value isMine;
    if (shareOfTile)
      isMine = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, shareOfTile,
                                     i64(k));
    guarded(isMine, [&, &share = share] {
      emitTile(share, shape, segment, firstColumn);
    });
  }
}

/// What `share` holds, for the columns of a segment from `firstColumn` on.
void KernelEmitter::emitTile(const CombineShare &share, const TileShape &shape,
                             Value segment, Value firstColumn) {
  unsigned warps = threads / 32 / shape.parts; // of a part
  unsigned width = shape.width;
  int64_t tileColumns = shape.getColumns(), partColumns = 32 * width;
  Value thread = threadId();
  Value lane = toI64(laneId()), warp = toI64(warpId());
  Value partColumn = i64(0);
  if (shape.parts > 1) {
    partColumn =
        mul(arith::DivUIOp::create(b, warp, i64(warps)), i64(partColumns));
    warp = arith::RemUIOp::create(b, warp, i64(warps));
  }
  Value column = add(firstColumn, add(partColumn, mul(lane, i64(width))));
  Value exists =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, columnCount);
  SmallVector<Value> sums;
  loadTile(share, mul(segment, arguments.splits),
           select(exists, column, i64(0)), warp, warps, width, sums);

  // The warps' sums, [accumulator][warp of a part][column], 8 bytes each,
  // beyond the exchange of row sums: what other warps still read there, the
  // ring or the sums of the tile before, must be read first.
  syncBlock();
  auto scratch = [&](unsigned a, Value w, Value tileColumn) {
    Value index =
        add(mul(add(i64(a * warps), w), i64(tileColumns)), tileColumn);
    return sharedPointer(add(mul(index, i64(8)), i64(exchangeBytes)));
  };
  for (unsigned a = 0; a < share.accumulators.count(); ++a)
    for (unsigned e = 0; e < width; ++e)
      LLVM::StoreOp::create(
          b, toWord(sums[a * width + e]),
          scratch(a, warp, add(partColumn, add(i64(e * 32), lane))));
  syncBlock();

  // A column a thread from here on. Column e of a part's lane l lies at e * 32
  // + l of the part.
  auto columns = scf::ForOp::create(b, toI64(thread), i64(tileColumns),
                                    i64(threads), ValueRange());
  b.setInsertionPointToStart(columns.getBody());
  Value tileColumn = columns.getInductionVar();
  Value inPart = tileColumn, mine = firstColumn;
  if (shape.parts > 1) {
    inPart = arith::RemUIOp::create(b, tileColumn, i64(partColumns));
    mine = add(mine, arith::SubIOp::create(b, tileColumn, inPart));
  }
  mine =
      add(mine, add(mul(arith::AndIOp::create(b, inPart, i64(31)), i64(width)),
                    arith::ShRUIOp::create(b, inPart, i64(5))));
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
    storeColumnResults(share, mine, totals);
  }
}
