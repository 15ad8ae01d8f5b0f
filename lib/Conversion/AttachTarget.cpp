//===- AttachTarget.cpp - Who serializes a gpu.module ---------------------===//
//
// Gives every gpu.module the one target that the pipeline compiles for: NVVM
// with a chip and the PTX version that the target table names, or the emulator.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Schedule/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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
    if (!attr || failed(checkToolkit()))
      return signalPassFailure();
    auto targets = ArrayAttr::get(&getContext(), attr);
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>()) {
      if (!module.getTargetsAttr())
        module.setTargetsAttr(targets);
      if (target == "nvvm" &&
          norm_fusion::TargetInfo::get(chip)->maxCluster == 1)
        removeDependences(module);
    }
  }

private:
  /// Before sm_90 a launch waits for the one before it by itself, so that
  /// nothing is to be asked for meanwhile (and LLVM 22 knows no prefetches).
  static void removeDependences(gpu::GPUModuleOp module) {
    module.walk([](Operation *op) {
      if (isa<NVVM::GriddepcontrolOp, NVVM::PrefetchOp>(op))
        op->erase();
    });
    for (auto global :
         llvm::make_early_inc_range(module.getOps<LLVM::GlobalOp>())) {
      StringRef kernel = global.getSymName();
      if (kernel.consume_back("_dependent") && module.lookupSymbol(kernel))
        global.erase();
    }
  }

  /// Upstream reports a folder that isn't there and goes on with the ptxas of
  /// the path.
  LogicalResult checkToolkit() {
    if (toolkit.empty() || target == "emulator")
      return success();
    std::string missing;
    if (!llvm::sys::fs::is_directory(toolkit))
      missing = "isn't a folder";
    for (StringRef file : {"bin/ptxas", "nvvm/libdevice/libdevice.10.bc"}) {
      SmallString<128> path(toolkit);
      llvm::sys::path::append(path, file);
      if (missing.empty() && !llvm::sys::fs::exists(path))
        missing = ("has no " + file).str();
    }
    if (missing.empty())
      return success();
    return emitError(UnknownLoc::get(&getContext()))
           << "toolkit=" << toolkit << " " << missing
           << ", expected a CUDA Toolkit's folder; without the option, PATH "
              "and "
              "CUDA_HOME say where it is";
  }

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
          << chip << "', expected " << norm_fusion::TargetInfo::chips;
      return {};
    }
    // O3 takes 4% more time for kernels that are as fast.
    return NVVM::NVVMTargetAttr::get(&getContext(), /*optLevel=*/2,
                                     "nvptx64-nvidia-cuda", chip,
                                     info->features);
  }
};
} // namespace
