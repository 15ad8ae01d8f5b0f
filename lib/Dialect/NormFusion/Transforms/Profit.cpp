//===- Profit.cpp - Is a legal group worth fusing? ------------------------===//
//
// The floor is the plain structure: one point at a time, accumulators in
// memory. What doesn't fit it has no kernel. Beyond its registers a point is
// spilled, which costs bytes too.
//
//===----------------------------------------------------------------------===//

#include "Profit.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

unsigned mlir::norm_fusion::getLiveRegisters(Block &block) {
  auto getRegisters = [](Value value) {
    Type type = value.getType();
    bool wide = type.isIndex() ||
                (type.isIntOrFloat() && type.getIntOrFloatBitWidth() > 32);
    return matchPattern(value, m_Constant()) ? 0u : wide ? 2u : 1u;
  };
  // From the last op to the first: a value lives from where it is made to the
  // last op that uses it.
  llvm::DenseSet<Value> live;
  unsigned now = 0, most = 0;
  for (Operation &op : llvm::reverse(block)) {
    for (Value result : op.getResults())
      if (live.erase(result))
        now -= getRegisters(result);
    for (Value operand : op.getOperands())
      if (live.insert(operand).second)
        now += getRegisters(operand);
    most = std::max(most, now);
  }
  return most;
}

std::optional<Refusal>
mlir::norm_fusion::findRefusal(MLIRContext *context, const GroupCost &cost,
                               const TargetInfo &target) {
  int64_t saved = cost.bytesBefore - cost.bytesAfter;
  if (saved < 0)
    return Refusal{"no-profit",
                   llvm::formatv("{0} bytes moved fused, {1} as it stands",
                                 cost.bytesAfter, cost.bytesBefore),
                   "no more bytes than before"};

  std::string error;
  ScheduleAttr plain = parseSchedule(context, "structure=plain warps=8",
                                     ScheduleAttr(), error);
  unsigned shared = getSharedMemoryBytes(cost.problem, plain);
  if (shared > target.sharedMemoryBytes)
    return Refusal{
        "over-budget",
        llvm::formatv("{0} bytes of shared memory a block, for {1} row and {2} "
                      "column reductions",
                      shared, cost.problem.rowReductions,
                      cost.problem.accumulatorBytes.size()),
        llvm::formatv("at most {0}", target.sharedMemoryBytes)};

  // A pointer an operand; sizes, workspace and their like take no more.
  unsigned parameters = 16 * cost.operands;
  if (parameters > target.parameterBytes)
    return Refusal{"over-budget",
                   llvm::formatv("about {0} bytes of kernel parameters, for {1} "
                                 "operands",
                                 parameters, cost.operands),
                   llvm::formatv("at most {0}", target.parameterBytes)};

  // Addresses, loop counters and predicates.
  constexpr unsigned overhead = 32;
  unsigned registers = cost.registers + overhead;
  if (registers <= target.maxRegisters)
    return std::nullopt;
  int64_t spilled = int64_t(registers - target.maxRegisters) * 4;
  // Stored and loaded once at least.
  if (2 * spilled * cost.points <= saved)
    return std::nullopt;
  return Refusal{
      "over-budget",
      llvm::formatv("about {0} registers a thread, for {1} full-size inputs; "
                    "spills move {2} bytes a point",
                    registers, cost.fullSizeInputs, 2 * spilled),
      llvm::formatv("at most {0} registers, or spills of no more than the {1} "
                    "bytes a point that fusing saves",
                    target.maxRegisters, saved / std::max<int64_t>(cost.points, 1))};
}
