//===- WideRows.cpp - Rows that blocks of a cluster share -----------------===//
//
// A row in the registers of a few warps of each of several blocks, which
// exchange its sums through distributed shared memory, where ManyWarps.cpp has
// no better shape. Rows in frames are in Frames.cpp. The numbers were measured
// on an H200 (docs/performance.md).
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

ScheduleAttr norm_fusion::fitSlots(const Problem &problem, ScheduleAttr most,
                                   const TargetInfo &target,
                                   std::string &reason) {
  for (unsigned slots = most.getSlots(); slots > 0; --slots) {
    ScheduleAttr schedule =
        change(most, llvm::formatv("slots={0}", slots).str());
    if (!fits(problem, schedule, target))
      continue;
    reason = llvm::formatv(
        "wide rows: {0} columns of {1} bytes in the registers of {2} blocks, "
        "{3} bytes in flight, about {4} of {5} registers",
        problem.columns, problem.bytesPerColumn(), schedule.getCluster(),
        getBytesInFlight(problem, schedule),
        estimateRegisters(problem, schedule),
        getRegisterBudget(target, schedule));
    return schedule;
  }
  return {};
}

ScheduleAttr norm_fusion::chooseWideRows(MLIRContext *context,
                                         const Problem &problem,
                                         const TargetInfo &target,
                                         unsigned vector, unsigned scale,
                                         unsigned frame, Combine combine,
                                         std::string &reason) {
  constexpr unsigned kWarps = 8, kChunks = 4;
  // 8 warps whose lanes hold four vectors each, few of a block for a row and up
  // to eight blocks.
  int64_t vectors = getVectors(problem, vector), part = 32 * kChunks * scale;
  auto getCluster = [&](unsigned warps) {
    int64_t most = warps * part;
    int64_t cluster = llvm::divideCeil(vectors, most);
    while (llvm::divideCeil(vectors, cluster) + frame > uint64_t(most))
      ++cluster;
    return cluster;
  };
  // One warp a row and block where two hold more than it does, or, of 32-bit
  // elements with two sums a column, as much: half of a partial row a block.
  // (H200, f32 LayerNorm, us, 75, 200 and 600 MB: 4096 columns 21.8, 50.7 and
  // 141.8 with two warps, 21.1, 49.8, 143.6 with one.)
  unsigned warps = 2;
  bool isWord = readsTwoOf(problem, 4); // an element
  bool isHalf = isHeavy(problem) && isWord;
  if (getCluster(1) <= kPortableCluster &&
      getCluster(1) < 2 * getCluster(2) + isHalf)
    warps = 1;
  else if (getCluster(2) > kPortableCluster)
    warps = 4;
  int64_t cluster = getCluster(warps);
  unsigned groups = kWarps / warps;
  // More warps of eight blocks rather than nine to fifteen of them, which leave
  // most of a GPC's multiprocessors idle, and with two sums a column of 16-bit
  // elements, whose partial rows are long, rather than sixteen. (H200, us, c9
  // to c16 -> c8. f32 LayerNorm 306x20480 24.1 -> 21.3, 818x20480 57.2 -> 50.2,
  // 255x24576 22.9 -> 21.8, 218x28672 21.8 -> 22.0, 191x32768 21.5 -> 22.0;
  // RMSNorm 22.9 -> 20.4, 55.2 -> 49.4, 21.8 -> 20.7, 20.9 -> 20.6, 20.8
  // -> 20.8. bf16 LayerNorm 813x40960 72.3 -> 59.6, 677x49152 61.5 -> 55.9,
  // 581x57344 54.8 -> 54.2, 256x65536 29.7 -> 29.3, 509x65536 52.8 -> 51.8;
  // RMSNorm 58.7 -> 55.4, 54.4 -> 51.2, 51.2 -> 50.8, 27.7 -> 28.2, 50.8
  // -> 50.7. Two row groups spill there.)
  int64_t most = 2 * kPortableCluster - 1;
  if (isHeavy(problem) && !isWord)
    ++most;
  if (cluster > kPortableCluster && cluster <= most) {
    warps = llvm::divideCeil(vectors, kPortableCluster * part);
    cluster = getCluster(warps);
    groups = isWord && warps < kWarps ? 2 : 1;
  }
  if (cluster > target.maxCluster)
    return {};
  unsigned stepBytes =
      groups * warps * part * vector * std::max(problem.bytesPerColumn(), 1u);
  unsigned slots = std::clamp(target.bytesInFlight / stepBytes, 2u, 3u);
  // Three steps where lanes without columns leave two too small. (H200,
  // LayerNorm, us: 3971x8448 53.6 -> 52.0, 3197x10496 54.7 -> 51.9, 1927x17408
  // 54.1 -> 52.6; of more bytes 3641x9216 52.0 -> 52.2, 2979x11264 52.7
  // -> 54.9, and of one warp 30841x4352 194.0 -> 200.6. RMSNorm gains nothing.)
  int64_t stepColumns = llvm::divideCeil(problem.columns, cluster) * groups;
  if (problem.accumulatorBytes.size() > 1 && slots == 2 && warps > 1 &&
      groups > 1 &&
      16 * stepColumns * problem.bytesPerColumn() <= 7 * target.bytesInFlight)
    slots = 3;
  // Clusters drift apart where steps are light, or rows not too wide; pacing
  // costs more where these take one warp of a block. (H200, us, with and
  // without: LayerNorm 6511x5120 52.2, 51.3, 32768x7168 337, 329; light,
  // RMSNorm 65536x5120 462, 475; f32 LayerNorm 2441x20480 141.2, 146.0.)
  bool isLight =
      problem.accumulatorBytes.size() == 1 && problem.elementBytes.size() <= 2;
  bool drifts = isLight || (warps > 1 && vectors <= 2 * kWideVectors * scale) ||
                (isHalf && warps > 4 && groups > 1);
  bool paces = combine == Combine::tags && cluster > 1 && drifts && frame == 0;
  auto schedule = ScheduleAttr::get(
      context, Structure::ring, cluster, warps, groups, slots, kChunks * scale,
      vector, Copy::cp_async, combine, paces ? kPace : 0,
      /*grid=*/0, /*lanes=*/32, /*rows=*/1, /*frame=*/0);
  return fitSlots(problem, schedule, target, reason);
}
