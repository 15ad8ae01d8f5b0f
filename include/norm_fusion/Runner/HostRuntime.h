//===- HostRuntime.h - What compiled host code calls ------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_HOSTRUNTIME_H
#define NORM_FUSION_RUNNER_HOSTRUNTIME_H

#include "norm_fusion/Runner/Execute.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ExecutionEngine/Orc/Mangling.h"

namespace mlir::norm_fusion::runner {

/// Allocation, copies, assertions, and the device's functions, for
/// ExecutionEngine::registerSymbols.
llvm::orc::SymbolMap getRuntimeSymbols(llvm::orc::MangleAndInterner mangle);

/// Runs compiled code with `device`, `stream` and `arena` current on this
/// thread. `code` must not own anything: a failed assertion jumps out of it.
/// `capturing`: the stream records what it is given.
llvm::Error runHostCode(runtime::Device *device, runtime::StreamHandle stream,
                        Arena *arena, llvm::function_ref<void()> code,
                        bool capturing = false);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_HOSTRUNTIME_H
