//===- Tiles.cpp - Rows that leave together, transposed -------------------===//
//
// An output in transposed order has the elements of a column side by side: a
// block keeps neighbouring rows of it in shared memory until they make whole
// sectors. Row-only groups have a structure of their own for it (tile), others
// rings whose blocks take tiles of rows in turn.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Threads a multiprocessor that the blocks of structure=tile should come to at
/// least, where all of a block waits for loads at once.
static constexpr unsigned kFewThreads = 1024;

bool norm_fusion::isTiledOutput(MixedReductionOp op, unsigned i) {
  AffineMap map = op.getOutputMap(i);
  if (op.isColumnOutput(i) || map.getNumResults() != op.getNumDims())
    return false;
  auto last = cast<AffineDimExpr>(map.getResults().back());
  return int(last.getPosition()) == op.getRowDims().find_last();
}

unsigned norm_fusion::getStepRows(ScheduleAttr schedule) {
  return schedule.getRowGroups() * schedule.getRows() * schedule.getRowsAWarp();
}

unsigned norm_fusion::getTileRows(ScheduleAttr schedule) {
  return schedule.getStructure() == Structure::tile
             ? getStepRows(schedule) * schedule.getSlots()
             : schedule.getTile();
}

unsigned norm_fusion::getTileSteps(ScheduleAttr schedule) {
  return getTileRows(schedule) / getStepRows(schedule);
}

unsigned norm_fusion::getTilePart(ScheduleAttr schedule) {
  // Whole steps, and 16 bytes of a column of whatever type.
  unsigned rows = getTileRows(schedule), stepRows = getStepRows(schedule);
  return stepRows == rows ? rows : std::min(std::max(stepRows, 16u), rows);
}

unsigned norm_fusion::getTileBytes(const Problem &problem,
                                   ScheduleAttr schedule) {
  unsigned bytes = 0;
  for (unsigned b : problem.tiledBytes)
    bytes += b;
  return getTileRows(schedule) * schedule.getBlockColumns() * bytes;
}

bool norm_fusion::readsMatrices(ScheduleAttr schedule, unsigned bytes) {
  // Eight of their rows are two rows of each piece.
  return bytes <= 2 && getTileRows(schedule) * bytes % 64 == 0;
}

bool norm_fusion::isLegalTile(const Problem &problem, ScheduleAttr schedule,
                              std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = text;
    return false;
  };
  bool ofRing = isRing(schedule.getStructure());
  std::string what = ofRing
                         ? llvm::formatv("tile={0}", schedule.getTile()).str()
                         : "structure=tile";
  unsigned rows = getTileRows(schedule), vector = schedule.getVector();
  if (problem.tiledBytes.empty())
    return refuse(what + " without a transposed output, expected " +
                  (ofRing ? "tile=0" : "rows"));
  if (problem.segmented)
    return refuse(what + " with column reductions over some row dimensions, "
                         "expected over all");
  if (ofRing && rows % getStepRows(schedule))
    return refuse(llvm::formatv("{0} with {1} rows a step, expected a multiple "
                                "of these",
                                what, getStepRows(schedule)));
  for (unsigned bytes : problem.tiledBytes) {
    if (bytes > 4 || rows % (16 / bytes) || rows * bytes > 128 ||
        !llvm::isPowerOf2_32(rows))
      return refuse(llvm::formatv(
          "{0} with {1} rows of {2} bytes an element, expected a power of two "
          "of rows that makes 16 to 128 bytes a column",
          what, rows, bytes));
    // The tile's swizzle moves pieces within 128 bytes of a row, which hold
    // what a lane stores in one piece.
    unsigned most =
        readsMatrices(schedule, bytes) ? 16 : 128 / (rows * bytes / 16);
    unsigned rowBytes = schedule.getBlockColumns() * bytes;
    if (vector * bytes > most || rowBytes % 128)
      return refuse(llvm::formatv(
          "{0} vector={1} with {2} rows of {3} bytes an element, {4} bytes of "
          "a row a block, expected vectors of up to {5} bytes and a multiple "
          "of 128 bytes",
          what, vector, rows, bytes, rowBytes, most));
  }
  return true;
}

