//===- WideFrames.cpp - Framed rows of many warps and of clusters ---------===//
//
// Rows in frames (Frames.cpp) that many warps of a block, or the blocks of a
// cluster, share, with two to five vectors a lane: the shape that has as much
// in flight as memory needs and leaves few lanes and row groups idle. Rows of
// 32-bit elements, and the widest of 16, have tables (ManyWarps.cpp). The
// numbers were measured on an H200 (docs/performance.md), or as said there.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Rows of one block that are few.
static constexpr unsigned kFewRows = 3;

/// True for few rows of one block in two steps that memory serves well.
static bool areFewRows(const Problem &problem, ScheduleAttr schedule,
                       const TargetInfo &target) {
  unsigned rows = schedule.getRowGroups();
  return schedule.getCluster() == 1 && rows <= kFewRows &&
         serveMemory(problem, target, rows);
}

/// Of the bytes in flight that memory needs, the mean that serves it best.
/// (H100, bf16, of 44 KiB, LayerNorm and RMSNorm of a hundred widths, time over
/// the best one's of the width at 200 and 600 MB: 33 to 39 KiB 0 to 2% and 0 to
/// 2%, 30 4% and 4%, 27 11% and 11%, 24 15% and 15%, 19 34% and 33%; 43 to 60
/// KiB 1% and 6%.)
static constexpr double kFewestFramed = 0.75, kMostFramed = 0.88;

/// What fewer cost, in parts of the time: times what of the fewest they lack;
/// and what more than memory needs do in long runs.
static constexpr double kOfFewer = 0.4, kOfMore = 0.05;

/// The part of the row groups that has rows, without which more bytes in flight
/// of each are for nothing. (H100, bf16 LayerNorm, share of the triad at 200
/// and 600 MB: 8121 columns, three steps of 80% of the row groups, 81 and 81%,
/// two, 90 and 92%; 14001, three of 73%, 83 and 84%.)
static constexpr double kFewestBusy = 0.85;

/// Two vectors a lane in 12 warps of each of a few blocks that share a framed
/// row: shapes of many sizes, so that one has about as much in flight as serves
/// memory best. Null if what they lack costs more than kOfMore: more lanes or
/// blocks are better then, and a third step is not. (H200, LayerNorm, us, 200
/// and 600 MB, a third step and chooseWideFrames(): 4107 columns 57.5 and 53.4,
/// 163.0 and 150.9, 4473 58.1 and 52.4, 165.8 and 148.0, with two steps 55.0,
/// 155.1, 4570 57.3 and 52.5, 163.2 and 147.3.)
static ScheduleAttr chooseTwoVectors(MLIRContext *context,
                                     const Problem &problem,
                                     const TargetInfo &target, Combine combine,
                                     std::string &reason) {
  constexpr unsigned chunks = 2, vector = 8;
  double most = kOfMore;
  // A difference that isn't worth more blocks.
  constexpr double leastGain = 0.02;
  unsigned frame = getSectorVectors(problem, vector);
  int64_t vectors = getVectors(problem, vector);
  ScheduleAttr best;
  auto consider = [&](unsigned idle, unsigned cluster, unsigned warps) {
    int64_t held = vectors + int64_t(cluster) * frame;
    int64_t lanes = int64_t(cluster) * warps * chunks * 32;
    if (held > lanes || (lanes - held) * idle > lanes)
      return;
    ScheduleAttr schedule =
        makeRing(context, cluster, warps,
                 /*groups=*/kManyWarps / warps,
                 /*slots=*/2, chunks, vector, combine, frame);
    double bytes = getMeanInFlight(problem, schedule, target);
    double share = bytes / target.bytesInFlight;
    double cost = std::max(0., kOfFewer * (kFewestFramed / share - 1));
    if (share > kMostFramed || cost + leastGain > most ||
        getBusyShare(problem, schedule, target) < kFewestBusy ||
        !fits(problem, schedule, target))
      return;
    best = schedule;
    most = cost;
    reason =
        llvm::formatv("two vectors a lane in {0} warps: about {1} bytes in "
                      "flight a multiprocessor",
                      kManyWarps, int64_t(bytes));
  };
  // A fifth of the lanes idle, or a quarter.
  for (unsigned idle : {5u, 4u})
    for (unsigned cluster = 1;
         cluster <= std::min(target.maxCluster, kPortableCluster); ++cluster)
      for (unsigned warps : {2u, 3u, 4u, 6u})
        consider(idle, cluster, warps);
  return best;
}

