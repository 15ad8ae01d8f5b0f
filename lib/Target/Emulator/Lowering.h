//===- Lowering.h - Shared parts of the emulator's lowering -----*- C++ -*-===//
//
// How the lowering of device LLVM IR creates calls of the emulator. Used by the
// table of intrinsics and by the one of inline PTX.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_TARGET_EMULATOR_LOWERING_H
#define NORM_FUSION_LIB_TARGET_EMULATOR_LOWERING_H

#include "norm_fusion/Target/Emulator/EmulatorABI.h"
#include "norm_fusion/Target/Emulator/Target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include <string>

namespace mlir::norm_fusion::emulator {

/// What a call of the emulator may do, for the optimizer.
enum class Effects {
  none,   ///< the same value in a thread, always
  access, ///< checks an access; doesn't touch memory of the kernel
  any     ///< may run other threads
};

class Lowering {
public:
  explicit Lowering(llvm::Module &module)
      : module(module), builder(module.getContext()) {}

  llvm::Value *call(llvm::StringRef name, llvm::Type *result,
                    llvm::ArrayRef<llvm::Value *> arguments,
                    Effects effects = Effects::any);
  /// `value`, a pointer of any address space or an address as an integer, as a
  /// pointer. Shared addresses of 32 bits are whole: the emulator keeps shared
  /// memory below 4 GiB.
  llvm::Value *pointer(llvm::Value *value);
  llvm::Value *readRegister(Register which);
  /// The one place that every access of a kernel passes.
  void access(llvm::Value *pointer, llvm::Value *bytes, AccessInfo info);
  void access(llvm::Value *pointer, uint64_t bytes, AccessInfo info) {
    access(pointer, builder.getInt64(bytes), info);
  }
  void fence(Ordering ordering, Scope scope);
  llvm::Value *constant(uint32_t value) { return builder.getInt32(value); }
  template <typename Enum> llvm::Value *number(Enum value) {
    return builder.getInt32(uint32_t(value));
  }

  llvm::Module &module;
  llvm::IRBuilder<> builder;
};

/// Replaces `call`, of an `llvm.nvvm.*` intrinsic. Fails with the intrinsic's
/// name if it isn't in the table.
llvm::Error lowerIntrinsic(Lowering &lowering, llvm::CallInst *call);
/// Replaces `call`, of inline assembly.
llvm::Error lowerInlineAsm(Lowering &lowering, llvm::CallInst *call);
/// The host function for libdevice's `name`; empty if there is none.
llvm::StringRef getHostMathFunction(llvm::StringRef name);

Scope getScope(llvm::LLVMContext &context, llvm::SyncScope::ID id);
Ordering getOrdering(llvm::AtomicOrdering ordering);

} // namespace mlir::norm_fusion::emulator

#endif // NORM_FUSION_LIB_TARGET_EMULATOR_LOWERING_H
