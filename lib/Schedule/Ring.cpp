//===- Ring.cpp - Rows in registers, streamed through a ring --------------===//
//
// `warps` warps of 32 lanes in each of `cluster` blocks own `chunks` vectors of
// `vector` columns each, and `slots` rows a row group are in flight through
// shared memory. Rows of a few vectors share a warp (small); wide ones are in
// WideRows.cpp. What doesn't fit is plain. The numbers were measured on an H200
// (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

ScheduleAttr norm_fusion::makePlain(MLIRContext *context,
                                    const Problem &problem) {
  std::string ignored, text = "structure=plain warps=8";
  // As many warps as have columns, of half a multiprocessor's registers.
  if (problem.contiguousRows) {
    int64_t warps = ShapedType::isDynamic(problem.columns)
                        ? kFramedWarps
                        : llvm::divideCeil(problem.columns, kColumnsAcross);
    text = llvm::formatv("structure=plain warps={0} lanes=1",
                         std::clamp<int64_t>(warps, 1, 16));
  }
  return parseSchedule(context, text, ScheduleAttr(), ignored);
}

ScheduleAttr norm_fusion::makeRing(MLIRContext *context, unsigned cluster,
                                   unsigned warps, unsigned groups,
                                   unsigned slots, unsigned chunks,
                                   unsigned vector, Combine combine,
                                   unsigned frame, unsigned ahead) {
  return ScheduleAttr::get(context, Structure::ring, cluster, warps, groups,
                           slots, chunks, vector, Copy::cp_async, combine,
                           /*pace=*/0, /*grid=*/0, /*lanes=*/32, /*rows=*/1,
                           frame, /*copiesRowInputs=*/false, /*tile=*/0, ahead,
                           /*copiesEnds=*/false, /*shifts=*/1);
}

/// A warp's rows side by side: the lanes a row, fewest idle, then most lanes,
/// but at least `fewest` vectors a lane where a row has several.
static void chooseLanes(int64_t vectors, unsigned fewest, unsigned &lanes,
                        unsigned &chunks) {
  int64_t best = std::numeric_limits<int64_t>::max();
  for (unsigned candidate : {32u, 16u, 8u, 4u, 2u, 1u}) {
    int64_t needed = llvm::divideCeil(vectors, int64_t(candidate));
    int64_t idle = needed * candidate - vectors;
    if (needed < fewest && candidate > 1)
      continue;
    // A lane's share of the idle ones, in parts of the row.
    if (needed <= 3 && idle * 8 < best) {
      best = idle * 8;
      lanes = candidate;
      chunks = needed;
    }
  }
}

/// Blocks and warps that share a row of `vectors` vectors, of which each block
/// holds a frame of `frame` more: as few blocks as leave at most `most` warps
/// of each, or what fits.
static bool chooseWarps(int64_t vectors, unsigned chunks, unsigned most,
                        unsigned frame, const TargetInfo &target,
                        unsigned &cluster, unsigned &warps) {
  for (cluster = 1; cluster <= target.maxCluster; cluster *= 2) {
    int64_t held = llvm::divideCeil(vectors, int64_t(cluster)) + frame;
    int64_t needed = llvm::divideCeil(held, int64_t(32) * chunks);
    bool isLast = cluster * 2 > target.maxCluster;
    if (needed <= (isLast ? 16 : most)) {
      warps = needed;
      return true;
    }
  }
  return false;
}

/// Clusters of this size leave no multiprocessor without a block: larger ones
/// do where a cluster's multiprocessors (a GPC's) aren't a multiple of it.
static constexpr unsigned kFullCluster = 2;

/// Columns from which on a row is framed: a frame takes up to two vectors more.
static constexpr int64_t kFramedColumns = 32;

/// Vectors up to which several rows share a warp.
static constexpr int64_t kShortVectors = 96;

/// Vectors up to which they are whole, if several rows share a warp: fewer
/// weren't measured.
static constexpr int64_t kFewVectors = 12;

/// Registers that the estimate may be over a thread's budget where the next
/// choice leaves less than 12 warps, or more than an eighth of them idle: a few
/// spilled values cost less.
static constexpr unsigned kRegisterSlack = 8;

