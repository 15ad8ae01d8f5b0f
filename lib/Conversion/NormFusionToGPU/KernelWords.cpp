//===- KernelWords.cpp - Loads and stores of words ------------------------===//
//
// What LLVM's loads and stores don't say: the cache policy of a word, that
// other blocks read or write it while the kernel runs, and the tag by which a
// reader sees that it is new. Inline PTX, 32 or 64 bits a word.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;

std::string norm_fusion::listAsmOperands(unsigned first, unsigned count) {
  std::string text = "$" + std::to_string(first);
  if (count == 1)
    return text;
  for (unsigned k = 1; k < count; ++k)
    text += ", $" + std::to_string(first + k);
  return "{" + text + "}";
}

std::string norm_fusion::getVectorSuffix(unsigned count) {
  return count == 1 ? ".b32" : ".v" + std::to_string(count) + ".b32";
}

/// A pointer as another one and a number of bytes, which a load adds. (Where
/// stores do, too, bf16 LayerNorm 26821 spills 4 bytes.)
static std::pair<Value, int64_t> splitPointer(Value pointer) {
  auto gep = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!gep || !gep.getElemType().isInteger(8) ||
      !gep.getDynamicIndices().empty())
    return {pointer, 0};
  return {gep.getBase(), gep.getRawConstantIndices().front()};
}

/// "[$`operand` + `bytes`]".
static std::string getAddressText(unsigned operand, int64_t bytes) {
  std::string text = "[$" + std::to_string(operand);
  return bytes ? text + "+" + std::to_string(bytes) + "]" : text + "]";
}

/// Words, 1, 2 or a multiple of 4, by `instruction`, whose type is appended, up
/// to four at once, to global or shared memory, with the L2 cache's `policy` if
/// that isn't null.
void KernelEmitter::storeWords(StringRef instruction, Value pointer,
                               Value words, Value condition, Value policy) {
  auto type = dyn_cast<VectorType>(words.getType());
  unsigned count = type ? type.getDimSize(0) : 1;
  unsigned piece = std::min(count, 4u);
  bool isGlobal =
      cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() <= 1;
  std::string text = instruction.str();
  std::string sources = listAsmOperands(1, piece);
  std::string constraints = isGlobal ? "l" : "r";
  for (unsigned k = 0; k < piece; ++k)
    constraints += ",r";
  if (policy) {
    text += ".L2::cache_hint";
    sources += ", $" + std::to_string(1 + piece);
    constraints += ",l";
  }
  text += getVectorSuffix(piece) + " [$0], " + sources + ";";
  for (unsigned at = 0; at < count; at += piece) {
    SmallVector<Value> operands{at ? byteAddress(pointer, i64(at * 4))
                                   : pointer};
    for (unsigned k = at; k < at + piece; ++k)
      operands.push_back(type ? b.createOrFold<vector::ExtractOp>(words, k)
                              : words);
    if (policy)
      operands.push_back(policy);
    createAsmIf(b, condition, operands, text, constraints);
  }
}

/// Of stores whose lines the L2 cache evicts last.
Value KernelEmitter::createEvictLastPolicy() {
  return createAsm(b, b.getI64Type(), ValueRange(),
                   "createpolicy.fractional.L2::evict_last.b64 $0, 1.0;", "=l",
                   /*hasSideEffects=*/false);
}

/// Words of the workspace that other blocks read while this kernel runs. They
/// stay in the L2 cache for the next launch to write over: else each launch
/// would send those of the launch before to memory among its rows, and look for
/// its tags there. (H200, us: bf16 RMSNorm 8192x4096 49.6 and, kept, 48.7,
/// LayerNorm 8192x2048 27.8 and 26.7, 1917x17389 58.1 and 56.1, f32 LayerNorm
/// 384x16384 22.5 and 21.4; up to 25 MB they stay in any case. Loads with the
/// policy, too, gain nothing more.)
void KernelEmitter::storeRelaxed(Value pointer, Value words, Value condition) {
  storeWords("st.relaxed.gpu.global", pointer, words, condition,
             createEvictLastPolicy());
}

/// 1, 2 or 4 words by `instruction`, whose type is appended: a vector, if they
/// are more than one. Loads that aren't ordered may move past stores.
Value KernelEmitter::loadWords(StringRef instruction, Value pointer,
                               unsigned words, bool isOrdered) {
  std::string constraints;
  for (unsigned k = 0; k < words; ++k)
    constraints += "=r,";
  auto [base, bytes] = splitPointer(pointer);
  return createWordsAsm(base,
                        (instruction + getVectorSuffix(words) + " " +
                         listAsmOperands(0, words) + ", " +
                         getAddressText(words, bytes) + ";")
                            .str(),
                        constraints + (isOrdered ? "l,~{memory}" : "l"), words,
                        /*hasSideEffects=*/isOrdered);
}

/// Element `k` of a vector of words, or the one word that isn't in one.
Value KernelEmitter::getWord(Value words, unsigned k) {
  return isa<VectorType>(words.getType())
             ? LLVM::ExtractElementOp::create(b, words, i32(k)).getResult()
             : words;
}

