//===- Compare.h - Is a result right? ---------------------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_COMPARE_H
#define NORM_FUSION_RUNNER_COMPARE_H

#include "norm_fusion/Runtime/Tensor.h"

namespace mlir::norm_fusion::runner {

/// `|got - want| <= atol + rtol * |want|` for every element.
struct Tolerance {
  double rtol = 0, atol = 0;
};

struct Comparison {
  double maxAbsError = 0;
  double maxFiniteError = 0; ///< of elements that aren't infinitely wrong
  /// Largest error over magnitude, where the magnitude is above the absolute
  /// tolerance.
  double maxRelError = 0;
  double maxMagnitude = 0; ///< of what was expected; infinities don't count
  size_t failures = 0;
  size_t worst = 0; ///< first element with the largest error
  Tolerance tolerance;
  bool passed() const { return failures == 0; }
};

/// Shapes must be equal. NaN equals NaN, an infinity itself; any other element
/// that isn't finite is infinitely wrong, unless `unfused`, which isn't null
/// where the module was run so in its own types, has the same there.
Comparison compare(const runtime::Tensor &got, const runtime::Tensor &want,
                   Tolerance tolerance,
                   const runtime::Tensor *unfused = nullptr);

/// What a result of `type` may be off after sums of `length` terms in f32 (f64
/// where `type` is f64), against values of largest magnitude `magnitude`.
/// `rounded`: integers come from rounding a float.
Tolerance chooseTolerance(runtime::ElementType type, int64_t length,
                          double magnitude, bool rounded);

/// Largest finite magnitude.
double getMagnitude(const runtime::Tensor &tensor);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_COMPARE_H
