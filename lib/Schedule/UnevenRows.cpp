//===- UnevenRows.cpp - Rows of whole vectors, but of no whole lines ------===//
//
// Rows of 16-bit elements with two sums a column that begin with a vector, but
// not all with a line of the L2 cache. Where the shapes for others
// (ManyWarps.cpp, WideRows.cpp) leave lanes idle, shapes with few row groups of
// many warps do better: in few blocks there are few parts of rows, each of
// which touches two lines that other parts touch, too. They win by most where
// rows begin with half a sector, of an odd number of vectors. The numbers were
// measured on an H200.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
/// Rows that a shape is for, by their vectors.
struct Range {
  int64_t fewest, most;
  bool contains(int64_t vectors) const {
    return vectors >= fewest && vectors <= most;
  }
};

/// `warps` of each of `cluster` blocks for a row, with two vectors a lane,
/// `groups` rows at once, in `slots` steps; for rows of an odd number of
/// vectors and of an even one. Of few rows the usual shape is better if
/// `ofMany`.
struct Shape {
  unsigned cluster, warps, groups, slots;
  Range odd, even;
  bool ofMany;
};
} // namespace

/// (H200, bf16 LayerNorm: 200 MB 1 to 5% less time, 600 MB 1 to 7%, but from
/// 1430 vectors on 3% less and 1% more, for steps aren't paced. The widths, and
/// those beside them where the usual shapes are as good: docs/measurements.md,
/// "Rows of whole vectors that begin within lines".)
static constexpr Shape kShapes[] = {
    // cluster, warps, row groups, slots, vectors of a row
    {1, 9, 1, 3, {513, 555}, {514, 540}, true},
    {1, 11, 1, 2, {641, 702}, {642, 668}, false},
    {1, 12, 1, 2, {703, 766}, {}, false},
    {3, 6, 2, 3, {}, {1026, 1090}, true},
    {2, 9, 1, 3, {1095, 1148}, {}, true},
    {2, 11, 1, 2, {1305, 1404}, {1310, 1390}, true},
    {2, 12, 1, 2, {}, {1430, 1530}, true},
    {3, 12, 1, 3, {2061, 2251}, {2050, 2150}, true},
};

/// The shape for rows of `problem`; null if there is none.
static const Shape *findShape(const Problem &problem,
                              const TargetInfo &target) {
  unsigned vector = getFullVector(problem);
  int64_t vectors = getVectors(problem, vector);
  bool isOdd = mayGainByFrames(problem, vector);
  if (!takesManyVectors(problem) || !isHeavy(problem) || !problem.taggable ||
      problem.segmented || !problem.tiledBytes.empty() ||
      !target.hasAsyncCopy || getVector(problem) != vector ||
      vectors % (kLineSectors * getSectorVectors(problem, vector)) == 0 ||
      (isOdd && !canBeFramed(problem)))
    return nullptr;
  const auto *shape = llvm::find_if(kShapes, [&](const Shape &shape) {
    return (isOdd ? shape.odd : shape.even).contains(vectors);
  });
  return shape == std::end(kShapes) ? nullptr : shape;
}

ScheduleAttr norm_fusion::chooseUnevenRows(MLIRContext *context,
                                           const Problem &problem,
                                           const TargetInfo &target,
                                           std::string &reason) {
  const Shape *shape = findShape(problem, target);
  if (!shape)
    return {};
  // Aligned to a sector.
  unsigned vector = getFullVector(problem);
  unsigned frame =
      mayGainByFrames(problem, vector) ? getSectorVectors(problem, vector) : 0;
  ScheduleAttr loads =
      makeRing(context, shape->cluster, shape->warps, shape->groups,
               shape->slots, /*chunks=*/2, vector, Combine::tags, frame);
  ScheduleAttr schedule =
      normalizeRowInputs(problem, change(loads, "row-inputs=copy"));
  if (!fits(problem, schedule, target))
    return {};
  reason = llvm::formatv("rows of whole vectors that begin within lines, in "
                         "few parts: {0} bytes in flight",
                         getBytesInFlight(problem, schedule));
  return schedule;
}

ScheduleAttr norm_fusion::chooseUnevenOfFewRows(const Problem &problem,
                                                const TargetInfo &target,
                                                ScheduleAttr schedule) {
  std::string ignored;
  MLIRContext *context = schedule.getContext();
  const Shape *shape = findShape(problem, target);
  if (!shape || !shape->ofMany ||
      schedule != chooseUnevenRows(context, problem, target, ignored))
    return {};
  return chooseUsualRing(context, problem, target, ignored);
}
