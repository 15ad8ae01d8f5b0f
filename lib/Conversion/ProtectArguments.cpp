//===- ProtectArguments.cpp - Callers keep their tensors ------------------===//
//
// A tensor is a value: whoever passes one to a public function expects to find
// it unchanged. One-shot-bufferize takes arguments for writable unless told.
// What is to be materialized in an argument goes to a buffer of its own.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONPROTECTARGUMENTS
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct ProtectArgumentsPass final
    : norm_fusion::impl::NormFusionProtectArgumentsBase<ProtectArgumentsPass> {
  using Base::Base;

  void runOnOperation() override {
    StringRef writable = bufferization::BufferizationDialect::kWritableAttrName;
    auto no = BoolAttr::get(&getContext(), false);
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      if (function.isExternal() || !function.isPublic())
        continue;
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto type = dyn_cast<TensorType>(function.getArgument(i).getType());
            type && !function.getArgAttr(i, writable)) {
          function.setArgAttr(i, writable, no);
          if (auto ranked = dyn_cast<RankedTensorType>(type))
            materializeElsewhere(function.getArgument(i), ranked);
        }
    }
  }

private:
  static void materializeElsewhere(BlockArgument argument,
                                   RankedTensorType type) {
    for (OpOperand &use : llvm::make_early_inc_range(argument.getUses())) {
      auto op =
          dyn_cast<bufferization::MaterializeInDestinationOp>(use.getOwner());
      if (!op || &use != &op.getDestMutable() || op->getNumResults() == 0)
        continue;
      OpBuilder builder(op);
      use.set(tensor::EmptyOp::create(
          builder, op.getLoc(),
          tensor::getMixedSizes(builder, op.getLoc(), argument),
          type.getElementType(), type.getEncoding()));
    }
  }
};
} // namespace
