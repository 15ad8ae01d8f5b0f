//===- ShortRows.cpp - Rows side by side in a warp ------------------------===//
//
// What is chosen once the lanes of short rows are, but for framed ones
// (FramedPieces.cpp): whether a lane takes two rows at once, and whether a
// warp's rows are one piece. The numbers were measured on an H200
// (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Of the bytes in flight that memory needs, what two rows a lane at once have
/// at most, with one sum a column and with two; and how much more where a row
/// has fewer than 8 lanes.
static constexpr double kMostOfTwoRows = 0.9, kMostHeavyOfTwoRows = 1,
                        kMoreOfFewLanes = 1.1;

/// Two rows of three half vectors a lane at once, in 12 warps, or 8 where these
/// have too much in flight, or 7 or 6; 9 to 11 leave schedulers of the
/// multiprocessor idle. Of two arrays of 16 bits: others weren't measured, but
/// for f32 (up to 2% slower). (H200, bf16, one row in 16 warps and two in 12 or
/// 8, us. 200 MB: LayerNorm 40 columns 56.3 and 53.0, 68 58.8 and 53.7, 80 55.9
/// and 53.8, 92 53.9 and 53.7, 136 54.3 and 53.6, 184 52.3 and 51.1, 352 51.6
/// and 50.9; RMSNorm 40 52.8 and 51.8, 68 55.0 and 52.1, 140 51.9 and 51.3,
/// 184 50.4 and 50.6, 280 51.7 and 51.1. 600 MB: LayerNorm 68 168 and 153, 184
/// 150 and 146, RMSNorm 68 156 and 149, 320 149 and 144. H100, 384 columns, 200
/// and 1327 MB, 8 warps and fewer: LayerNorm, 7, 69.3 and 68.5, 463 and 439,
/// RMSNorm, 6, 70.0 and 69.6, 464 and 447. On other devices not measured.)
ScheduleAttr norm_fusion::chooseTwoRows(const Problem &problem,
                                        ScheduleAttr schedule,
                                        const TargetInfo &target,
                                        std::string &reason) {
  if (schedule.getStructure() != Structure::small || schedule.getRows() != 1 ||
      schedule.getChunks() != 3 || schedule.getVector() != 4 ||
      schedule.getSlots() != 2 || schedule.getCopy() != Copy::cp_async ||
      problem.accumulatorBytes.empty() || problem.exchanges > 1 ||
      !readsTwoOf(problem, 2) || isFramed(problem, schedule))
    return schedule;
  double most = target.bytesInFlight *
                (isHeavy(problem) ? kMostHeavyOfTwoRows : kMostOfTwoRows);
  if (schedule.getLanes() < 8)
    most *= kMoreOfFewLanes;
  for (unsigned groups : {kManyWarps, 8u, 7u, 6u}) {
    ScheduleAttr twoRows =
        change(schedule, llvm::formatv("rows=2 row-groups={0}", groups).str());
    unsigned registers = estimateRegisters(problem, twoRows);
    unsigned budget = getRegisterBudget(target, twoRows);
    int64_t inFlight = getBytesInFlight(problem, twoRows);
    if (inFlight > most || registers > budget ||
        !isLegal(problem, twoRows, target))
      continue;
    reason = llvm::formatv("two rows at once in {0} warps: {1} columns of {2} "
                           "bytes in registers, {3} bytes in flight, about {4} "
                           "of {5} registers",
                           groups, problem.columns, problem.bytesPerColumn(),
                           inFlight, registers, budget);
    return twoRows;
  }
  return schedule;
}

/// Bytes of a row up to which its lanes' own copies and stores touch enough
/// sectors in vain, with one sum a column and with two.
static constexpr int64_t kShortRowBytes = 192, kShortHeavyRowBytes = 288;

/// Bytes of a line of the L2 cache.
static constexpr int64_t kLineBytes = 128;

/// Vectors of short rows of 32-bit elements that are pieces, and what these
/// have in flight at most, of the bytes that memory needs.
static constexpr int64_t kFewestWordVectors = 5, kMostWordVectors = 17;
static constexpr double kMostOfWordPieces = 1.05;

