//===- CopyConstants.cpp - Constants where a device can read them ---------===//
//
// Bufferization puts constant tensors into globals of the host program. Kernels
// get addresses, so those must be of memory that the device sees. A global that
// isn't constant stays the host's.
//
//===----------------------------------------------------------------------===//

#include "ModuleUtils.h"
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
    norm_fusion::forHostOps<memref::GetGlobalOp>(
        getOperation(), [](memref::GetGlobalOp op) {
          auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
              op, op.getNameAttr());
          if (!global || !global.getConstant())
            return;
          OpBuilder b(op->getContext());
          b.setInsertionPointAfter(op);
          Value copy = memref::AllocOp::create(b, op.getLoc(), op.getType());
          op.getResult().replaceAllUsesWith(copy);
          memref::CopyOp::create(b, op.getLoc(), op.getResult(), copy);
        });
  }
};
} // namespace