ScheduleAttr norm_fusion::chooseTile(MLIRContext *context,
                                     const Problem &problem,
                                     const TargetInfo &target,
                                     std::string &reason) {
  unsigned vector = getVector(problem);
  int64_t vectors = getVectors(problem, vector);
  unsigned widest = 1, narrowest = 4;
  for (unsigned bytes : problem.tiledBytes) {
    widest = std::max(widest, bytes);
    narrowest = std::min(narrowest, bytes);
  }
  std::string why = "no transposed output";
  // What was fastest of tiles of 16 to 128 bytes a column (H200,
  // docs/performance.md): of one byte in steps, four or eight warps that share
  // each a multiprocessor's registers with many others; of two at once, few
  // warps that hold much each, but for short rows.
  struct Usual {
    unsigned bytes;  ///< of the widest transposed element
    int64_t vectors; ///< of a row, at most
    unsigned chunks, groups, rows, steps;
  };
  static constexpr Usual usual[] = {
      {1, 512, 2, 8, 1, 4},  {1, 1024, 4, 8, 1, 8}, {1, 2048, 4, 4, 1, 8},
      {2, 512, 4, 16, 2, 1}, {2, 2048, 8, 4, 4, 1},
  };
  for (const Usual &entry : usual) {
    int64_t blocks = llvm::PowerOf2Ceil(
        llvm::divideCeil(vectors, int64_t(32 * entry.chunks)));
    if (widest != entry.bytes || vectors > entry.vectors || blocks == 1 ||
        blocks > target.maxCluster)
      continue;
    unsigned chunks = llvm::divideCeil(vectors, 32 * blocks);
    auto schedule = ScheduleAttr::get(
        context, Structure::tile, blocks, /*warps=*/1, entry.groups,
        /*slots=*/entry.steps, chunks, vector, Copy::load,
        problem.scalarBytes.empty() ? Combine::grid : Combine::tags,
        /*pace=*/0, /*grid=*/0, /*lanes=*/32, entry.rows, /*frame=*/0);
    if (!isLegalSchedule(problem, schedule, target, why))
      continue;
    reason = llvm::formatv("a transposed output: tiles of {0} rows x {1} "
                           "columns, {2} blocks share a row",
                           getTileRows(schedule), schedule.getBlockColumns(),
                           blocks);
    return schedule;
  }
  // Blocks enough to overlap each other's loads and stores, with 64 or 32 bytes
  // a column and two vectors a lane, the rest of a row in other blocks of a
  // cluster; else two blocks, with what they can hold.
  for (bool isDense : {true, false})
    for (unsigned rows : {32u, 16u, 8u, 4u}) {
      if (rows * widest > 64 || rows * narrowest < (isDense ? 32 : 16))
        continue;
      for (unsigned chunks : {2u, 1u, 3u, 4u, 8u})
        for (unsigned cluster = 1; cluster <= target.maxCluster; cluster *= 2) {
          int64_t warps =
              llvm::divideCeil(vectors, int64_t(32 * chunks) * cluster);
          if (warps > 4)
            continue;
          for (unsigned groups : {16u, 8u, 4u, 2u, 1u}) {
            if (warps * groups > (isDense ? 16 : 8) || groups > rows ||
                rows / groups > 16)
              continue;
            auto schedule = ScheduleAttr::get(
                context, Structure::tile, cluster, warps, groups, /*slots=*/1,
                chunks, vector, Copy::load, Combine::grid, /*pace=*/0,
                /*grid=*/0, /*lanes=*/32, /*rows=*/rows / groups,
                /*frame=*/0);
            if (!isLegalSchedule(problem, schedule, target, why))
              continue;
            unsigned blocks = getMinBlocks(problem, schedule, target.registers);
            if (blocks < 2 ||
                (isDense && blocks * schedule.getThreads() < kFewThreads) ||
                getSharedMemoryBytes(problem, schedule) * blocks >
                    target.sharedMemoryBytes) {
              why = "tiles leave room for too few blocks a multiprocessor";
              continue;
            }
            reason = llvm::formatv(
                "a transposed output: tiles of {0} rows x {1} columns, {2} "
                "blocks share a row, {3} blocks a multiprocessor",
                rows, schedule.getBlockColumns(), cluster, blocks);
            return schedule;
          }
        }
    }
  reason = why;
  return {};
}

/// Vectors that a block of a ring with tiles holds, of rows without column
/// results, if they fit, and of others. These, the warps, vectors a lane and
/// steps in flight of makeTileRing() were the fastest (H200, bf16,
/// docs/what-helped.md).
static constexpr int64_t kLightVectors = 512, kTileVectors = 128;

