//===- ExpandMath.cpp - Math functions without a library ------------------===//
//
// Devices have instructions for roots, roundings and the like; the exponential
// and its kin come from libdevice, which is part of the CUDA Toolkit. Here they
// are written out, in f64 whatever the type of the op is: a result of f32 is
// then all but correctly rounded, and one of f64 good to a few units in the
// last place.
//
// Two functions carry the others. exp: x = k ln 2 + r with |r| <= ln(2)/2, a
// Taylor polynomial of r, and the exponent k put in through the bits. log:
// x = 2^e m with m around 1, and the series of artanh((m-1) / (m+1)).
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>
#include <numbers>

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONEXPANDMATH
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

static constexpr double infinity = std::numeric_limits<double>::infinity();
/// ln 2 in two parts: multiples of the upper one by an exponent are exact.
static constexpr double ln2High = 0x1.62e42fefa0000p-1;
static constexpr double ln2Low = 0x1.cf79abc9e3b3ap-40;

namespace {
/// An f64 of the code that is being written: operators write ops.
struct Real {
  ImplicitLocOpBuilder *b;
  Value value;

  Real constant(double number) const {
    return {b, arith::ConstantOp::create(*b, b->getF64FloatAttr(number))};
  }
};
/// An i64 of it.
struct Bits {
  ImplicitLocOpBuilder *b;
  Value value;
};
} // namespace

#define NORM_FUSION_OPERATOR(symbol, Op)                                       \
  static Real operator symbol(Real x, Real y) {                                \
    return {x.b, arith::Op::create(*x.b, x.value, y.value)};                   \
  }                                                                            \
  [[maybe_unused]] static Real operator symbol(Real x, double y) {             \
    return x symbol x.constant(y);                                             \
  }                                                                            \
  [[maybe_unused]] static Real operator symbol(double x, Real y) {             \
    return y.constant(x) symbol y;                                             \
  }
NORM_FUSION_OPERATOR(+, AddFOp)
NORM_FUSION_OPERATOR(-, SubFOp)
NORM_FUSION_OPERATOR(*, MulFOp)
NORM_FUSION_OPERATOR(/, DivFOp)
#undef NORM_FUSION_OPERATOR

static Real fma(Real x, Real y, Real z) {
  return {x.b, math::FmaOp::create(*x.b, x.value, y.value, z.value)};
}
static Real fma(Real x, double y, Real z) { return fma(x, x.constant(y), z); }
static Real fabs(Real x) { return {x.b, math::AbsFOp::create(*x.b, x.value)}; }
static Real floor(Real x) {
  return {x.b, math::FloorOp::create(*x.b, x.value)};
}
static Real round(Real x) {
  return {x.b, math::RoundEvenOp::create(*x.b, x.value)};
}
static Real copysign(Real x, Real sign) {
  return {x.b, math::CopySignOp::create(*x.b, x.value, sign.value)};
}

using Is = arith::CmpFPredicate;
static Value compare(Real x, Is predicate, double y) {
  return arith::CmpFOp::create(*x.b, predicate, x.value, x.constant(y).value);
}
static Value isNaN(Real x) {
  return arith::CmpFOp::create(*x.b, Is::UNO, x.value, x.value);
}
static Real select(Value condition, Real yes, Real no) {
  return {yes.b,
          arith::SelectOp::create(*yes.b, condition, yes.value, no.value)};
}
static Real select(Value condition, double yes, Real no) {
  return select(condition, no.constant(yes), no);
}

static Bits bits(Real x) {
  return {x.b, arith::BitcastOp::create(*x.b, x.b->getI64Type(), x.value)};
}
static Real asReal(Bits x) {
  return {x.b, arith::BitcastOp::create(*x.b, x.b->getF64Type(), x.value)};
}
template <typename Op>
static Bits apply(Bits x, int64_t y) {
  Value operand = arith::ConstantIntOp::create(*x.b, y, 64);
  return {x.b, Op::create(*x.b, x.value, operand)};
}

//===----------------------------------------------------------------------===//
// exp
//===----------------------------------------------------------------------===//

