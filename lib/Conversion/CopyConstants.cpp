//===- CopyConstants.cpp - Constants where a device can read them ---------===//
//
// Bufferization puts constant tensors into globals of the host program, and
// programs may have buffers on the stack. Kernels get addresses, so those must
// be of memory that the device sees. A global that isn't constant stays the
// host's.
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
    SmallVector<memref::AllocaOp> onStack;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp, gpu::LaunchOp, linalg::LinalgOp>(op))
        return WalkResult::skip();
      if (auto alloca = dyn_cast<memref::AllocaOp>(op))
        onStack.push_back(alloca);
      if (auto get = dyn_cast<memref::GetGlobalOp>(op))
        if (auto global =
                SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                    op, get.getNameAttr());
            global && global.getConstant())
          constants.push_back(get);
      return WalkResult::advance();
    });
    for (memref::AllocaOp op : onStack) {
      OpBuilder b(op);
      op.replaceAllUsesWith(
          memref::AllocOp::create(b, op.getLoc(), op.getType(),
                                  op.getDynamicSizes(), op.getSymbolOperands(),
                                  op.getAlignmentAttr())
              .getResult());
      op.erase();
    }
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
