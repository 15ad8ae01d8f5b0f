//===- MoreExchanges.cpp - Rows that are exchanged more than once ---------===//
//
// A row whose statistics are computed again, as JAX's norms do, has two or
// three waves of row reductions, each of which waits for the one before it. A
// multiprocessor that has one row group idles meanwhile, so that shapes made
// for one exchange take up to twice as long. Here a block has 8 warps where
// 16-bit rows leave the registers for no more, else some row groups of 12 warps
// in all. The numbers were measured on an H200 (docs/measurements.md, "Rows
// that are exchanged more than once").
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Busy warps of one or two blocks, with two sums a column, that do as they
/// are.
static constexpr unsigned kEnoughWarps = 7;

/// Warps, and vectors of their lanes, that a row has in a block: several row
/// groups wait less.
static constexpr unsigned kMostWarps = 8, kMostVectors = 5 * 32 * 4;

namespace {
/// Blocks that share a row, and a lane's vectors; and what warps of them are
/// worth where others have as many columns.
struct Shape {
  unsigned cluster, chunks;
  double share;
};
} // namespace

/// 16-bit rows, in 8 warps. (us, as it was and so, JAX's LayerNorm of bf16 and
/// RMSNorm with Gemma's 1 + weight, 200 MB: 2050 columns 111 and 73, 99 and 66;
/// 2500 75 and 64, 67 and 58; 3001 73 and 56, 68 and 51; 5000 114 and 60, 106
/// and 53; 6001 103 and 56, 93 and 50; 12288 55.2 and 54.0, 52.7 and 50.7.
/// Pairs of blocks in place of single ones: 5000 60 and 64, 53 and 61. Four
/// vectors in one block spill with two sums a column: 3584 73.7, in a pair
/// 51.4. In four blocks 10001 takes 95 in place of 69.)
static constexpr unsigned kHalfWarps = 8;
static constexpr double kShareOfPairs = 0.9;
static constexpr Shape kHalves[] = {
    {1, 3, 1}, {2, 3, kShareOfPairs}, {2, 4, kShareOfPairs}};

/// Rows of wider elements, in 12 warps. What an exchange takes is the less of a
/// step the more columns a lane has, and three exchanges with two sums a column
/// weigh more than two with one. (us, as it was and so, f32 LayerNorm: 2500
/// columns 87.6 and 54.3, 5000 80.4 and 53.3, 6001 56.2 and 52.3, 10001 106
/// and 59, 12288 82.9 and 51.6, 14000 64.6 and 56.7, 16384 56.7 and 51.3. With
/// two vectors and more warps 3001 54.9 and 61.0, 5000 53.3 and 60.8, 14000
/// 56.7 and 69.5; in eight blocks 10001 59 and 65; in place of eight warps
/// of a pair, 3584 50.7 and 53.5.)
static constexpr unsigned kWordWarps = 12;
static constexpr Shape kHeavyWords[] = {
    {4, 4, 1},   {2, 4, 1},   {2, 3, 0.95}, {2, 2, 0.8},  {4, 3, 0.95},
    {4, 2, 0.8}, {8, 4, 0.8}, {8, 3, 0.76}, {8, 2, 0.64},
};

/// (us, f32 RMSNorm: 2500 columns 60.1 and 50.9, 4096 58.1 and 49.1, 6001 55.3
/// and 50.4, 8192 58.0 and 49.9, 12288 58.1 and 50.0, 16384 58.2 and 49.9. With
/// four vectors: 3001 49.6 and 52.6, 4096 49.1 and 51.3.)
static constexpr Shape kLightWords[] = {
    {4, 2, 1}, {2, 2, 1},   {2, 3, 1},   {2, 4, 0.97}, {4, 3, 1},
    {4, 4, 1}, {8, 4, 0.8}, {8, 3, 0.8}, {8, 2, 0.8},
};