/// (exp(r) - 1) / r for |r| <= 0.35.
static Real expSeries(Real r) {
  double factorial = 1;
  for (int n = 2; n <= 15; ++n)
    factorial *= n;
  Real sum = r.constant(1 / factorial);
  for (int n = 14; n >= 1; --n) {
    factorial /= n + 1;
    sum = fma(sum, r, r.constant(1 / factorial));
  }
  return sum;
}

/// x 2^k for an integer k from -1100 to 1100, in two steps that can't overflow
/// before the result does.
static Real scale(Real x, Real k) {
  Bits whole = {k.b, arith::FPToSIOp::create(*k.b, k.b->getI64Type(), k.value)};
  Bits half = apply<arith::ShRSIOp>(whole, 1);
  Bits rest = {k.b, arith::SubIOp::create(*k.b, whole.value, half.value)};
  auto power = [](Bits exponent) {
    return asReal(
        apply<arith::ShLIOp>(apply<arith::AddIOp>(exponent, 1023), 52));
  };
  return x * power(half) * power(rest);
}

/// `x`, or the nearest bound; NaN becomes 0, so that integers can be made of
/// it.
static Real clamp(Real x, double low, double high) {
  Real result = select(compare(x, Is::OLT, low), low, x);
  result = select(compare(x, Is::OGT, high), high, result);
  return select(isNaN(x), 0.0, result);
}

static Real exp(Real given) {
  Real x = clamp(given, -750, 710);
  Real k = round(x * std::numbers::log2e);
  Real r = fma(k, -ln2Low, fma(k, -ln2High, x));
  return select(isNaN(given), given,
                scale(fma(r, expSeries(r), r.constant(1)), k));
}

static Real exp2(Real given) {
  Real x = clamp(given, -1080, 1025);
  Real k = round(x);
  Real r = (x - k) * std::numbers::ln2;
  return select(isNaN(given), given,
                scale(fma(r, expSeries(r), r.constant(1)), k));
}

static Real expm1(Real x) {
  Value isSmall = compare(fabs(x), Is::OLT, 0.35);
  Real small = select(isSmall, x, x.constant(0));
  // x itself keeps the sign of a zero.
  Real near = select(compare(x, Is::OEQ, 0), x, small * expSeries(small));
  return select(isSmall, near, exp(x) - 1.0);
}

static Real tanh(Real x) {
  Real t = expm1(2.0 * clamp(fabs(x), 0, 20));
  return select(isNaN(x), x, copysign(t / (t + 2.0), x));
}

//===----------------------------------------------------------------------===//
// log
//===----------------------------------------------------------------------===//

/// x = 2^e m, sqrt(1/2) <= m < sqrt(2), for positive finite x; log(m).
static std::pair<Real, Real> splitLog(Real x) {
  Value isDenormal = compare(x, Is::OLT, 0x1p-1022);
  x = select(isDenormal, x * 0x1p54, x);
  // Off by the bits of sqrt(1/2), the exponent is that of the split.
  constexpr int64_t root = 0x3fe6a09e667f3bcd;
  Bits e = apply<arith::ShRSIOp>(apply<arith::SubIOp>(bits(x), root), 52);
  Bits shift = apply<arith::ShLIOp>(e, 52);
  Real m =
      asReal({x.b, arith::SubIOp::create(*x.b, bits(x).value, shift.value)});
  Real exponent = {x.b,
                   arith::SIToFPOp::create(*x.b, x.b->getF64Type(), e.value)};
  exponent = select(isDenormal, exponent - 54.0, exponent);

  Real f = m - 1.0;
  Real s = f / (f + 2.0);
  Real z = s * s;
  Real sum = x.constant(1.0 / 23);
  for (int n = 21; n >= 3; n -= 2)
    sum = fma(sum, z, x.constant(1.0 / n));
  // 2 artanh(s) = f - s (f - 2 z sum): f is exact, the rest is small.
  return {exponent, f - s * (f - 2.0 * z * sum)};
}

/// The values of a logarithm where there is nothing to compute.
static Real logLimits(Real x, Real value) {
  value = select(compare(x, Is::OEQ, infinity), infinity, value);
  value = select(compare(x, Is::OEQ, 0), -infinity, value);
  return select(compare(x, Is::ULT, 0), std::nan(""), value);
}

