//===- Rows.cpp - One block a row: choice and legality --------------------===//
//
// Row-only groups have nothing that lives longer than a row: the hardware hands
// out the rows, one a row group of a block, and many blocks a multiprocessor
// keep memory busy. A thread loads two to four vectors, all at once. Measured
// on an H200 (forward norms, bf16 and fp8): rings lose 2 to 8% to it, blocks
// that stay resident 4 to 12%, one vector a thread 35 to 40%.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Threads a multiprocessor that the blocks should come to, as far as more of
/// them help; and that of light kernels, in blocks of up to 256 threads and of
/// more.
static constexpr unsigned kThreads = 1280, kLightThreads = 1536,
                          kMostThreads = 2048;

/// One array is read, and none written that is narrower.
static bool isLight(const Problem &problem) {
  return problem.elementBytes.size() == 1 && !problem.narrowOutputs;
}

/// 32-bit registers that a thread needs, estimated from what kernels compiled
/// to without spills: the packed vectors of its rows, also of those that are
/// loaded ahead, and of the columns' inputs, the addresses of a tile's rows or
/// the place of one of several row groups, and the rest.
static unsigned estimateRowRegisters(const Problem &problem,
                                     ScheduleAttr schedule,
                                     unsigned stepsAhead) {
  unsigned columns = schedule.getChunks() * schedule.getVector();
  unsigned rows = schedule.getRows() * (1 + stepsAhead);
  unsigned bytes = rows * problem.bytesPerColumn() + problem.columnInputBytes;
  bool isTile = schedule.getStructure() == Structure::tile;
  return llvm::divideCeil(columns * bytes, 4) +
         (isTile                        ? 4 * schedule.getRows()
          : schedule.getRowGroups() > 1 ? 12
                                        : 0) +
         (stepsAhead ? 36 : 16);
}

/// What these take besides if they can have it: masks of what doesn't exist,
/// and halves of what is reduced as f64; rows of a tile that aren't loaded
/// ahead are unpacked together.
static unsigned estimateSpareRegisters(const Problem &problem,
                                       ScheduleAttr schedule,
                                       unsigned stepsAhead) {
  unsigned columns = schedule.getChunks() * schedule.getVector();
  bool isTogether = schedule.getStructure() == Structure::tile &&
                    stepsAhead == 0 && schedule.getRows() > 1;
  bool exact = problem.columns ==
               int64_t(schedule.getCluster()) * schedule.getBlockColumns();
  unsigned masks = exact ? 0 : isTogether ? 40 : 8;
  return (isTogether ? 32 : 0) + masks +
         (problem.rowReductionBytes > 4 ? columns : 0);
}

/// Blocks that a multiprocessor's registers are shared out to.
static unsigned countBlocks(const Problem &problem, ScheduleAttr schedule,
                            unsigned registers, unsigned stepsAhead) {
  unsigned threads = schedule.getThreads();
  unsigned needed =
      llvm::alignTo(estimateRowRegisters(problem, schedule, stepsAhead) +
                        estimateSpareRegisters(problem, schedule, stepsAhead),
                    8);
  unsigned most = kThreads;
  if (schedule.getStructure() == Structure::rows && isLight(problem))
    most = threads > 256 ? kMostThreads : kLightThreads;
  // Each of a multiprocessor's four parts takes whole warps.
  unsigned held = llvm::alignTo(threads, 4 * 32);
  return std::clamp(registers / (held * needed), 1u,
                    std::max(most / threads, 1u));
}

unsigned norm_fusion::getStepsAhead(const Problem &problem,
                                    ScheduleAttr schedule, unsigned registers) {
  if (schedule.getStructure() != Structure::tile || schedule.getSlots() == 1)
    return 0;
  // Two, if that costs no block. (H200, fp8: 1% at 8192 columns, 2% at 16384;
  // where it costs one, it loses 5%.)
  bool isFree =
      countBlocks(problem, schedule, registers, 2) ==
          countBlocks(problem, schedule, registers, 1) &&
      schedule.getThreads() * estimateRowRegisters(problem, schedule, 2) <=
          registers;
  return isFree ? 2 : 1;
}

unsigned norm_fusion::getMinBlocks(const Problem &problem,
                                   ScheduleAttr schedule, unsigned registers) {
  if (schedule.getStructure() != Structure::rows &&
      schedule.getStructure() != Structure::tile)
    return 1;
  return countBlocks(problem, schedule, registers,
                     getStepsAhead(problem, schedule, registers));
}

