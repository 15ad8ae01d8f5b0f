//===- Schedule.cpp - From a problem and a target to a schedule -----------===//
//
// Which structure: each has its choice in a file of its own. The plain
// structure is the floor: any size, layout and alignment, each row read once a
// phase.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Vectors of a row that the blocks of structure=rows, several on a
/// multiprocessor, exchange twice as fast as a ring does.
static constexpr int64_t kRowOfBlocks = 1024;

/// More than any structure but the plain one holds, by far: what others
/// multiply is within 64 bits.
static constexpr int64_t kMostColumns = int64_t(1) << 40;

ScheduleAttr norm_fusion::chooseSchedule(MLIRContext *context,
                                         const Problem &problem,
                                         const TargetInfo &target,
                                         std::string &reason) {
  if (!problem.unsupported.empty()) {
    reason = problem.unsupported;
    return {};
  }
  if (ShapedType::isDynamic(problem.columns)) {
    reason = "plain, because the number of columns is dynamic";
    return makePlain(context, problem);
  }
  if (problem.columns == 0) {
    reason = "plain, because there are no columns";
    return makePlain(context, problem);
  }
  if (problem.columns > kMostColumns) {
    reason =
        llvm::formatv("plain, because {0} columns are more than others hold",
                      problem.columns);
    return makePlain(context, problem);
  }
  unsigned vector = getVector(problem);
  std::string noRows;
  if (problem.accumulatorBytes.empty() && !problem.tiledBytes.empty())
    if (ScheduleAttr tile = chooseTile(context, problem, target, noRows)) {
      reason = noRows;
      return tile;
    }
  // Of wide rows that are exchanged twice, the ring hides more of the waits.
  bool waits = problem.exchanges > 1 && problem.columns > kRowOfBlocks * vector;
  if (!problem.hasPartials() && problem.columns > 96 * vector && !waits)
    if (ScheduleAttr rows = chooseRows(context, problem, target, noRows)) {
      reason = noRows;
      return rows;
    }
  return chooseRing(context, problem, target, reason);
}

ScheduleAttr norm_fusion::getDefaultSchedule(MLIRContext *context,
                                             const Problem &problem,
                                             const TargetInfo &target,
                                             Structure structure,
                                             std::string &reason) {
  if (structure == Structure::plain)
    return makePlain(context, problem);
  if (problem.columns > kMostColumns)
    return chooseSchedule(context, problem, target, reason);
  if (structure == Structure::rows && problem.contiguousColumns &&
      !ShapedType::isDynamic(problem.columns))
    return chooseRows(context, problem, target, reason);
  if (structure == Structure::tile && problem.contiguousColumns &&
      !ShapedType::isDynamic(problem.columns))
    return chooseTile(context, problem, target, reason);
  if (structure == Structure::columns && problem.contiguousColumns &&
      !ShapedType::isDynamic(problem.columns) && problem.columns > 0)
    return chooseColumns(context, problem, target, reason);
  ScheduleAttr chosen = chooseSchedule(context, problem, target, reason);
  if (chosen && (chosen.getStructure() == Structure::rows ||
                 chosen.getStructure() == Structure::tile))
    chosen = chooseRing(context, problem, target, reason);
  return chosen;
}
