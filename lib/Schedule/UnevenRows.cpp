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

/// `warps` of each of `cluster` blocks for a row, with `chunks` vectors a lane,
/// `groups` rows at once, in `slots` steps; for rows of an odd number of
/// vectors and of an even one. Of few rows the usual shape is better if
/// `ofMany`.
struct Shape {
  unsigned cluster, warps, groups, chunks, slots;
  Range odd, even;
  bool ofMany;
};
} // namespace

/// (H200, bf16 LayerNorm, us, 200 and 600 MB, before and now; of an odd number
/// of vectors: 4104 columns 52.5, 148.7 -> 51.1, 144.7; 4232 51.8, 147.5
/// -> 50.7, 144.4; 4424 51.4, 149.3 -> 50.9, 145.2; 5128 53.2, 155.2 -> 51.1,
/// 146.0; 5304 53.2, 151.8 -> 50.8, 145.4; 5512 51.6, 146.3 -> 50.6, 144.5;
/// 5912 52.1, 147.3 -> 50.2, 144.2; 8904 52.5, 147.0 -> 51.1, 143.5; 9096 51.8,
/// 146.1 -> 51.1, 142.7; 10504 52.5, 153.6 -> 52.0, 147.5; 10712 53.6, 156.1
/// -> 51.7, 147.0; 11192 52.5, 147.3 -> 51.4, 145.3; 16664 51.8, 156.0 -> 51.2,
/// 144.7; 17000 52.1, 155.7 -> 51.3, 144.7; 17560 52.3, 155.2 -> 51.7, 143.5;
/// but 8520 52.1, 146.5 -> 51.9, 144.6; 10376 51.6, 151.0 -> 52.5, 147.8; 16392
/// 51.5, 145.2 -> 51.8, 145.1; 16776 in 11 warps 52.1, 145.8 -> 52.7, 144.5;
/// 18360 51.9, 149.2 -> 52.9, 149.9. Of an even one: 4144 51.4, 147.1 -> 50.4,
/// 143.3; 4304 51.3, 146.2 -> 50.7, 144.5; 5168 52.2, 146.9 -> 50.9, 146.3;
/// 8304 52.0, 147.8 -> 51.3, 145.1; 8624 52.2, 149.3 -> 52.1, 144.8; 10608
/// 53.1, 148.8 -> 51.5, 147.2; 10896 51.8, 147.8 -> 51.1, 145.7; 16416 56.0,
/// 158.1 -> 51.8, 145.5; 17040 53.7, 151.3 -> 52.1, 144.3; but 4448 51.0, 145.3
/// -> 51.0, 153.6; 10400 51.6, 147.5 -> 52.0, 147.8; 17744 52.8, 148.8 -> 52.6,
/// 150.3. Of whole lines 16896 50.7, 142.9 -> 51.3, 145.0; 4480 50.3, 143.6
/// -> 50.6, 153.5. At 25 MB 5288 10.6 -> 10.4, but 4136 10.2 -> 10.6, 8624 10.2
/// -> 10.6, 10712 10.3 -> 10.9, 16912 11.1 -> 12.2; at 75 MB 0.5 less to 0.3
/// more. Three vectors in 9 warps of one block, 6232 10.2, 22.1, 51.9, 147.7
/// -> 11.0, 22.4, 51.1, 145.0.)
static constexpr Shape kShapes[] = {
    // cluster, warps, row groups, chunks, slots, vectors of a row
    {1, 9, 1, 2, 3, {513, 555}, {514, 540}, true},
    {1, 11, 1, 2, 2, {641, 702}, {642, 668}, false},
    {1, 12, 1, 2, 2, {703, 766}, {}, false},
    {3, 6, 2, 2, 3, {}, {1026, 1090}, true},
    {2, 9, 1, 2, 3, {1095, 1148}, {}, true},
    {2, 11, 1, 2, 2, {1305, 1404}, {1310, 1390}, true},
    {3, 12, 1, 2, 3, {2061, 2251}, {2050, 2150}, true},
};

/// The shape for rows of `problem`, aligned to `frame` vectors; null if there
/// is none.
static const Shape *findShape(const Problem &problem, const TargetInfo &target,
                              unsigned &frame) {
  unsigned vector = getFullVector(problem);
  int64_t vectors = getVectors(problem, vector);
  if (!takesManyVectors(problem) || !isHeavy(problem) || !problem.taggable ||
      problem.segmented || !problem.tiledBytes.empty() ||
      !target.hasAsyncCopy || getVector(problem) != vector)
    return nullptr;
  unsigned sector = getSectorVectors(problem, vector);
  bool isOdd = vectors % sector != 0;
  frame = isOdd ? sector : 0;
  if (vectors % (kLineSectors * sector) == 0 ||
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
  unsigned frame;
  const Shape *shape = findShape(problem, target, frame);
  if (!shape)
    return {};
  auto schedule = ScheduleAttr::get(
      context, Structure::ring, shape->cluster, shape->warps, shape->groups,
      shape->slots, shape->chunks, getFullVector(problem), Copy::cp_async,
      Combine::tags, /*pace=*/0, /*grid=*/0, /*lanes=*/32, /*rows=*/1, frame);
  ScheduleAttr copies = change(schedule, "row-inputs=copy");
  if (getRowInputBytes(problem, copies) != 0)
    schedule = copies;
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
  unsigned frame;
  MLIRContext *context = schedule.getContext();
  const Shape *shape = findShape(problem, target, frame);
  if (!shape || !shape->ofMany ||
      schedule != chooseUnevenRows(context, problem, target, ignored))
    return {};
  return chooseUsualRing(context, problem, target, ignored);
}
