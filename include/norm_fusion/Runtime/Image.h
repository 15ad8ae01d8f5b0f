//===- Image.h - What an image of kernels says of itself --------*- C++ -*-===//
//
// An image is the text of PTX, or a cubin. Its text is read, not asked for from
// the driver: a symbol that isn't there would be an error to tools that watch
// that.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNTIME_IMAGE_H
#define NORM_FUSION_RUNTIME_IMAGE_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::norm_fusion::runtime {

/// The parameters of `kernel`, if `image` is PTX.
std::optional<size_t> countParameters(llvm::StringRef image,
                                      llvm::StringRef kernel);

/// Whether `image` has a global variable `name`; neither a kernel of that name
/// nor a longer name counts.
bool hasGlobal(llvm::StringRef image, llvm::StringRef name);

/// Bytes of the local arrays that PTX declares itself, each as a multiple of 8:
/// what a kernel has in local memory without any register being spilled.
size_t countLocalBytes(llvm::StringRef image);

/// A function of libdevice that `image`, PTX, calls and doesn't define; empty
/// if there is none. Such an image can't be loaded.
llvm::StringRef findMissingFunction(llvm::StringRef image);

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_IMAGE_H
