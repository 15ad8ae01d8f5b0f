//===- Columns.cpp - Blocks that own columns: choice and legality ---------===//
//
// Few rows leave most blocks of a ring idle, or have each row exchanged in a
// cluster and its partial rows combined over the grid behind that. Here the
// grid shares the columns: the rows are exchanged over it, and column
// reductions end in a block.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Rows that a block holds at once.
static constexpr unsigned kRows = 32;

/// Registers that the estimate, made for rings, may be over a thread's budget.
static constexpr unsigned kRegisterSlack = 8;

/// Vectors of a lane.
static constexpr unsigned kMostChunks = 16;

/// Of these, columns, pairs or fours that `rows` rows at once leave the
/// registers for: the estimate, made for vectors, says up to 100 too few.
/// (ptxas 13.0, bytes spilled by one more: two rows and two sums a column 12 to
/// 20, one sum 8 to 12, of 16-bit elements 8; four rows 12 to 24, and 8; pairs,
/// two rows and two sums, 4, of 32-bit elements 100, one sum 16 to 32, four
/// rows 16 and 4, of 32-bit elements 40; fours of these 36.
/// Of 64-bit elements fewer: two rows and two sums, one column, 4 to 320; one
/// sum, four columns 16 to 24, of three arrays three 24, four beside narrower
/// ones none; four rows and two sums, five columns 36 to 160, of three arrays
/// four 76; one sum, eight 64 to 76, of three arrays six 84.)
static unsigned getMostChunks(const Problem &problem, unsigned rows,
                              unsigned vector) {
  if (llvm::any_of(problem.elementBytes,
                   [](unsigned bytes) { return bytes > 4; })) {
    unsigned bytes = problem.bytesPerColumn();
    if (isHeavy(problem))
      return rows == 2 ? 0 : std::min(4u, 72 / bytes) / vector;
    unsigned columns = 2 * rows - (vector == 1 ? 1 : 0);
    return std::min(columns, (rows == 2 ? 48 : 120) / bytes) / vector;
  }
  if (vector == 2 && rows == 2)
    return !isHeavy(problem) ? 7 : readsTwoOf(problem, 4) ? 4 : 5;
  if (vector > 1 && rows == 4 && isHeavy(problem) && readsTwoOf(problem, 4))
    return 14 / vector;
  if (vector == 2 && rows == 4)
    return isHeavy(problem) ? 9 : 11;
  if (vector > 1)
    return kMostChunks;
  if (rows == 2)
    return isHeavy(problem) ? 7 : readsTwoOf(problem, 2) ? 6 : 8;
  return isHeavy(problem) && readsTwoOf(problem, 4) ? 8 : 9;
}

/// Columns from which on rows are shared by all blocks, if they are few.
static constexpr int64_t kWide = 4096;

bool norm_fusion::isLegalColumns(const Problem &problem, ScheduleAttr schedule,
                                 std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = "structure=columns " + text;
    return false;
  };
  if (problem.accumulatorBytes.empty() || !problem.scalarBytes.empty())
    return refuse(llvm::formatv(
        "with {0} column reductions and {1} of everything, expected column "
        "reductions alone",
        problem.accumulatorBytes.size(), problem.scalarBytes.size()));
  if (problem.segmented)
    return refuse("with segmented column reductions, expected ring");
  if (!problem.blockColumns.empty())
    return refuse("with reductions of parts of a row, expected ring");
  if (schedule.getCopy() != Copy::load)
    return refuse(llvm::formatv("copy={0}, expected load",
                                stringifyCopy(schedule.getCopy())));
  if (schedule.getCombine() != Combine::tags)
    return refuse(llvm::formatv("combine={0}, expected tags",
                                stringifyCombine(schedule.getCombine())));
  if (schedule.getWarps() != 1)
    return refuse(llvm::formatv("warps={0}, expected 1 (row-groups are warps)",
                                schedule.getWarps()));
  return true;
}

ScheduleAttr norm_fusion::chooseColumns(MLIRContext *context,
                                        const Problem &problem,
                                        const TargetInfo &target,
                                        std::string &reason) {
  // A few multiprocessors fewer than the usual part has do as well.
  int64_t blocks = target.multiprocessors - target.multiprocessors / 32;
  unsigned vector = getVector(problem);
  int64_t vectors =
      llvm::divideCeil(llvm::divideCeil(problem.columns, blocks), vector);
  int64_t chunks = llvm::divideCeil(vectors, 32);
  if (chunks > kMostChunks) {
    reason = llvm::formatv("{0} columns take {1} vectors a lane, at most {2} "
                           "are possible",
                           problem.columns, chunks, kMostChunks);
    return {};
  }
  // Two rows a warp, or four where half as many warps have the registers. One
  // was slower: a block of 32 warps begins later, and has half the registers.
  for (unsigned rows : {2, 4}) {
    auto schedule = ScheduleAttr::get(
        context, Structure::columns, /*cluster=*/1, /*warps=*/1,
        /*rowGroups=*/kRows / rows, /*slots=*/1, chunks, vector, Copy::load,
        Combine::tags, /*pace=*/0, /*grid=*/0, /*lanes=*/32, rows, /*frame=*/0);
    if (!isLegalSchedule(problem, schedule, target, reason))
      continue;
    unsigned registers = estimateRegisters(problem, schedule);
    unsigned budget = getRegisterBudget(target, schedule);
    if (unsigned most = getMostChunks(problem, rows, vector); chunks > most) {
      reason = llvm::formatv("{0} times {1} columns a lane of {2} rows at "
                             "once, at most {3} have the registers",
                             chunks, vector, rows, most);
      continue;
    }
    if (registers > budget + kRegisterSlack) {
      reason = llvm::formatv("about {0} registers a thread are needed, {1} are "
                             "there",
                             registers, budget);
      continue;
    }
    reason = llvm::formatv("{0} rows at once, of which each block holds up to "
                           "{1} columns",
                           kRows, schedule.getBlockColumns());
    return schedule;
  }
  return {};
}

ScheduleAttr norm_fusion::chooseColumnsOfFewRows(MLIRContext *context,
                                                 const Problem &problem,
                                                 const TargetInfo &target) {
  std::string ignored;
  if (!problem.contiguousColumns || problem.columns < kWide)
    return {};
  return chooseColumns(context, problem, target, ignored);
}
