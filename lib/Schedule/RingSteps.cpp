//===- RingSteps.cpp - How the steps of a ring follow each other ----------===//
//
// What is chosen once the shape of a ring is: how partial rows are combined,
// how many bytes are in flight, how the row level's inputs come, whether a lane
// takes two rows at once, and whether a warp's rows are one piece. The numbers
// were measured on an H200 (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

int64_t norm_fusion::getBytesInFlight(const Problem &problem,
                                      ScheduleAttr schedule) {
  unsigned rows =
      schedule.getRowGroups() * schedule.getRows() * schedule.getRowsAWarp();
  return schedule.getSlots() * rows * problem.bytesPerColumn() *
         llvm::divideCeil(problem.columns, int64_t(schedule.getCluster()));
}

int64_t norm_fusion::countLastChunks(const Problem &problem,
                                     ScheduleAttr schedule) {
  int64_t chunk = int64_t(schedule.getLanes()) * schedule.getVector();
  int64_t others = (schedule.getWarps() - 1) * schedule.getChunks() * chunk;
  return llvm::divideCeil(problem.columns - others, chunk);
}

double norm_fusion::getMeanInFlight(const Problem &problem,
                                    ScheduleAttr schedule,
                                    const TargetInfo &target) {
  return double(schedule.getSlots()) * problem.columns *
         problem.bytesPerColumn() * target.getClusters(schedule.getCluster()) *
         schedule.getRowGroups() * getBusyShare(problem, schedule, target) /
         target.multiprocessors;
}

/// Of the bytes in flight that memory needs, what single blocks have at most,
/// and at least, while row groups can be left out for it. (H200, of 64 KiB,
/// bf16, 600 MB, share of the triad. RMSNorm: 1280 columns, 60 and 50 KiB, 92
/// and 98%, 1792, 56 and 42, 92 and 97%, 512, 64 and 48, 92 and 96%, 720, 67,
/// 56 and 45, 89, 90 and 95%; 600, 47 and 37, 97 and 93%. LayerNorm: 512, 64,
/// 56 and 48, 92, 97 and 94%, 768, 72, 60 and 48, 91, 96 and 94%; 2560, 60 and
/// 40, 97 and 93%. 200 MB: up to 1% either way; 4096x256, whose rows are one
/// step of 16 row groups and two of 14, 4.9 and 5.3 us.)
static constexpr double kMostInFlight = 50. / 64, kFewestInFlight = 40. / 64;
static constexpr double kMostHeavyInFlight = 57. / 64,
                        kFewestHeavyInFlight = 48. / 64;

bool norm_fusion::isHeavy(const Problem &problem) {
  return problem.accumulatorBytes.size() > 1;
}

/// True if no element has more than 16 bits.
static bool isNarrow(const Problem &problem) {
  return llvm::all_of(problem.elementBytes,
                      [](unsigned bytes) { return bytes <= 2; });
}

bool norm_fusion::readsTwoOf(const Problem &problem, unsigned bytes) {
  return problem.elementBytes.size() == 2 &&
         problem.bytesPerColumn() == 2 * bytes;
}

double norm_fusion::getMostInFlight(const Problem &problem,
                                    const TargetInfo &target) {
  return target.bytesInFlight *
         (isHeavy(problem) ? kMostHeavyInFlight : kMostInFlight);
}

ScheduleAttr norm_fusion::change(ScheduleAttr schedule, StringRef text) {
  std::string error;
  ScheduleAttr changed =
      parseSchedule(schedule.getContext(), text, schedule, error);
  assert(changed && "expected fields of a schedule");
  return changed;
}

ScheduleAttr norm_fusion::normalizeRowInputs(const Problem &problem,
                                             ScheduleAttr schedule) {
  return getRowInputBytes(problem, schedule) != 0
             ? schedule
             : change(schedule, "row-inputs=load");
}

