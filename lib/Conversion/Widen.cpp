//===- Widen.cpp - Every float becomes f64 --------------------------------===//
//
// Makes the reference that results are compared with. The rewrite is of types
// and constants only: which ops there are, and in what order, doesn't change,
// but for conversions between float types, which have nothing left to do.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONWIDEN
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

/// `value` as a double; exact for every type of at most 64 bits.
static APFloat extend(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static DenseElementsAttr extend(DenseElementsAttr elements) {
  Type f64 = Float64Type::get(elements.getContext());
  return cast<DenseFPElementsAttr>(elements).mapValues(
      f64,
      [](const APFloat &value) { return extend(value).bitcastToAPInt(); });
}

/// True if the op sees a float as bits, or a bit pattern as a float.
static bool reinterpretsFloats(Operation *op) {
  if (!op->getName().getStringRef().ends_with("bitcast"))
    return false;
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  return llvm::any_of(op->getOperandTypes(), isFloat) ||
         llvm::any_of(op->getResultTypes(), isFloat);
}

static void addReplacements(AttrTypeReplacer &replacer, MLIRContext *context) {
  Type f64 = Float64Type::get(context);
  replacer.addReplacement(
      [=](FloatType type) -> std::optional<Type> { return f64; });
  replacer.addReplacement([=](FloatAttr attr) {
    return std::make_pair(
        Attribute(FloatAttr::get(f64, extend(attr.getValue()))),
        WalkResult::skip());
  });
  replacer.addReplacement(
      [](DenseFPElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        return std::make_pair(Attribute(extend(attr)), WalkResult::skip());
      });
  replacer.addReplacement(
      [](DenseResourceElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        AsmResourceBlob *blob = attr.getRawHandle().getBlob();
        bool isSplat;
        if (!isa<FloatType>(attr.getElementType()) || !blob ||
            !DenseElementsAttr::isValidRawBuffer(attr.getType(),
                                                 blob->getData(), isSplat))
          return std::nullopt;
        auto dense = DenseElementsAttr::getFromRawBuffer(attr.getType(),
                                                         blob->getData());
        return std::make_pair(Attribute(extend(dense)), WalkResult::skip());
      });
}

namespace {
struct WidenPass final : norm_fusion::impl::NormFusionWidenBase<WidenPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    WalkResult result = module.walk([&](Operation *op) {
      if (reinterpretsFloats(op)) {
        op->emitOpError("reads the bits of a float: there is no f64 version "
                        "of this module");
        return WalkResult::interrupt();
      }
      for (Type type : op->getResultTypes()) {
        auto floatType = dyn_cast<FloatType>(getElementTypeOrSelf(type));
        if (floatType && floatType.getWidth() > 64) {
          op->emitOpError("has a result of ")
              << type << ", expected floats of at most 64 bits";
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();

    AttrTypeReplacer replacer;
    addReplacements(replacer, &getContext());
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    module.walk([](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
        op->replaceAllUsesWith(op->getOperands());
        op->erase();
      }
    });
  }
};
} // namespace
