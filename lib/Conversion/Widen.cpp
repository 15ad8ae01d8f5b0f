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

#include <complex>

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
      f64, [](const APFloat &value) { return extend(value).bitcastToAPInt(); });
}

/// True if the op sees a float as bits, or a bit pattern as a float, in a way
/// that isn't widened: but for arith.bitcast of scalars.
static bool reinterpretsFloats(Operation *op) {
  if (!op->getName().getStringRef().ends_with("bitcast") ||
      (isa<arith::BitcastOp>(op) &&
       !isa<ShapedType>(op->getResult(0).getType())))
    return false;
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  return llvm::any_of(op->getOperandTypes(), isFloat) ||
         llvm::any_of(op->getResultTypes(), isFloat);
}

/// Elements of complex floats, whose type alone would change otherwise.
static DenseElementsAttr extendComplex(DenseElementsAttr elements) {
  auto f64 = ComplexType::get(Float64Type::get(elements.getContext()));
  auto of = [](const std::complex<APFloat> &value) {
    return std::complex<APFloat>(extend(value.real()), extend(value.imag()));
  };
  SmallVector<std::complex<APFloat>> values;
  if (elements.isSplat())
    values.push_back(of(elements.getSplatValue<std::complex<APFloat>>()));
  else
    values =
        llvm::map_to_vector(elements.getValues<std::complex<APFloat>>(), of);
  return DenseElementsAttr::get(elements.getType().clone(f64),
                                ArrayRef<std::complex<APFloat>>(values));
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
      [](DenseElementsAttr attr)
          -> std::optional<std::pair<Attribute, WalkResult>> {
        auto complex = dyn_cast<ComplexType>(attr.getElementType());
        if (!complex || !isa<FloatType>(complex.getElementType()))
          return std::nullopt;
        return std::make_pair(Attribute(extendComplex(attr)),
                              WalkResult::skip());
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

    // Some conversions are no rounding that a reference should do without: a
    // power of two for a scale, and bits of a float. They see the f64 value as
    // they would the narrow one.
    struct Kept {
      Operation *op;
      Type from, to;
    };
    SmallVector<Kept> kept;
    SmallVector<Operation *> scaling;
    module.walk([&](Operation *op) {
      if (isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op))
        scaling.push_back(op);
    });
    for (Operation *op : scaling) {
      OpBuilder b(op);
      op->getResult(0).replaceAllUsesWith(norm_fusion::expandScaling(b, op));
      op->erase();
    }
    module.walk([&](Operation *op) {
      auto truncate = dyn_cast<arith::TruncFOp>(op);
      if (isa<arith::BitcastOp>(op) ||
          (truncate && isa<Float8E8M0FNUType>(truncate.getType())))
        kept.push_back(
            {op, op->getOperand(0).getType(), op->getResult(0).getType()});
    });

    AttrTypeReplacer replacer;
    addReplacements(replacer, &getContext());
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    llvm::DenseSet<Operation *> stays;
    for (const Kept &entry : kept)
      stays.insert(entry.op);
    module.walk([&](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op) && !stays.contains(op)) {
        op->replaceAllUsesWith(op->getOperands());
        op->erase();
      }
    });
    Type f64 = Float64Type::get(&getContext());
    for (const Kept &entry : kept) {
      OpBuilder b(entry.op);
      Location loc = entry.op->getLoc();
      if (isa<arith::BitcastOp>(entry.op) && isa<FloatType>(entry.from) &&
          entry.from != f64)
        entry.op->setOperand(0,
                             arith::TruncFOp::create(b, loc, entry.from,
                                                     entry.op->getOperand(0)));
      if (!isa<FloatType>(entry.to) || entry.to == f64)
        continue;
      Value result = entry.op->getResult(0);
      result.setType(entry.to);
      b.setInsertionPointAfter(entry.op);
      auto wide = arith::ExtFOp::create(b, loc, f64, result);
      result.replaceAllUsesExcept(wide, wide);
    }
  }
};
} // namespace