/// Of the bytes in flight that memory needs, the part up to which loads a step
/// ahead arrive later than copies two steps ahead. (H200, of 64 KiB, LayerNorm:
/// 160, 288, 416, 656, 1376, 2688 columns, 36 to 42 KiB, 2 to 7% faster with
/// copies, 752, 1001, 1501, 47 KiB, 3%; 512, 2048, 2432, 48 to 64 KiB, 1 to 3%
/// slower, for more is in flight then than memory serves well. RMSNorm: 320,
/// 784, 1312, 38 to 41 KiB, 1 to 2% faster; 352, 2816, 44 KiB, 1% slower. f32
/// LayerNorm, 600 MB: 640, 40 KiB, 5% faster, 500, 1000, 2000, 47 KiB, 3 to 7%
/// slower; but in clusters of four and eight blocks, 200 and 600 MB: 3000, 47
/// KiB, 49.7, 143.3 and with copies 49.1, 142.3, 6144, 48 KiB, 49.7, 143.9 and
/// 48.8, 141.5.)
static constexpr double kFewInFlight = 47. / 64, kFewLightInFlight = 42. / 64,
                        kFewWordsInFlight = 48. / 64;
/// Blocks of a cluster from which on each waits long enough for the others that
/// this part counts, or any if steps are paced (1 to 3% faster with copies),
/// unless elements have 32 bits (400 MB: 4 to 12% slower). Framed rows wait for
/// their ends, too, which are loaded a step ahead.
static constexpr unsigned kManyBlocks = 4, kManyFramedBlocks = 2;
static constexpr double kFewOfClusters = 58. / 64;

/// Long runs need less where they are copied. (H200, 600 MB, LayerNorm, share
/// of the triad: 448 columns, 42 and 38 KiB, 91 and 95%, 480, 45 and 37, 90 and
/// 94%, 368, 46 and 40, 92 and 93%. 200 MB: 0.5% more time.)
static constexpr double kMostCopiedInFlight = 41. / 64,
                        kFewestCopiedInFlight = 36. / 64;

/// True for rings whose bytes in flight were measured.
static bool mayBeLimited(const Problem &problem, ScheduleAttr schedule) {
  return isRing(schedule.getStructure()) && schedule.getSlots() > 1 &&
         schedule.getCopy() == Copy::cp_async && problem.exchanges < 2 &&
         problem.elementBytes.size() <= 2 && !problem.accumulatorBytes.empty();
}

/// Leaves out row groups while they have more than `most` in flight, of
/// `inFlight` that all have, in bytes or in parts of what memory needs, and
/// `areEnough` holds for the groups left and what they have.
static ScheduleAttr
leaveOutRowGroups(ScheduleAttr schedule, double inFlight, double most,
                  llvm::function_ref<bool(unsigned, double)> areEnough) {
  unsigned groups = schedule.getRowGroups();
  double ofGroup = inFlight / groups;
  while (groups > 1 && groups * ofGroup > most &&
         areEnough(groups - 1, (groups - 1) * ofGroup))
    --groups;
  return change(schedule, llvm::formatv("row-groups={0}", groups).str());
}

/// `changed` if it's possible, else `schedule`.
static ScheduleAttr changeIfLegal(const Problem &problem, ScheduleAttr schedule,
                                  ScheduleAttr changed,
                                  const TargetInfo &target) {
  return isLegal(problem, changed, target) ? changed : schedule;
}

/// Vectors of a line of the L2 cache.
static unsigned getLineVectors(const Problem &problem, ScheduleAttr schedule) {
  return kLineSectors * getSectorVectors(problem, schedule.getVector());
}

static ScheduleAttr withPace(ScheduleAttr schedule) {
  return change(schedule, llvm::formatv("pace={0}", kPace).str());
}

/// Leaves out row groups of single blocks, of more than eight warps, until at
/// most `most` bytes are in flight, if that leaves `fewest`.
static ScheduleAttr limitInFlight(const Problem &problem, ScheduleAttr schedule,
                                  double most, double fewest) {
  if (schedule.getCluster() > 1 || !mayBeLimited(problem, schedule) ||
      isFramed(problem, schedule))
    return schedule;
  return leaveOutRowGroups(schedule, getBytesInFlight(problem, schedule), most,
                           [&](unsigned groups, double inFlight) {
                             return (groups + 1) * schedule.getWarps() > 8 &&
                                    inFlight >= fewest;
                           });
}

