//===- ShortFrames.cpp - Framed rows of a warp or few ---------------------===//
//
// Rows in frames (Frames.cpp) that up to three warps of a block hold, or a
// warp several of: the vectors and lanes that leave the fewest idle, and as
// many rows of a block as have in flight what serves memory best. Short ones
// come as one piece where that is better (FramedPieces.cpp). The numbers were
// measured on an H200 (docs/performance.md), or as said there.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Of the bytes in flight that memory needs, what framed rows of a warp each
/// have at most in long runs, with one sum a column and with two; and those of
/// two vectors a lane, whose row inputs are copied. (H100, of 44 KiB, bf16, 600
/// MB, parts of the bytes and share of the triad. RMSNorm, three vectors: 0.87
/// 97%, 0.93 91%, 1 90%. LayerNorm, three vectors or five halves: 0.93 98%, 1
/// 96%, 1.06 91%, 1.08 90%. Two: LayerNorm 0.69 94%, 0.75 92%, 0.82 92%, 0.86
/// 90%, RMSNorm 0.72 94%, 0.82 94%, 0.86 91%.)
static constexpr double kMostOfWarps = 0.89, kMostHeavyOfWarps = 1,
                        kMostOfTwo = 0.8, kMostHeavyOfTwo = 0.76;

static double getMostOfWarps(const Problem &problem, bool areTwo) {
  if (areTwo)
    return isHeavy(problem) ? kMostHeavyOfTwo : kMostOfTwo;
  return isHeavy(problem) ? kMostHeavyOfWarps : kMostOfWarps;
}

/// `warps`, a row each, or down to `fewest` that don't have more than `share`.
static unsigned limitWarps(const Problem &problem, const TargetInfo &target,
                           unsigned warps, unsigned fewest, double share) {
  while (warps > fewest && haveMore(problem, target, warps, share))
    --warps;
  return warps;
}

/// One warp a row, three whole vectors a lane: rows that half vectors hold with
/// fewer lanes idle only if these are five (and with one sum a column, not even
/// then). Null for others. (H200, us, 200 and 600 MB, LayerNorm: 641 columns
/// 161.5 and 148.4 (600 MB), 657 56.3 and 52.6, 689 55.2 and 52.6, 705 151.7
/// and 147.0, 721 53.6 and 52.3, 745 53.2 and 52.4, 148.7 and 149.4; 625 52.4
/// and 53.0. RMSNorm: 513 152.3 and 147.8, 545 52.8 and 52.0, 577 150.7 and
/// 145.8, 593 52.4 and 51.8, 150.0 and 145.8, 641 149.7 and 146.4, 657 52.0
/// and 51.2, 705 147.3 and 145.5, 721 51.7 and 50.9.)
static ScheduleAttr chooseThreeVectors(MLIRContext *context,
                                       const Problem &problem,
                                       const TargetInfo &target,
                                       Combine combine) {
  constexpr unsigned vector = 8, chunks = 3, lanes = 32;
  if (!takesManyVectors(problem))
    return {};
  unsigned frame = getSectorVectors(problem, vector);
  int64_t fewer = isHeavy(problem) ? 5 * lanes * vector / 2 - vector
                                   : (2 * lanes - int64_t(frame)) * vector;
  if (problem.columns <= fewer)
    return {};
  // 12 warps where lanes have the registers, and no more is in flight than
  // memory serves well: 577 columns 145.8 and 149.9 with 8, 641 147 and 146.3.
  unsigned warps = kManyWarps;
  if (isHeavy(problem) || haveMore(problem, target, warps, 15. / 16))
    warps = limitWarps(problem, target, kFramedWarps, kFramedWarps - 1,
                       getMostOfWarps(problem, /*areTwo=*/false));
  auto schedule = ScheduleAttr::get(
      context, Structure::ring, /*cluster=*/1, /*warps=*/1, /*rowGroups=*/warps,
      /*slots=*/2, chunks, vector, Copy::cp_async, combine, /*pace=*/0,
      /*grid=*/0, lanes, /*rows=*/1, frame);
  return fits(problem, schedule, target) ? schedule : ScheduleAttr();
}

