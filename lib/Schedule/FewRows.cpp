//===- FewRows.cpp - Schedules for launches with few rows -----------------===//
//
// How many rows there are is known at run time alone, most often. Where the
// schedule for any number isn't the fastest for few, these have kernels of
// their own, and the launch decides; but none where there are known to be more.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Bytes read up to which a walk is so few steps that their number counts, and
/// what is left to add up behind them. (Norm backward moves half as many again:
/// 13 us of an H200's memory.)
static constexpr int64_t kFewBytes = 40'000'000;

SmallVector<FewRowsAttr> norm_fusion::chooseFewRows(const Problem &problem,
                                                    const TargetInfo &target,
                                                    ScheduleAttr schedule) {
  MLIRContext *context = schedule.getContext();
  SmallVector<FewRowsAttr> chosen;
  if (ShapedType::isDynamic(problem.columns))
    return chosen;
  auto mayBe = [&](int64_t rows) {
    return ShapedType::isDynamic(problem.rows) || problem.rows <= rows;
  };
  if (ScheduleAttr columns = chooseColumnsOfFewRows(context, problem, target))
    if (unsigned rows = columns.getRowGroups() * columns.getRows(); mayBe(rows))
      chosen.push_back(FewRowsAttr::get(context, rows, columns));
  int64_t ofRow = problem.columns * llvm::sum_of(problem.elementBytes);
  int64_t rows = ofRow == 0 ? 0 : kFewBytes / ofRow;
  if (rows <= (chosen.empty() ? 0 : chosen.back().getRows()) || !mayBe(rows))
    return chosen;
  ScheduleAttr ring = chooseUnevenOfFewRows(problem, target, schedule);
  if (!ring)
    ring = chooseManyWarpsOfFewRows(problem, target, schedule);
  if (ring)
    chosen.push_back(FewRowsAttr::get(context, rows, ring));
  return chosen;
}