ScheduleAttr norm_fusion::chooseManyVectors(MLIRContext *context,
                                            const Problem &problem,
                                            const TargetInfo &target,
                                            Combine combine,
                                            std::string &reason) {
  // 24 columns a lane with two sums each are what 12 warps have the registers
  // for, and 32 what 8 have: the estimate, which allows for more exchanges,
  // says a tenth more.
  constexpr unsigned vector = 8;
  if (!takesManyVectors(problem))
    return {};
  unsigned frame = getSectorVectors(problem, vector);
  auto make = [&](unsigned cluster, unsigned warps, unsigned chunks,
                  unsigned groups) -> ScheduleAttr {
    int64_t held = getVectors(problem, vector) + cluster * frame;
    int64_t lanes = cluster * warps * chunks * 32;
    if (held > lanes || 3 * held < 2 * lanes)
      return {};
    ScheduleAttr schedule =
        makeRing(context, cluster, warps, groups,
                 /*slots=*/2, chunks, vector, combine, /*frame=*/0);
    if (!isLegal(problem, schedule, target))
      return {};
    reason =
        llvm::formatv("{0} vectors a lane leave few lanes idle", chunks).str();
    return schedule;
  };
  // Pairs of blocks with four vectors a lane, rather than 12 warps of one with
  // three. (H200, LayerNorm, us, 200 and 600 MB: 3201 columns 57.0 and 53.5,
  // 161 and 150; 3400 53.3 and 51.4, 147 and 144; 3501 55.4 and 52.6, 154 and
  // 147; 3800 53.7 and 51.9.)
  auto makePairs = [&]() -> ScheduleAttr {
    return target.maxCluster < 2 ? ScheduleAttr()
                                 : make(/*cluster=*/2, /*warps=*/2,
                                        /*chunks=*/4, kFramedWarps / 2);
  };
  // With one sum a column two vectors a lane are as good elsewhere. (RMSNorm,
  // us, 200 and 600 MB: 3201 54.8 and 51.7, 155 and 146; 3501 52.4 and 51.6;
  // 3800 50.8 and 51.2.)
  if (problem.accumulatorBytes.size() == 1) {
    int64_t vectors = getVectors(problem, vector);
    if (vectors > kThreeVectors && vectors * 6 <= kThreeVectors * 7)
      return makePairs();
    // Two rows of five vectors a lane in place of what pairs and clusters hold
    // with few. (H200, RMSNorm, us, 200 and 600 MB: 4090 columns 56.4 and 51.3,
    // 162.1 and 146.6, 4111 51.8 and 50.9, 147.6 and 148.0.)
    if (takesFiveVectors(problem, target))
      return make(/*cluster=*/1, kFramedWarps / 2, /*chunks=*/5, /*groups=*/2);
    // Three rows of three vectors in place of two of two in six warps. (RMSNorm
    // 2585 51.4 and 50.4, 146.9 and 145.9.)
    return vectors > 5 * kTwoVectors / 4 &&
                   serveMemory(problem, target, /*rows=*/3)
               ? make(/*cluster=*/1, /*warps=*/4, /*chunks=*/3, /*groups=*/3)
               : ScheduleAttr();
  }
  for (unsigned warps : {3u, 4u})
    if (ScheduleAttr schedule =
            make(/*cluster=*/1, warps, /*chunks=*/3, kManyWarps / warps))
      return schedule;
  if (ScheduleAttr schedule = makePairs())
    return schedule;
  // A few more, which six warps with three vectors would hold, but some spill.
  // (H100, LayerNorm, us, 200 and 600 MB: 4107 74.1 and 71.3, 226 and 206;
  // 4473 74.6 and 71.6, 225 and 206.)
  constexpr int64_t ofSixWarps = 6 * 3 * 32;
  int64_t held = getVectors(problem, vector) + frame;
  if (held > ofSixWarps)
    return {};
  if (ScheduleAttr two =
          chooseTwoVectors(context, problem, target, combine, reason))
    return two;
  // Six warps all the same, if at most a sixteenth of their lanes is idle; with
  // copies of row inputs they spill. (H200, LayerNorm, us, 200 and 600 MB, five
  // blocks with four vectors and these: 4326 columns 52.4 and 51.1; 4346 52.3,
  // 148.0 and 50.8, 143.4; 4401 52.2 and 51.2; 4473 52.3 and 51.3.)
  return 16 * held < 15 * ofSixWarps
             ? ScheduleAttr()
             : make(/*cluster=*/1, /*warps=*/6, /*chunks=*/3, /*groups=*/2);
}

