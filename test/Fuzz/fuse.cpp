//===- fuse.cpp - Any module through norm-fusion-fuse -----------*- C++ -*-===//
//
// A libFuzzer target. An input is a module, as text or bytecode. What parses
// and verifies must go through the pipeline: no crash, no failed pass and, since
// the pass manager verifies after each pass, no invalid IR. Remarks are printed
// too, into nothing.
//
// The parser and the upstream passes before ours are upstream's: an input that
// breaks those says nothing about us.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/InitAll.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"
#include "norm_fusion/Pipelines/Pipelines.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>

using namespace mlir;

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  func::registerInlinerExtension(registry);
  norm_fusion::registerDialects(registry);
  auto context = std::make_unique<MLIRContext>(
      registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  remark::RemarkCategories all;
  all.all = all.passed = all.missed = all.analysis = all.failed = ".*";
  if (failed(remark::enableOptimizationRemarks(
          *context, /*streamer=*/nullptr,
          std::make_unique<remark::RemarkEmittingPolicyAll>(), all,
          /*printAsEmitRemarks=*/true)))
    __builtin_trap();
  return context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Attributes and types live as long as their context.
  static std::unique_ptr<MLIRContext> context;
  static unsigned uses = 0;
  if (uses++ % 512 == 0)
    context = createContext();
  std::string message;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });

  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      StringRef(reinterpret_cast<const char *>(data), size),
      ParserConfig(context.get()));
  if (!module)
    return -1;
  PassManager pm(context.get(), ModuleOp::getOperationName());
  norm_fusion::FuseOptions options;
  norm_fusion::buildFusePipeline(pm, options);
  if (succeeded(pm.run(*module)))
    return 0;
  fprintf(stderr, "the pipeline failed: %s\n", message.c_str());
  __builtin_trap();
}