/// Of the bytes in flight that memory needs, those on the mean above which
/// pairs of blocks with one sum a column drift apart. (H200, RMSNorm, us, 200
/// and 600 MB, paced and not. bf16: 3216 columns, 0.59, 51.7, 147.7 and 50.7,
/// 144.9; 3536, 0.65, 49.5, 143.7 and 49.2, 141.4; 4000, 0.73, 48.9, 141.3
/// and 49.1, 140.2; but 4096, 0.75, 400 and 800 MB 94.3, 184.8 and 95.7, 197.7.
/// f32: 1610, 0.59, 60.7, 175.0 and 49.5, 143.9; 1850, 0.68, 48.6, 142.1
/// and 48.2, 140.2; 2048 as 4096.)
static constexpr double kMostUnpacedPairs = 0.74;

/// Row groups of `warps` warps: their steps overlap.
static unsigned getRowGroups(unsigned warps) {
  return std::max<unsigned>(
      1, std::min<unsigned>(llvm::divideCeil(kManyWarps, warps), 16 / warps));
}

/// Rows in a block with `chunks` half vectors a lane, if they hold at most
/// `most` columns; null where the registers don't suffice.
static ScheduleAttr makeHalfVectors(MLIRContext *context,
                                    const Problem &problem,
                                    const TargetInfo &target, unsigned vector,
                                    unsigned chunks, int64_t most,
                                    Combine combine) {
  int64_t width = chunks * 32 * vector / 2;
  unsigned warps = llvm::divideCeil(problem.columns, width);
  bool isNarrow = llvm::any_of(problem.elementBytes, [&](unsigned bytes) {
    return bytes * vector / 2 < 8;
  });
  if (isNarrow || warps > (chunks == 3 ? 3 : 6) || warps * width > most)
    return {};
  auto schedule = ScheduleAttr::get(
      context, Structure::ring, /*cluster=*/1, warps,
      /*rowGroups=*/(chunks == 3 ? 16 : kManyWarps) / warps, /*slots=*/2,
      chunks, vector / 2, Copy::cp_async, combine, /*pace=*/0, /*grid=*/0,
      /*lanes=*/32, /*rows=*/1, /*frame=*/0);
  return fits(problem, schedule, target) ? schedule : ScheduleAttr();
}

/// Rows of some hundred columns of which whole vectors leave an eighth of the
/// lanes idle, and 3 or 5 half vectors a lane few: 640 or 1152 16-bit columns,
/// say.
static ScheduleAttr chooseHalfVectors(MLIRContext *context,
                                      const Problem &problem,
                                      const TargetInfo &target, unsigned vector,
                                      Combine combine) {
  if (vector != 8 || !target.hasAsyncCopy || problem.accumulatorBytes.empty())
    return {};
  int64_t columns = problem.columns, part = 2 * 32 * vector;
  int64_t held = llvm::divideCeil(columns, part) * part;
  unsigned lanes, vectors;
  if (columns <= 96 * vector) {
    chooseLanes(columns / vector, 1, lanes, vectors);
    held = lanes * vectors * vector;
  }
  if (held * 8 < columns * 9)
    return {};
  for (unsigned chunks : {3u, 5u})
    if (ScheduleAttr schedule =
            makeHalfVectors(context, problem, target, vector, chunks,
                            /*most=*/columns * 17 / 16, combine))
      return schedule;
  return {};
}