/// What must be in flight more of, for more warps and for steps ahead of their
/// sums, which read rows twice.
static constexpr double kMoreWarpsGain = 1.1, kAheadGain = 1.1,
                        kFiveAheadGain = 1.17;

/// What pairs of blocks with one row at a time may have in flight less.
static constexpr double kPairGain = 0.9;

/// Of the bytes in flight that memory needs, those of two steps from which on
/// such pairs, with a third one (chooseEnds()), are faster than what has as
/// many in flight. (H200, LayerNorm, us, 200 and 600 MB, two rows in pairs,
/// ahead, or five blocks, and these: 8701 columns, 0.515, 53.3, 148.7 and 53.7,
/// 150.1; 8801, 0.521, one block and these, 51.9 and 53.3; 8835 52.3 and 51.5;
/// 8901 53.5, 148.5 and 52.5, 145.1; 9051 53.0, 147.7 and 51.5, 144.1; 9101
/// 53.0, 147.2 and 51.6, 144.4; 9301 52.3, 147.6 and 51.0, 143.5; 9501 52.8,
/// 149.0 and 50.8, 143.3; 9801 52.5, 147.9 and 51.0, 143.5; 10101 52.3, 146.4
/// and 51.1, 144.5.)
static constexpr double kFewestOfTwoSteps = 0.522;

/// What frames that begin within a sector leave of bytes in flight. (H200, us,
/// 200 and 600 MB, in such frames and in whole sectors, 0.81 and 0.73 of the
/// bytes: LayerNorm 5055 columns 56.2 and 53.7, 160.5 and 151.2, 10162 55.6 and
/// 54.7, 158.7 and 152.7; RMSNorm 5055 54.5 and 51.0, 157.9 and 145.9, 10162,
/// with five vectors, 54.0 and 50.9, 156.4 and 144.8.)
static constexpr double kOfSectors = 0.74;

/// Bytes in flight a multiprocessor that memory makes use of: up to `enough`,
/// fewer where frames begin within a sector.
static double getUsefulBytes(const Problem &problem, ScheduleAttr schedule,
                             const TargetInfo &target, double enough) {
  bool isAligned =
      schedule.getFrame() >= getSectorVectors(problem, schedule.getVector());
  return std::min(getMeanInFlight(problem, schedule, target), enough) *
         (isAligned ? 1 : kOfSectors);
}

/// `schedule` with frames of whole sectors in place of smaller ones, though
/// fewer row groups have rows then, if that is better. (H200, 600 MB, us:
/// LayerNorm 9501 158.8 and 153.5, 11501 161.5 and 158.2, 12201 165.6 and
/// 153.4, but 8501 159.2 and 167.8, 10501 162.0 and 174.5; RMSNorm 9501 158.4
/// and 146.8, 12201 164.4 and 147.1.)
static ScheduleAttr alignFrame(const Problem &problem, ScheduleAttr schedule,
                               const TargetInfo &target) {
  unsigned sector = getSectorVectors(problem, schedule.getVector());
  if (!takesManyVectors(problem) || schedule.getFrame() >= sector)
    return schedule;
  ScheduleAttr aligned = withFrame(schedule, sector);
  // Of aligned vectors fewer bytes in flight are enough.
  double enough = 0.72 * target.bytesInFlight;
  bool isBetter = isLegal(problem, aligned, target) &&
                  1.02 * getUsefulBytes(problem, aligned, target, enough) >
                      getUsefulBytes(problem, schedule, target, enough);
  return isBetter ? aligned : schedule;
}

/// What of the bytes in flight that memory needs rows with one sum a column
/// make use of, and how many times what four vectors a lane have, and three in
/// 12 warps, five must have.
static constexpr double kEnoughOfFive = 0.92, kGainOverFour = 1.13,
                        kGainOverThree = 0.99;