/// Of the bytes in flight that memory needs, those on the mean above which
/// rings are paced, with one sum a column and with two, in single blocks and in
/// clusters. (H100, of 44 KiB, time over that without pacing. 600 MB, a hundred
/// widths above it, 1 to 9% less: bf16 RMSNorm 2753 columns 90 and 98% of the
/// triad, 2560 94 and 99, 15843 94 and 98, LayerNorm 2947 90 and 98, 4596 93
/// and 98, 2048 95 and 99; f32 LayerNorm 4096 96 and 99, RMSNorm 1280 96 and
/// 101; but LayerNorm 1106, 0.99, 99 and 95. 200 MB, f32 77 MB: the same. Less
/// in flight, 1% either way. Rows of one warp, 5 to 45% more, of two with two
/// sums a column, LayerNorm 945, 5% more; f32 in frames, LayerNorm 4094 and
/// RMSNorm 5491 15% more, RMSNorm 14079 6% less; f32 in clusters of 16, 3%
/// less, on an H200 2% more at 75 MB.)
static constexpr double kMostUnpaced = 0.91, kMostHeavyUnpaced = 1,
                        kMostHeavyUnpacedClusters = 0.96;

/// Those on the mean above which row groups of single blocks that can't be
/// paced are left out. (H100, LayerNorm, us, 200 and 600 MB: 1800 columns 71.1,
/// 220 and 69.3, 200, 2066 73.3, 219 and 69.8, 203, 2182 73.4, 219 and 70.1,
/// 218, 2850 73.1, 218 and 69.0, 200. Of half vectors, 1783, 70.4, 218
/// and 69.4, 201, but some of them spill 12 bytes.)
static constexpr double kMostUnpacedFrames = 1.1;

/// Those on the mean above which row groups of paced clusters of kManyBlocks
/// are left out, and what is left at least. (H100, bf16, 200 and 600 MB:
/// RMSNorm 7456 columns, 1.21 and 0.91, 8 and 2% less, 4912, 1.17 and 0.88, 6
/// and 1%, 11840, 1.1 and 0.82, 3% less and 2% more, 12800, 1.04 and 0.78, 3
/// and 4% more; LayerNorm 8048, 1.31 and 0.98, 5 and 2% less, 5120, 1.22 and
/// 0.92, 5 and 2%. In three blocks LayerNorm 5760, 0.91, 3 and 2% more. f32 no
/// better.)
static constexpr double kMostOfClusters = 1, kFewestOfClusters = 0.85;

/// Those on the mean above which row inputs of two vectors a lane in frames are
/// loaded.
static constexpr double kMostCopiedOfTwo = 0.8;

static double getShareInFlight(const Problem &problem, ScheduleAttr schedule,
                               const TargetInfo &target) {
  return getMeanInFlight(problem, schedule, target) / target.bytesInFlight;
}

/// Paced clusters with more in flight than memory serves well have fewer row
/// groups.
static ScheduleAttr limitClusters(const Problem &problem, ScheduleAttr schedule,
                                  const TargetInfo &target) {
  if (schedule.getCluster() < kManyBlocks || schedule.getPace() == 0 ||
      !mayBeLimited(problem, schedule) || !isNarrow(problem) ||
      isFramed(problem, schedule))
    return schedule;
  return leaveOutRowGroups(
      schedule, getShareInFlight(problem, schedule, target), kMostOfClusters,
      [](unsigned, double share) { return share >= kFewestOfClusters; });
}

/// True for lanes of 12 warps with so many columns that they have no register
/// for a count of steps.
static bool haveFullLanes(const Problem &problem, ScheduleAttr schedule) {
  return schedule.getThreads() >= kManyWarps * 32 &&
         schedule.getChunks() * schedule.getVector() >
             (isHeavy(problem) ? 16u : 20u);
}