static Real log(Real x) {
  auto [e, m] = splitLog(x);
  return logLimits(x, fma(e, ln2High, fma(e, ln2Low, m)));
}
static Real log2(Real x) {
  auto [e, m] = splitLog(x);
  return logLimits(x, fma(m, std::numbers::log2e, e));
}
static Real log10(Real x) {
  // log10(2) in two parts, as ln 2.
  constexpr double high = 0x1.34413509e0000p-2, low = 0x1.79fef311f12b3p-38;
  auto [e, m] = splitLog(x);
  return logLimits(x, fma(e, high, fma(e, low, m * std::numbers::log10e)));
}
static Real log1p(Real x) {
  Real u = x + 1.0;
  // What the sum lost.
  Real value = log(u) + (x - (u - 1.0)) / u;
  Value isExact = arith::OrIOp::create(*x.b, compare(u, Is::OEQ, infinity),
                                       compare(u, Is::OLE, 0));
  value = select(isExact, log(u), value);
  return select(compare(fabs(x), Is::OLT, 0x1p-54), x, value);
}

//===----------------------------------------------------------------------===//
// pow and erf
//===----------------------------------------------------------------------===//

static Real pow(Real x, Real y) {
  Real size = fabs(x);
  Value isOne = compare(size, Is::OEQ, 1);
  // Without a logarithm of 0 times an infinity.
  Real value = select(isOne, 1.0, exp(y * log(size)));
  auto equal = [](Real a, Real b) -> Value {
    return arith::CmpFOp::create(*a.b, Is::OEQ, a.value, b.value);
  };
  Value isInteger = equal(floor(y), y);
  Value isEven = equal(floor(y * 0.5), y * 0.5);
  Value isNegative = compare(copysign(x.constant(1), x), Is::OLT, 0);
  auto both = [&](Value a, Value b) -> Value {
    return arith::AndIOp::create(*x.b, a, b);
  };
  auto no = [&](Value a) -> Value {
    return arith::XOrIOp::create(*x.b, a,
                                 arith::ConstantIntOp::create(*x.b, 1, 1));
  };
  value = select(both(isNegative, both(isInteger, no(isEven))), -0.0 - value,
                 value);
  Value isRoot = both(both(compare(x, Is::OLT, 0), no(isInteger)),
                      compare(size, Is::OLT, infinity));
  value = select(isRoot, std::nan(""), value);
  value = select(arith::OrIOp::create(*x.b, isNaN(x), isNaN(y)), std::nan(""),
                 value);
  value = select(compare(x, Is::OEQ, 1), 1.0, value);
  return select(compare(y, Is::OEQ, 0), 1.0, value);
}

