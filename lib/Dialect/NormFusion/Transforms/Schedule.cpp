//===- Schedule.cpp - Attach a schedule to every mixed reduction ----------===//
//
// Reads the problem off the op, asks the schedule library, and leaves the
// decision as an attribute that the conversion to gpu only reads. An op that
// no kernel can be generated for gets none, and a remark says why.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Schedule/Schedule.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/IR/Remarks.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONSCHEDULE
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
struct SchedulePass final
    : norm_fusion::impl::NormFusionScheduleBase<SchedulePass> {
  using Base::Base;

  void runOnOperation() override {
    std::optional<TargetInfo> target = TargetInfo::get(chip);
    if (!target) {
      getOperation()->emitError()
          << "unknown chip '" << chip
          << "', expected sm_80, sm_86, sm_89, sm_90(a), sm_100(a), sm_103(a) "
             "or sm_120(a)";
      return signalPassFailure();
    }
    auto result = getOperation()->walk([&](MixedReductionOp op) {
      return failed(run(op, *target)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult run(MixedReductionOp op, const TargetInfo &target) {
    Problem problem = Problem::get(op);
    std::string reason, error;
    ScheduleAttr chosen = op.getScheduleAttr();
    if (chosen)
      reason = "given";
    else
      chosen = chooseSchedule(&getContext(), problem, target, reason);
    auto options = remark::RemarkOpts::name("schedule").category("norm-fusion");
    if (!chosen) {
      remark::missed(op.getLoc(), options) << "no kernel: " << reason;
      return success();
    }
    if (!schedule.empty()) {
      ScheduleAttr overridden =
          parseSchedule(&getContext(), schedule, chosen, error);
      if (!overridden)
        return op.emitError(error);
      // Overriding the structure alone takes the fields that go with it.
      Structure structure = overridden.getStructure();
      if (structure != chosen.getStructure()) {
        ScheduleAttr usual = getDefaultSchedule(&getContext(), problem, target,
                                                structure, error);
        if (!usual)
          return op.emitError("schedule isn't possible: ") << error;
        if (usual.getStructure() == structure)
          overridden = parseSchedule(&getContext(), schedule, usual, error);
        if (!overridden)
          return op.emitError(error);
      }
      chosen = overridden;
      reason += ", overridden";
    }
    if (!isLegalSchedule(problem, chosen, target, error))
      return op.emitError("schedule isn't possible: ") << error;
    op.setScheduleAttr(chosen);
    remark::analysis(op.getLoc(), options) << chosen.getText() << ": " << reason;
    return success();
  }
};
} // namespace