/// `schedule`, a ring, with `rows` rows a tile, if that is possible with fewer
/// steps in flight, but `fewest`, or row groups. Null if not.
static ScheduleAttr fitTile(const Problem &problem, ScheduleAttr schedule,
                            const TargetInfo &target, unsigned rows,
                            unsigned fewest) {
  for (unsigned groups = llvm::bit_floor(schedule.getRowGroups()); groups > 0;
       groups /= 2)
    for (unsigned slots = schedule.getSlots(); slots >= fewest; --slots) {
      auto tiled = ScheduleAttr::get(
          schedule.getContext(), schedule.getStructure(), schedule.getCluster(),
          schedule.getWarps(), groups, slots, schedule.getChunks(),
          schedule.getVector(), schedule.getCopy(), schedule.getCombine(),
          /*pace=*/0, schedule.getGrid(), schedule.getLanes(),
          schedule.getRows(), /*frame=*/0, schedule.getCopiesRowInputs(), rows,
          /*ahead=*/0, /*copiesEnds=*/false, /*shifts=*/1);
      if (isLegal(problem, tiled, target))
        return tiled;
    }
  return {};
}

/// Few columns a block, so that a tile has room, in few warps.
static ScheduleAttr makeTileRing(const Problem &problem, ScheduleAttr usual,
                                 const TargetInfo &target) {
  unsigned widest = *llvm::max_element(problem.tiledBytes);
  bool isLight = problem.accumulatorBytes.empty();
  unsigned warpsOfBlock = isLight ? 16 : 8;
  unsigned vector = usual.getVector();
  unsigned scale = std::max(getFullVector(problem) / vector, 1u);
  int64_t vectors = getVectors(problem, vector);
  unsigned chunks = std::min<int64_t>((isLight || widest > 1 ? 2 : 4) * scale,
                                      llvm::divideCeil(vectors, 32));
  int64_t ofBlock = isLight && vectors <= kLightVectors * scale ? kLightVectors
                                                                : kTileVectors;
  unsigned cluster = std::min<int64_t>(
      target.maxCluster, llvm::divideCeil(vectors, ofBlock * scale));
  // As many a block, in few warps, whose lanes have as many; the tile's rows
  // are multiples of 128 bytes.
  int64_t held = llvm::divideCeil(vectors, cluster);
  unsigned warps = llvm::divideCeil(held, 32 * chunks);
  chunks = llvm::divideCeil(held, 32 * warps);
  unsigned narrowest = *llvm::min_element(problem.tiledBytes);
  while (warps * chunks * 32 * vector * narrowest % 128)
    ++chunks;
  bool copies = usual.getCopy() == Copy::cp_async &&
                llvm::any_of(problem.rowInputBytes, [](unsigned bytes) {
                  return bytes == 4 || bytes == 8;
                });
  return ScheduleAttr::get(usual.getContext(), Structure::ring, cluster, warps,
                           std::max(warpsOfBlock / warps, 1u),
                           /*slots=*/chunks > 2 * scale ? 2 : 3, chunks, vector,
                           usual.getCopy(), usual.getCombine(), /*pace=*/0,
                           /*grid=*/0, /*lanes=*/32, /*rows=*/1, /*frame=*/0,
                           copies, /*tile=*/0, /*ahead=*/0,
                           /*copiesEnds=*/false, /*shifts=*/1);
}

ScheduleAttr norm_fusion::chooseRingTile(const Problem &problem,
                                         ScheduleAttr usual,
                                         const TargetInfo &target) {
  if (problem.tiledBytes.empty() || !isRing(usual.getStructure()))
    return usual;
  unsigned narrowest = *llvm::min_element(problem.tiledBytes);
  SmallVector<ScheduleAttr> wanted;
  if (usual.getStructure() == Structure::small)
    wanted.push_back(usual);
  wanted.push_back(makeTileRing(problem, usual, target));
  for (ScheduleAttr schedule : wanted)
    for (unsigned fewest : {2u, 1u})
      for (unsigned bytes : {64u, 32u, 16u}) {
        bool isShared = schedule.getStructure() == Structure::small;
        unsigned rows = std::min(bytes / narrowest, isShared ? 64u : 32u);
        if (ScheduleAttr tiled =
                fitTile(problem, schedule, target, rows, fewest))
          return tiled;
      }
  return usual;
}
