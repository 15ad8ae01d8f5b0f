//===- Compare.cpp - Is a result right? -----------------------------------===//
//
// The default tolerance follows from how results are made: accumulated in f32,
// in an order that isn't fixed, and rounded once to the result's type. Random
// rounding errors of a sum of n terms grow with the root of n; they are relative
// to the terms, not to the sum, so they are absolute errors of the result.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::norm_fusion::runner;
using namespace mlir::norm_fusion::runtime;

double mlir::norm_fusion::runner::getMagnitude(const Tensor &tensor) {
  double magnitude = 0;
  for (size_t i = 0; i < tensor.getNumElements(); ++i)
    if (double value = std::fabs(tensor.getFloat(i)); std::isfinite(value))
      magnitude = std::max(magnitude, value);
  return magnitude;
}

static double getError(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want)))
    return 0;
  if (!std::isfinite(got) || !std::isfinite(want))
    return std::numeric_limits<double>::infinity();
  return std::fabs(got - want);
}

Comparison mlir::norm_fusion::runner::compare(const Tensor &got,
                                              const Tensor &want,
                                              Tolerance tolerance,
                                              const Tensor *unfused) {
  Comparison result;
  result.tolerance = tolerance;
  bool integers = !isFloat(got.getElementType()) && !isFloat(want.getElementType());
  for (size_t i = 0; i < got.getNumElements(); ++i) {
    double expected = want.getFloat(i);
    // What is too large for the result's type: infinity, or NaN.
    if (ElementType type = got.getElementType();
        isFloat(type) && !std::isfinite(got.getFloat(i)))
      if (double rounded = decodeFloat(type, encodeFloat(type, expected));
          !std::isfinite(rounded))
        expected = rounded;
    double error = getError(got.getFloat(i), expected);
    if (unfused && !std::isfinite(error) &&
        getError(got.getFloat(i), unfused->getFloat(i)) == 0)
      error = 0;
    // 64-bit integers may differ by less than a double can tell.
    if (integers && error == 0 && got.getInteger(i) != want.getInteger(i))
      error = 1;
    double magnitude = std::isfinite(expected) ? std::fabs(expected) : 0;
    result.maxMagnitude = std::max(result.maxMagnitude, magnitude);
    if (std::isfinite(error))
      result.maxFiniteError = std::max(result.maxFiniteError, error);
    if (error > result.maxAbsError) {
      result.maxAbsError = error;
      result.worst = i;
    }
    if (magnitude > tolerance.atol)
      result.maxRelError = std::max(result.maxRelError, error / magnitude);
    // The bound itself may overflow: an infinite error is within none.
    if (!std::isfinite(error) ||
        error > tolerance.atol + tolerance.rtol * magnitude)
      ++result.failures;
  }
  return result;
}

Tolerance mlir::norm_fusion::runner::chooseTolerance(ElementType type,
                                                     int64_t length,
                                                     double magnitude,
                                                     bool rounded) {
  if (!isFloat(type))
    return {0, rounded ? 1.0 : 0.0};
  double accumulate = getUnitRoundoff(
      type == ElementType::f64 ? ElementType::f64 : ElementType::f32);
  double own = getUnitRoundoff(type);
  double root = std::sqrt(static_cast<double>(std::max<int64_t>(length, 1)));
  Tolerance tolerance;
  tolerance.rtol = 2 * own + 32 * accumulate;
  tolerance.atol =
      (own + 8 * accumulate * root) * magnitude + getSpacing(type, 0);
  return tolerance;
}
