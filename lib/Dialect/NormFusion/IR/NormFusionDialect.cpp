//===- NormFusionDialect.cpp - Dialect registration and combiners ---------===//
//
// Registers the dialect's ops and attributes, and holds what a combiner means:
// its identity and the arith op that applies it.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::norm_fusion;

#include "norm_fusion/Dialect/NormFusion/IR/NormFusionDialect.cpp.inc"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionAttrs.cpp.inc"

void NormFusionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionAttrs.cpp.inc"
      >();
  // Attached by registerEmulatorTargetInterfaceExternalModels().
  declarePromisedInterface<gpu::TargetAttrInterface, EmulatorTargetAttr>();
}

/// The least value of a type, or the greatest: infinite if there are
/// infinities.
static APFloat getBound(const llvm::fltSemantics &semantics, bool least) {
  if (APFloat::semanticsHasInf(semantics))
    return APFloat::getInf(semantics, least);
  if (least && !APFloat::semanticsHasSignedRepr(semantics))
    return APFloat::getSmallest(semantics);
  return APFloat::getLargest(semantics, least);
}

TypedAttr norm_fusion::getIdentity(Combiner combiner, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floatType.getFloatSemantics();
    switch (combiner) {
    case Combiner::add:
      return FloatAttr::get(type, APFloat::getZero(semantics));
    case Combiner::mul:
      return FloatAttr::get(type, APFloat(semantics, 1));
    case Combiner::maxnum: // of NaN and x they are x
    case Combiner::minnum:
      return FloatAttr::get(type, APFloat::getNaN(semantics));
    case Combiner::maximum:
      return FloatAttr::get(type, getBound(semantics, /*least=*/true));
    case Combiner::minimum:
      return FloatAttr::get(type, getBound(semantics, /*least=*/false));
    default:
      return {};
    }
  }
  if (!type.isSignlessIntOrIndex())
    return {};
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  switch (combiner) {
  case Combiner::add:
  case Combiner::maxu:
  case Combiner::ori:
  case Combiner::xori:
    return IntegerAttr::get(type, APInt::getZero(width));
  case Combiner::mul:
    return IntegerAttr::get(type, APInt(width, 1));
  case Combiner::maxs:
    return IntegerAttr::get(type, APInt::getSignedMinValue(width));
  case Combiner::mins:
    return IntegerAttr::get(type, APInt::getSignedMaxValue(width));
  case Combiner::minu:
  case Combiner::andi:
    return IntegerAttr::get(type, APInt::getAllOnes(width));
  default:
    return {};
  }
}

bool norm_fusion::roundsToNearestEven(Operation *op) {
  auto rounds = dyn_cast<arith::ArithRoundingModeInterface>(op);
  arith::RoundingModeAttr mode =
      rounds ? rounds.getRoundingModeAttr() : arith::RoundingModeAttr();
  return !mode || mode.getValue() == arith::RoundingMode::to_nearest_even;
}

Value norm_fusion::createCombine(OpBuilder &builder, Location loc,
                                 Combiner combiner, Value lhs, Value rhs,
                                 bool contract) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(lhs.getType()));
  auto flags = contract ? arith::FastMathFlags::contract
                        : arith::FastMathFlags::none;
  switch (combiner) {
  case Combiner::add:
    if (isFloat)
      return arith::AddFOp::create(builder, loc, lhs, rhs, flags);
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case Combiner::mul:
    if (isFloat)
      return arith::MulFOp::create(builder, loc, lhs, rhs, flags);
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case Combiner::maximum:
    return arith::MaximumFOp::create(builder, loc, lhs, rhs);
  case Combiner::minimum:
    return arith::MinimumFOp::create(builder, loc, lhs, rhs);
  case Combiner::maxnum:
    return arith::MaxNumFOp::create(builder, loc, lhs, rhs);
  case Combiner::minnum:
    return arith::MinNumFOp::create(builder, loc, lhs, rhs);
  case Combiner::maxs:
    return arith::MaxSIOp::create(builder, loc, lhs, rhs);
  case Combiner::mins:
    return arith::MinSIOp::create(builder, loc, lhs, rhs);
  case Combiner::maxu:
    return arith::MaxUIOp::create(builder, loc, lhs, rhs);
  case Combiner::minu:
    return arith::MinUIOp::create(builder, loc, lhs, rhs);
  case Combiner::andi:
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  case Combiner::ori:
    return arith::OrIOp::create(builder, loc, lhs, rhs);
  case Combiner::xori:
    return arith::XOrIOp::create(builder, loc, lhs, rhs);
  }
  llvm_unreachable("unknown combiner");
}
