//===- CopyConstants.cpp - Constants where a device can read them ---------===//
//
// Bufferization puts constant tensors into globals of the host program. Kernels
// get addresses, so those must be of memory that the device sees. A global that
// isn't constant stays the host's.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
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
    SmallVector<memref::GetGlobalOp> constants;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp, gpu::LaunchOp, linalg::LinalgOp>(op))
        return WalkResult::skip();
      if (auto get = dyn_cast<memref::GetGlobalOp>(op))
        if (auto global =
                SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                    op, get.getNameAttr());
            global && global.getConstant())
          constants.push_back(get);
      return WalkResult::advance();
    });
    for (memref::GetGlobalOp op : constants) {
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      Value copy = memref::AllocOp::create(b, op.getLoc(), op.getType());
      op.getResult().replaceAllUsesWith(copy);
      memref::CopyOp::create(b, op.getLoc(), op.getResult(), copy);
    }
  }
};
} // namespace
