//===- norm-fusion-opt.cpp - mlir-opt with norm-fusion --------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"
#include "norm_fusion/Pipelines/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::norm_fusion::registerNormFusionPartialAccumulate();
  mlir::norm_fusion::registerNormFusionSchedule();
  mlir::norm_fusion::registerNormFusionAssertToCall();
  mlir::norm_fusion::registerNormFusionAttachTarget();
  mlir::norm_fusion::registerNormFusionDecomposeAggregates();
  mlir::norm_fusion::registerNormFusionExpandFloatConversions();
  mlir::norm_fusion::registerNormFusionProtectArguments();
  mlir::norm_fusion::registerNormFusionWiden();
  mlir::norm_fusion::registerPipelines();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::norm_fusion::NormFusionDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "norm-fusion optimizer driver\n", registry));
}