/// Five vectors a lane, one sum a column, where `others` have fewer bytes in
/// flight. Null if they haven't. (RMSNorm, us, 200 and 600 MB, times the bytes
/// of four vectors. H200: 9467, 1.31, 51.2 and 51.1, 145.5 and 143.5; 12345
/// 51.2 and 51.3, 145.0 and 143.7; 12667, 1.23, 51.1 and 51.3, 144.7 and 144.0;
/// of three: 9001, 1.15, 52.4 and 51.4, 149.0 and 143.8; in place of a step
/// ahead in pairs: 16421 54.4 and 51.8, 151.4 and 147.0, 17389 53.5 and 51.5,
/// 149.2 and 145.0. H100 with x and dy one array: 7409, 1.05, 50.8 and 52.1,
/// 146.9 and 146.0; 13453, 1, 52.3 and 52.7, 149.1 and 150.3; 15843, 0.75, 51.0
/// and 54.1, 145.4 and 156.2; of three: 11061, 1, 52.5 and 52.1, 149.4 and
/// 148.7; in eight rows of one warp 5566 51.3 and 52.3, 7603 51.3 and 52.6.)
static ScheduleAttr chooseFiveVectors(MLIRContext *context,
                                      const Problem &problem,
                                      const TargetInfo &target, Combine combine,
                                      ScheduleAttr others) {
  constexpr unsigned chunks = 5, vector = 8;
  if (!takesManyVectors(problem) || isHeavy(problem))
    return {};
  double enough = kEnoughOfFive * target.bytesInFlight;
  double most = 0;
  if (others)
    most = getUsefulBytes(problem, others, target, enough) *
           (others.getChunks() == 3 ? kGainOverThree : kGainOverFour);
  unsigned frame = getSectorVectors(problem, vector);
  int64_t vectors = getVectors(problem, vector);
  ScheduleAttr best;
  for (unsigned warps : {2u, 4u}) {
    int64_t held = int64_t(warps) * chunks * 32 - frame;
    unsigned cluster = llvm::divideCeil(vectors, held);
    // A fifth of the lanes idle.
    if (cluster > std::min(target.maxCluster, kPortableCluster) ||
        5 * vectors < 4 * cluster * held)
      continue;
    ScheduleAttr schedule =
        makeRing(context, cluster, warps,
                 /*groups=*/kFramedWarps / warps, /*slots=*/2, chunks, vector,
                 combine, frame);
    double bytes = getUsefulBytes(problem, schedule, target, enough);
    if (bytes <= most || !fits(problem, schedule, target) ||
        getMeanInFlight(problem, schedule, target) > target.bytesInFlight)
      continue;
    best = schedule;
    most = bytes;
  }
  return best;
}

/// As few warps of each of two blocks as hold a row of `vectors` in frames of
/// `frame`, with `chunks` vectors a lane.
static unsigned getWarpsOfPair(int64_t vectors, unsigned frame,
                               unsigned chunks) {
  return llvm::divideCeil(llvm::divideCeil(vectors, 2) + frame, chunks * 32);
}

/// Pairs of blocks with one row of two sums a column, three vectors a lane,
/// whose two steps are few enough bytes for a third (chooseEnds()), and enough.
/// Null if they aren't.
static ScheduleAttr choosePairsOfThreeSteps(MLIRContext *context,
                                            const Problem &problem,
                                            const TargetInfo &target,
                                            Combine combine,
                                            std::string &reason) {
  constexpr unsigned chunks = 3;
  unsigned vector = getFullVector(problem);
  unsigned frame = getSectorVectors(problem, vector);
  unsigned warps = getWarpsOfPair(getVectors(problem, vector), frame, chunks);
  if (!isHeavy(problem) || !takesManyVectors(problem) ||
      problem.columns % vector == 0 || warps >= kFramedWarps)
    return {};
  ScheduleAttr pair = makeRing(context, /*cluster=*/2, warps, /*groups=*/1,
                               /*slots=*/2, chunks, vector, combine, frame);
  if (!fits(problem, pair, target))
    return {};
  double share = getMeanInFlight(problem, pair, target) / target.bytesInFlight;
  if (share < kFewestOfTwoSteps || share > kMostOfTwoSteps)
    return {};
  reason = "pairs of blocks, whose two steps are few enough for a third";
  return pair;
}

