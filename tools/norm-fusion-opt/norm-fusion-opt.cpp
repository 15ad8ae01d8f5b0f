//===- norm-fusion-opt.cpp - mlir-opt with norm-fusion --------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace {
struct FuseOptions : mlir::PassPipelineOptions<FuseOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("Chip"),
                           llvm::cl::init("sm_90a")};
  Option<bool> rowOnly{*this, "row-only",
                       llvm::cl::desc("Groups of row reductions alone too"),
                       llvm::cl::init(false)};
};
} // namespace

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::norm_fusion::registerNormFusionForm();
  mlir::norm_fusion::registerNormFusionToLinalg();
  mlir::PassPipelineRegistration<FuseOptions>(
      "norm-fusion-fuse", "Inline private helpers and form mixed reductions",
      [](mlir::OpPassManager &pm, const FuseOptions &options) {
        pm.addPass(mlir::createInlinerPass());
        pm.addPass(mlir::createSymbolDCEPass());
        pm.addPass(mlir::norm_fusion::createNormFusionForm(
            {options.rowOnly.getValue()}));
      });
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::norm_fusion::NormFusionDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "norm-fusion optimizer driver\n", registry));
}
