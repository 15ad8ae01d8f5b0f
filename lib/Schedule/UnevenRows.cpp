//===- UnevenRows.cpp - Rows of no whole lines ----------------------------===//
//
// Rows of 16-bit elements with two sums a column that don't all begin with a
// line of the L2 cache. Where the shapes for others (ManyWarps.cpp,
// WideRows.cpp), or for framed rows (WideFrames.cpp), leave lanes idle, shapes
// with few parts of rows do better, each of which touches two lines that other
// parts touch, too: few row groups of many warps in few blocks, or single warps
// with many vectors. The numbers were measured on an H200.
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

/// `warps` of each of `cluster` blocks for a row, with `chunks` vectors a lane,
/// `groups` rows at once, in `slots` steps, in frames of `sectors`: for rows of
/// an odd number of vectors, of an even one, and those that begin anywhere. Of
/// few rows the usual shape is better if `ofMany`.
struct Shape {
  unsigned cluster, warps, groups, slots, chunks, sectors;
  Range odd, even, anywhere;
  bool ofMany;
};
} // namespace

/// (H200, bf16 LayerNorm: 200 MB 1 to 8% less time, 600 MB from 8% less to 5%
/// more, for steps aren't paced. The widths, and those beside them where the
/// usual shapes are as good: docs/measurements.md, "Rows that begin within
/// lines".)
static constexpr Shape kShapes[] = {
    // cluster, warps, row groups, slots, vectors a lane, sectors of a frame,
    // vectors of a row
    {1, 1, 8, 2, 4, 1, {97, 117}, {}, {}, false},
    {1, 1, 6, 2, 5, 1, {127, 135}, {}, {}, false},
    {1, 1, 6, 2, 5, 1, {145, 149}, {}, {}, false},
    {1, 9, 1, 3, 2, 1, {513, 555}, {514, 540}, {}, true},
    {1, 9, 1, 3, 2, 1, {}, {}, {566, 574}, false},
    {1, 10, 1, 3, 2, 1, {}, {}, {575, 600}, true},
    {1, 11, 1, 3, 2, 4, {}, {}, {601, 636}, true},
    {1, 12, 1, 3, 2, 4, {}, {}, {637, 668}, false},
    {2, 6, 2, 3, 2, 4, {}, {}, {669, 718}, false},
    {1, 11, 1, 2, 2, 1, {641, 702}, {642, 668}, {}, false},
    {1, 12, 1, 2, 2, 1, {703, 766}, {}, {}, false},
    {1, 7, 1, 2, 4, 1, {767, 889}, {770, 880}, {}, true},
    {3, 6, 2, 3, 2, 1, {}, {1026, 1090}, {}, true},
    {2, 9, 1, 3, 2, 1, {1095, 1148}, {}, {}, true},
    {2, 11, 1, 2, 2, 1, {1305, 1404}, {1310, 1390}, {}, true},
    {2, 11, 1, 3, 2, 4, {}, {}, {1340, 1392}, false},
    {2, 12, 1, 3, 2, 4, {}, {}, {1393, 1441}, false},
    {2, 12, 1, 2, 2, 1, {}, {1408, 1530}, {}, true},
    {2, 7, 1, 2, 4, 1, {1565, 1745}, {1580, 1640}, {}, true},
    {3, 12, 1, 3, 2, 1, {2061, 2251}, {2050, 2150}, {}, true},
};

/// Of the bytes in flight that memory needs, what they have at most: slower
/// memory takes 5 to 10% more in long runs for half as many again
/// (WideFrames.cpp).
static constexpr double kMostInFlight = 1.1;

/// The shape for rows of `problem`; null if there is none.
static const Shape *findShape(const Problem &problem,
                              const TargetInfo &target) {
  unsigned vector = getFullVector(problem);
  int64_t vectors = getVectors(problem, vector);
  if (!takesManyVectors(problem) || !isHeavy(problem) || !problem.taggable ||
      problem.segmented || !problem.tiledBytes.empty() ||
      !target.hasAsyncCopy ||
      problem.columns %
              (kLineSectors * getSectorVectors(problem, vector) * vector) ==
          0)
    return nullptr;
  bool isAnywhere = problem.columns % vector != 0;
  bool isOdd = mayGainByFrames(problem, vector);
  if ((!isAnywhere && getVector(problem) != vector) ||
      (isOdd && !canBeFramed(problem)))
    return nullptr;
  const auto *shape = llvm::find_if(kShapes, [&](const Shape &shape) {
    return (isAnywhere ? shape.anywhere
            : isOdd    ? shape.odd
                       : shape.even)
        .contains(vectors);
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
  unsigned vector = getFullVector(problem);
  unsigned frame = mayGainByFrames(problem, vector)
                       ? shape->sectors * getSectorVectors(problem, vector)
                       : 0;
  ScheduleAttr schedule =
      makeRing(context, shape->cluster, shape->warps, shape->groups,
               shape->slots, shape->chunks, vector, Combine::tags, frame);
  // Of single warps copies take 1 to 3% more. (In 6 and 8 row groups, 200 MB,
  // us: 1032 columns 50.9 and 50.6, 51.9 and 50.7; 1160 51.5 and 50.3.)
  if (shape->warps > 1)
    schedule = change(schedule, haveEnds(problem, schedule)
                                    ? "row-inputs=copy ends=copy"
                                    : "row-inputs=copy");
  schedule = normalizeRowInputs(problem, schedule);
  int64_t inFlight = getBytesInFlight(problem, schedule);
  if (!fits(problem, schedule, target) ||
      inFlight > kMostInFlight * target.bytesInFlight)
    return {};
  reason = llvm::formatv("rows that begin within lines, in few parts: {0} "
                         "bytes in flight",
                         inFlight);
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