/// 2/sqrt(pi) exp(-x^2) (x + 2/3 x^3 + ...), whose terms all have one sign: a
/// hundred of them are enough up to 6, where erf is 1 to the last place.
static Real erf(Real x) {
  constexpr int64_t terms = 100;
  ImplicitLocOpBuilder &b = *x.b;
  Real a = clamp(fabs(x), 0, 6);
  Real square = a * a;
  Real lost = fma(a, a, 0.0 - square);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  auto loop = scf::ForOp::create(
      b, constant(0), constant(terms), constant(1),
      ValueRange{a.constant(1).value},
      [&](OpBuilder &inner, Location loc, Value i, ValueRange values) {
        ImplicitLocOpBuilder body(loc, inner);
        Real sum = {&body, values.front()};
        Real n = {&body, arith::SIToFPOp::create(body, body.getF64Type(), i)};
        Real divisor = 2.0 * terms + 1.0 - 2.0 * n;
        Real twice = 2.0 * Real{&body, square.value};
        Real next = fma(sum, twice / divisor, n.constant(1));
        scf::YieldOp::create(body, next.value);
      });
  Real sum = {&b, loop.getResult(0)};
  Real value =
      2 * std::numbers::inv_sqrtpi * a * sum * exp(0.0 - square) * (1.0 - lost);
  value = select(compare(value, Is::OGT, 1), 1.0, value);
  return select(isNaN(x), x, copysign(value, x));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The intrinsic for `op`, where devices have an instruction; empty if not.
static StringRef getIntrinsic(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::AbsFOp>([](auto) { return "llvm.fabs"; })
      .Case<math::AbsIOp>([](auto) { return "llvm.abs"; })
      .Case<math::CeilOp>([](auto) { return "llvm.ceil"; })
      .Case<math::CopySignOp>([](auto) { return "llvm.copysign"; })
      .Case<math::CountLeadingZerosOp>([](auto) { return "llvm.ctlz"; })
      .Case<math::CountTrailingZerosOp>([](auto) { return "llvm.cttz"; })
      .Case<math::CtPopOp>([](auto) { return "llvm.ctpop"; })
      .Case<math::FloorOp>([](auto) { return "llvm.floor"; })
      .Case<math::FmaOp>([](auto) { return "llvm.fma"; })
      .Case<arith::MaxNumFOp>([](auto) { return "llvm.maxnum"; })
      .Case<arith::MinNumFOp>([](auto) { return "llvm.minnum"; })
      .Case<math::RoundEvenOp>([](auto) { return "llvm.roundeven"; })
      .Case<math::RoundOp>([](auto) { return "llvm.round"; })
      .Case<math::RsqrtOp, math::SqrtOp>([](auto) { return "llvm.sqrt"; })
      .Case<math::TruncOp>([](auto) { return "llvm.trunc"; })
      .Default(StringRef());
}

/// Calls it. The intrinsics' own ops won't do: upstream's lowering for GPUs
/// makes calls of libdevice of some.
static Value callIntrinsic(Operation *op, StringRef intrinsic) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  SmallVector<Value> operands(op->getOperands());
  // Whether zero, or the least integer, may give anything: no.
  if (isa<math::AbsIOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp>(
          op))
    operands.push_back(arith::ConstantIntOp::create(b, 0, 1));
  Type type = op->getResult(0).getType();
  Value result = LLVM::CallIntrinsicOp::create(
                     b, type, b.getStringAttr(intrinsic), operands)
                     .getResult(0);
  if (isa<math::RsqrtOp>(op))
    result = arith::DivFOp::create(
        b, arith::ConstantOp::create(b, b.getFloatAttr(type, 1)), result);
  return result;
}

static bool isClassification(Operation *op) {
  return isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(
      op);
}

/// Comparisons and a clamp, written with other functions. (ODS writes the clamp
/// the other way round, which takes the minimum for the maximum.)
static Value classify(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  if (auto clamp = dyn_cast<math::ClampFOp>(op))
    return arith::MinimumFOp::create(
        b, arith::MaximumFOp::create(b, clamp.getValue(), clamp.getMin()),
        clamp.getMax());
  if (!isClassification(op))
    return {};
  Value in = op->getOperand(0);
  auto from = cast<FloatType>(in.getType()), type = from;
  if (from.getWidth() < 32) {
    type = b.getF32Type();
    in = arith::ExtFOp::create(b, type, in);
  }
  auto compare = [&](Is predicate, APFloat limit) -> Value {
    bool ignored;
    limit.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &ignored);
    return arith::CmpFOp::create(
        b, predicate, math::AbsFOp::create(b, in),
        arith::ConstantOp::create(b, b.getFloatAttr(type, limit)));
  };
  auto against = [&](Is predicate) -> Value {
    return compare(predicate, APFloat::getInf(type.getFloatSemantics()));
  };
  if (isa<math::IsNaNOp>(op))
    return against(Is::UNO);
  if (isa<math::IsInfOp>(op))
    return against(Is::OEQ);
  if (isa<math::IsFiniteOp>(op))
    return against(Is::OLT);
  return arith::AndIOp::create(b,
                               compare(Is::OGE, APFloat::getSmallestNormalized(
                                                    from.getFloatSemantics())),
                               against(Is::OLT));
}

/// The sign is the exponent's parity, which a float may not hold; narrow floats
/// are widened, so that nothing is rounded in between. Null for a constant
/// exponent of f32 or f64, which others unroll.
static Value expandIntegerPower(math::FPowIOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type type = op.getType();
  bool isNarrow = type.getIntOrFloatBitWidth() < 32;
  Value base = op.getLhs(), exponent = op.getRhs(), result;
  if (isNarrow)
    base = arith::ExtFOp::create(b, b.getF32Type(), base);
  if (matchPattern(exponent, m_Constant())) {
    if (!isNarrow)
      return {};
    result = math::FPowIOp::create(b, base, exponent);
  } else {
    result = math::PowFOp::create(
        b, math::AbsFOp::create(b, base),
        arith::SIToFPOp::create(b, base.getType(), exponent));
    Value isOdd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(
            b, exponent,
            arith::ConstantOp::create(b, b.getOneAttr(exponent.getType()))),
        arith::ConstantOp::create(b, b.getZeroAttr(exponent.getType())));
    result = arith::SelectOp::create(
        b, isOdd, math::CopySignOp::create(b, result, base), result);
  }
  return isNarrow ? arith::TruncFOp::create(b, type, result) : result;
}

