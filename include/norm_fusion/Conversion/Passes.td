//===- Passes.td - Conversions out of the norm_fusion dialect -*- tablegen -*-===//

#ifndef NORM_FUSION_CONVERSION_PASSES_TD
#define NORM_FUSION_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def NormFusionToGPU : Pass<"norm-fusion-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower bufferized mixed reductions to GPU kernels and launches";
  let description = [{
    Every `norm_fusion.mixed_reduction` on memrefs becomes a kernel in a
    `gpu.module` and the host code that launches it. A warp barrier marked
    `norm_fusion.scheduling` orders no memory accesses that need it: it keeps
    loads ahead of arithmetic in the assembler's schedule.
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
    op spelled out. One on memrefs is an error, or stays with `unscheduled-only`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"unscheduledOnly", "unscheduled-only", "bool", "false",
           "Leave ops that have a schedule">];
}

def NormFusionWiden : Pass<"norm-fusion-widen", "::mlir::ModuleOp"> {
  let summary = "Widen every float type of a module to f64";
  let description = [{
    Types of values, signatures and attributes become f64, constants are
    extended exactly, conversions between float types disappear. What comes out
    computes the same function with no rounding on the way: the reference that
    `norm-fusion-runner --check` compares with. Bits of a scalar (arith.bitcast)
    stay those of its own type, rounded from f64, and an arith.truncf to
    f8E8M0FNU, a power of two for a scale, is kept; other modules that look at
    the bits of floats are refused.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def NormFusionProtectArguments
    : Pass<"norm-fusion-protect-arguments", "::mlir::ModuleOp"> {
  let summary = "Keep bufferization from writing to a caller's tensors";
  let description = [{
    Sets `bufferization.writable = false` on the tensor arguments of public
    functions that don't say otherwise: one-shot-bufferize would take them for
    buffers that it may overwrite. `bufferization.materialize_in_destination` into
    one of them gets a buffer of its own.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def NormFusionDecomposeAggregates
    : Pass<"norm-fusion-decompose-aggregates", "::mlir::ModuleOp"> {
  let summary = "Decompose linalg ops that no upstream pass lowers to loops";
  let description = [{
    `linalg.softmax` and its kin become generics, through their
    `AggregatedOpInterface`; `tensor.bitcast` becomes `arith.bitcast`, which
    `convert-elementwise-to-linalg` takes.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NormFusionEmulateFloats : Pass<"norm-fusion-emulate-floats"> {
  let summary = "Compute in f32 with narrow floats, rounded after every op";
  let description = [{
    Upstream's `arith-emulate-unsupported-floats` and
    `math-extend-to-supported-types`, for bf16, f16, f8E4M3FN, f8E5M2 and
    f8E8M0FNU. These mark the conversions that they make `contract`, so that
    others fold them, and the rounding between two ops is lost; here they have no
    flag. Conversions that were there keep theirs.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def NormFusionExpandFloatConversions
    : Pass<"norm-fusion-expand-float-conversions"> {
  let summary = "Expand conversions from and to narrow floats to integer ops";
  let description = [{
    `arith.extf` from and `arith.truncf` to bf16, f8E4M3FN, f8E5M2 and
    f8E8M0FNU, `arith.scaling_extf` and `arith.scaling_truncf`, and
    `arith.truncf` from f64 to f16, have no lowering or one that needs a library
    or an instruction that not every machine has. The expansion is exact: one
    rounding to nearest even, denormals kept, overflow to infinity, or to NaN
    where the type has no infinity, as APFloat does. What is below zero becomes
    NaN in f8E8M0FNU, which has no sign. Integers become f8E4M3FN and f8E5M2
    through f32, which holds all exactly that don't overflow.

    With `chip`, for the code of a GPU, only conversions from and to 8-bit floats
    are expanded, the others are left to the backend. The hardware's conversion
    from f32 to 8-bit floats saturates. It is taken where the operand is seen to
    be clamped to the finite range (or NaN), so that both agree, on chips that
    have it (sm_89 and later).

    Conversions of other floats narrower than 32 bits are an error.
  }];
  let options = [Option<"chip", "chip", "std::string", /*default=*/"",
                        "GPU that the code is for; empty: any machine">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

def NormFusionAssertToCall
    : Pass<"norm-fusion-assert-to-call", "::mlir::ModuleOp"> {
  let summary = "Turn cf.assert of host code into a call of the runtime";
  let description = [{
    Upstream lowers `cf.assert` to `abort`. Here a failed assertion calls
    `norm_fusion_assertion_failed(message)`, which doesn't return. Assertions in
    device code aren't touched.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

def NormFusionCopyConstants
    : Pass<"norm-fusion-copy-constants", "::mlir::ModuleOp"> {
  let summary = "Copy constants of the host to memory that a device can read";
  let description = [{
    A `memref.get_global` of host code is an address in the program's own data,
    which a GPU may not be able to read, and the emulator takes for out of
    bounds. Each of a constant becomes an allocation and a copy. Globals that
    aren't constant stay the host's: kernels can't have them.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def NormFusionAllocateOnHeap
    : Pass<"norm-fusion-allocate-on-heap", "::mlir::ModuleOp"> {
  let summary = "Take buffers of host code from its stack";
  let description = [{
    `memref.alloca` of host code becomes `memref.alloc`: a stack holds some
    megabytes, those of a loop's turns until the function's end, and no device
    sees it.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def NormFusionExpandMath : Pass<"norm-fusion-expand-math"> {
  let summary = "Expand math functions to arithmetic in f64";
  let description = [{
    Devices have instructions for roots and roundings, everything else comes from
    a library that may not be there. `exp`, `exp2`, `expm1`, `log`, `log2`, `log10`,
    `log1p`, `powf`, `tanh`, `erf` of f32 and f64 become arithmetic in f64, good to a
    few units in the last place of an f64 (`erf`: 1e-14, `powf`: 1e-13); `isnan`,
    `isinf`, `isfinite`, `isnormal` become comparisons, `clampf` a minimum of a
    maximum, `fpowi` of an exponent that isn't constant `powf` of the absolute
    value, with the sign that the exponent's parity says; what has an instruction,
    `arith.maxnumf` and `arith.minnumf` too, becomes the intrinsic of it. Other
    functions stay, and in a `norm_fusion.mixed_reduction` all but comparisons,
    clamps and integer powers.
  }];
  let options = [
    ListOption<"ops", "ops", "std::string",
               "Mnemonics of the ops to expand; without any: all">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def NormFusionPlainToGPU
    : Pass<"norm-fusion-plain-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Launch linalg ops on memrefs as simple kernels";
  let description = [{
    Every `linalg` op and copy of host code becomes a `gpu.launch` with a thread
    for each point of its parallel loops; reductions run inside a thread, and a
    long reduction to a few values is shared by many. `gpu-kernel-outlining`
    comes next. An op whose body a device has no code for stays, with a remark
    named `plain`.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def NormFusionReserveNames
    : Pass<"norm-fusion-reserve-names", "::mlir::ModuleOp"> {
  let summary = "Keep a module's names apart from those that lowered code calls";
  let description = [{
    Lowered host code calls functions of the C library (`expf` for `math.exp`), of
    the compiler's runtime (`__truncsfbf2`), and of the runtime that launches
    kernels (`norm_fusion_*`, `mgpu*`, `_mlir_*`), by name. A private function with
    a body and such a name is renamed, `own_expf`; a public one is an error, for it
    would be called in their place; `_mlir_ciface_f` only where there is an `f` that
    gets such a wrapper. An error is, too, a name with a NUL, which object files
    can't have, a module in the module, and an op that isn't registered, which
    nothing here lowers.
  }];
}

def NormFusionExpandReshapes : Pass<"norm-fusion-expand-reshapes"> {
  let summary = "Take dimensions apart into dynamic or empty ones by strides";
  let description = [{
    A `memref.expand_shape` that takes a dimension apart into several of dynamic
    size, or into some of size 0, becomes a `memref.reinterpret_cast`: upstream's
    `expand-strided-metadata` crashes on the former, and its
    `generate-runtime-verification` divides by 0 for the latter.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def NormFusionCheckShapes
    : Pass<"norm-fusion-check-shapes", "::mlir::ModuleOp"> {
  let summary = "Assert that sizes which must agree do";
  let description = [{
    Dynamic sizes of the operands of a bufferized linalg op or mixed reduction
    that one loop runs over must be the same, a `memref.cast` to a static size
    must find that size, the sizes that a `memref.expand_shape` takes a dimension
    apart into must multiply to that dimension's, and those of a `memref.reshape`
    to the number of elements. A `memref.subview` must be within its buffer, the
    sides of a `memref.copy` must be alike, and an operand that is read at sums of
    loops, a convolution's, must reach to where these end. So must a `memref.view`
    be within its bytes, a `memref.reinterpret_cast` of a buffer without strides
    within its elements, and vectors of `vector.load`, `vector.store` and transfers
    within their buffers, in dimensions that are in bounds. Sizes of what is
    allocated must not be negative, nor multiply to more bytes than an index can
    say. Nothing else checks it at run time: out of bounds, or wrong results, would follow. Sizes that are the
    same value need no assertion. Views and copies are checked as their
    `RuntimeVerifiableOpInterface` says, if its models are registered.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def NormFusionAttachTarget
    : Pass<"norm-fusion-attach-target", "::mlir::ModuleOp"> {
  let summary = "Give every gpu.module the target that serializes it";
  let description = [{
    Modules that have targets keep them. A `toolkit` that isn't a CUDA Toolkit
    is an error: serialization would take tools from elsewhere.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect",
                           "::mlir::norm_fusion::NormFusionDialect"];
  let options = [
    Option<"target", "target", "std::string", "\"nvvm\"",
           "Who runs the kernels: nvvm or emulator">,
    Option<"chip", "chip", "std::string", "\"sm_90a\"",
           "Chip to compile for">,
    Option<"toolkit", "toolkit", "std::string", "\"\"",
           "Folder of the CUDA Toolkit that will serialize; empty: found later">];
}

def NormFusionSerialize : Pass<"norm-fusion-serialize", "::mlir::ModuleOp"> {
  let summary = "gpu.modules to gpu.binary, side by side";
  let description = [{
    What `gpu-module-to-binary` does, for one gpu.module a thread of the context:
    compiling a kernel takes a tenth of a second, and most modules have several.
    How long it took isn't written down: the same module gives the same bytes.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
  let options = [
    Option<"format", "format", "std::string", "\"isa\"",
           "What kernels become: isa (PTX), bin (cubin) or fatbin">,
    Option<"toolkit", "toolkit", "std::string", "\"\"",
           "Folder of the CUDA Toolkit, for bin and fatbin">];
}

#endif // NORM_FUSION_CONVERSION_PASSES_TD
