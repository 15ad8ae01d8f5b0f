//===- InlinePtx.h - Reading inline PTX -------------------------*- C++ -*-===//
//
// The decoder of inline PTX: its statements, and the handlers that the table of
// instructions in InlinePtx.cpp points to.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_TARGET_EMULATOR_INLINEPTX_H
#define NORM_FUSION_LIB_TARGET_EMULATOR_INLINEPTX_H

#include "Lowering.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::norm_fusion::emulator {

/// `@!p ld.global.v2.b32 {a, b}, [c+8];`
struct Statement {
  std::string label; ///< a label in front of it
  std::string guard; ///< without the @ and !
  bool negated = false;
  std::string text;   ///< for messages
  std::string opcode; ///< up to the first dot
  llvm::SmallVector<std::string> modifiers;
  llvm::SmallVector<std::string>
      operands; ///< split at top-level commas, trimmed
  bool has(llvm::StringRef modifier) const {
    return llvm::is_contained(modifiers, modifier);
  }
};

/// Splits at commas outside of brackets.
llvm::SmallVector<std::string> splitOperands(llvm::StringRef text);
/// The type that a modifier names; null if it names none.
llvm::Type *typeOf(llvm::LLVMContext &context, llvm::StringRef name);

/// Makes IR of one inline assembly call.
class Decoder {
public:
  Decoder(Lowering &lowering, llvm::CallInst *call)
      : l(lowering), builder(lowering.builder), callInst(call) {}
  llvm::Error run();

  // The handlers; false where the operands don't fit.
  bool load(const Statement &);
  bool store(const Statement &);
  bool atomic(const Statement &);
  bool fence(const Statement &);
  bool move(const Statement &);
  bool arithmetic(const Statement &);
  bool compare(const Statement &);
  bool select(const Statement &);
  bool convert(const Statement &);
  bool unaryMath(const Statement &);
  bool permute(const Statement &);
  bool barrier(const Statement &);
  bool mbarrier(const Statement &);
  bool copyAsync(const Statement &);
  bool storeAsync(const Statement &);
  bool mapAddress(const Statement &);
  bool createPolicy(const Statement &);
  bool ldmatrix(const Statement &);
  bool ignore(const Statement &) { return true; }
  bool gridDependency(const Statement &);
  bool exit(const Statement &);

private:
  struct Slot {
    llvm::AllocaInst *memory = nullptr;
    llvm::Value *value = nullptr; ///< of an input
    llvm::Type *type = nullptr;
  };

  llvm::AllocaInst *createSlot(llvm::Type *type) {
    llvm::BasicBlock &entry = callInst->getFunction()->getEntryBlock();
    llvm::IRBuilder<> b(&entry, entry.begin());
    return b.CreateAlloca(type);
  }
  Slot *find(llvm::StringRef name) {
    auto entry = slots.find(name);
    return entry == slots.end() ? nullptr : &entry->second;
  }
  /// `text` as a value of the integer type of `bits` bits.
  llvm::Value *read(llvm::StringRef text, unsigned bits);
  llvm::Value *readFloat(llvm::StringRef text, llvm::Type *type) {
    llvm::Value *bits = read(text, type->getScalarSizeInBits());
    return bits ? builder.CreateBitCast(bits, type) : nullptr;
  }
  llvm::Value *readPredicate(llvm::StringRef text, bool negated);
  bool write(llvm::StringRef text, llvm::Value *value);
  /// `[a+8]` as a pointer.
  llvm::Value *address(llvm::StringRef text);
  /// `{a, b}` or `a` as a list.
  static llvm::SmallVector<std::string> vector(llvm::StringRef text) {
    if (text.consume_front("{") && text.consume_back("}"))
      return splitOperands(text);
    return {text.str()};
  }
  llvm::Type *getType(const Statement &statement);
  AccessInfo getAccess(const Statement &statement, AccessKind kind,
                       uint64_t bytes);
  llvm::Value *call(llvm::StringRef name, llvm::Type *type,
                    llvm::ArrayRef<llvm::Value *> arguments) {
    return l.call(name, type, arguments);
  }

  Lowering &l;
  llvm::IRBuilder<> &builder;
  llvm::CallInst *callInst;
  llvm::StringMap<Slot> slots;
};

} // namespace mlir::norm_fusion::emulator

#endif // NORM_FUSION_LIB_TARGET_EMULATOR_INLINEPTX_H