/// Pacing holds warps that share rows back that would have more in flight than
/// memory serves well. Framed ones whose lanes have no register for it have
/// fewer row groups.
static ScheduleAttr choosePace(const Problem &problem, ScheduleAttr schedule,
                               const TargetInfo &target) {
  bool framed = isFramed(problem, schedule);
  bool isSingle = schedule.getCluster() == 1;
  unsigned warps = schedule.getWarps();
  // A third step is there to make up for lanes without columns.
  if (schedule.getStructure() != Structure::ring || schedule.getPace() != 0 ||
      (isSingle && warps == 1) || schedule.getCluster() > kPortableCluster ||
      schedule.getAhead() != 0 || schedule.getSlots() > 2 ||
      !mayBeLimited(problem, schedule) || (framed && !isNarrow(problem)))
    return schedule;
  double share = getShareInFlight(problem, schedule, target);
  if (haveFullLanes(problem, schedule)) {
    if (!isSingle || !framed || schedule.getVector() != getFullVector(problem))
      return schedule;
    return leaveOutRowGroups(
        schedule, share, kMostUnpacedFrames,
        [&](unsigned groups, double) { return groups * warps >= 8; });
  }
  double most = !isHeavy(problem) ? kMostUnpaced
                : isSingle        ? kMostHeavyUnpaced
                                  : kMostHeavyUnpacedClusters;
  if (share <= most || (isSingle && warps == 2 && isHeavy(problem)))
    return schedule;
  return changeIfLegal(problem, schedule, withPace(schedule), target);
}

bool norm_fusion::areTwoInFrames(const Problem &problem,
                                 ScheduleAttr schedule) {
  return isFramed(problem, schedule) && schedule.getCluster() == 1 &&
         schedule.getChunks() == 2 &&
         (schedule.getThreads() == kManyWarps * 32 ||
          (schedule.getWarps() == 1 && isHeavy(problem) &&
           schedule.getThreads() < kManyWarps * 32)) &&
         schedule.getVector() == getFullVector(problem) && isNarrow(problem);
}

/// True for five half vectors a lane of one block, and two sums a column.
static bool haveFiveHalves(const Problem &problem, ScheduleAttr schedule) {
  return isHeavy(problem) && schedule.getCluster() == 1 &&
         schedule.getChunks() == 5 &&
         schedule.getVector() * 2 == getFullVector(problem);
}

/// The same of 16-bit elements, in warps with a row each.
static bool isWarpOfFiveHalves(const Problem &problem, ScheduleAttr schedule) {
  return haveFiveHalves(problem, schedule) && takesManyVectors(problem) &&
         schedule.getWarps() == 1 && schedule.getLanes() == 32;
}

/// Eleven such warps: twelve have fewer registers. (H200, bf16 LayerNorm, us,
/// 200 and 600 MB, 12 and 11: 520 columns 50.5, 145.9 and 49.9, 142.9; 523
/// 51.4, 147.8 and 50.8, 147.7; 559 51.0, 146.3 and 50.5, 143.8; 580 49.6,
/// 143.1 and 48.9, 140.2; 593 50.5, 145.5 and 49.9, 142.6; 631 50.3, 145.6
/// and 49.5, 142.0; with copies of row inputs for 12, which else spill, 505
/// 51.6, 150.0 and 50.3, 144.0, 509 52.7, 152.4 and 50.4, 144.1; 25 MB 1%
/// either way.)
static ScheduleAttr limitWarpsOfFiveHalves(const Problem &problem,
                                           ScheduleAttr schedule) {
  constexpr unsigned most = 11;
  if (!isWarpOfFiveHalves(problem, schedule) || schedule.getRowGroups() <= most)
    return schedule;
  return change(schedule, llvm::formatv("row-groups={0}", most).str());
}

/// Five half vectors in 12 warps of one block, of which a row's last warp has
/// columns for four, and one of these ends within a vector: with loads of row
/// inputs two sums a column spill 4 bytes. (H200, LayerNorm, 200 and 600 MB,
/// us, loads and copies: 1666 columns 52.3, 147.5 and 50.9, 145.2, 1702 52.0,
/// 146.4 and 50.7, 144.0, 1701 51.1, 145.4 and 50.8, 144.2; but of whole half
/// vectors 1700 49.8, 143.7 and 50.1, 146.9.)
static bool isFourOfFive(const Problem &problem, ScheduleAttr schedule) {
  return haveFiveHalves(problem, schedule) &&
         schedule.getThreads() == kManyWarps * 32 && schedule.getFrame() == 0 &&
         problem.columns % schedule.getVector() != 0 &&
         countLastChunks(problem, schedule) == 4;
}

