//===- AllocateOnHeap.cpp - Buffers that a stack needn't hold -------------===//
//
// Programs may have buffers on the stack of host code: it holds some megabytes,
// those of a loop's turns all at once, and a device sees none of it.
//
//===----------------------------------------------------------------------===//

#include "ModuleUtils.h"
#include "norm_fusion/Conversion/Passes.h"

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
    norm_fusion::forHostOps<
        memref::AllocaOp>(getOperation(), [](memref::AllocaOp op) {
      OpBuilder b(op);
      op.replaceAllUsesWith(
          memref::AllocOp::create(b, op.getLoc(), op.getType(),
                                  op.getDynamicSizes(), op.getSymbolOperands(),
                                  op.getAlignmentAttr())
              .getResult());
      op.erase();
    });
  }
};
} // namespace