/// Rows of 32-bit elements in two to five warps of three whole vectors a lane,
/// 12 warps or ten in all, if these leave at most a quarter of the lanes idle,
/// or with one sum a column a fifth: half vectors, which leave fewer, are up to
/// ten a lane, and with two sums spill. Null for others. (H200, f32, us, 25 and
/// 200 MB, half vectors and these. LayerNorm: 577 columns 8.87 and 8.92, 50.1
/// and 49.0; 661 9.24 and 8.79, 50.4 and 48.9; 759 9.10 and 8.79, 50.4
/// and 49.5; 865 8.98 and 8.74, 50.0 and 49.3; 1051 9.09 and 8.72, 50.3
/// and 49.1; 1181 9.08 and 8.87, 49.9 and 48.5; 1301 9.09 and 9.01, 49.7
/// and 48.3; 1511 8.90 and 8.72, 49.6 and 49.2; 1601 9.24 and 8.89, 50.2
/// and 49.2; 1701 9.89 and 8.91, 50.1 and 48.8; 1901 10.1 and 9.08, 51.0
/// and 48.4; but of 821 four warps with two vectors, a fifth idle, gain
/// nothing. RMSNorm: 661 8.51 and 8.38, 49.4 and 48.9; 923 8.65 and 8.52, 49.3
/// and 48.5; 1229 8.48 and 8.44, 49.2 and 48.5; 1701 8.95 and 8.56, 49.6
/// and 48.1; but 601, 25 and 75 MB, 8.33 and 8.48, 20.0 and 20.1.)
static ScheduleAttr chooseThreeWords(MLIRContext *context,
                                     const Problem &problem,
                                     const TargetInfo &target,
                                     Combine combine) {
  constexpr unsigned vector = 4, chunks = 3, lanes = 32, mostWarps = 5;
  unsigned sums = problem.accumulatorBytes.size();
  if (!readsTwoOf(problem, 4) || sums < 1 || sums > 2 || problem.exchanges > 1)
    return {};
  unsigned frame = getSectorVectors(problem, vector);
  unsigned partsIdle = sums == 2 ? 4 : 5;
  for (unsigned warps = 2; warps <= mostWarps; ++warps) {
    auto schedule = ScheduleAttr::get(
        context, Structure::ring, /*cluster=*/1, warps, kManyWarps / warps,
        /*slots=*/2, chunks, vector, Copy::cp_async, combine, /*pace=*/0,
        /*grid=*/0, lanes, /*rows=*/1, frame);
    if (problem.columns * partsIdle <
        schedule.getBlockColumns() * (partsIdle - 1))
      break;
    if (fits(problem, schedule, target))
      return schedule;
  }
  return {};
}

namespace {
/// A warp fewer a row, with more vectors a lane.
struct FewerWarps {
  /// Instead of rows in so many warps with so many vectors a lane, whole or
  /// half ones, of which one in `partsIdle` lanes is idle; 0: or none is.
  unsigned warps, chunks;
  bool areHalves;
  unsigned partsIdle;
  unsigned groups, newChunks;
  bool becomeWhole; ///< and row inputs are copied
};
} // namespace

