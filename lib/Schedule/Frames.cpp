//===- Frames.cpp - Rows in a ring whose vectors are aligned --------------===//
//
// Rows of a number of columns that no vector divides begin anywhere, and those
// of an odd number of 16-byte vectors at half a sector of the L2 cache. The
// vectors of a frame (KernelRingFrames.cpp) are aligned all the same, for two
// prices: a block holds up to a frame more than it owns, and a row group has
// rows of one shift alone, so that row groups are left over where the number of
// shifts doesn't divide theirs. The numbers were measured on an H200
// (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Vectors of 32-bit elements of a row that six warps of each of eight blocks
/// hold, four a lane: of more, with one sum a column, half ones would take
/// seven warps, whose two row groups spill. (H200, f32 RMSNorm, us, 75, 200 and
/// 600 MB: 26002 columns 26.4, 61.7, 175.7 -> 21.9, 51.6, 144.1;
/// 28002 25.5, 60.7, 170.8 -> 21.9, 51.6, 145.5.)
static constexpr int64_t kWholeVectors = 8 * 6 * 32 * 4;

/// Vectors of 16-bit elements of a row that two warps of a block hold as half
/// ones, eight a lane. With one sum a column six such blocks and seven with
/// idle lanes, which leave multiprocessors idle, aren't as good as frames.
/// (H200, RMSNorm, us, 200 and 600 MB: 10244 columns 54.7, 157.2 -> 50.1,
/// 142.6; 11004 52.6, 151.3 -> 50.1, 142.6; 12004 50.7, 145.2 -> 50.0, 142.9;
/// 13004 52.0, 148.6 -> 50.9, 142.3; but 13604 50.6, 145.1 -> 51.4, 142.7;
/// 14004 50.2, 143.6 -> 49.3, 150.2; in five 9604 49.9 and 50.4, in eight
/// 15004 49.4 and 49.8.)
static constexpr int64_t kHalfBlockVectors = 2 * 32 * 8 / 2;

/// What vectors that begin within a sector leave of the bandwidth.
static constexpr double kUnalignedShare = 0.94;

unsigned norm_fusion::getNarrowest(const Problem &problem) {
  auto narrowest = llvm::min_element(problem.elementBytes);
  return narrowest == problem.elementBytes.end() ? 4 : *narrowest;
}

bool norm_fusion::mayGainByFrames(const Problem &problem, unsigned vector) {
  return !problem.elementBytes.empty() &&
         vector * getNarrowest(problem) * 2 == kSectorBytes &&
         problem.columns % (2 * vector) != 0;
}

bool norm_fusion::haveMore(const Problem &problem, const TargetInfo &target,
                           unsigned rows, double share) {
  return 2. * rows * problem.columns * problem.bytesPerColumn() >
         share * target.bytesInFlight;
}

bool norm_fusion::serveMemory(const Problem &problem, const TargetInfo &target,
                              unsigned rows) {
  return !haveMore(problem, target, rows, kMostOfFewRows);
}

bool norm_fusion::takesManyVectors(const Problem &problem) {
  return getFullVector(problem) == 8 && problem.bytesPerColumn() == 4 &&
         !problem.accumulatorBytes.empty() &&
         problem.accumulatorBytes.size() <= 2 && problem.exchanges <= 1 &&
         llvm::all_of(problem.accumulatorBytes,
                      [](unsigned bytes) { return bytes == 4; });
}

bool norm_fusion::takesFiveVectors(const Problem &problem,
                                   const TargetInfo &target) {
  int64_t vectors = getVectors(problem, getFullVector(problem));
  return 4 * vectors > 3 * kFiveVectors && vectors <= kFiveVectors &&
         serveMemory(problem, target, /*rows=*/2);
}

bool norm_fusion::gainsByMoreVectors(const Problem &problem,
                                     const TargetInfo &target, unsigned warps) {
  if (!takesManyVectors(problem) || isHeavy(problem))
    return false;
  return 2 * warps == kManyWarps ? serveMemory(problem, target, /*rows=*/3)
                                 : takesFiveVectors(problem, target);
}

bool norm_fusion::gainsByFullVectors(const Problem &problem, unsigned vector) {
  // Two accumulators a column leave lanes few vectors, whatever their size:
  // more than 4096 bf16 columns, say, or few more than four warps hold. (H200,
  // LayerNorm, half and whole vectors, us, 200 MB: 3076 56.4 and 53.2, 3204
  // 54.8 and 52.8, 3412 53.6 and 53.1, 3604 52.8 and 53.3; 600 MB: 3100 161 and
  // 149. RMSNorm: 3076 56.3 and 52.1, 3412 53.6 and 51.9, 3100 159 and 147.)
  unsigned full = getFullVector(problem);
  int64_t vectors = getVectors(problem, full);
  auto isLittleMore = [&](int64_t held) {
    return vectors > held && vectors * 8 < held * 9;
  };
  if (vector * 2 != full || problem.exchanges > 1)
    return false;
  bool isHeavy = problem.accumulatorBytes.size() == 2;
  return (isHeavy && vectors > 2 * kTwoVectors) ||
         (readsTwoOf(problem, 4) && problem.accumulatorBytes.size() == 1 &&
          vectors > kWholeVectors) ||
         (takesManyVectors(problem) && !isHeavy &&
          vectors > 5 * kHalfBlockVectors &&
          2 * vectors <= 13 * kHalfBlockVectors) ||
         (takesManyVectors(problem) && vectors > kPairVectors &&
          2 * vectors <= 3 * kPairVectors) ||
         (takesManyVectors(problem) &&
          ((isHeavy && isLittleMore(kTwoVectors)) ||
           isLittleMore(kThreeVectors)));
}

unsigned norm_fusion::getSectorVectors(const Problem &problem,
                                       unsigned vector) {
  return std::max(kSectorBytes / (vector * getNarrowest(problem)), 1u);
}

ScheduleAttr norm_fusion::withFrame(ScheduleAttr schedule, unsigned frame) {
  return change(schedule, llvm::formatv("frame={0}", frame).str());
}

double norm_fusion::getBusyShare(const Problem &problem, ScheduleAttr schedule,
                                 const TargetInfo &target) {
  unsigned groups =
      target.getClusters(schedule.getCluster()) * schedule.getRowGroups();
  unsigned classes = isFramed(problem, schedule) && schedule.getShifts() == 1
                         ? getFrameClasses(problem, schedule)
                         : 1;
  return groups ? double(groups / classes * classes) / groups : 0;
}

ScheduleAttr norm_fusion::chooseFrame(const Problem &problem,
                                      ScheduleAttr schedule,
                                      const TargetInfo &target) {
  // Rows side by side in a warp have no other's bytes between them.
  bool isFramedNow = isFramed(problem, schedule);
  if ((schedule.getStructure() != Structure::ring && !isFramedNow) ||
      schedule.getFrame() != 0 || !canBeFramed(problem) ||
      !mayGainByFrames(problem, schedule.getVector()))
    return schedule;
  ScheduleAttr aligned =
      withFrame(schedule, getSectorVectors(problem, schedule.getVector()));
  if (!isLegal(problem, aligned, target) ||
      getBusyShare(problem, aligned, target) <
          kUnalignedShare * getBusyShare(problem, schedule, target))
    return schedule;
  return aligned;
}
