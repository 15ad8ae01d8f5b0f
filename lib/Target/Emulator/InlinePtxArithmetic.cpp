//===- InlinePtxArithmetic.cpp - Moves and arithmetic in inline PTX -------===//
//
// The handlers, of the table in InlinePtx.cpp, of instructions that touch
// registers only.
//
//===----------------------------------------------------------------------===//

#include "InlinePtx.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::emulator;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

bool Decoder::move(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || statement.operands.size() != 2)
    return false;
  unsigned bits = type->getPrimitiveSizeInBits();
  SmallVector<std::string> targets = vector(statement.operands[0]);
  SmallVector<std::string> sources = vector(statement.operands[1]);
  unsigned part = bits / sources.size();
  Value *value = ConstantInt::get(builder.getIntNTy(bits), 0);
  for (auto [i, source] : llvm::enumerate(sources)) {
    Value *element = read(source, part);
    if (!element)
      return false;
    value = builder.CreateOr(
        value, builder.CreateShl(builder.CreateZExt(element, value->getType()),
                                 uint64_t(part * i)));
  }
  part = bits / targets.size();
  for (auto [i, target] : llvm::enumerate(targets))
    if (!write(target, builder.CreateTrunc(
                           builder.CreateLShr(value, uint64_t(part * i)),
                           builder.getIntNTy(part))))
      return false;
  return true;
}

bool Decoder::arithmetic(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || statement.operands.size() < 3)
    return false;
  Value *a = readFloat(statement.operands[1], type);
  Value *b = readFloat(statement.operands[2],
                       statement.opcode == "shl" || statement.opcode == "shr"
                           ? builder.getInt32Ty()
                           : type);
  if (!a || !b)
    return false;
  bool isFloat = type->isFPOrFPVectorTy();
  bool isSigned = !isFloat && statement.modifiers.back()[0] == 's';
  StringRef opcode = statement.opcode;
  Value *value = nullptr;
  if (opcode == "add")
    value = isFloat ? builder.CreateFAdd(a, b) : builder.CreateAdd(a, b);
  else if (opcode == "sub")
    value = isFloat ? builder.CreateFSub(a, b) : builder.CreateSub(a, b);
  else if (opcode == "mul")
    value = isFloat ? builder.CreateFMul(a, b) : builder.CreateMul(a, b);
  else if (opcode == "and")
    value = builder.CreateAnd(a, b);
  else if (opcode == "or")
    value = builder.CreateOr(a, b);
  else if (opcode == "xor")
    value = builder.CreateXor(a, b);
  else if (opcode == "shl" || opcode == "shr") {
    // Shifts by the width or more give zero, or the sign.
    Value *width = builder.getInt32(type->getPrimitiveSizeInBits());
    Value *large = builder.CreateICmpUGE(b, width);
    Value *shift = builder.CreateZExtOrTrunc(
        builder.CreateSelect(large, builder.getInt32(0), b), type);
    Value *last = ConstantInt::get(type, type->getPrimitiveSizeInBits() - 1);
    value = opcode == "shl" ? builder.CreateShl(a, shift)
            : isSigned      ? builder.CreateAShr(a, shift)
                            : builder.CreateLShr(a, shift);
    value = builder.CreateSelect(large,
                                 opcode == "shr" && isSigned
                                     ? builder.CreateAShr(a, last)
                                     : ConstantInt::get(type, 0),
                                 value);
  } else if (opcode == "min" || opcode == "max") {
    bool max = opcode == "max", nan = statement.has("NaN");
    value = builder.CreateBinaryIntrinsic(
        isFloat    ? (nan ? (max ? Intrinsic::maximum : Intrinsic::minimum)
                          : (max ? Intrinsic::maxnum : Intrinsic::minnum))
        : isSigned ? (max ? Intrinsic::smax : Intrinsic::smin)
                   : (max ? Intrinsic::umax : Intrinsic::umin),
        a, b);
  } else if (opcode == "fma" && statement.operands.size() == 4) {
    Value *c = readFloat(statement.operands[3], type);
    if (c)
      value = builder.CreateIntrinsic(type, Intrinsic::fma, {a, b, c});
  }
  return value && write(statement.operands[0], value);
}

