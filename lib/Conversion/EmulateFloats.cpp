//===- EmulateFloats.cpp - Narrow floats compute in f32 -------------------===//
//
// Upstream's passes extend the operands of arithmetic on narrow floats to f32
// and round what comes out, but mark the conversions that they make `contract`:
// the next canonicalization would fold those between two ops, and with them the
// rounding that the IR asks for. What they made loses the flag here;
// conversions that had it before may be folded, as whoever wrote them says.
//
//===----------------------------------------------------------------------===//

#include "ModuleUtils.h"
#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONEMULATEFLOATS
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

/// Calls `act` for every conversion in `root` that may be contracted.
static void
forContracting(Operation *root,
               llvm::function_ref<void(arith::ArithFastMathInterface)> act) {
  root->walk([&](arith::ArithFastMathInterface op) {
    arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr();
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) && flags &&
        arith::bitEnumContainsAny(flags.getValue(),
                                  arith::FastMathFlags::contract))
      act(op);
  });
}

namespace {
struct EmulateFloatsPass final
    : norm_fusion::impl::NormFusionEmulateFloatsBase<EmulateFloatsPass> {
  using Base::Base;

  void runOnOperation() override {
    Operation *root = getOperation();
    // math-extend-to-supported-types asks every op for its dialect.
    if (failed(norm_fusion::checkRegistered(root)))
      return signalPassFailure();
    // Conversions are legal as they are: none of them is erased meanwhile.
    llvm::SmallPtrSet<Operation *, 16> given;
    forContracting(root, [&](Operation *op) { given.insert(op); });

    OpPassManager passes(root->getName());
    arith::ArithEmulateUnsupportedFloatsOptions emulate;
    emulate.sourceTypeStrs = {"bf16", "f16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"};
    emulate.targetTypeStr = "f32";
    passes.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
    math::MathExtendToSupportedTypesOptions extend;
    extend.targetTypeStr = "f32";
    passes.addPass(math::createMathExtendToSupportedTypes(extend));
    if (failed(runPipeline(passes, root)))
      return signalPassFailure();

    forContracting(root, [&](arith::ArithFastMathInterface op) {
      if (!given.contains(op))
        op->removeAttr(op.getFastMathAttrName());
    });
  }
};
} // namespace
