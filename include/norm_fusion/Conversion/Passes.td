//===- Passes.td - Conversions out of the norm_fusion dialect -*- tablegen -*-===//

#ifndef NORM_FUSION_CONVERSION_PASSES_TD
#define NORM_FUSION_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormFusionToGPU : Pass<"norm-fusion-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower bufferized mixed reductions to GPU kernels and launches";
  let description = [{
    Every `norm_fusion.mixed_reduction` on memrefs becomes a kernel in a
    `gpu.module` and the host code that launches it.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def NormFusionToLinalg : Pass<"norm-fusion-to-linalg"> {
  let summary = "Lower mixed reductions on tensors to linalg";
  let description = [{
    Every `norm_fusion.mixed_reduction` on tensors becomes one `linalg.generic` a
    reduction and a result, each of which recomputes the elementwise ops that it
    needs. Works before and after `norm-fusion-partial-accumulate`. Slow, simple,
    and for any target: the path for what has no kernel, and the meaning of the
    op spelled out.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // NORM_FUSION_CONVERSION_PASSES_TD