/// Five half vectors a lane where `usual` leaves more than an eighth of its
/// lanes idle, and they hold fewer columns; or three, where a row begins with
/// half a vector. (H200, about 200 MB, us: LayerNorm of 544 columns 57.6
/// -> 51.6, 1056 58.7 -> 51.7, 1600 54.5 -> 52.5, 2112 56.8 -> 51.3, 2240 56.4
/// -> 50.7, 3200 54.5 -> 52.6; RMSNorm of 1056 54.5 -> 49.9, 3200 52.7
/// -> 50.4. H100, half a vector, time over the usual one's at 200 and 600 MB:
/// LayerNorm 516 columns -9 and -9%, 572 -2 and -3%, 660 -6 and -7%, 1036 -7
/// and -6%, 1116 to 1740 the same; RMSNorm 540 -4 and -5%, 1164 -3 and -2%, 636
/// -1 and +4%; in place of pairs LayerNorm 2468 +1%, 3508 2 and 7%. H200, f32
/// rows that begin with half a vector, whichever hold fewer, us, 200 and 600
/// MB: LayerNorm 258 57.9, 170.2 -> 49.7, 144.6, 282 56.4, 164.5 -> 49.2,
/// 143.4, 338 52.0, 151.5 -> 49.6, 144.0, 370 50.5, 147.0 -> 49.5, 145.7, 514
/// 52.1, 151.8 -> 49.6, 143.6, 574 50.2, 146.3 -> 48.7, 141.2, 826 49.7, 144.2
/// -> 49.5, 143.9, in place of pairs 1542 51.0, 148.9 -> 49.0, 140.8; RMSNorm
/// 258 57.0, 167.1 -> 48.8, 145.1, 514 51.1, 148.9 -> 48.3, 140.4, 770 49.7,
/// 145.0 -> 48.9, 142.5.)
static ScheduleAttr chooseOddHalfVectors(MLIRContext *context,
                                         const Problem &problem,
                                         const TargetInfo &target,
                                         ScheduleAttr usual) {
  unsigned full = getFullVector(problem), vector = getVector(problem);
  bool beginsWithHalf = vector * 2 == full;
  bool areWords = beginsWithHalf && readsTwoOf(problem, 4);
  if (!isRing(usual.getStructure()) || usual.getCopy() != Copy::cp_async ||
      problem.accumulatorBytes.empty() || problem.exchanges > 1 ||
      (full != 8 && !areWords) || (vector < full && !beginsWithHalf) ||
      getVectors(problem, full) > kWideVectors || isFramed(problem, usual) ||
      (canBeFramed(problem) && mayGainByFrames(problem, vector)))
    return {};
  // In place of pairs words alone, where these leave more than a seventh idle:
  // few rows gain less. (f32 LayerNorm, 25 and 200 MB, 1750 8.5, 49.4
  // and 8.6, 48.5, 1806 8.6, 49.4 and 9.0, 48.7.)
  int64_t held = usual.getCluster() * usual.getBlockColumns();
  if (held * 8 < problem.columns * 9 ||
      (beginsWithHalf && usual.getCluster() > 1 &&
       (!areWords || held * 6 < problem.columns * 7)))
    return {};
  ScheduleAttr halves;
  int64_t most = held * 19 / 20;
  for (unsigned chunks : {5u, 3u}) {
    if ((halves && !areWords) || (chunks == 3 && !beginsWithHalf))
      break;
    ScheduleAttr fewer = makeHalfVectors(context, problem, target, full, chunks,
                                         most, usual.getCombine());
    if (!fewer)
      continue;
    halves = fewer;
    most = halves.getBlockColumns() - 1;
  }
  // Two row groups with too much in flight can't be one with enough. (RMSNorm
  // 27901x3584 149 for 142 us.)
  if (halves && !isHeavy(problem) && halves.getRowGroups() == 2 &&
      getBytesInFlight(problem, halves) > getMostInFlight(problem, target))
    return {};
  return halves;
}

