//===- Inline.cpp - Calls give way to what they call ----------------------===//
//
// Upstream's inliner and removal of dead symbols, where these know all symbol
// tables: of a region of an unregistered op nobody knows what its symbols mean,
// and upstream's inliner crashes.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONINLINE
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct InlinePass final : norm_fusion::impl::NormFusionInlineBase<InlinePass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!SymbolTable::getSymbolUses(&module.getBodyRegion()))
      return;
    // No canonicalization: what the detector sees is what the front end wrote.
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(
        createInlinerPass(llvm::StringMap<OpPassManager>(), nullptr));
    pipeline.addPass(createSymbolDCEPass());
    if (failed(runPipeline(pipeline, module)))
      signalPassFailure();
  }
};
} // namespace
