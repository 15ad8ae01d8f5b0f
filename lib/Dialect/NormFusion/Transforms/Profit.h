//===- Profit.h - Is a legal group worth fusing? ----------------*- C++ -*-===//
//
// Legality is the analysis's and the builder's. Here bytes saved are weighed
// against what one kernel can have: shared memory, parameters, registers. Rows
// cancel out of every term, so that nothing depends on a size that is known at
// run time alone; other unknown extents are estimated the same on both sides.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_TRANSFORMS_PROFIT_H
#define NORM_FUSION_LIB_TRANSFORMS_PROFIT_H

#include "norm_fusion/Schedule/Schedule.h"

namespace mlir::norm_fusion {

struct GroupCost {
  /// As the schedule will see it, as far as budgets ask.
  Problem problem;
  unsigned operands = 0, fullSizeInputs = 0;
  /// 32-bit registers for all values of one point that live at once.
  unsigned registers = 0;
  /// What the group's ops move as they stand, and what the op moves.
  int64_t bytesBefore = 0, bytesAfter = 0;
  /// Points of the space; and of its known extents, which may be too many.
  int64_t points = 1;
  uint64_t knownPoints = 1;
};

/// Points of a group at most: addresses have 48 bits.
inline constexpr uint64_t kMostPoints = uint64_t(1) << 47;

struct Refusal {
  StringRef reason;
  std::string found, needed;
};

/// Why the group isn't worth fusing on `target`; nullopt if it is.
std::optional<Refusal> findRefusal(MLIRContext *context, const GroupCost &cost,
                                   const TargetInfo &target);

/// 32-bit registers that the values of a region's block need at once, one point
/// at a time; constants need none.
unsigned getLiveRegisters(Block &block);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_TRANSFORMS_PROFIT_H
