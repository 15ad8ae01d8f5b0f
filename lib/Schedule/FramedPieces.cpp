//===- FramedPieces.cpp - Short rows that begin anywhere, as one piece ----===//
//
// A warp copies and stores its rows of a step, which follow each other in
// memory, as one piece (KernelRingRows.cpp); its lanes read their vectors from
// the slot, each row's from the first one on that is whole. Where lanes copy
// their own vectors instead, in frames (Frames.cpp), an instruction touches
// twice the lines, and a lane in three or four holds what is before a row or
// behind it. Measured on an H200 alone: docs/performance.md has the widths, and
// docs/what-helped.md what was slower.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Bytes of a lane's vector: half a full one.
static constexpr unsigned kVectorBytes = 8;

/// Of the bytes in flight that memory needs, what there may be, and from what
/// on row inputs are loaded a step ahead rather than copied with their rows;
/// for two sums a column of 16-bit inputs, whose steps take longer, and others.
/// (600 MB, us. LayerNorm: 113 columns, 43 and 65 KB, 155 and 147.8, 165, 42
/// and 63, 150.1 and 146.4; copies and loads: 193, 49 KB, 146.2 and 148.6, 233,
/// 60 KB, 148.2 and 146.0. RMSNorm: 155, 40 and 60 KB, 145.8 and 152.8; 165, 42
/// KB, 145.4 and 147.6, 193, 49 KB, 146.7 and 144.5. f32 LayerNorm: 257, 49 and
/// 66 KB, 147.0 and 150.3, 201, 51 KB, 149.5 and 145.5.)
static constexpr double kMostHeavy = 1.02, kMostLight = 0.83;
static constexpr double kLoadsHeavy = 0.84, kLoadsLight = 0.7;

/// What two rows a lane at once have in flight at most in 12 warps, and of four
/// vectors a lane in 8; in 16, where lanes have the registers, as much as one.
/// More warps of one row each aren't as fast there. (One and two rows at once:
/// LayerNorm 79 columns 155.9 and 150.5, 83 152.1 and 150.0, 101 157.7 and
/// 148.5, 105 151.9 and 149.6; RMSNorm 65 151.6 and 148.1, 73 151.6 and 148.7,
/// but 77 145.9 and 148.5. Of three vectors in 8 lanes 12 warps have more: 85
/// 159.8 and 146.1, 87 160.7 and 148.4, 89 156.9 and 148.0.)
static constexpr double kMostOfTwoHeavy = 0.98, kMostOfTwoLight = 0.88,
                        kMostOfTwoInFew = 0.84, kMostOfTwoOfThree = 1.05;

/// What four rows a lane at once have in flight at most in 8 warps, of three
/// vectors in 8 lanes. (H200, LayerNorm, us, 75, 200 and 600 MB, two rows in 12
/// warps and four: 69 columns 22.8, 53.6, 162.2 and 22.0, 51.9, 151.8; 70 22.4,
/// 53.0, 153.9 and 22.1, 52.0, 151.9; 71 22.2, 52.8, 158.2 and 22.4, 52.2,
/// 152.4; 73 22.2, 52.5, 154.6 and 22.2, 52.5, 147.6; 74 21.9, 51.6, 152.3 and
/// 21.6, 52.0, 147.0, of f16 51.9, 147.8 and 52.6, 151.1; 77 21.7, 51.9, 147.5
/// and 21.9, 52.3, 160.5. At 25 MB 1 to 4% more.)
static constexpr double kMostOfFourOfThree = 1.145;

static bool isMeasured(const Problem &problem) {
  auto isWord = [](unsigned bytes) { return bytes == 4; };
  if (problem.elementBytes.size() != 2 || problem.accumulatorBytes.empty() ||
      problem.accumulatorBytes.size() > 2 || problem.exchanges > 1 ||
      !problem.tiledBytes.empty() ||
      !llvm::all_of(problem.accumulatorBytes, isWord))
    return false;
  unsigned bytes = problem.elementBytes[0];
  return problem.elementBytes[1] == bytes && (bytes == 2 || bytes == 4);
}

