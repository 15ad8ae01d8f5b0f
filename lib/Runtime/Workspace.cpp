//===- Workspace.cpp - Memory that kernels leave state in -----------------===//

#include "norm_fusion/Runtime/Workspace.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir::norm_fusion::runtime;

llvm::Expected<void *> Workspace::get(Device &device, StreamHandle stream,
                                      size_t bytes) {
  if (!blocks.empty() && size >= bytes)
    return blocks.back();
  // Twice the last one: all of them take no more than twice what is needed.
  size_t larger = llvm::alignTo(std::max<size_t>({bytes, 2 * size, 1}), 256);
  if (device.isCapturing(stream))
    return makeError(ErrorKind::other,
                     "a kernel needs a workspace of " + llvm::Twine(larger) +
                         " bytes while its stream is captured, and has " +
                         llvm::Twine(size) +
                         "; call once with these sizes before capturing");
  llvm::Expected<void *> block = device.allocate(larger, /*hostVisible=*/false);
  if (!block)
    return block;
  if (llvm::Error error = device.fill32(*block, 0, larger / 4, stream)) {
    device.deallocate(*block);
    return std::move(error);
  }
  blocks.push_back(*block);
  size = larger;
  return *block;
}

void Workspace::release(Device &device) {
  for (void *block : blocks)
    device.deallocate(block);
  blocks.clear();
  size = 0;
}