/// In place of a pair of blocks that has two rows with three vectors a lane, a
/// block for each: as many warps wait for a row's sums, and in no other block.
/// In frames of a line, whose ends are copied: every warp has whole lines. Null
/// where `pair` is none, or a block doesn't hold a row. (H200, bf16 LayerNorm,
/// 200 and 600 MB, us: 8201 columns 54.1 -> 51.6; 8501 53.9, 149.2 -> 51.7,
/// 145.3, in frames of a sector 53.0, 152.1; 8601 53.8 -> 51.4; 8751 53.4
/// -> 51.6. A pair in such frames, two runs: 8563 53.0 -> 52.2, 8727 52.0,
/// 147.2 and 52.1, 158.0 -> 51.7, 147.6.)
static ScheduleAttr chooseOneBlock(const Problem &problem, ScheduleAttr pair,
                                   const TargetInfo &target) {
  if (pair.getCluster() != 2 || pair.getRowGroups() != 2 ||
      pair.getChunks() != 3 || pair.getAhead() == 0)
    return {};
  unsigned frame = kLineSectors * getSectorVectors(problem, pair.getVector());
  int64_t held = getVectors(problem, pair.getVector()) + frame;
  unsigned warps = llvm::divideCeil(held, pair.getChunks() * 32);
  if (warps > kManyWarps)
    return {};
  ScheduleAttr one =
      change(pair, llvm::formatv("cluster=1 warps={0} row-groups=1 frame={1} "
                                 "row-inputs=copy ends=copy",
                                 warps, frame)
                       .str());
  return isLegal(problem, one, target) ? one : ScheduleAttr();
}

ScheduleAttr norm_fusion::chooseWideFrames(MLIRContext *context,
                                           const Problem &problem,
                                           const TargetInfo &target,
                                           Combine combine, std::string &reason,
                                           bool mayBeAhead) {
  if (ScheduleAttr pair =
          choosePairsOfThreeSteps(context, problem, target, combine, reason))
    return pair;
  unsigned vector = getFullVector(problem);
  int64_t vectors = getVectors(problem, vector);
  // More in flight than this is no faster.
  double enough = 0.8 * target.bytesInFlight;
  ScheduleAttr best;
  double most = 0;
  auto consider = [&](unsigned chunks, unsigned warps, unsigned groups,
                      unsigned frame, double gain, unsigned ahead = 0,
                      unsigned moreBlocks = 0) {
    int64_t held = int64_t(warps) * chunks * 32 - frame;
    if (groups == 0 || held <= 0)
      return;
    unsigned cluster = llvm::divideCeil(vectors, held) + moreBlocks;
    if (cluster > std::min(target.maxCluster, ahead != 0 ? 2u : 8u) ||
        (ahead != 0 && !mayBeAhead))
      return;
    ScheduleAttr schedule =
        makeRing(context, cluster, warps, groups,
                 /*slots=*/2, chunks, vector, combine, frame, ahead);
    if (!fits(problem, schedule, target))
      return;
    double bytes = getUsefulBytes(problem, schedule, target, enough);
    if (bytes > gain * most) {
      best = schedule;
      most = bytes;
    }
  };
  // Earlier ones have fewer warps of a block to wait for, or more registers.
  for (unsigned chunks : {4u, 3u})
    for (unsigned warps : {2u, 1u, 3u, 4u, 5u, 6u, 7u, 8u})
      for (unsigned frame : {2u, 1u})
        consider(chunks, warps,
                 (chunks == 3 ? kManyWarps : kFramedWarps) / warps, frame,
                 best && best.getChunks() != chunks ? kMoreWarpsGain : 1.02);
  if (best) {
    best = alignFrame(problem, best, target);
    most = getUsefulBytes(problem, best, target, enough);
    // One block more, with as much in flight.
    if (most >= enough && getBusyShare(problem, best, target) < kFewestBusy)
      consider(best.getChunks(), best.getWarps(), best.getRowGroups(),
               best.getFrame(), /*gain=*/0.99, /*ahead=*/0, /*moreBlocks=*/1);
  }
  ScheduleAttr five =
      chooseFiveVectors(context, problem, target, combine, best);
  if (five) {
    best = five;
    most = getUsefulBytes(problem, best, target, enough);
  }
  // Pairs of blocks with one or two rows at a time leave few row groups over,
  // and few multiprocessors, but all their warps would wait for a row's sums in
  // every step, were the next ones not sent before. Rows that begin with a
  // vector gain nothing. (H200, 600 MB, us: LayerNorm 9001 158 and 152, 16411
  // 187 and 157, 17389 175 and 153, 18501 170 and 156, 19999 160 and 155, 17000
  // 147 and 152; RMSNorm 16801 166 and 151, 19999 160 and 150, 22001 163 and
  // 147, 9001 148 and 149, 17000 147 and 156.)
  if (takesManyVectors(problem) && problem.columns % vector != 0) {
    unsigned frame = getSectorVectors(problem, vector);
    // Pairs with one row at a time and three vectors a lane, where clusters of
    // three leave as many row groups over. (H200, LayerNorm, 600 MB, us: 10301
    // 164 and 160, 10501 162.5 and 158.2, 11111 159.2 and 155.5, 11501 158.8
    // and 153.2, 12203 153.8 and 151.0. H100, 200 and 600 MB, pairs and
    // clusters with enough in flight: 8467 91, 93 and 95, 97% of the triad,
    // 9201 93, 95 and 94, 98%.)
    unsigned warpsOfPair = getWarpsOfPair(vectors, frame, /*chunks=*/3);
    if (isHeavy(problem) && warpsOfPair <= kFramedWarps && most < enough)
      consider(/*chunks=*/3, warpsOfPair, /*groups=*/1, frame, kPairGain);
    if (isHeavy(problem)) {
      consider(/*chunks=*/3, kManyWarps / 2, /*groups=*/2, frame, kAheadGain,
               /*ahead=*/1);
      // Five vectors in two or four warps that leave few lanes idle.
      // (LayerNorm, us, 200 and 600 MB, times the bytes: 5055, 1.19, 53.7 and
      // 52.7, 151.8 and 147.2; 10162, 1.33, 54.7 and 52.8, 152.7 and 147.4;
      // 9443, 1.14, 52.8 and 53.4, 149.3 and 148.0.)
      for (unsigned warps : {2u, 4u}) {
        int64_t lanes = int64_t(warps) * 5 * 32;
        int64_t blocks = llvm::divideCeil(vectors, lanes - frame);
        if (8 * vectors >= 7 * lanes * blocks)
          consider(/*chunks=*/5, warps, kFramedWarps / warps, frame,
                   kFiveAheadGain, /*ahead=*/1);
      }
    }
    if (vectors > kPairVectors - 2 * frame && !five)
      for (auto [chunks, warps] :
           {std::pair(3u, kManyWarps), {5u, kFramedWarps}}) {
        // In frames of a line, of two sums a column. (LayerNorm, 200 and 600
        // MB, us: 18399 in 12 warps 54.0, 155.9, 18601 in 8 54.3, 149.1.)
        if (isHeavy(problem) && chunks == 3 &&
            llvm::divideCeil(vectors, 2) + kLineSectors * frame >
                uint64_t(warps) * chunks * 32)
          continue;
        // As few warps as hold a row, of two sums a column. (LayerNorm, 200 and
        // 600 MB, us, 12 and 11 warps: 16411 55.2, 151.1 and 54.5, 148.6.)
        unsigned held =
            isHeavy(problem)
                ? std::min(warps, getWarpsOfPair(vectors, frame, chunks))
                : warps;
        if (!best || best.getAhead() == 0)
          consider(chunks, held, /*groups=*/1, frame, 1 / kAheadGain,
                   /*ahead=*/1);
      }
  }
  if (best) {
    if (ScheduleAttr one = chooseOneBlock(problem, best, target))
      best = one;
    reason = llvm::formatv(
        "wide rows that begin anywhere: about {0} bytes in "
        "flight a multiprocessor{1}",
        int64_t(most),
        best.getAhead() != 0 ? ", the next row's sums sent ahead" : "");
  }
  return best;
}