/// One framed row of 32-bit elements and two sums a column in several blocks,
/// in three vectors a lane, or where more than a sixteenth of the lanes is
/// idle. (H200, f32 LayerNorm, 75, 200 and 600 MB, us, loads and copies: 26001
/// columns 22.1, 52.1, 147.5 and 21.6, 50.4, 143.2, 39001 26.1, 60.1
/// and 23.1, 53.0, 49501 28.5, 65.0 and 25.4, 55.7; but 33001 22.7, 51.3, 143.9
/// and 22.5, 51.0, 151.4, 41001 24.0, 52.8, 147.1 and 23.4, 54.3, 157.7.)
static bool isOneFramedRow(const Problem &problem, ScheduleAttr schedule) {
  int64_t held = schedule.getCluster() * schedule.getBlockColumns();
  return isFramed(problem, schedule) && isHeavy(problem) &&
         readsTwoOf(problem, 4) && schedule.getRowGroups() == 1 &&
         schedule.getCluster() > 1 &&
         schedule.getCluster() <= kPortableCluster &&
         (schedule.getChunks() == 3 || 16 * (held - problem.columns) > held);
}

static ScheduleAttr chooseRowInputs(const Problem &problem,
                                    ScheduleAttr schedule,
                                    const TargetInfo &target) {
  // Of rows of 8 lanes and fewer only those that are one piece were measured.
  // Of single words side by side in a warp copies lose. (H200, f32, us:
  // LayerNorm 25 67.0 and 61.7, 27 64.5 and 59.9; RMSNorm 25 60.3 and 58.5.)
  unsigned lanes = schedule.getLanes(), cluster = schedule.getCluster();
  if (!isRing(schedule.getStructure()) ||
      schedule.getCopy() != Copy::cp_async || lanes < 16 ||
      (lanes < 32 && areSingleWords(problem, schedule.getVector())))
    return schedule;
  ScheduleAttr copies = change(schedule, "row-inputs=copy");
  if (getRowInputBytes(problem, copies) == 0 ||
      !isLegal(problem, copies, target))
    return schedule;
  // A step ahead of its sums nothing else is waited for. (LayerNorm 5751x17389
  // 161 and 156.)
  if (schedule.getAhead() != 0)
    return copies;
  // Those that begin anywhere have up to 48 KiB in flight, and gain all the
  // same. (H200, us, 200 and 600 MB, loads and copies: LayerNorm 1505 53.8,
  // 150.1 and 51.9, 144.9, 3009 54.7, 151.5 and 52.4, 147.6; RMSNorm 1505 52.1,
  // 145.7 and 51.2, 143.8, 3009 52.5, 146.7 and 51.6, 146.3.)
  // (H100, of 44 KiB, copies and loads, paced or as good: LayerNorm 906, 43
  // KiB, 70.9, 221.2 and 69.0, 201.0, 2009, 46 KiB, 71.2, 203.7 and 70.1,
  // 202.6, RMSNorm 1414, 44 KiB, 70.6, 203.0 and 69.7, 202.0.)
  if (areTwoInFrames(problem, schedule) &&
      problem.columns % schedule.getVector() != 0) {
    bool areMany =
        getShareInFlight(problem, schedule, target) > kMostCopiedOfTwo;
    return areMany ? schedule : copies;
  }
  if (isFourOfFive(problem, schedule) || isOneFramedRow(problem, schedule))
    return copies;
  int64_t inFlight = getBytesInFlight(problem, schedule);
  bool framed = isFramed(problem, schedule);
  // Warps of half vectors with one sum a column keep apart by waiting, and of
  // five with two. (H200, us, copies and loads: RMSNorm, 600 MB, 157 161.2
  // and 148.8, 167 161.9 and 147.3, 333 155.0 and 147.8; in 12 warps of whole
  // vectors 193 149.7 and 152.3, 401 146.6 and 150.3; LayerNorm, 200 and 600
  // MB, 507 50.7, 146.1 and 50.3, 143.8, 509 50.7, 146.5 and 50.4, 144.1.)
  if (isWarpOfFiveHalves(problem, schedule) ||
      (framed && !isHeavy(problem) && cluster == 1 &&
       schedule.getVector() * 2 == getFullVector(problem)))
    return schedule;
  // Paced by shape, with a register left for a count, but for no address. (bf16
  // RMSNorm, four blocks of three warps: of 64 widths from 8208 to 9216 columns
  // 17 spill 4 bytes with copies.)
  if (schedule.getPace() != 0 && !isHeavy(problem) &&
      haveFullLanes(problem, schedule))
    return schedule;
  bool waitsForBlocks = cluster >= (framed ? kManyFramedBlocks : kManyBlocks);
  double few = kFewLightInFlight;
  if (isHeavy(problem) && isNarrow(problem))
    few = kFewInFlight;
  else if (isHeavy(problem) && waitsForBlocks && !framed)
    few = kFewWordsInFlight;
  if (inFlight <= target.bytesInFlight * few)
    return limitInFlight(problem, copies,
                         target.bytesInFlight * kMostCopiedInFlight,
                         target.bytesInFlight * kFewestCopiedInFlight);
  if (!waitsForBlocks || !isNarrow(problem))
    return schedule;
  // A third step is there to make up for lanes without columns. Framed rows of
  // two sums a column gain up to 2%, whatever is in flight. (H200, LayerNorm,
  // us: 600 MB, 9501 151.0 and 149.6, 13000 149.4 and 147.6, 15000 the same;
  // 200 MB, 14008 53.4 and 52.4, 15016 52.7 and 52.2.)
  if (schedule.getPace() != 0 || schedule.getSlots() > 2 ||
      (framed && isHeavy(problem)) ||
      inFlight <= target.bytesInFlight * kFewOfClusters)
    return copies;
  // What waiting for loads does pacing does better, where several warps of a
  // block share a row. (H200, LayerNorm, us: 8192x16384 190.6 with loads, 198.1
  // with copies, 188.6 paced, 9973x10240 146.7, 150.6, 145.4; 2048x16384 52.1,
  // 51.5, 52.0.) Where so much is in flight that loads are paced, too, these
  // are faster. (H100, 200 and 600 MB, copies and loads: LayerNorm 4096
  // columns 70.0 and 68.2, 200.1 and 198.8.)
  if (isHeavy(problem) && problem.elementBytes.size() <= 2 && !framed &&
      schedule.getWarps() > 1 && schedule.getCombine() == Combine::tags &&
      getShareInFlight(problem, schedule, target) <= kMostHeavyUnpaced)
    return withPace(copies);
  return schedule;
}

