//===- IntrinsicsMath.cpp - Arithmetic of kernels on the host -------------===//
//
// The arithmetic part of the table of `llvm.nvvm.*` intrinsics, and libdevice's
// functions by the names that the host has for them.
//
//===----------------------------------------------------------------------===//

#include "Intrinsics.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::emulator;

namespace {

Handler llvmIntrinsic(Intrinsic::ID id) {
  return [id](Lowering &l, CallInst *call) -> Value * {
    SmallVector<Value *> arguments(call->args());
    return l.builder.CreateIntrinsic(call->getType(), id, arguments);
  };
}
Handler host(const char *f32, const char *f64 = nullptr) {
  return [=](Lowering &l, CallInst *call) {
    SmallVector<Value *> arguments(call->args());
    bool wide = call->getType()->isDoubleTy() && f64;
    return l.call(wide ? f64 : f32, call->getType(), arguments, Effects::none);
  };
}
Handler binary(Instruction::BinaryOps opcode) {
  return [opcode](Lowering &l, CallInst *call) {
    return l.builder.CreateBinOp(opcode, arg(call, 0), arg(call, 1));
  };
}
Handler reciprocal(bool root) {
  return [root](Lowering &l, CallInst *call) {
    Value *value = arg(call, 0);
    if (root)
      value = l.builder.CreateUnaryIntrinsic(Intrinsic::sqrt, value);
    return l.builder.CreateFDiv(ConstantFP::get(value->getType(), 1.0), value);
  };
}
/// f32 to a narrower float, or two of them to a vector (first one high).
Handler convertNarrow(bool pair, bool relu) {
  return [=](Lowering &l, CallInst *call) -> Value * {
    Type *type = call->getType();
    Type *element = pair ? cast<VectorType>(type)->getElementType() : type;
    auto one = [&](Value *value) {
      if (relu)
        value = l.builder.CreateBinaryIntrinsic(
            Intrinsic::maximum, value, ConstantFP::get(value->getType(), 0.0));
      return l.builder.CreateFPTrunc(value, element);
    };
    if (!pair)
      return one(arg(call, 0));
    Value *result = PoisonValue::get(type);
    result =
        l.builder.CreateInsertElement(result, one(arg(call, 1)), uint64_t(0));
    return l.builder.CreateInsertElement(result, one(arg(call, 0)),
                                         uint64_t(1));
  };
}

} // namespace

