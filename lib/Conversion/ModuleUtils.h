//===- ModuleUtils.h - What passes ask of a module --------------*- C++ -*-===//
//
// Its host code, which is all but device code; whether ops are registered; and
// what it declares of the runtime, which must be what lowered code calls.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_CONVERSION_MODULEUTILS_H
#define NORM_FUSION_LIB_CONVERSION_MODULEUTILS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::norm_fusion {

/// Calls `visit` with each `Op` of host code, in pre-order: not of kernels,
/// launches, nor the bodies of linalg ops. It may erase or replace the op.
template <typename Op>
void forHostOps(ModuleOp module, llvm::function_ref<void(Op)> visit) {
  SmallVector<Op> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp, gpu::LaunchOp, linalg::LinalgOp>(op))
      return WalkResult::skip();
    if (auto match = dyn_cast<Op>(op))
      found.push_back(match);
    return WalkResult::advance();
  });
  llvm::for_each(found, visit);
}

/// An error for the first op in `root` that isn't registered, which says that
/// it isn't, and `why` that matters.
inline LogicalResult checkRegistered(Operation *root, StringRef why = "") {
  WalkResult found =
      root->walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        if (op->isRegistered())
          return WalkResult::advance();
        return op->emitOpError("isn't registered")
               << why << "; expected ops of dialects that are";
      });
  return failure(found.wasInterrupted());
}

/// The function of the runtime that the module declares as `name`, null if it
/// doesn't. An error if that isn't a `Function`, which is printed as
/// `description`, of `type`.
template <typename Function>
FailureOr<Function> lookupRuntimeFunction(SymbolTable &symbols, StringRef name,
                                          Type type, StringRef description) {
  Operation *found = symbols.lookup(name);
  auto function = dyn_cast_or_null<Function>(found);
  if (!found || (function && function.getFunctionType() == type))
    return function;
  return found->emitOpError("has the name of a function of the runtime, '")
         << name << "'; expected another, or " << description << " of type "
         << type;
}

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_CONVERSION_MODULEUTILS_H
