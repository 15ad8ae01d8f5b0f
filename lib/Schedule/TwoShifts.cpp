//===- TwoShifts.cpp - Framed rows whose row groups have two shifts -------===//
//
// Where a row group takes framed rows of one shift alone (Frames.cpp), wide
// rows leave much of a device without any: 15 clusters of eight blocks have
// rows of eight of 16 shifts, or none at all. Row groups with rows of two
// shifts (KernelRingShifts.cpp) are all busy, but each has its column sums go
// through shared memory once more, and steps take a twentieth more
// instructions. The numbers were measured on an H200 (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
/// Four vectors a lane in `fewestWarps` to `mostWarps` of each of `cluster`
/// blocks for a row, and as many row groups as 8 warps have room for.
struct Shape {
  unsigned cluster, fewestWarps, mostWarps;
};
} // namespace

/// Rows of 16 bits with two sums a column. (H200, bf16 LayerNorm, 200 MB, us:
/// 25001 columns 68.2 -> 62.4, 28001 62.6 -> 56.3, 30001 60.3 -> 54.9; 50001
/// 95.9 -> 60.9, 54001 88.1 -> 58.9, 60001 86.4 -> 56.0, 64001 83.5 -> 56.7.
/// What has 73% of the row groups busy in frames of a sector doesn't gain:
/// 41001 57.6 and 62.4, 46001 57.2 and 56.7, 36001 in five blocks 61.5 and
/// 60.6. Seven warps spill.)
static constexpr Shape kHeavyHalves[] = {{8, 4, 4}, {8, 8, 8}};

/// With one. (bf16 RMSNorm: 36001 66.1 -> 55.1, 50001 83.1 -> 52.1, 60001 76.8
/// -> 53.6.)
static constexpr Shape kLightHalves[] = {{5, 8, 8}, {8, 7, 8}};

/// Rows of 32 bits. (f32, LayerNorm: 49501 57.0 -> 51.9, 57001 73.1 -> 53.4,
/// 61001 73.6 -> 53.0, 65001 72.8 -> 53.6; RMSNorm: 49501 53.1 -> 51.0, 57001
/// 55.0 -> 52.1, 65001 53.4 -> 51.4. One row of ten warps with five vectors in
/// eight blocks: LayerNorm 49501 53.4, RMSNorm 52.0.)
static constexpr Shape kWords[] = {{16, 6, 8}};

/// Of the row groups, those that have rows of one shift alone, from which on
/// they are left so.
static constexpr double kBusyShare = 0.6;

ScheduleAttr norm_fusion::chooseTwoShifts(const Problem &problem,
                                          ScheduleAttr schedule,
                                          const TargetInfo &target,
                                          std::string &reason) {
  bool isWord = readsTwoOf(problem, 4);
  unsigned vector = schedule.getVector();
  unsigned frame = getSectorVectors(problem, vector);
  if (schedule.getStructure() != Structure::ring ||
      schedule.getCluster() == 1 || !isFramed(problem, schedule) ||
      vector != getFullVector(problem) ||
      !(isWord || takesManyVectors(problem)) ||
      (getFrameVectors(schedule) >= frame &&
       getBusyShare(problem, schedule, target) >= kBusyShare))
    return schedule;
  constexpr unsigned chunks = 4;
  ArrayRef<Shape> shapes = isWord             ? ArrayRef(kWords)
                           : isHeavy(problem) ? ArrayRef(kHeavyHalves)
                                              : ArrayRef(kLightHalves);
  for (const Shape &shape : shapes) {
    int64_t held = getVectors(problem, vector) + int64_t(shape.cluster) * frame;
    int64_t ofWarp = int64_t(32) * chunks * shape.cluster;
    unsigned warps =
        std::max<unsigned>(llvm::divideCeil(held, ofWarp), shape.fewestWarps);
    // A quarter of the lanes idle.
    if (warps > shape.mostWarps || 4 * held < 3 * warps * ofWarp)
      continue;
    for (unsigned slots : {3u, 2u}) {
      ScheduleAttr two = change(
          schedule,
          llvm::formatv("cluster={0} warps={1} row-groups={2} slots={3} "
                        "chunks={4} frame={5} ahead=0 pace=0 row-inputs=copy "
                        "shifts=2{6}",
                        shape.cluster, warps, std::max(8 / warps, 1u), slots,
                        chunks, frame,
                        haveEnds(problem, schedule) ? " ends=copy" : "")
              .str());
      unsigned groups = target.getClusters(shape.cluster) * two.getRowGroups();
      if (!isLegal(problem, two, target) ||
          groups < getLeastRowGroups(problem, two))
        continue;
      reason = llvm::formatv("wide rows that begin anywhere: two shifts a row "
                             "group, so that all {0} have rows",
                             groups)
                   .str();
      return two;
    }
  }
  return schedule;
}
