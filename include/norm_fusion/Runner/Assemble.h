//===- Assemble.h - What ptxas makes of kernels -----------------*- C++ -*-===//
//
// Registers and spilled bytes of kernels that no device has loaded, from the
// CUDA Toolkit's ptxas, if it's there.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_ASSEMBLE_H
#define NORM_FUSION_RUNNER_ASSEMBLE_H

#include "norm_fusion/Runner/Compile.h"

namespace mlir::norm_fusion::runner {

/// Notes in `compiled.kernels` the `registers` a thread and the `spill_bytes`
/// (of a thread's stack, as a driver reports them). Returns the milliseconds it
/// took; 0 where there is no ptxas, nothing was noted then, nor of a kernel
/// that it refuses, which is said on stderr: it may be older than the driver.
double assembleKernels(CompiledModule &compiled, StringRef chip);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_ASSEMBLE_H