/// A ring of `cluster` blocks with `chunks` full vectors a lane, as few warps
/// as hold a row in frames of `frame`, and as many row groups as make `warps`,
/// or as the registers allow; null if there are none.
static ScheduleAttr makeShape(const Problem &problem, const TargetInfo &target,
                              ScheduleAttr usual, unsigned cluster,
                              unsigned chunks, unsigned warps, bool mayBeMore,
                              unsigned frame) {
  unsigned vector = getFullVector(problem);
  int64_t held = getVectors(problem, vector) + int64_t(cluster) * frame;
  int64_t ofRow = llvm::divideCeil(held, int64_t(cluster) * chunks * 32);
  if (cluster > target.maxCluster || ofRow > kMostWarps ||
      (mayBeMore && ofRow * chunks * 32 > kMostVectors))
    return {};
  unsigned groups = mayBeMore ? llvm::divideCeil(warps, ofRow)
                              : std::max<unsigned>(warps / ofRow, 1);
  for (; groups > 0; --groups) {
    ScheduleAttr schedule =
        makeRing(usual.getContext(), cluster, ofRow, groups, /*slots=*/2,
                 chunks, vector, usual.getCombine(), frame);
    if (fits(problem, schedule, target))
      return schedule;
  }
  return {};
}

/// Warps of a block, up to `most`, as far as they have columns.
static double countBusyWarps(const Problem &problem, ScheduleAttr schedule,
                             unsigned most) {
  return double(std::min(schedule.getThreads() / 32, most)) * problem.columns /
         (int64_t(schedule.getCluster()) * schedule.getBlockColumns());
}

ScheduleAttr norm_fusion::chooseMoreExchanges(const Problem &problem,
                                              const TargetInfo &target,
                                              ScheduleAttr usual,
                                              std::string &reason) {
  if (usual.getStructure() != Structure::ring || problem.exchanges < 2 ||
      problem.accumulatorBytes.empty() || !problem.tiledBytes.empty() ||
      problem.elementBytes.empty() || !target.hasAsyncCopy)
    return {};
  bool areHalves = getNarrowest(problem) == 2;
  if (areHalves ? problem.bytesPerColumn() > 6 : !readsTwoOf(problem, 4))
    return {};
  unsigned vector = getFullVector(problem);
  // Two vectors a lane, in row groups of few warps of one block, are as good.
  if (getVectors(problem, vector) <= kTwoVectors ||
      (problem.columns % vector != 0 && !canBeFramed(problem)))
    return {};
  unsigned warps = areHalves ? kHalfWarps : kWordWarps;
  ArrayRef<Shape> shapes = areHalves          ? ArrayRef(kHalves)
                           : isHeavy(problem) ? ArrayRef(kHeavyWords)
                                              : ArrayRef(kLightWords);
  // What stays: as many warps, or enough of them.
  double most = 0;
  if (usual.getVector() == vector) {
    most = countBusyWarps(problem, usual, warps);
    if (areHalves && usual.getCluster() > 1)
      most *= kShareOfPairs;
    if (!areHalves && isHeavy(problem) && usual.getCluster() <= 2 &&
        most >= kEnoughWarps)
      return {};
  }
  unsigned frame = canBeFramed(problem) && mayGainByFrames(problem, vector)
                       ? getSectorVectors(problem, vector)
                       : 0;
  ScheduleAttr best;
  for (auto [cluster, chunks, share] : shapes) {
    ScheduleAttr schedule = makeShape(problem, target, usual, cluster, chunks,
                                      warps, /*mayBeMore=*/!areHalves, frame);
    if (!schedule)
      continue;
    double busy = share * countBusyWarps(problem, schedule, warps);
    if (busy <= most)
      continue;
    best = schedule;
    most = busy;
  }
  if (!best)
    return {};
  // Frames of a line, where all columns fit. (LayerNorm of f16 with its
  // variance in two steps, 6001 columns 73.3 and 68.8.)
  ScheduleAttr lines = withFrame(best, kLineSectors * frame);
  if (areHalves && haveEnds(problem, best) && best.getCluster() == 1 &&
      best.getRowGroups() == 1 && fits(problem, lines, target))
    best = lines;
  reason = llvm::formatv("row sums are exchanged {0} times: {1} warps a block "
                         "for {2} rows, {3} bytes in flight",
                         problem.exchanges, best.getThreads() / 32,
                         best.getRowGroups(), getBytesInFlight(problem, best));
  return best;
}
