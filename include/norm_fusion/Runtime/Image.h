//===- Image.h - What an image of kernels says of itself --------*- C++ -*-===//
//
// An image is the text of PTX, a cubin, or a fatbin that holds PTX as text. It
// is read, not asked for from the driver: a symbol that isn't there would be an
// error to tools that watch that.
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

/// Bytes of the local arrays that `kernel` declares in PTX, each as a multiple
/// of 8: at most what it has in local memory without a register being spilled.
size_t countLocalBytes(llvm::StringRef image, llvm::StringRef kernel);

/// A function of libdevice that `image`, PTX, calls and doesn't define; empty
/// if there is none. Such an image can't be loaded.
llvm::StringRef findMissingFunction(llvm::StringRef image);

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_IMAGE_H
