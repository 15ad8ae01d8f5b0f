//===- AllocateOnHeap.cpp - Buffers that a stack needn't hold -------------===//
//
// Programs may have buffers on the stack of host code: it holds some megabytes,
// those of a loop's turns all at once, and a device sees none of it.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONALLOCATEONHEAP
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct AllocateOnHeapPass final
    : norm_fusion::impl::NormFusionAllocateOnHeapBase<AllocateOnHeapPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<memref::AllocaOp> onStack;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp, gpu::LaunchOp, linalg::LinalgOp>(op))
        return WalkResult::skip();
      if (auto alloca = dyn_cast<memref::AllocaOp>(op))
        onStack.push_back(alloca);
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
  }
};
} // namespace
