// Somebody else's compiler: parses a module, runs the fuse pipeline in its own
// pass manager, and prints how many ops the module has then.

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/InitAll.h"
#include "norm_fusion/Pipelines/Pipelines.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::norm_fusion::registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  mlir::PassManager pm(&context);
  mlir::norm_fusion::FuseOptions options;
  mlir::norm_fusion::buildFusePipeline(pm, options);
  if (failed(pm.run(*module)))
    return 1;
  int count = 0;
  module->walk([&](mlir::norm_fusion::MixedReductionOp) { ++count; });
  llvm::outs() << "mixed reductions: " << count << "\n";
  return 0;
}