bool norm_fusion::isLegalRows(const Problem &problem, ScheduleAttr schedule,
                              const TargetInfo &target, std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = text;
    return false;
  };
  StringRef name = stringifyStructure(schedule.getStructure());
  bool isTile = schedule.getStructure() == Structure::tile;
  if (problem.hasPartials() && (!isTile || !problem.accumulatorBytes.empty()))
    return refuse(llvm::formatv(
        "structure={0} with {1} column reductions, expected row reductions "
        "alone",
        name, problem.accumulatorBytes.size() + problem.scalarBytes.size()));
  // Blocks that last as long as the launch, none of which waits for a later
  // one.
  if (problem.hasPartials() &&
      (schedule.getSlots() == 1 || schedule.getCombine() != Combine::tags))
    return refuse(llvm::formatv(
        "structure=tile slots={0} combine={1} with {2} reductions of "
        "everything, expected two slots or more and tags",
        schedule.getSlots(), stringifyCombine(schedule.getCombine()),
        problem.scalarBytes.size()));
  if (schedule.getCopy() != Copy::load)
    return refuse(llvm::formatv("copy={0} with structure={1}, expected load",
                                stringifyCopy(schedule.getCopy()), name));
  if (isTile && !isLegalTile(problem, schedule, error))
    return false;
  unsigned most =
      std::min(target.registers / schedule.getThreads(), target.maxRegisters);
  unsigned needed = estimateRowRegisters(
      problem, schedule, getStepsAhead(problem, schedule, target.registers));
  if (needed > most)
    return refuse(llvm::formatv("structure={0} needs about {1} registers a "
                                "thread, {2} are there",
                                name, needed, most));
  return true;
}

ScheduleAttr norm_fusion::chooseRows(MLIRContext *context,
                                     const Problem &problem,
                                     const TargetInfo &target,
                                     std::string &reason) {
  unsigned vector = getVector(problem);
  int64_t vectors = getVectors(problem, vector);
  // Four vectors a thread, or what leaves fewer lanes idle; where results are
  // as wide as what is read, two or three if that takes no more than 16 warps:
  // the many blocks have short waits each (H200, forward norms: 1 to 4%). Two
  // arrays in blocks of 16 warps (forward_residual of 16384x4096 and 8192x8192:
  // 1% less than in small ones). What is reduced as f64 would spill there.
  unsigned arrays = problem.elementBytes.size();
  bool isEven = arrays <= 2 && !problem.narrowOutputs;
  unsigned fewestWarps = isEven && arrays == 2 && vectors > 256 ? 16 : 4;
  SmallVector<unsigned> order{4, 5, 3, 6, 2, 8, 1};
  if (isEven)
    order = {2, 3, 4, 5, 6, 8, 1};
  // Vectors that aren't full are so many more. (Of 16 bits they have two
  // elements or more, so that these are 16 at most.)
  constexpr unsigned kMostChunks = 16;
  if (unsigned scale = getFullVector(problem) / vector; scale > 1)
    order = llvm::to_vector(llvm::seq_inclusive(
        std::min(2 * scale, kMostChunks), std::min(4 * scale, kMostChunks)));
  ScheduleAttr best;
  int64_t fewestIdle = std::numeric_limits<int64_t>::max();
  std::string why;
  unsigned mostWarps = problem.rowReductionBytes > 4 ? 8 : isEven ? 16 : 32;
  for (unsigned most = mostWarps; !best && most <= 32; most *= 2)
    for (unsigned chunks : order) {
      int64_t warps = llvm::divideCeil(vectors, int64_t(32 * chunks));
      if (warps > most) {
        why = llvm::formatv("a row of {0} columns takes {1} warps, a block has "
                            "{2}",
                            problem.columns, warps, most);
        continue;
      }
      // Short rows share a block.
      unsigned groups = std::max<unsigned>(fewestWarps / warps, 1);
      auto schedule = ScheduleAttr::get(
          context, Structure::rows, /*cluster=*/1, warps, groups, /*slots=*/1,
          chunks, vector, Copy::load, Combine::grid, /*pace=*/0, /*grid=*/0,
          /*lanes=*/32, /*rows=*/1, /*frame=*/0);
      if (!isLegalSchedule(problem, schedule, target, why))
        continue;
      // An eighth fewer idle lanes is worth another number of vectors, and
      // where two or three may do, a thirtieth.
      int64_t idle = (warps * 32 * chunks - vectors) * (isEven ? 32 : 8);
      if (best && fewestIdle - idle <= vectors)
        continue;
      best = schedule;
      fewestIdle = idle;
    }
  if (!best) {
    reason = why;
    return {};
  }
  reason = llvm::formatv(
      "row reductions alone: a block of {0} threads holds {1} rows of {2} "
      "columns in registers, {3} blocks a multiprocessor",
      best.getThreads(), best.getRowGroups(), problem.columns,
      getMinBlocks(problem, best, target.registers));
  return best;
}
