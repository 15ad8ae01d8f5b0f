//===- Workspace.h - Memory that kernels leave state in ---------*- C++ -*-===//

#ifndef NORM_FUSION_RUNTIME_WORKSPACE_H
#define NORM_FUSION_RUNTIME_WORKSPACE_H

#include "norm_fusion/Runtime/Device.h"

namespace mlir::norm_fusion::runtime {

/// Device memory that one kernel's launches in one stream find as the launch
/// before left it, and zeroed at first. A larger block takes the place of a
/// smaller one, which stays: a graph may have its address.
class Workspace {
public:
  /// At least `bytes` bytes. Fails while `stream` is captured if they would be
  /// new: that they be zeroed would be recorded, and not done.
  llvm::Expected<void *> get(Device &device, StreamHandle stream, size_t bytes);
  /// Frees everything; nothing of it may be in use.
  void release(Device &device);

private:
  std::vector<void *> blocks; ///< the last one is the largest
  size_t size = 0;            ///< of the last one, in bytes
};

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_WORKSPACE_H