/// Frames of a line of the L2 cache, where a block has one row group, and as
/// many of these have rows as with smaller frames: of lines a warp's copies and
/// stores touch no more than they must. With one warp more, if it takes that
/// and has as many registers. (H200, us, of a sector and a line, with
/// ends=copy: LayerNorm 1917x17389 53.7 and 52.6, 1836x18155 54.1 and 53.0,
/// 5751x17389 151.0 and 146.4, 5001x19999 164.2 and 160.6, 2083x16001 51.4
/// and 51.2, RMSNorm 1629x20479 53.6 and 52.1, 4883x20479 166.2 and 161.5; of
/// two row groups LayerNorm 3703x9001 53.0 and 53.0.) Of half a line, of two
/// sums a column, where lanes don't hold a line more. (LayerNorm, 200 and 600
/// MB, of a sector and half a line: 16261 columns 51.8, 147.7 and 51.7, 143.6,
/// 16317 52.0, 156.4 and 51.7, 143.4, 12207 51.6, 145.9 and 51.5, 145.7; of a
/// line in six vectors a lane, and half a line in five: 20355 53.1, 146.1 and
/// 52.2, 143.8, 20401 52.7, 146.4 and 51.2, 143.9; but RMSNorm 16317 50.0,
/// 143.6 and 50.1, 152.3.)
static ScheduleAttr chooseLines(const Problem &problem, ScheduleAttr schedule,
                                const TargetInfo &target) {
  unsigned vectors = getLineVectors(problem, schedule);
  if (!arePartialsFramed(problem, schedule))
    return schedule;
  for (auto [frame, more] :
       {std::pair(vectors, 0u), {vectors, 1u}, {vectors / 2, 0u}}) {
    if (frame <= getFrameVectors(schedule) ||
        (frame < vectors && !isHeavy(problem)))
      break;
    ScheduleAttr lines =
        change(withFrame(schedule, frame),
               llvm::formatv("warps={0}", schedule.getWarps() + more).str());
    if (isLegal(problem, lines, target) &&
        getRegisterBudget(target, lines) ==
            getRegisterBudget(target, schedule) &&
        getBusyShare(problem, lines, target) >=
            getBusyShare(problem, schedule, target))
      return lines;
  }
  return schedule;
}