/// Rows of an odd number of vectors of 32-bit elements, every second one of
/// which begins with half a sector: pieces of rows that 8 lanes hold, as many
/// of them at once as there may be in flight. (H200, f32, us, 25, 200 and 600
/// MB, lanes' own copies of 8 or 4 lanes and these. LayerNorm: 20 columns 11.7,
/// 74.4, 216.1 and 8.6, 50.8, 151.7, 28 9.4, 54.3, 157.7 and 8.5, 50.6, 145.8,
/// 36 9.8, 61.4, 182.4 and 8.4, 50.2, 144.9, 44 9.7, 61.4, 181.4 and 8.5, 50.3,
/// 150.2, 52 8.9, 50.6, 146.6 and 8.4, 50.1, 144.7, 60 9.2, 50.8, 152.3
/// and 8.7, 49.7, 152.7, 68 9.0, 51.0, 148.5 and 8.5, 50.0, 145.4. RMSNorm: 20
/// 11.2, 73.0, 212.9 and 8.3, 50.1, 152.0, 36 9.4, 61.0, 180.7 and 8.1, 49.6,
/// 150.1, 52 8.6, 50.1, 149.1 and 8.1, 49.2, 151.4, 68 8.4, 50.0, 145.2
/// and 8.0, 49.2, 147.7.)
static ScheduleAttr choosePiecesOfWords(const Problem &problem,
                                        ScheduleAttr schedule,
                                        const TargetInfo &target,
                                        std::string &reason) {
  constexpr unsigned vector = 4, lanes = 8;
  int64_t vectors = getVectors(problem, vector);
  if (getVector(problem) != vector || !mayGainByFrames(problem, vector) ||
      vectors < kFewestWordVectors || vectors > kMostWordVectors)
    return schedule;
  unsigned chunks = llvm::divideCeil(vectors, int64_t(lanes));
  for (auto [rows, groups] : {std::pair(4u, kManyWarps),
                              {2u, 16u},
                              {2u, kManyWarps},
                              {1u, 16u},
                              {1u, kManyWarps}}) {
    ScheduleAttr pieces = change(
        schedule, llvm::formatv("lanes={0} vector={1} chunks={2} rows={3} "
                                "row-groups={4} slots=2 copy=rows frame=1 "
                                "row-inputs=load",
                                lanes, vector, chunks, rows, groups)
                      .str());
    if (getBytesInFlight(problem, pieces) >
            kMostOfWordPieces * target.bytesInFlight ||
        !fits(problem, pieces, target))
      continue;
    reason = llvm::formatv("{0} rows of {1} columns a warp as one piece, {2} "
                           "bytes in flight",
                           pieces.getRowsAStep(), problem.columns,
                           getBytesInFlight(problem, pieces));
    return pieces;
  }
  return schedule;
}

/// Short rows of which an instruction copies parts are copied and stored as one
/// piece, but where the parts are lines and few lanes idle. Of two arrays of 16
/// bits, as above. (H200, bf16, 200 MB, us: LayerNorm 36 columns 54.8 and 52.8,
/// 52 54.5 and 52.8, 56 55.9 and 52.2, 80 53.9 and 51.8, 132 54.0 and 52.2, 144
/// 53.0 and 52.0; 104 to 120 the same, 1000003x100 151 and 163, 160 to 500 no
/// better. RMSNorm 36 53.1 and 51.4, 56 54.1 and 50.6, 76 52.0 and 51.0, 132
/// and more up to 1 slower. Framed rows: chooseFramedPieces().)
/// Where two rows at once have too much in flight for 12 warps, one in 16. (600
/// MB, 12 warps of two rows and this: LayerNorm 48 156.7 and 148.0, 88 155.3
/// and 150.3, 92 158.1 and 149.4, 96 154.5 and 146.6; RMSNorm 80 153.2 and
/// 145.7, 96 150.9 and 143.2; but with less in flight LayerNorm 68 149.7 and
/// 166.9, 80 150.1 and 153.3, RMSNorm 68 145.2 and 152.5.) With two sums a
/// column in 8 lanes two rows in 8 warps are better yet, with copies of row
/// inputs. (200 and 600 MB, LayerNorm: 88 52.1, 150.9 and 50.7, 146.0; 92 51.6,
/// 149.3 and 50.4, 147.0; 96 50.7, 145.9 and 50.1, 145.7.)
ScheduleAttr norm_fusion::choosePieces(const Problem &problem,
                                       ScheduleAttr schedule,
                                       const TargetInfo &target,
                                       std::string &reason) {
  if (schedule.getStructure() != Structure::small ||
      schedule.getCopy() != Copy::cp_async ||
      problem.accumulatorBytes.empty() || problem.exchanges > 1)
    return schedule;
  if (readsTwoOf(problem, 4))
    return choosePiecesOfWords(problem, schedule, target, reason);
  int64_t rowBytes = 2 * problem.columns;
  int64_t held = schedule.getBlockColumns();
  bool copiesWholeRows = schedule.getChunks() == 1 && held == problem.columns;
  bool copiesLines =
      schedule.getChunks() > 1 &&
      2 * schedule.getLanes() * schedule.getVector() >= kLineBytes &&
      4 * problem.columns > 3 * held;
  if (copiesWholeRows || copiesLines || !readsTwoOf(problem, 2) ||
      rowBytes > (isHeavy(problem) ? kShortHeavyRowBytes : kShortRowBytes))
    return schedule;
  ScheduleAttr pieces = change(schedule, "copy=rows");
  if (!isLegal(problem, pieces, target))
    return schedule;
  bool areTwo = pieces.getRows() == 2 && pieces.getChunks() == 3;
  bool isFew = pieces.getRowGroups() < kManyWarps;
  double share =
      double(getBytesInFlight(problem, pieces)) / target.bytesInFlight;
  if (areTwo && isHeavy(problem) && pieces.getLanes() == 8 &&
      (isFew || share <= kCopiesOfTwo)) {
    ScheduleAttr copies =
        normalizeRowInputs(problem, change(pieces, "row-inputs=copy"));
    if (isLegal(problem, copies, target))
      pieces = copies;
  } else if (areTwo && isFew) {
    ScheduleAttr oneRow = change(pieces, "rows=1 row-groups=16 copy=rows");
    if (fits(problem, oneRow, target)) {
      pieces = oneRow;
      reason = llvm::formatv("one row at once, for two are too much for {0} "
                             "warps: {1} bytes in flight",
                             kManyWarps, getBytesInFlight(problem, oneRow));
    }
  }
  reason +=
      llvm::formatv("; {0} rows of {1} bytes a warp as one piece, in {2} warps",
                    pieces.getRowsAStep(), rowBytes, pieces.getRowGroups());
  return pieces;
}
