//===- Npy.h - Strict reader and writer of .npy files -----------*- C++ -*-===//
//
// Little-endian, C order, exact type, exact size; anything else is refused with
// one line that says what was found and what was expected. bf16 and fp8 travel
// as their bits in unsigned integers.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNTIME_NPY_H
#define NORM_FUSION_RUNTIME_NPY_H

#include "norm_fusion/Runtime/Tensor.h"

namespace mlir::norm_fusion::runtime {

/// Reads a file that must hold `type`.
llvm::Expected<Tensor> readNpy(llvm::StringRef path, ElementType type);
/// Reads a file that may hold any of `types`; the first that fits is taken.
llvm::Expected<Tensor> readNpy(llvm::StringRef path,
                               llvm::ArrayRef<ElementType> types);
/// The same from memory; `name` is for messages.
llvm::Expected<Tensor> parseNpy(llvm::StringRef contents, llvm::StringRef name,
                                llvm::ArrayRef<ElementType> types);
/// Writes a whole file or none (OutputFile.h).
llvm::Error writeNpy(llvm::StringRef path, const Tensor &tensor);

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_NPY_H
