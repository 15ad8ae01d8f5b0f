//===- Passes.h - Conversions out of the norm_fusion dialect ----*- C++ -*-===//

#ifndef NORM_FUSION_CONVERSION_PASSES_H
#define NORM_FUSION_CONVERSION_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::norm_fusion {

#define GEN_PASS_DECL
#include "norm_fusion/Conversion/Passes.h.inc"

/// What an arith.scaling_extf or scaling_truncf is defined as, before `op`.
Value expandScaling(OpBuilder &builder, Operation *op);

/// What the kernels' names of a function begin with: its name, with an
/// underscore for each byte that isn't one of a PTX identifier (PTX ISA,
/// "Identifiers").
std::string getKernelPrefix(llvm::StringRef function);

/// How the gpu.modules of norm-fusion-plain-to-gpu's kernels are called.
inline constexpr llvm::StringLiteral plainKernelModulePrefix =
    "norm_fusion_plain_kernels";

#define GEN_PASS_REGISTRATION
#include "norm_fusion/Conversion/Passes.h.inc"

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_CONVERSION_PASSES_H
