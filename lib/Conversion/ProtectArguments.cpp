//===- ProtectArguments.cpp - Callers keep their tensors ------------------===//
//
// A tensor is a value: whoever passes one to a public function expects to find
// it unchanged. One-shot-bufferize takes arguments for writable unless told.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
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
        if (isa<TensorType>(function.getArgument(i).getType()) &&
            !function.getArgAttr(i, writable))
          function.setArgAttr(i, writable, no);
    }
  }
};
} // namespace