void emulator::addMathIntrinsics(StringMap<Handler> &table) {
  for (StringRef ftz : {"", ".ftz"}) {
    // Flushing denormals is permission, not duty, in the approximate forms.
    auto add = [&](Twine name, Handler handler) {
      table[name.str()] = std::move(handler);
    };
    add("rsqrt.approx" + ftz + ".f", reciprocal(true));
    add("rsqrt.approx" + ftz + ".d", reciprocal(true));
    add("rcp.approx" + ftz + ".f", reciprocal(false));
    add("rcp.approx" + ftz + ".d", reciprocal(false));
    add("sqrt.approx" + ftz + ".f", llvmIntrinsic(Intrinsic::sqrt));
    add("ex2.approx" + ftz, host("exp2f", "exp2"));
    add("ex2.approx" + ftz + ".f", host("exp2f"));
    add("lg2.approx" + ftz + ".f", host("log2f"));
    add("sin.approx" + ftz + ".f", host("sinf"));
    add("cos.approx" + ftz + ".f", host("cosf"));
    add("div.approx" + ftz + ".f", binary(Instruction::FDiv));
    add("div.full" + ftz, binary(Instruction::FDiv));
    add("fmax" + ftz + ".f", llvmIntrinsic(Intrinsic::maxnum));
    add("fmin" + ftz + ".f", llvmIntrinsic(Intrinsic::minnum));
    add("fmax" + ftz + ".nan.f", llvmIntrinsic(Intrinsic::maximum));
    add("fmin" + ftz + ".nan.f", llvmIntrinsic(Intrinsic::minimum));
  }
  table["tanh.approx.f32"] = host("tanhf");
  table["tanh.approx"] = host("tanhf");
  table["ex2.approx.d"] = host("exp2f", "exp2");
  table["fmax.d"] = llvmIntrinsic(Intrinsic::maxnum);
  table["fmin.d"] = llvmIntrinsic(Intrinsic::minnum);
  table["sqrt.f"] = llvmIntrinsic(Intrinsic::sqrt);
  table["fabs"] = llvmIntrinsic(Intrinsic::fabs);
  for (StringRef type : {"f", "d"}) {
    table[("rcp.rn." + type).str()] = reciprocal(false);
    table[("sqrt.rn." + type).str()] = llvmIntrinsic(Intrinsic::sqrt);
    table[("fma.rn." + type).str()] = llvmIntrinsic(Intrinsic::fma);
    table[("add.rn." + type).str()] = binary(Instruction::FAdd);
    table[("mul.rn." + type).str()] = binary(Instruction::FMul);
    table[("div.rn." + type).str()] = binary(Instruction::FDiv);
  }
  for (StringRef type : {"bf16", "f16"}) {
    table[("f2" + type + ".rn").str()] = convertNarrow(false, false);
    table[("f2" + type + ".rn.relu").str()] = convertNarrow(false, true);
    table[("ff2" + type + "x2.rn").str()] = convertNarrow(true, false);
    table[("ff2" + type + "x2.rn.relu").str()] = convertNarrow(true, true);
    for (StringRef suffix : {"", "x2"}) {
      table[("fma.rn." + type + suffix).str()] = llvmIntrinsic(Intrinsic::fma);
      table[("fmax." + type + suffix).str()] = llvmIntrinsic(Intrinsic::maxnum);
      table[("fmin." + type + suffix).str()] = llvmIntrinsic(Intrinsic::minnum);
      table[("fmax.nan." + type + suffix).str()] =
          llvmIntrinsic(Intrinsic::maximum);
      table[("fmin.nan." + type + suffix).str()] =
          llvmIntrinsic(Intrinsic::minimum);
    }
  }
  table["prmt"] = plain("nf_emu_prmt");
  // e4m3 and e5m2, saturating as PTX does; two values in an i16.
  for (StringRef type : {"e4m3x2", "e5m2x2"})
    for (StringRef relu : {"", ".relu"})
      table[("ff.to." + type + ".rn" + relu).str()] =
          [wide = type == "e5m2x2", clamp = !relu.empty()](Lowering &l,
                                                           CallInst *call) {
            Value *bits = l.call("nf_emu_to_fp8x2", i32(l),
                                 {arg(call, 0), arg(call, 1), l.constant(wide),
                                  l.constant(clamp)},
                                 Effects::none);
            return l.builder.CreateTrunc(bits, call->getType());
          };
}

StringRef emulator::getHostMathFunction(StringRef name) {
  if (name == "__assertfail")
    return "nf_emu_assertfail";
  if (!name.consume_front("__nv_"))
    return {};
  name.consume_front("fast_");
  // Those that C spells as libdevice does, with and without f.
  static const StringSet<> same = [] {
    StringSet<> set;
    for (const char *function :
         {"exp",       "exp2",   "expm1",  "log",       "log2",  "log10",
          "log1p",     "sin",    "cos",    "tan",       "asin",  "acos",
          "atan",      "atan2",  "sinh",   "cosh",      "tanh",  "asinh",
          "acosh",     "atanh",  "pow",    "sqrt",      "cbrt",  "erf",
          "erfc",      "floor",  "ceil",   "trunc",     "round", "rint",
          "nearbyint", "fabs",   "fmin",   "fmax",      "fmod",  "fma",
          "copysign",  "tgamma", "lgamma", "remainder", "hypot", "fdim",
          "logb"}) {
      set.insert(function);
      set.insert(std::string(function) + "f");
    }
    return set;
  }();
  if (auto entry = same.find(name); entry != same.end())
    return entry->getKey();
  return StringSwitch<StringRef>(name)
      .Case("exp10f", "nf_emu_exp10f")
      .Case("exp10", "nf_emu_exp10")
      .Case("rsqrtf", "nf_emu_rsqrtf")
      .Case("rsqrt", "nf_emu_rsqrt")
      .Case("powif", "nf_emu_powif")
      .Case("powi", "nf_emu_powi")
      .Case("abs", "nf_emu_abs")
      .Case("llabs", "nf_emu_llabs")
      .Case("isnanf", "nf_emu_isnanf")
      .Case("isnand", "nf_emu_isnand")
      .Case("isinff", "nf_emu_isinff")
      .Case("isinfd", "nf_emu_isinfd")
      .Case("finitef", "nf_emu_finitef")
      .Case("isfinited", "nf_emu_isfinited")
      .Default({});
}