/// Of the bytes in flight that memory needs, what two steps of framed rows have
/// at most where a third one gains, of several row groups (of one:
/// kMostOfTwoSteps), and where steps ahead of their sums gain by copies of
/// ends.
static constexpr double kMostOfTwoInGroups = 0.70, kMostCopiedAhead = 1.07;
static constexpr unsigned kManyGroups = 4;

/// Copies of framed rows' ends in place of loads a step ahead, for which a step
/// waits longer than for copies two steps ahead: with a third step where two
/// are few bytes, which gains nothing while ends are waited for; and in steps
/// of one row ahead of their sums, or of 32-bit elements in as many registers
/// as there are. Elsewhere that wait is what keeps more from being in flight
/// than memory serves well. (H200, LayerNorm, 200 and 600 MB, us, before and
/// now. A third step: 4100 columns, 42.7 KiB in two steps, 53.3, 153.5 and
/// 51.4, 144.2, 4250, 44.3, 52.9, 149.1 and 51.3, 145.5, 9255, 43.8, 53.0,
/// 150.3 and 52.4, 147.4, 10301, 39.0, 54.3, 154.0 and 51.1, 144.3, 10603,
/// 40.2, 53.7, 152.4 and 51.3, 149.6, 36063 62.3, 174.9 and 61.1, 171.3, 41146
/// 59.0, 163.1 and 57.2, 157.6; but 9755, 46.2, 52.2, 147.2 and 51.9, 147.5,
/// 11001, 41.7, 53.4, 150.1 and 52.0, 155.1, 11503, 43.6, 52.4, 148.5 and 52.6,
/// 161.9, two row groups 20479 58.4, 165.2 and 59.6, 167.3, 28243 62.7, 176.4
/// and 64.4, 181.0, frames of half a sector 54049 87.8, 248.5 and 90.0, 257.0.
/// Ahead, 16801 55.7 and 54.2, 17389 54.8, 151.3 and 53.8, 150.3, 18001 54.4,
/// 151.3 and 53.7, 149.0; but 18399, 69.7 KiB, 54.7, 150.0 and 54.0, 156.9;
/// in frames of a line 18155 52.8, 152.7 and 52.2, 153.3, of five vectors 18601
/// 54.4, 149.1 and 52.9, 154.2, 19999 53.3, 148.9 and 52.8, 159.3; six spill
/// without; of two rows 8901 53.3, 148.8 and 52.9, 152.9. f32 RMSNorm, 75 and
/// 200 MB: 39001 21.7, 52.6 and 21.7, 50.2, 41001 22.2, 54.3 and 21.9, 51.1,
/// 45001 22.3, 51.9 and 22.0, 51.1; but in ten warps 37001 21.4, 51.6 and 21.8,
/// 51.1, of four vectors 33001 21.1, 49.6 and 21.1, 50.0, and LayerNorm 41001
/// 23.9, 52.9 and 26.2, 58.8.)
static ScheduleAttr chooseEnds(const Problem &problem, ScheduleAttr schedule,
                               const TargetInfo &target) {
  unsigned vector = schedule.getVector(), chunks = schedule.getChunks();
  if (schedule.getStructure() != Structure::ring ||
      schedule.getCopy() != Copy::cp_async || !haveEnds(problem, schedule) ||
      vector != getFullVector(problem) || schedule.getCluster() == 1 ||
      schedule.getSlots() != 2 || schedule.getPace() != 0)
    return schedule;
  double share =
      getMeanInFlight(problem, schedule, target) / target.bytesInFlight;
  unsigned groups = schedule.getRowGroups();
  bool ofSector =
      getFrameVectors(schedule) >= getSectorVectors(problem, vector);
  bool ofLine = getFrameVectors(schedule) >= getLineVectors(problem, schedule);
  bool isFull = schedule.getThreads() == kManyWarps * 32 && chunks == 5;
  bool isWord = readsTwoOf(problem, 4) && !isHeavy(problem);
  if (!isWord && !(takesManyVectors(problem) && isHeavy(problem)))
    return schedule;
  bool addsStep = !isWord && schedule.getAhead() == 0;
  bool gains;
  if (isWord)
    gains = groups == 1 && isFull;
  else if (!addsStep)
    gains = groups == 1 && (chunks == 3 || chunks == 6) &&
            (ofLine || share <= kMostCopiedAhead);
  else if (groups == 1)
    gains = ofSector && share <= kMostOfTwoSteps;
  else
    gains = groups >= kManyGroups && share <= kMostOfTwoInGroups;
  if (!gains)
    return schedule;
  ScheduleAttr copies =
      change(schedule, addsStep ? "ends=copy slots=3" : "ends=copy");
  return changeIfLegal(problem, schedule, copies, target);
}

