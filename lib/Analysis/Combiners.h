//===- Combiners.h - What a reduction combines with -------------*- C++ -*-===//
//
// Reductions of linalg ops' regions, for PointOp.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_ANALYSIS_COMBINERS_H
#define NORM_FUSION_LIB_ANALYSIS_COMBINERS_H

#include "norm_fusion/Analysis/PointOp.h"

namespace mlir::norm_fusion {

/// Follows the yielded value back to the accumulator through steps of one
/// combiner; what those combine with it are the elements. False, and
/// `reduction` undefined, if there is another way or none.
bool matchReduction(Value yielded, Value accumulator,
                    PointReduction &reduction);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_ANALYSIS_COMBINERS_H