/// Rows of half vectors that three blocks hold in three warps of four each, few
/// more than fill 4096 columns, with one sum a column: wider shapes leave more
/// lanes idle, or blocks. (H200, RMSNorm, us, 200 and 600 MB: 4100 columns 53.9
/// and 51.5, 154.9 and 145.7; 4204 53.1 and 52.0, 153.5 and 146.2; 4404 148.8
/// and 145.1 with four row groups.) Null for others.
static ScheduleAttr chooseThreeBlocks(MLIRContext *context,
                                      const Problem &problem,
                                      const TargetInfo &target,
                                      Combine combine) {
  constexpr unsigned cluster = 3, warps = 3, groups = 5, chunks = 4, vector = 4;
  constexpr int64_t most = cluster * warps * chunks * 32 * vector;
  if (getFullVector(problem) != 2 * vector || problem.bytesPerColumn() != 4 ||
      getVector(problem) != vector || problem.accumulatorBytes.size() != 1 ||
      problem.exchanges > 1 || problem.columns > most ||
      problem.columns * 9 <= most * 8)
    return {};
  auto schedule = ScheduleAttr::get(
      context, Structure::ring, cluster, warps, groups, /*slots=*/2, chunks,
      vector, Copy::cp_async, combine, /*pace=*/0, /*grid=*/0, /*lanes=*/32,
      /*rows=*/1, /*frame=*/0);
  return fits(problem, schedule, target) ? schedule : ScheduleAttr();
}