/// H200, LayerNorm, us, 200 and 600 MB. Five halves, with copies of row inputs:
/// 1533 columns 52.7, 152.7 -> 50.7, 144.9; 1565 51.9, 149.1 -> 50.6, 143.9;
/// 1621 51.8, 147.3 -> 50.3, 143.8; 1681, an eighth, 50.9, 145.1 -> 50.6,
/// 144.5. Two whole ones: 765 52.7, 151.2 -> 51.3, 147.2; 803 52.1, 148.8
/// -> 51.0, 146.0; 841 51.3, 146.8 -> 50.8, 145.2; 921 50.5, 144.3 -> 50.2,
/// 143.5; but 961 50.4, 143.3 -> 50.2, 143.4, 1001 50.2, 144.0 -> 50.4, 149.6.
/// Three halves: 1021 53.1, 152.9 -> 50.9, 145.0; 1061 51.4, 150.2 -> 50.9,
/// 145.3; 1101 51.3, 147.0 -> 51.1, 145.2; 1135 51.3, 146.8 -> 51.3, 145.7. 25
/// MB: 771 9.9 -> 10.0, 1021 10.6 -> 10.1.
// clang-format off
static constexpr FewerWarps kFewerWarps[] = {
    {3, 5, true,   8, kFramedWarps / 2, 4, true},
    {2, 2, false, 12, kFramedWarps,     4, false},
    {3, 3, true,   0, kManyWarps / 2,   5, false}};
// clang-format on

/// One of these in place of `others`, with two sums a column. Null for others,
/// and where memory needs less in flight.
static ScheduleAttr chooseFewerWarps(const Problem &problem,
                                     const TargetInfo &target,
                                     ScheduleAttr others) {
  if (!others || !takesManyVectors(problem) || !isHeavy(problem))
    return {};
  unsigned full = getFullVector(problem);
  for (const FewerWarps &fewer : kFewerWarps) {
    int64_t held = others.getBlockColumns();
    if (others.getWarps() != fewer.warps ||
        others.getChunks() != fewer.chunks ||
        others.getVector() != (fewer.areHalves ? full / 2 : full) ||
        (fewer.partsIdle != 0 &&
         held * (fewer.partsIdle - 1) < problem.columns * fewer.partsIdle) ||
        haveMore(problem, target, fewer.groups, /*share=*/1))
      continue;
    ScheduleAttr schedule = change(
        others, llvm::formatv("warps={0} row-groups={1} chunks={2}",
                              fewer.warps - 1, fewer.groups, fewer.newChunks)
                    .str());
    if (fewer.becomeWhole)
      schedule =
          change(schedule, llvm::formatv("vector={0} frame={1} row-inputs=copy",
                                         full, getSectorVectors(problem, full))
                               .str());
    if (fits(problem, schedule, target))
      return schedule;
  }
  return {};
}

/// Two rows at once in two warps, of two half vectors a lane, in place of one
/// in one of four, of which next to no lane is idle: with two sums a column.
/// Null for others. (H200, LayerNorm, us, 200 and 600 MB: 497 columns 51.3,
/// 148.3 and 51.0, 146.6, 499 52.2, 153.3 and 50.9, 146.3, 501 52.7, 154.4
/// and 51.4, 146.1, 505 51.5, 150.1 and 50.9, 146.0; but 491 50.9, 151.0
/// and 51.3, 148.5, and at 25 MB 4% more.)
static ScheduleAttr chooseTwoRowsOfTwoWarps(const Problem &problem,
                                            const TargetInfo &target,
                                            ScheduleAttr others) {
  unsigned full = getFullVector(problem);
  if (!others || !takesManyVectors(problem) || !isHeavy(problem) ||
      others.getLanes() != 32 || others.getWarps() != 1 ||
      others.getChunks() != 4 || others.getVector() * 2 != full ||
      problem.columns * 32 <= others.getBlockColumns() * 31 ||
      haveMore(problem, target, /*rows=*/2 * kFramedWarps, /*share=*/1))
    return {};
  ScheduleAttr schedule =
      change(others, llvm::formatv("warps=2 rows=2 chunks=2 row-groups={0}",
                                   kFramedWarps)
                         .str());
  return fits(problem, schedule, target) ? schedule : ScheduleAttr();
}