/// Row inputs loaded a step ahead in place of copies, in pairs of blocks whose
/// frames are of a line, or half of one: waiting for them paces the steps,
/// which else have more in flight than memory serves well; with copies of ends
/// if sums are sent ahead. In other shapes, and smaller frames, steps only get
/// longer. (H200, bf16, 200 and 600 MB, us, copies and loads. Five vectors a
/// lane, ahead: LayerNorm 18401 54.2, 149.2 and 53.0, 143.0, 19501 53.4, 160.0
/// and 52.1, 142.6, 19999 53.4, 148.3 and 52.1, 141.7, but 20301 52.8, 160.1
/// and 54.5, 146.2; in frames of half a line 20401 53.1 and 51.6, of a sector
/// 53.2, 148.3 and 56.6, 152.5. Four in 12 warps, ahead: RMSNorm 20479 52.3,
/// 161.2 and 50.5, 142.6, 20801 52.5, 161.4 and 51.0, 142.8; three, 17863 51.1
/// and 49.5, 18251 51.7 and 50.8. Four in 8: LayerNorm 15701 52.2, 154.4 and
/// 52.3, 143.6, 16001 51.7, 152.7 and 51.9, 144.0; but with idle lanes 15001
/// 51.8, 153.7 and 53.1, 145.2, 14243 51.2, 147.3 and 53.9, 146.7. Three: 17389
/// 52.0, 145.0 and 58.7, 163.5, 10301 51.0, 148.1 and 55.7, 154.6.)
static ScheduleAttr chooseLoads(const Problem &problem, ScheduleAttr schedule,
                                const TargetInfo &target) {
  unsigned chunks = schedule.getChunks();
  if (!arePartialsFramed(problem, schedule) || !haveEnds(problem, schedule) ||
      2 * getFrameVectors(schedule) < getLineVectors(problem, schedule) ||
      schedule.getCopy() != Copy::cp_async || schedule.getCluster() != 2 ||
      !takesManyVectors(problem) || !schedule.getCopiesRowInputs())
    return schedule;
  bool isAhead = schedule.getAhead() != 0;
  int64_t held = schedule.getCluster() * schedule.getBlockColumns();
  bool gains = isAhead ? (isHeavy(problem) ? chunks == 5 : chunks <= 4)
                       : isHeavy(problem) && chunks == 4 &&
                             schedule.getWarps() == kFramedWarps &&
                             16 * (held - problem.columns) <= held;
  if (!gains)
    return schedule;
  ScheduleAttr loads = change(schedule, isAhead ? "row-inputs=load ends=copy"
                                                : "row-inputs=load");
  return changeIfLegal(problem, schedule, loads, target);
}

ScheduleAttr norm_fusion::chooseSteps(const Problem &problem,
                                      ScheduleAttr schedule,
                                      const TargetInfo &target,
                                      std::string &reason) {
  ScheduleAttr limited = limitInFlight(
      problem, limitWarpsOfFiveHalves(problem, schedule),
      getMostInFlight(problem, target),
      target.bytesInFlight *
          (isHeavy(problem) ? kFewestHeavyInFlight : kFewestInFlight));
  limited = limitClusters(problem, limited, target);
  limited = chooseRowInputs(problem, limited, target);
  limited = choosePace(problem, limited, target);
  limited = chooseLines(problem, limited, target);
  limited = chooseEnds(problem, limited, target);
  limited = chooseLoads(problem, limited, target);
  limited = chooseTwoShifts(problem, limited, target, reason);
  limited = chooseTwoRows(problem, limited, target, reason);
  return choosePieces(problem, limited, target, reason);
}
