//===- norm-fusion-plugin.cpp - Pass and dialect plugin -------------------===//
//
// For a foreign mlir-opt: --load-pass-plugin and --load-dialect-plugin take
// this file. Passes and pipelines run under their names in --pass-pipeline.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

static constexpr const char *kVersion = NORM_FUSION_VERSION;

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NormFusion", kVersion,
          [] { mlir::norm_fusion::registerPasses(); }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "NormFusion", kVersion,
          [](mlir::DialectRegistry *registry) {
            mlir::norm_fusion::registerDialects(*registry);
          }};
}