/// Functions in f64; null if there is no expansion.
static Value expand(Operation *op) {
  Type type = op->getResult(0).getType();
  using Unary = Real (*)(Real);
  Unary unary = llvm::TypeSwitch<Operation *, Unary>(op)
                    .Case<math::ExpOp>([](auto) -> Unary { return exp; })
                    .Case<math::Exp2Op>([](auto) -> Unary { return exp2; })
                    .Case<math::ExpM1Op>([](auto) -> Unary { return expm1; })
                    .Case<math::LogOp>([](auto) -> Unary { return log; })
                    .Case<math::Log2Op>([](auto) -> Unary { return log2; })
                    .Case<math::Log10Op>([](auto) -> Unary { return log10; })
                    .Case<math::Log1pOp>([](auto) -> Unary { return log1p; })
                    .Case<math::TanhOp>([](auto) -> Unary { return tanh; })
                    .Case<math::ErfOp>([](auto) -> Unary { return erf; })
                    .Default(nullptr);
  if (!unary && !isa<math::PowFOp>(op))
    return {};
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto operand = [&](unsigned i) -> Real {
    Value value = op->getOperand(i);
    if (type.isF32())
      value = arith::ExtFOp::create(b, b.getF64Type(), value);
    return {&b, value};
  };
  Value result =
      unary ? unary(operand(0)).value : pow(operand(0), operand(1)).value;
  if (type.isF32())
    result = arith::TruncFOp::create(b, type, result);
  return result;
}

namespace {
struct ExpandMathPass final
    : norm_fusion::impl::NormFusionExpandMathBase<ExpandMathPass> {
  using Base::Base;

  void runOnOperation() override {
    for (const std::string &name : ops)
      if (!RegisteredOperationName::lookup("math." + name, &getContext()) &&
          name != "maxnumf" && name != "minnumf") {
        getOperation()->emitError("unknown op '")
            << name
            << "', expected ops of the math dialect, maxnumf or minnumf";
        return signalPassFailure();
      }
    // Expansions use functions that have an instruction: those come last.
    replaceAll([](Operation *op) {
      auto power = dyn_cast<math::FPowIOp>(op);
      return power ? expandIntegerPower(power) : Value();
    });
    replaceAll([](Operation *op) {
      Value value = classify(op);
      return value ? value : expand(op);
    });
    replaceAll([](Operation *op) {
      StringRef intrinsic = getIntrinsic(op);
      return intrinsic.empty() ? Value() : callIntrinsic(op, intrinsic);
    });
  }

private:
  bool isChosen(Operation *op) const {
    return ops.empty() || llvm::is_contained(ops, op->getName().stripDialect());
  }

  /// Replaces each math op, maxnum and minnum on f32, f64 or integers, or any
  /// float if it is a comparison, a clamp or an integer power, by what `write`
  /// writes before it, if it does. Mixed reductions, which take neither loops
  /// nor intrinsics, keep all but those three.
  void replaceAll(llvm::function_ref<Value(Operation *)> write) {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      bool takesAny =
          isa<math::ClampFOp, math::FPowIOp>(op) || isClassification(op);
      auto isScalar = [&](Type type) {
        return type.isF32() || type.isF64() || type.isSignlessInteger() ||
               (takesAny && isa<FloatType>(type));
      };
      bool isFunction = isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
                        isa<arith::MaxNumFOp, arith::MinNumFOp>(op);
      bool mayExpand =
          takesAny ||
          !isa_and_nonnull<norm_fusion::MixedReductionOp>(op->getParentOp());
      if (isFunction && mayExpand && op->getNumResults() == 1 && isChosen(op) &&
          llvm::all_of(op->getOperandTypes(), isScalar))
        found.push_back(op);
    });
    for (Operation *op : found)
      if (Value value = write(op)) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
      }
  }
};
} // namespace