/// Rows in a ring, which begin where they do.
static ScheduleAttr chooseShape(MLIRContext *context, const Problem &problem,
                                const TargetInfo &target, std::string &reason) {
  unsigned vector = getVector(problem);
  bool tags = problem.taggable && !problem.segmented;
  Combine combine = tags ? Combine::tags : Combine::grid;
  Copy copy = target.hasAsyncCopy ? Copy::cp_async : Copy::load;
  // Copies of 4 bytes are many: rows are framed instead, or where they can't be
  // and elements are narrower, a warp's part of a row is shifted, and read by
  // words. A lane holds as many columns as with full vectors.
  unsigned full = getFullVector(problem), scale = full / vector;
  bool isNarrow = copy == Copy::cp_async &&
                  llvm::any_of(problem.elementBytes, [&](unsigned bytes) {
                    return bytes * vector < 8;
                  });
  bool framed = canBeFramed(problem) &&
                (isNarrow ? problem.columns >= kFramedColumns
                          : copy == Copy::cp_async &&
                                gainsByFullVectors(problem, vector));
  bool shifted = isNarrow && !framed &&
                 problem.innerColumns == problem.columns &&
                 llvm::any_of(problem.elementBytes,
                              [](unsigned bytes) { return bytes < 4; });
  if (framed) {
    vector = full;
    scale = 1;
  } else if (shifted) {
    vector = 4 / *llvm::min_element(problem.elementBytes);
    scale = full / vector;
  }
  int64_t vectors = getVectors(problem, vector);
  // Room for a frame, where one is needed or would help.
  unsigned frame = 0;
  if (framed ||
      (!shifted && copy == Copy::cp_async && vectors > kShortVectors &&
       canBeFramed(problem) && mayGainByFrames(problem, vector)))
    frame = getSectorVectors(problem, vector);
  ScheduleAttr fitting;
  if (framed) {
    fitting = chooseShortFrames(context, problem, target, combine, reason);
  } else if (!shifted) {
    fitting = chooseHalfVectors(context, problem, target, vector, combine);
    reason = "half vectors leave fewer lanes idle";
  }
  // Two vectors a lane are enough where they leave few lanes idle, and row
  // groups none of a block's 12 warps. (H200, LayerNorm 2501 columns 55.4 and
  // 53.4 us.)
  unsigned blocks, warpsOfBlock;
  if (!fitting && frame != 0 &&
      (!chooseWarps(vectors, 2, 6, frame, target, blocks, warpsOfBlock) ||
       kManyWarps % warpsOfBlock != 0 ||
       gainsByMoreVectors(problem, target, blocks * warpsOfBlock) ||
       vectors * 20 < int64_t(blocks) * warpsOfBlock * 2 * 32 * 19))
    fitting = chooseManyVectors(context, problem, target, combine, reason);
  if (fitting)
    return fitting;

  if (copy == Copy::cp_async && !framed && !shifted)
    if (ScheduleAttr three =
            chooseThreeBlocks(context, problem, target, combine)) {
      reason = "half vectors in three blocks leave few lanes idle";
      return three;
    }

  bool isLight = problem.accumulatorBytes.empty();
  bool mayShare =
      copy == Copy::cp_async && !isLight && !shifted && problem.exchanges < 2;
  if (mayShare && (framed || frame == 0) && scale == 1)
    if (ScheduleAttr many = chooseManyWarps(context, problem, target, vector,
                                            framed, combine, reason))
      return many;
  // Framed rows of pairs of blocks take two frames more.
  if (mayShare && vectors + (framed ? 2 * frame : 0) > kWideVectors * scale)
    if (ScheduleAttr wide =
            framed ? chooseWideFrames(context, problem, target, combine, reason)
                   : chooseWideRows(context, problem, target, vector, scale,
                                    frame, combine, reason))
      return wide;

  std::string why;
  ScheduleAttr fallback;
  // Two vectors a lane keep accumulators and rows within the registers of 12
  // to 16 warps; wider rows need more of both. Without accumulators a lane
  // holds more of a row rather than share it with other blocks.
  // Where it is exchanged twice, the instructions that a step takes whatever
  // its columns weigh more.
  SmallVector<unsigned> order{2, 1, 3, 4};
  bool isTwice = !isLight && problem.exchanges > 1 && vectors > kTwoVectors;
  if (isTwice || (isLight && vectors > 2 * 32 * 8)) {
    order = {4, 2, 1, 3};
  }
  for (unsigned chunks : order) {
    unsigned lane = std::min<int64_t>(
        {int64_t(chunks * scale), int64_t(llvm::divideCeil(vectors, 32)), 16});
    Structure structure = Structure::ring;
    unsigned cluster = 1, warps = 1, lanes = 32, rows = 1, groups;
    if (vectors <= kShortVectors && !shifted && !framed) {
      structure = Structure::small;
      if (chunks != order.front())
        break;
      // The shuffles of a row's sums are shared by few columns otherwise, and
      // single words need few rows at once. (H200, f32, 200 MB, us, 16 rows of
      // one word a lane or four of three, in the bytes in flight that memory
      // serves, and these: LayerNorm 13 columns 78.4 and 62.3, 17 68.9
      // and 62.3, 23 60.6 and 56.6, 25 92.2 and 61.7, 31 67.0 and 57.5; RMSNorm
      // 13 67.5 and 58.5, 21 59.3 and 56.0, 31 61.6 and 54.4.)
      bool areWords = areSingleWords(problem, vector);
      unsigned fewest =
          areWords || (vector < 8 && getFullVector(problem) == 8) ? 2 : 1;
      chooseLanes(vectors, fewest, lanes, chunks);
      // Halves of vectors where they leave a lane fewer columns.
      unsigned narrow = vector;
      if (chunks * vector > 16 && vector >= 8 && vectors <= 48) {
        narrow = vector / 2;
        chooseLanes(2 * vectors, fewest, lanes, chunks);
      }
      vector = narrow;
      // Of rows that begin at half a sector of the L2 cache, too. (H200, bf16,
      // whole vectors and halves, us: RMSNorm 216 columns 54.4 and 50.3, 472
      // columns 55.4 and 50.4, 712 55.0 and 51.1; LayerNorm 120 54.4 and 51.2,
      // 504 53.5 and 51.8, 744 55.1 and 51.5; f32 300 56.3 and 51.1.)
      if (copy == Copy::cp_async && !isLight && vectors > kFewVectors &&
          mayGainByFrames(problem, vector)) {
        vector /= 2;
        chunks = llvm::divideCeil(2 * vectors, int64_t(lanes));
      }
      // Elements that a lane holds at once: few, so that 16 warps have the
      // registers.
      unsigned held = areWords ? 8 : 16;
      unsigned warpBytes =
          std::max(chunks * 32 * vector * problem.bytesPerColumn(), 1u);
      groups = std::clamp(target.bytesInFlight / warpBytes, 4u, 16u);
      rows = std::min(held / (chunks * vector),
                      target.bytesInFlight / (groups * warpBytes));
      rows = llvm::bit_floor(std::clamp(rows, 1u, lanes));
      // Of so many columns at once 12 warps are as fast or faster. (LayerNorm
      // 13 62.9 and 61.9, 27 61.4 and 59.9; but of six 17 62.3 and 64.1.)
      if (areWords && rows * chunks == held)
        groups = std::min(groups, kManyWarps);
    } else {
      chunks = lane;
      // 12 warps a block where one block or two hold a row; else few blocks
      // with up to 16 warps each, where these have the registers; else more
      // blocks and fewer warps of a row, but no more blocks than any device
      // grants a cluster.
      bool fits = false;
      unsigned blocks, warpsOfBlock;
      SmallVector<unsigned> limits{8, 6, 4};
      // A second exchange of a row costs blocks that share it more than warps.
      bool isWide = isTwice && chunks == 4;
      if (isWide)
        limits = {vectors <= 4 * 32 * 4 * kFullCluster ? 4u : 8u};
      else if (isLight)
        limits.insert(limits.begin(), 16);
      else if (problem.exchanges < 2 &&
               chooseWarps(vectors, chunks, 6, frame, target, blocks,
                           warpsOfBlock) &&
               blocks <= kFullCluster)
        limits.erase(limits.begin());
      for (unsigned most : limits) {
        if (!chooseWarps(vectors, chunks, most, frame, target, blocks,
                         warpsOfBlock) ||
            (fits && blocks > kPortableCluster))
          break;
        fits = true;
        cluster = blocks;
        warps = warpsOfBlock;
        // Two blocks that leave no multiprocessor idle have half as many
        // partial rows (backward_fp8 of 4096x4096: 24.6 -> 24.3).
        if (isWide && cluster == 1 && warps % 2 == 0 &&
            target.maxCluster >= kFullCluster &&
            vectors <=
                int64_t(kFullCluster) * (warps / 2 * 32 * chunks - frame)) {
          cluster = kFullCluster;
          warps /= kFullCluster;
        }
        groups = isWide ? std::max(8 / warps, 1u) : getRowGroups(warps);
        if (cluster > kFullCluster && !isWide && !isLight) {
          // As good as any that leaves multiprocessors idle, with less to wait
          // for in a block; more row groups cover the longer exchange.
          if (warps > 4 && warps % 2 == 0 && cluster < kPortableCluster &&
              !framed) {
            cluster *= 2;
            warps /= 2;
          }
          groups = 16 / warps;
        }
        auto schedule =
            ScheduleAttr::get(context, structure, cluster, warps, groups, 1,
                              chunks, vector, copy, combine, /*pace=*/0,
                              /*grid=*/0, lanes, rows, /*frame=*/0);
        if (isWide)
          break;
        unsigned held = blocks * warpsOfBlock, next = held;
        if (chooseWarps(vectors, chunks, most - 2, frame, target, blocks,
                        warpsOfBlock))
          next = blocks * warpsOfBlock;
        unsigned slack = next * 8 > held * 9 ? kRegisterSlack : 0;
        if (estimateRegisters(problem, schedule) <=
            getRegisterBudget(target, schedule) + slack)
          break;
      }
      if (!fits) {
        why = "a row doesn't fit the registers of a block or cluster";
        continue;
      }
    }
    // Fewer row groups leave more registers, but at least 8 warps.
    unsigned fewest = llvm::divideCeil(8, warps);
    for (; groups > 0; --groups) {
      if (fallback && groups < fewest)
        break;
      // What a step takes in the ring: idle lanes have slots too.
      unsigned stepBytes = groups * warps * chunks * 32 * vector * rows *
                           problem.bytesPerColumn();
      // Of three arrays and more, two steps are soon more than memory serves
      // well.
      bool hasManyArrays = problem.elementBytes.size() > 2;
      if (structure == Structure::ring && hasManyArrays && groups > fewest &&
          2 * stepBytes > target.bytesInFlight)
        continue;
      // Two steps, unless they are half as much again as memory serves well.
      // (One in place of two: LayerNorm 43403x768 55.3 for 51.0 us, RMSNorm
      // 61276x544 58.9 for 50.0.)
      bool fitsTwo = structure == Structure::ring ||
                     4 * stepBytes <= 3 * target.bytesInFlight;
      unsigned slots = std::clamp<unsigned>(
          target.bytesInFlight / std::max(1u, stepBytes), fitsTwo ? 2 : 1, 3);
      ScheduleAttr schedule;
      for (; slots > 0 && !schedule; --slots) {
        schedule =
            ScheduleAttr::get(context, structure, cluster, warps, groups, slots,
                              chunks, vector, copy, combine,
                              /*pace=*/0, /*grid=*/0, lanes, rows, /*frame=*/0);
        if (!isLegalSchedule(problem, schedule, target, why))
          schedule = {};
      }
      if (!schedule)
        continue;
      unsigned registers = estimateRegisters(problem, schedule);
      unsigned budget = getRegisterBudget(target, schedule);
      bool isTight = groups > 1 && (groups - 1) * warps < kManyWarps &&
                     structure == Structure::ring;
      if (registers > budget + (isTight ? kRegisterSlack : 0)) {
        why = llvm::formatv("about {0} registers a thread are needed, {1} are "
                            "there",
                            registers, budget);
        // Some spilled registers still cost less than reading a row twice.
        if (!fallback)
          fallback = schedule;
        continue;
      }
      reason =
          llvm::formatv("{0} columns of {1} bytes in registers, {2} bytes "
                        "in flight, about {3} of {4} registers",
                        problem.columns, problem.bytesPerColumn(),
                        schedule.getSlots() * stepBytes, registers, budget);
      // Clusters drift apart where steps are light; where they aren't, only if
      // all multiprocessors are busy and blocks have more than 12 warps. Single
      // blocks and rows that are exchanged twice were slower with pacing.
      bool isSlow = hasManyArrays || isHeavy(problem);
      bool isPair = cluster == kFullCluster;
      bool drifts =
          cluster > 1 && !isTwice && problem.hasPartials() &&
          (isSlow ? isPair && warps * groups > kManyWarps
                  : !isPair || getMeanInFlight(problem, schedule, target) >
                                   kMostUnpacedPairs * target.bytesInFlight);
      // Framed rows were, too.
      if (!tags || !drifts || registers > budget || frame != 0)
        return schedule;
      return ScheduleAttr::get(context, structure, cluster, warps, groups,
                               schedule.getSlots(), chunks, vector, copy,
                               combine, kPace, /*grid=*/0, lanes, rows,
                               /*frame=*/0);
    }
  }
  if (fallback) {
    reason = "spills, because " + why;
    return fallback;
  }
  reason = "plain, because " + why;
  return makePlain(context, problem);
}

