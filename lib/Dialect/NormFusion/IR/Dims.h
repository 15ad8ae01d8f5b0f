//===- Dims.h - Sets of a space's dimensions --------------------*- C++ -*-===//
//
// Shared by the files that implement the mixed reduction's methods.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_DIALECT_NORMFUSION_IR_DIMS_H
#define NORM_FUSION_LIB_DIALECT_NORMFUSION_IR_DIMS_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::norm_fusion {

/// The dimensions that a projected permutation's results name.
llvm::SmallBitVector getMapDims(AffineMap map);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_DIALECT_NORMFUSION_IR_DIMS_H