/// Steps ahead of their sums, which wait less, are slowed down by more bytes in
/// flight than memory needs only where these are a third more.
static constexpr double kMostAhead = 1.32;

ScheduleAttr norm_fusion::limitFrames(MLIRContext *context,
                                      const Problem &problem,
                                      ScheduleAttr schedule,
                                      const TargetInfo &target,
                                      std::string &reason) {
  double most =
      target.bytesInFlight * (schedule.getAhead() != 0 ? kMostAhead : 1);
  // Such warps of one block share nothing that they would wait for.
  if (schedule.getStructure() != Structure::ring ||
      areTwoInFrames(problem, schedule) || schedule.getSlots() > 2 ||
      areFewRows(problem, schedule, target) || !isFramed(problem, schedule) ||
      !takesManyVectors(problem) ||
      schedule.getVector() != getFullVector(problem) ||
      getMeanInFlight(problem, schedule, target) <= most)
    return schedule;
  ScheduleAttr fewer =
      chooseTwoVectors(context, problem, target, schedule.getCombine(), reason);
  // (H100, 200 and 600 MB, share of the triad: LayerNorm 18801 columns 88, 88
  // and 91, 94%, 19501 89, 89 and 92, 95%; RMSNorm 19501 93, 91 and 95, 96%,
  // 23099 93, 91 and 96, 98%.)
  if (!fewer && schedule.getAhead() != 0)
    fewer = chooseWideFrames(context, problem, target, schedule.getCombine(),
                             reason, /*mayBeAhead=*/false);
  return fewer ? fewer : schedule;
}
