//===- InitAll.cpp - Everything of norm-fusion that registers -------------===//

#include "norm_fusion/InitAll.h"

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"
#include "norm_fusion/Pipelines/Pipelines.h"
#include "norm_fusion/Target/Emulator/Target.h"

void mlir::norm_fusion::registerDialects(DialectRegistry &registry) {
  registry.insert<NormFusionDialect>();
  registerEmulatorTargetInterfaceExternalModels(registry);
}

void mlir::norm_fusion::registerPasses() {
  registerNormFusionConversionPasses();
  registerNormFusionTransformsPasses();
  registerPipelines();
}
