//===- Bundle.h - Compiled kernels in a folder ------------------*- C++ -*-===//
//
// A bundle is manifest.json and the kernels' images. The manifest says all that
// a launch needs, as formulas of sizes, so that a program with nothing but the
// driver can run it.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_BUNDLE_H
#define NORM_FUSION_RUNNER_BUNDLE_H

#include "norm_fusion/Runner/Compile.h"
#include "norm_fusion/Runtime/Device.h"

namespace mlir::norm_fusion::runner {

class Program;

bool isBundle(StringRef path);

/// True for the name of a file that writeBundle() may write or remove.
bool isBundleFile(StringRef name);

/// The files that the manifest in `folder` names, which may have changed since,
/// with their hashes; none where there is no manifest.
llvm::StringMap<std::string> getBundleFiles(StringRef folder);

/// Exit code 2 where a bundle's manifest would replace another file.
llvm::Error checkBundleFolder(StringRef folder);

/// Writes a bundle of what compileKernels() left. Exit code 3 where host code
/// does more than allocate and launch, 2 where an image would replace a file
/// that is no bundle's.
llvm::Error writeBundle(StringRef folder, CompiledModule &compiled,
                        const Signature &signature,
                        const CompileOptions &options, StringRef source);

/// A bundle that was read and checked, not yet on a device.
struct Bundle {
  llvm::json::Object manifest;
  Signature signature;
  unsigned fused = 0;
  std::string chip;
  bool emulator = false;
  llvm::StringMap<std::string> images; ///< by file name
};
llvm::Expected<Bundle> readBundle(StringRef folder);

llvm::Expected<std::unique_ptr<Program>> loadBundle(const Bundle &bundle,
                                                    runtime::Device &device);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_BUNDLE_H