ScheduleAttr norm_fusion::chooseFramedPieces(MLIRContext *context,
                                             const Problem &problem,
                                             const TargetInfo &target,
                                             Combine combine,
                                             std::string &reason) {
  if (!isMeasured(problem))
    return {};
  unsigned bytes = problem.elementBytes[0], vector = kVectorBytes / bytes;
  int64_t vectors = problem.columns / vector; // whole ones, at most
  bool isSlow = isHeavy(problem) && bytes == 2;
  double most = target.bytesInFlight * (isSlow ? kMostHeavy : kMostLight);

  auto make = [&](unsigned lanes, unsigned chunks, unsigned groups,
                  unsigned slots, unsigned rows) {
    return ScheduleAttr::get(context, Structure::small, /*cluster=*/1,
                             /*warps=*/1, groups, slots, chunks, vector,
                             Copy::rows, combine, /*pace=*/0, /*grid=*/0, lanes,
                             rows, /*frame=*/1);
  };
  auto getInFlight = [&](ScheduleAttr schedule) {
    return double(getBytesInFlight(problem, schedule));
  };
  for (auto [lanes, mostChunks] : {std::pair(8u, 5u), {16u, 8u}, {8u, 8u}}) {
    int64_t needed = llvm::divideCeil(std::max<int64_t>(vectors, 1), lanes);
    if (needed > mostChunks)
      continue;
    unsigned chunks = needed;
    // What lanes have the registers for.
    unsigned held = chunks * vector;
    unsigned warps = held <= 12 ? 16 : held <= 20 ? kManyWarps : 8;
    ScheduleAttr schedule;
    for (unsigned groups : {16u, kManyWarps, 8u, 6u}) {
      if (groups > warps)
        continue;
      schedule = make(lanes, chunks, groups, /*slots=*/2, /*rows=*/1);
      if (getInFlight(schedule) <= most)
        break;
    }
    ScheduleAttr three = change(schedule, "slots=3 row-inputs=copy");
    bool takesThree = getInFlight(three) <= most;
    double loads = target.bytesInFlight * (isSlow ? kLoadsHeavy : kLoadsLight);
    if (takesThree)
      schedule = three;
    else if (getInFlight(schedule) <= loads)
      schedule = change(schedule, "row-inputs=copy");

    // Several rows at once.
    auto consider = [&](unsigned rows, unsigned groups, double mostOfThem,
                        double copies = 0) {
      ScheduleAttr several = make(lanes, chunks, groups, /*slots=*/2, rows);
      double share = getInFlight(several) / target.bytesInFlight;
      if (share > mostOfThem)
        return false;
      schedule = isSlow && share <= copies ? change(several, "row-inputs=copy")
                                           : several;
      return true;
    };
    bool areThree = isSlow && lanes == 8 && chunks == 3;
    bool areSeveral =
        areThree && consider(/*rows=*/4, /*groups=*/8, kMostOfFourOfThree);
    if (!areSeveral && bytes == 2 && chunks <= 3) {
      bool inAll = chunks == 1 || !isSlow;
      double most = areThree ? kMostOfTwoOfThree
                    : isSlow ? kMostOfTwoHeavy
                             : kMostOfTwoLight;
      double copies = chunks == 2 ? kCopiesOfTwo : 0;
      areSeveral = (inAll && consider(/*rows=*/2, /*groups=*/16, kMostLight)) ||
                   consider(/*rows=*/2, kManyWarps, most, copies);
    }
    // (Of three vectors: LayerNorm, 200 and 600 MB, us, one row in 16 warps and
    // two in 8: 90 columns 51.0, 157.2 and 50.6, 146.9; 94 51.4, 152.4
    // and 50.2, 144.8; 99 51.8, 153.7 and 50.6, 147.4.)
    if (!areSeveral && (areThree || (isSlow && chunks == 4)))
      consider(/*rows=*/2, /*groups=*/8, kMostOfTwoInFew,
               /*copies=*/kMostOfTwoInFew);
    schedule = normalizeRowInputs(problem, schedule);
    if (!fits(problem, schedule, target))
      continue;
    reason = llvm::formatv("aligned vectors of rows that begin anywhere, {0} "
                           "rows of {1} bytes a warp as one piece, {2} bytes "
                           "in flight",
                           schedule.getRowsAStep(), problem.columns * bytes,
                           getBytesInFlight(problem, schedule));
    return schedule;
  }
  return {};
}