/// Inline PTX whose results are `words` 32-bit registers: a vector, if they are
/// more than one.
Value KernelEmitter::createWordsAsm(ValueRange operands, StringRef text,
                                    StringRef constraints, unsigned words,
                                    bool hasSideEffects) {
  Type word = b.getI32Type();
  if (words == 1)
    return createAsm(b, word, operands, text, constraints, hasSideEffects);
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(words, word));
  Value loaded =
      createAsm(b, result, operands, text, constraints, hasSideEffects);
  Value vector = LLVM::PoisonOp::create(b, VectorType::get({words}, word));
  for (unsigned k = 0; k < words; ++k)
    vector = LLVM::InsertElementOp::create(
        b, vector, LLVM::ExtractValueOp::create(b, loaded, k), i32(k));
  return vector;
}

/// 1, 2 or 4 words that other blocks write while this kernel runs: a vector, if
/// they are more than one.
Value KernelEmitter::loadRelaxed(Value pointer, unsigned words) {
  return loadWords("ld.relaxed.gpu.global", pointer, words);
}

/// Where one of `words` (i32) differs from `word`. PTX, in which LLVM has less
/// to look at: else 50 of them take it 6% of its time.
Value KernelEmitter::createDifference(ArrayRef<Value> words, Value word) {
  SmallVector<Value> operands{word};
  llvm::append_range(operands, words);
  std::string text = "{\n.reg .b32 u;\nxor.b32 $0, $2, $1;\n";
  for (unsigned k = 1; k < words.size(); ++k)
    text += llvm::formatv("xor.b32 u, ${0}, $1;\nor.b32 $0, $0, u;\n", k + 2);
  std::string constraints = "=&r";
  for (unsigned k = 0; k < operands.size(); ++k)
    constraints += ",r";
  return createAsm(b, b.getI32Type(), operands, text + "}", constraints,
                   /*hasSideEffects=*/false);
}

/// As loadRelaxed() of `pointer` + `offset` (i64, unless it is null) where
/// `condition`, i32, isn't zero, else `words`. A predicate and no branch, so
/// that many are on their way together. (What PTX computes, LLVM doesn't take
/// the time to share.)
Value KernelEmitter::loadRelaxedIf(Value condition, Value pointer, Value offset,
                                   Value words) {
  auto type = dyn_cast<VectorType>(words.getType());
  unsigned count = type ? type.getDimSize(0) : 1;
  std::string text = llvm::formatv(
      "{{\n.reg .pred p;\n.reg .b64 a;\nsetp.ne.b32 p, ${0}, 0;\n", count);
  auto [base, bytes] = splitPointer(pointer);
  std::string address = getAddressText(count + 1, bytes);
  std::string constraints;
  SmallVector<Value> operands{condition, base};
  for (unsigned n = 0; n < count; ++n) {
    constraints += "=&r,";
    text += llvm::formatv("mov.b32 ${0}, ${1};\n", n, count + 2 + n);
    operands.push_back(getWord(words, n));
  }
  constraints += "r,l";
  for (unsigned n = 0; n < count; ++n)
    constraints += ",r";
  if (offset) {
    text += llvm::formatv("add.s64 a, ${0}, ${1};\n", count + 1,
                          operands.size() + count);
    address = bytes ? "[a+" + std::to_string(bytes) + "]" : "[a]";
    operands.push_back(offset);
    constraints += ",l";
  }
  text +=
      llvm::formatv("@p ld.relaxed.gpu.global{0} {1}, {2};\n}",
                    getVectorSuffix(count), listAsmOperands(0, count), address);
  return createWordsAsm(operands, text, constraints + ",~{memory}", count,
                        /*hasSideEffects=*/true);
}

/// 64 bits that other blocks write while this kernel runs.
Value KernelEmitter::loadRelaxed64(Value pointer) {
  return createAsm(b, b.getI64Type(), pointer,
                   "ld.relaxed.gpu.global.b64 $0, [$1];", "=l,l,~{memory}");
}

/// The low half of `word` (i64, no more than that), and `tag` (i32) above it: a
/// reader sees by the word alone whether it is new.
void KernelEmitter::storeTagged(Value pointer, Value word, Value tag) {
  word = arith::OrIOp::create(b, word,
                              arith::ShLIOp::create(b, toI64(tag), i64(32)));
  createAsm(b, TypeRange(), {pointer, word, createEvictLastPolicy()},
            "st.relaxed.gpu.global.L2::cache_hint.b64 [$0], $1, $2;",
            "l,l,l,~{memory}");
}

/// Loads words until all of them carry `tag`.
ValueRange KernelEmitter::awaitTagged(ValueRange pointers, Value tag) {
  SmallVector<Type> types(pointers.size(), b.getI64Type());
  auto poll = scf::WhileOp::create(b, types, ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(b.createBlock(&poll.getBefore()));
  SmallVector<Value> loaded;
  for (Value pointer : pointers)
    loaded.push_back(loadRelaxed64(pointer));
  Value stale = arith::ConstantIntOp::create(b, 0, 1);
  for (Value word : loaded) {
    Value found = arith::TruncIOp::create(
        b, b.getI32Type(), arith::ShRUIOp::create(b, word, i64(32)));
    stale = arith::OrIOp::create(
        b, stale,
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, found, tag));
  }
  scf::ConditionOp::create(b, stale, loaded);
  SmallVector<Location> locations(types.size(), b.getLoc());
  b.setInsertionPointToStart(
      b.createBlock(&poll.getAfter(), {}, types, locations));
  scf::YieldOp::create(b);
  return poll.getResults();
}
