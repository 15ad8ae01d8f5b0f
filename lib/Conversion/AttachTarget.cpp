//===- AttachTarget.cpp - Who serializes a gpu.module ---------------------===//
//
// Gives every gpu.module the one target that the pipeline compiles for: NVVM
// with a chip and the PTX version that the target table names, or the emulator.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Schedule/TargetInfo.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONATTACHTARGET
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct AttachTargetPass final
    : norm_fusion::impl::NormFusionAttachTargetBase<AttachTargetPass> {
  using Base::Base;

  void runOnOperation() override {
    Attribute attr = getTargetAttr();
    if (!attr)
      return signalPassFailure();
    auto targets = ArrayAttr::get(&getContext(), attr);
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (!module.getTargetsAttr())
        module.setTargetsAttr(targets);
  }

private:
  Attribute getTargetAttr() {
    if (target == "emulator")
      return norm_fusion::EmulatorTargetAttr::get(&getContext());
    if (target != "nvvm") {
      getOperation().emitError("unknown target '")
          << target << "', expected nvvm or emulator";
      return {};
    }
    std::optional<norm_fusion::TargetInfo> info =
        norm_fusion::TargetInfo::get(chip);
    if (!info) {
      getOperation().emitError("unknown chip '")
          << chip << "', expected sm_80 or newer";
      return {};
    }
    return NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/3,
                                     "nvptx64-nvidia-cuda", chip,
                                     info->features);
  }
};
} // namespace
