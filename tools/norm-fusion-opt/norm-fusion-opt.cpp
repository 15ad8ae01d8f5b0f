//===- norm-fusion-opt.cpp - mlir-opt with norm-fusion --------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::norm_fusion::registerNormFusionPartialAccumulate();
  mlir::norm_fusion::registerNormFusionSchedule();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::norm_fusion::NormFusionDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "norm-fusion optimizer driver\n", registry));
}
