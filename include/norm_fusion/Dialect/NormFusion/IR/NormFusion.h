//===- NormFusion.h - The norm_fusion dialect -------------------*- C++ -*-===//
//
// The dialect's classes, and the helpers on combiners, rounding and schedules
// that the passes share.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_DIALECT_NORMFUSION_IR_NORMFUSION_H
#define NORM_FUSION_DIALECT_NORMFUSION_IR_NORMFUSION_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

#include "norm_fusion/Dialect/NormFusion/IR/NormFusionDialect.h.inc"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionAttrs.h.inc"

#define GET_OP_CLASSES
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionOps.h.inc"

namespace mlir::norm_fusion {

/// The value that `combiner` leaves any other unchanged with, of the scalar
/// type `type`; null if the combiner doesn't fit the type. The identity of a
/// float addition is +0.0: a sum of -0.0 alone becomes +0.0.
TypedAttr getIdentity(Combiner combiner, Type type);

/// `combiner` applied to `lhs` and `rhs`: scalars, or vectors elementwise.
/// `contract` sets the contract fast-math flag of float ops.
Value createCombine(OpBuilder &builder, Location loc, Combiner combiner,
                    Value lhs, Value rhs, bool contract = false);

/// False for an op with another rounding mode than to nearest even, the only
/// one that kernels and host code have.
bool roundsToNearestEven(Operation *op);

/// The floats of one byte that kernels convert and move, and do nothing else
/// with. LLVM has no types for them.
inline bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E8M0FNUType>(type);
}

/// Rows come through a ring of slots.
inline bool isRing(Structure structure) {
  return structure == Structure::ring || structure == Structure::small;
}

/// Lanes copy rows to shared memory without a barrier, their own vectors or all
/// of a warp's rows together.
inline bool copiesByLanes(Copy copy) {
  return copy == Copy::cp_async || copy == Copy::rows;
}

/// Parses `k=v k=v` on top of `base` (null: the defaults). On failure returns
/// null and says in `error` which field is wrong and what is accepted.
ScheduleAttr parseSchedule(MLIRContext *context, StringRef text,
                           ScheduleAttr base, std::string &error);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_DIALECT_NORMFUSION_IR_NORMFUSION_H