bool Decoder::compare(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || statement.operands.size() != 3)
    return false;
  Value *a = readFloat(statement.operands[1], type);
  Value *b = readFloat(statement.operands[2], type);
  if (!a || !b)
    return false;
  bool isSigned = statement.modifiers.back()[0] == 's';
  StringRef how = statement.modifiers[0];
  auto predicate =
      type->isFloatingPointTy()
          ? StringSwitch<CmpInst::Predicate>(how)
                .Case("eq", CmpInst::FCMP_OEQ)
                .Case("ne", CmpInst::FCMP_ONE)
                .Case("lt", CmpInst::FCMP_OLT)
                .Case("le", CmpInst::FCMP_OLE)
                .Case("gt", CmpInst::FCMP_OGT)
                .Case("ge", CmpInst::FCMP_OGE)
                .Default(CmpInst::BAD_FCMP_PREDICATE)
          : StringSwitch<CmpInst::Predicate>(how)
                .Case("eq", CmpInst::ICMP_EQ)
                .Case("ne", CmpInst::ICMP_NE)
                .Case("lt", isSigned ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                .Case("le", isSigned ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                .Case("gt", isSigned ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                .Case("ge", isSigned ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                .Default(CmpInst::BAD_ICMP_PREDICATE);
  if (predicate == CmpInst::BAD_FCMP_PREDICATE ||
      predicate == CmpInst::BAD_ICMP_PREDICATE)
    return false;
  return write(statement.operands[0], builder.CreateCmp(predicate, a, b));
}

bool Decoder::select(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || statement.operands.size() != 4)
    return false;
  Value *a = readFloat(statement.operands[1], type);
  Value *b = readFloat(statement.operands[2], type);
  Value *p = readPredicate(statement.operands[3], false);
  return a && b && p &&
         write(statement.operands[0], builder.CreateSelect(p, a, b));
}

bool Decoder::convert(const Statement &statement) {
  // Of cvt: f32 to a narrower float, two f32 to a pair, and back.
  if (statement.modifiers.size() < 2 || statement.operands.size() < 2)
    return false;
  LLVMContext &context = builder.getContext();
  size_t last = statement.modifiers.size() - 1;
  StringRef targetName = statement.modifiers[last - 1];
  Type *source = typeOf(context, statement.modifiers[last]);
  if (targetName == "e4m3x2" || targetName == "e5m2x2") {
    Value *high = readFloat(statement.operands[1], builder.getFloatTy());
    Value *low = statement.operands.size() == 3
                     ? readFloat(statement.operands[2], builder.getFloatTy())
                     : nullptr;
    return source && source->isFloatTy() && high && low &&
           write(statement.operands[0],
                 builder.CreateTrunc(
                     call("nf_emu_to_fp8x2", builder.getInt32Ty(),
                          {high, low, l.constant(targetName == "e5m2x2"),
                           l.constant(statement.has("relu"))}),
                     builder.getInt16Ty()));
  }
  Type *target = typeOf(context, targetName);
  if (!source || !target ||
      (!statement.has("rn") && !source->isHalfTy() && !source->isBFloatTy()))
    return false;
  if (statement.operands.size() == 3 && target->isVectorTy()) {
    Value *high = readFloat(statement.operands[1], source);
    Value *low = readFloat(statement.operands[2], source);
    if (!high || !low)
      return false;
    Type *element = target->getScalarType();
    Value *value = PoisonValue::get(target);
    value = builder.CreateInsertElement(
        value, builder.CreateFPTrunc(low, element), uint64_t(0));
    value = builder.CreateInsertElement(
        value, builder.CreateFPTrunc(high, element), uint64_t(1));
    return write(statement.operands[0], value);
  }
  if (!source->isFloatingPointTy() || !target->isFloatingPointTy())
    return false;
  Value *value = readFloat(statement.operands[1], source);
  return value &&
         write(statement.operands[0], builder.CreateFPCast(value, target));
}

bool Decoder::unaryMath(const Statement &statement) {
  Type *type = getType(statement);
  if (!type || !type->isFloatingPointTy() || statement.operands.size() != 2)
    return false;
  Value *value = readFloat(statement.operands[1], type);
  if (!value)
    return false;
  StringRef opcode = statement.opcode;
  auto one = ConstantFP::get(type, 1.0);
  auto unary = [&](Intrinsic::ID id) {
    return builder.CreateUnaryIntrinsic(id, value);
  };
  auto host = [&](const char *name) -> Value * {
    return type->isFloatTy() ? call(name, type, {value}) : nullptr;
  };
  Value *result = opcode == "rsqrt"
                      ? builder.CreateFDiv(one, unary(Intrinsic::sqrt))
                  : opcode == "rcp"  ? builder.CreateFDiv(one, value)
                  : opcode == "sqrt" ? unary(Intrinsic::sqrt)
                  : opcode == "abs"  ? unary(Intrinsic::fabs)
                  : opcode == "neg"  ? builder.CreateFNeg(value)
                  : opcode == "ex2"  ? host("exp2f")
                  : opcode == "lg2"  ? host("log2f")
                  : opcode == "tanh" ? host("tanhf")
                                     : nullptr;
  return result && write(statement.operands[0], result);
}

bool Decoder::permute(const Statement &statement) {
  if (statement.operands.size() != 4 || !statement.has("b32"))
    return false;
  Value *a = read(statement.operands[1], 32);
  Value *b = read(statement.operands[2], 32);
  Value *selector = read(statement.operands[3], 32);
  return a && b && selector &&
         write(statement.operands[0],
               call("nf_emu_prmt", builder.getInt32Ty(), {a, b, selector}));
}
