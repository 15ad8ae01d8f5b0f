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

/// A launch that compiled code made.
struct LaunchRecord {
  std::string name;
  runtime::KernelHandle kernel;
  runtime::LaunchConfig config;
  uint64_t workspaceBytes; ///< that was asked for since the launch before
};
/// While it lives, launches on this thread are written down.
class LaunchRecorder {
public:
  LaunchRecorder();
  ~LaunchRecorder();
  ArrayRef<LaunchRecord> getLaunches() const { return launches; }
  void add(LaunchRecord record) { launches.push_back(std::move(record)); }

private:
  std::vector<LaunchRecord> launches;
};

void recordLaunch(LaunchRecord record);

/// Time that compiled code on this thread took to find its kernels: the first
/// that it wants of an image loads it, and the driver compiles PTX.
double getKernelLookupMs();

/// Runs compiled code with `device`, `stream` and `arena` current on this
/// thread. `code` must not own anything: a failed assertion jumps out of it.
/// `capturing`: the stream records what it is given.
llvm::Error runHostCode(runtime::Device *device, runtime::StreamHandle stream,
                        Arena *arena, llvm::function_ref<void()> code,
                        bool capturing = false);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_HOSTRUNTIME_H
