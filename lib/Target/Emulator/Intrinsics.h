//===- Intrinsics.h - Parts of the table of intrinsics ----------*- C++ -*-===//
//
// What the files that fill the table share: the handler of an intrinsic, and
// the smallest of them.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_TARGET_EMULATOR_INTRINSICS_H
#define NORM_FUSION_LIB_TARGET_EMULATOR_INTRINSICS_H

#include "Lowering.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace mlir::norm_fusion::emulator {

/// Gives the value that replaces the call, or null for a call without one.
using Handler = std::function<llvm::Value *(Lowering &, llvm::CallInst *)>;

inline llvm::Type *i32(Lowering &l) { return l.builder.getInt32Ty(); }
inline llvm::Type *i64(Lowering &l) { return l.builder.getInt64Ty(); }
inline llvm::Type *none(Lowering &l) { return l.builder.getVoidTy(); }
inline llvm::Value *arg(llvm::CallInst *call, unsigned i) {
  return call->getArgOperand(i);
}

/// The bits of an f32, or an integer of any width, as i32; and back.
llvm::Value *toI32(Lowering &l, llvm::Value *value);
llvm::Value *fromI32(Lowering &l, llvm::Value *value, llvm::Type *type);

/// Calls `name` with the intrinsic's own arguments; i1 becomes i32.
Handler plain(const char *name);

/// Arithmetic: what needs nothing of the machine.
void addMathIntrinsics(llvm::StringMap<Handler> &table);

} // namespace mlir::norm_fusion::emulator

#endif // NORM_FUSION_LIB_TARGET_EMULATOR_INTRINSICS_H
