//===- Passes.h - Passes on the norm_fusion dialect -------------*- C++ -*-===//

#ifndef NORM_FUSION_DIALECT_NORMFUSION_TRANSFORMS_PASSES_H
#define NORM_FUSION_DIALECT_NORMFUSION_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::arith {
class ArithDialect;
} // namespace mlir::arith
namespace mlir::math {
class MathDialect;
} // namespace mlir::math
namespace mlir::tensor {
class TensorDialect;
} // namespace mlir::tensor

namespace mlir::norm_fusion {
class NormFusionDialect;

/// Which legal groups are formed: those that are worth it, all, or none.
enum class Profit { automatic, always, never };

#define GEN_PASS_DECL
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_DIALECT_NORMFUSION_TRANSFORMS_PASSES_H
