//===- Target.h - Compiling gpu.modules for the emulator --------*- C++ -*-===//
//
// `#norm_fusion.emulator_target` as a target of `gpu-module-to-binary`, and the
// two steps behind it: the rewriting of device LLVM IR to calls of the
// emulator, and the closed table of inline PTX that it knows.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_TARGET_EMULATOR_TARGET_H
#define NORM_FUSION_TARGET_EMULATOR_TARGET_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace llvm {
class Module;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class Operation;
} // namespace mlir

namespace mlir::norm_fusion {

/// Attaches gpu::TargetAttrInterface to `#norm_fusion.emulator_target`, and
/// registers the translations to LLVM IR that it needs.
void registerEmulatorTargetInterfaceExternalModels(DialectRegistry &registry);

namespace emulator {

/// Compiles a gpu.module in the NVVM dialect to an object file for the emulator
/// that runs on `cpu` (empty: this host). Emits an error and returns nothing
/// when the module holds something that the emulator doesn't know.
std::optional<SmallVector<char, 0>> compileModule(Operation *gpuModule,
                                                  StringRef cpu);

/// Rewrites the device code of `module` (LLVM IR as NVPTX takes it) to host
/// code that calls the emulator.
llvm::Error lowerDeviceModule(llvm::Module &module);

/// Whether the emulator knows every instruction of an inline PTX text; says
/// what it doesn't know otherwise. Constraints as LLVM writes them.
llvm::Error checkInlinePtx(StringRef text);

} // namespace emulator
} // namespace mlir::norm_fusion

#endif // NORM_FUSION_TARGET_EMULATOR_TARGET_H