/// `schedule` with fewer row groups where more would spill: of 32-bit elements
/// with two sums a column, warps with 20 columns a lane, the last ones
/// included, of which more than 8 have too few registers. (ptxas 13.0, f32
/// LayerNorm of 575 columns, 9 to 12 warps: 24 and 32 bytes.)
static ScheduleAttr limitWordGroups(const Problem &problem,
                                    ScheduleAttr schedule) {
  unsigned chunks = schedule.getChunks(), vector = schedule.getVector();
  if (!readsTwoOf(problem, 4) || !isHeavy(problem) ||
      schedule.getLanes() != 32 || schedule.getWarps() != 1 ||
      schedule.getRowGroups() <= kFramedWarps || chunks * vector != 20 ||
      problem.columns + vector <= int64_t(chunks - 1) * 32 * vector)
    return schedule;
  return change(schedule, llvm::formatv("row-groups={0}", kFramedWarps).str());
}

ScheduleAttr norm_fusion::chooseShortFrames(MLIRContext *context,
                                            const Problem &problem,
                                            const TargetInfo &target,
                                            Combine combine,
                                            std::string &reason) {
  if (ScheduleAttr pieces =
          chooseFramedPieces(context, problem, target, combine, reason))
    return pieces;
  reason = "aligned vectors of rows that begin anywhere";
  if (ScheduleAttr three =
          chooseThreeVectors(context, problem, target, combine))
    return three;
  if (ScheduleAttr words = chooseThreeWords(context, problem, target, combine))
    return words;
  ScheduleAttr best;
  unsigned full = getFullVector(problem);
  unsigned narrowest = getNarrowest(problem);
  auto consider = [&](unsigned warps, unsigned lanes, unsigned vector,
                      unsigned chunks) {
    // A lane's columns decide how many warps have the registers; fewer have
    // enough in flight where memory needs less. (H100, 44 KiB, RMSNorm, 16 and
    // 12 warps, us, 200 and 600 MB: 361 columns 71.5 and 70.9, 226 and 207, 371
    // 72.2 and 70.5, 228 and 206.)
    unsigned most = chunks * vector > 12 ? kManyWarps : 16;
    if (takesManyVectors(problem) && lanes == 32 && warps == 1) {
      if (haveMore(problem, target, most, 1))
        most = kManyWarps;
      if (most == kManyWarps)
        most = limitWarps(
            problem, target, most, kFramedWarps,
            getMostOfWarps(problem, /*areTwo=*/chunks == 2 && vector == full));
    }
    auto schedule = ScheduleAttr::get(
        context, lanes < 32 ? Structure::small : Structure::ring,
        /*cluster=*/1, warps, /*rowGroups=*/most / warps, /*slots=*/2, chunks,
        vector, Copy::cp_async, combine, /*pace=*/0, /*grid=*/0, lanes,
        /*rows=*/1, /*frame=*/0);
    if ((!best || schedule.getBlockColumns() < best.getBlockColumns()) &&
        fits(problem, schedule, target))
      best = schedule;
  };
  // Of those that hold as many, few lanes with many columns each.
  for (unsigned warps : {1u, 2u, 3u})
    for (unsigned lanes : {8u, 16u, 32u})
      for (unsigned vector : {full, full / 2})
        for (unsigned chunks = 1; chunks * vector <= 20; ++chunks)
          if (vector * narrowest >= 8 && (warps == 1 || lanes == 32))
            consider(warps, lanes, vector, chunks);
  if (ScheduleAttr fewer = chooseFewerWarps(problem, target, best))
    return fewer;
  if (ScheduleAttr two = chooseTwoRowsOfTwoWarps(problem, target, best))
    return two;
  if (best)
    best = limitWordGroups(problem, best);
  // Half vectors side by side in frames of a whole sector, where lanes hold
  // these, too.
  if (!best || best.getLanes() == 32 || best.getVector() * 2 != full ||
      !takesManyVectors(problem))
    return best;
  ScheduleAttr aligned =
      withFrame(best, getSectorVectors(problem, best.getVector()));
  return fits(problem, aligned, target) ? aligned : best;
}
