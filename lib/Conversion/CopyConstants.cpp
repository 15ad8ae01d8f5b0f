//===- CopyConstants.cpp - Constants where a device can read them ---------===//
//
// Bufferization puts constant tensors into globals of the host program. Kernels
// get addresses, so those must be of memory that the device sees.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONCOPYCONSTANTS
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct CopyConstantsPass final
    : norm_fusion::impl::NormFusionCopyConstantsBase<CopyConstantsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<memref::GetGlobalOp> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (auto global = dyn_cast<memref::GetGlobalOp>(op))
        ops.push_back(global);
      return WalkResult::advance();
    });
    for (memref::GetGlobalOp op : ops) {
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      Value copy = memref::AllocOp::create(b, op.getLoc(), op.getType());
      op.getResult().replaceAllUsesWith(copy);
      memref::CopyOp::create(b, op.getLoc(), op.getResult(), copy);
    }
  }
};
} // namespace
