//===- Remarks.h - What remarks of these passes say -------------*- C++ -*-===//

#ifndef NORM_FUSION_LIB_TRANSFORMS_REMARKS_H
#define NORM_FUSION_LIB_TRANSFORMS_REMARKS_H

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::norm_fusion {

/// A remark `name` about what is in `op`, which is a function or in one.
inline remark::RemarkOpts getRemark(StringRef name, Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return remark::RemarkOpts::name(name)
      .category("norm-fusion")
      .function(function ? function.getName() : "");
}

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_TRANSFORMS_REMARKS_H