ScheduleAttr norm_fusion::chooseRing(MLIRContext *context,
                                     const Problem &problem,
                                     const TargetInfo &target,
                                     std::string &reason) {
  if (ScheduleAttr uneven = chooseUnevenRows(context, problem, target, reason))
    return uneven;
  return chooseUsualRing(context, problem, target, reason);
}

ScheduleAttr norm_fusion::chooseUsualRing(MLIRContext *context,
                                          const Problem &problem,
                                          const TargetInfo &target,
                                          std::string &reason) {
  ScheduleAttr schedule = chooseShape(context, problem, target, reason);
  if (ScheduleAttr more =
          chooseMoreExchanges(problem, target, schedule, reason))
    return more;
  if (ScheduleAttr narrow =
          chooseOddHalfVectors(context, problem, target, schedule)) {
    reason = llvm::formatv("{0} half vectors a lane leave fewer lanes idle",
                           narrow.getChunks())
                 .str();
    schedule = narrow;
  } else {
    schedule = chooseFrame(problem, schedule, target);
    schedule = limitFrames(context, problem, schedule, target, reason);
  }
  ScheduleAttr limited = chooseSteps(problem, schedule, target, reason);
  limited = chooseRingTile(problem, limited, target);
  if (limited.getTile() != 0)
    reason += llvm::formatv(", tiles of {0} rows for what is transposed",
                            limited.getTile())
                  .str();
  else if (limited.getRowGroups() != schedule.getRowGroups() &&
           limited.getRows() == schedule.getRows())
    reason += llvm::formatv(", {0} bytes in flight for long runs",
                            getBytesInFlight(problem, limited))
                  .str();
  return limited;
}
