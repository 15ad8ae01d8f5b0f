//===- ExpandFloatConversions.cpp - Narrow floats through integers --------===//
//
// Exact conversions between the narrow float types and f32 or f64, in integer
// arithmetic and one float addition, so that they run the same everywhere.
//
// Rounding a magnitude: while exponents line up, adding half of the last bit
// kept (less one if that bit is even) to the bits and shifting rounds to
// nearest even, and a carry moves the exponent as it should. Below the narrow
// type's smallest normal number, adding a power of two whose last bit has the
// weight of the narrow type's last bit makes the hardware do the same.
//
// GPUs convert two f32 to 8-bit floats with one instruction, which turns what
// is too large into the largest finite value where the IR says NaN or infinity:
// a clamp before it makes them agree.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Schedule/TargetInfo.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONEXPANDFLOATCONVERSIONS
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

/// 8-bit floats, and bf16 unless the machine has conversions for it.
static bool isNarrow(Type type, bool onGPU) {
  return norm_fusion::isFloat8(type) || (!onGPU && isa<BFloat16Type>(type));
}

/// Floats that nothing behind this pass knows.
static bool isUnknown(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32 &&
         !norm_fusion::isFloat8(type) && !type.isF16() && !type.isBF16();
}

/// The number that all elements of `value` are.
static std::optional<APFloat> getUniform(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  auto number = dyn_cast<FloatAttr>(attr);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

/// True if `value` is NaN or at most `limit` (`negative`: at least -limit), as
/// far as the ops that clamp it say.
static bool isBounded(Value value, const APFloat &limit, bool negative,
                      unsigned depth = 0) {
  if (std::optional<APFloat> number = getUniform(value)) {
    APFloat magnitude = negative ? neg(*number) : *number;
    bool ignored;
    magnitude.convert(limit.getSemantics(), APFloat::rmNearestTiesToEven,
                      &ignored);
    return magnitude.compare(limit) != APFloat::cmpGreaterThan;
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 8)
    return false;
  auto bounded = [&](Value operand) {
    return isBounded(operand, limit, negative, depth + 1);
  };
  // A bound that may be NaN bounds nothing, unless NaN is what comes of it.
  auto isNumber = [](Value operand) {
    std::optional<APFloat> number = getUniform(operand);
    return number && !number->isNaN();
  };
  bool isMin = isa<arith::MinimumFOp, arith::MinNumFOp>(op);
  if (isMin || isa<arith::MaximumFOp, arith::MaxNumFOp>(op)) {
    bool keepsNaN = isa<arith::MinimumFOp, arith::MaximumFOp>(op);
    auto bounds = [&](Value operand) {
      return bounded(operand) && (keepsNaN || isNumber(operand));
    };
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    return isMin != negative ? bounds(lhs) || bounds(rhs)
                             : bounded(lhs) && bounded(rhs);
  }
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!select)
    return false;
  if (bounded(select.getTrueValue()) && bounded(select.getFalseValue()))
    return true;
  // bound if x is beyond it, else x (or NaN, whichever way that compares).
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || compare.getLhs() != select.getFalseValue())
    return false;
  // Constants may be there twice.
  std::optional<APFloat> bound = getUniform(select.getTrueValue());
  std::optional<APFloat> compared = getUniform(compare.getRhs());
  if (compare.getRhs() != select.getTrueValue() &&
      !(bound && compared && bound->bitwiseIsEqual(*compared)))
    return false;
  using P = arith::CmpFPredicate;
  P predicate = compare.getPredicate();
  bool isBelow = predicate == P::OLT || predicate == P::OLE ||
                 predicate == P::ULT || predicate == P::ULE;
  bool isAbove = predicate == P::OGT || predicate == P::OGE ||
                 predicate == P::UGT || predicate == P::UGE;
  return (negative ? isBelow : isAbove) && isNumber(select.getTrueValue()) &&
         bounded(select.getTrueValue());
}

/// `value` without the clamps to [-limit, limit] around it that keep NaN.
static Value withoutClamps(Value value, const APFloat &limit) {
  while (Operation *op = value.getDefiningOp()) {
    bool isMin = isa<arith::MinimumFOp>(op);
    if (!isMin && !isa<arith::MaximumFOp>(op))
      break;
    auto isLimit = [&](Value operand) {
      std::optional<APFloat> number = getUniform(operand);
      return number && number->bitwiseIsEqual(isMin ? limit : neg(limit));
    };
    if (isLimit(op->getOperand(1)))
      value = op->getOperand(0);
    else if (isLimit(op->getOperand(0)))
      value = op->getOperand(1);
    else
      break;
  }
  return value;
}

/// True if chips of this name convert f32 to 8-bit floats.
static bool hasFloat8Conversions(StringRef chip) {
  unsigned number = 0;
  return chip.consume_front("sm_") && !chip.consumeInteger(10, number) &&
         number >= 89;
}

/// `like` with another element type: a scalar, or a vector of the same shape.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return vector.clone(element);
  return element;
}

Value norm_fusion::expandScaling(OpBuilder &b, Operation *op) {
  Location loc = op->getLoc();
  Value in = op->getOperand(0), scale = op->getOperand(1);
  Type type = op->getResult(0).getType();
  bool isTruncation = isa<arith::ScalingTruncFOp>(op);
  Type computed = isTruncation ? in.getType() : type;
  Type exponent = withElement(scale.getType(), b.getType<Float8E8M0FNUType>());
  if (scale.getType() != exponent)
    scale = arith::TruncFOp::create(b, loc, exponent, scale);
  if (scale.getType() != computed)
    scale = arith::ExtFOp::create(b, loc, computed, scale);
  if (!isTruncation)
    return arith::MulFOp::create(
        b, loc, arith::ExtFOp::create(b, loc, computed, in), scale);
  return arith::TruncFOp::create(b, loc, type,
                                 arith::DivFOp::create(b, loc, in, scale));
}

namespace {
/// Shorthand for the ops of an expansion at one place.
struct Emitter {
  Emitter(PatternRewriter &rewriter, Location loc, Type like)
      : rewriter(rewriter), loc(loc), like(like) {}

  Type intType(unsigned width) {
    return withElement(like, rewriter.getIntegerType(width));
  }
  Value integer(unsigned width, uint64_t value) {
    Type type = intType(width);
    APInt bits(width, value);
    TypedAttr attr = rewriter.getIntegerAttr(rewriter.getIntegerType(width),
                                             bits);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, bits);
    return arith::ConstantOp::create(rewriter, loc, attr);
  }
  Value bitcast(Value value, Type element) {
    return arith::BitcastOp::create(rewriter, loc, withElement(like, element),
                                    value);
  }
  template <typename Op> Value op(Value lhs, Value rhs) {
    return Op::create(rewriter, loc, lhs, rhs);
  }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(rewriter, loc, predicate, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(rewriter, loc, condition, yes, no);
  }
  Value extend(Value value, Type element) {
    return arith::ExtFOp::create(rewriter, loc, withElement(like, element),
                                 value);
  }
  Value truncate(Value value, Type element) {
    return arith::TruncFOp::create(rewriter, loc, withElement(like, element),
                                   value);
  }
  Value extendBits(Value value, unsigned width) {
    return arith::ExtUIOp::create(rewriter, loc, intType(width), value);
  }
  Value truncateBits(Value value, unsigned width) {
    return arith::TruncIOp::create(rewriter, loc, intType(width), value);
  }

  PatternRewriter &rewriter;
  Location loc;
  Type like;
};

/// extf from bf16 or an 8-bit float.
struct ExpandExtF final : OpRewritePattern<arith::ExtFOp> {
  ExpandExtF(MLIRContext *context, bool onGPU)
      : OpRewritePattern(context), onGPU(onGPU) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    Type to = getElementTypeOrSelf(op.getType());
    if (!isNarrow(from, onGPU) || isa<TensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not from a narrow float");
    Emitter e(rewriter, op.getLoc(), op.getType());
    Value bits = e.bitcast(op.getIn(), rewriter.getIntegerType(
                                           from.getIntOrFloatBitWidth()));
    Type f16 = rewriter.getF16Type(), f32 = rewriter.getF32Type();
    Value wide;
    Type have = f32;
    if (isa<BFloat16Type>(from)) {
      wide = e.bitcast(e.op<arith::ShLIOp>(e.extendBits(bits, 32),
                                           e.integer(32, 16)),
                       f32);
    } else if (isa<Float8E8M0FNUType>(from)) {
      // The exponent; 2^-127 is a denormal f32.
      bits = e.extendBits(bits, 32);
      Value value = e.op<arith::ShLIOp>(bits, e.integer(32, 23));
      value = e.op<arith::MaxUIOp>(value, e.integer(32, 0x00400000));
      Value isNaN =
          e.compare(arith::CmpIPredicate::eq, bits, e.integer(32, 0xff));
      value = e.select(isNaN, e.integer(32, 0x7fc00000), value);
      wide = e.bitcast(value, f32);
    } else if (isa<Float8E5M2Type>(from)) {
      // The upper byte of an f16.
      wide = e.bitcast(e.op<arith::ShLIOp>(e.extendBits(bits, 16),
                                           e.integer(16, 8)),
                       f16);
      have = f16;
    } else {
      // In place in an f32 the exponent is 120 too small.
      bits = e.extendBits(bits, 32);
      Value magnitude = e.op<arith::AndIOp>(bits, e.integer(32, 0x7f));
      Value sign = e.op<arith::ShLIOp>(
          e.op<arith::AndIOp>(bits, e.integer(32, 0x80)), e.integer(32, 24));
      Value small = e.bitcast(
          e.op<arith::ShLIOp>(magnitude, e.integer(32, 20)), f32);
      Value scale = e.bitcast(
          e.integer(32, llvm::bit_cast<uint32_t>(0x1p120f)), f32);
      Value value = e.bitcast(e.op<arith::MulFOp>(small, scale),
                              rewriter.getI32Type());
      Value isNaN = e.compare(arith::CmpIPredicate::eq, magnitude,
                              e.integer(32, 0x7f));
      value = e.select(isNaN, e.integer(32, 0x7fc00000), value);
      wide = e.bitcast(e.op<arith::OrIOp>(value, sign), f32);
    }
    if (have == f16 && isa<BFloat16Type>(to)) {
      wide = e.extend(wide, f32);
      have = f32;
    }
    if (have != to)
      wide = have.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth()
                 ? e.extend(wide, to)
                 : e.truncate(wide, to); // Exact: `to` holds all of `from`.
    rewriter.replaceOp(op, wide);
    return success();
  }

  bool onGPU;
};

/// truncf of clamped f32 to an 8-bit float, by the hardware.
struct ConvertClamped final : OpRewritePattern<arith::TruncFOp> {
  ConvertClamped(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    auto to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    if (!from.isF32() || !isa<Float8E4M3FNType, Float8E5M2Type>(to) ||
        isa<TensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not f32 to an 8-bit float");
    APFloat largest = APFloat::getLargest(to.getFloatSemantics());
    bool ignored;
    largest.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                    &ignored);
    if (!isBounded(op.getIn(), largest, /*negative=*/false) ||
        !isBounded(op.getIn(), largest, /*negative=*/true))
      return rewriter.notifyMatchFailure(op, "not clamped");
    // The instruction clamps itself.
    Value in = withoutClamps(op.getIn(), largest);

    Location loc = op.getLoc();
    auto type = dyn_cast<VectorType>(op.getType());
    int64_t count = type ? type.getNumElements() : 1;
    if (type && (type.getRank() != 1 || count % 2))
      return rewriter.notifyMatchFailure(op, "not pairs");
    auto index = [&](int64_t k) -> Value {
      return arith::ConstantIntOp::create(rewriter, loc, k, 32);
    };
    auto element = [&](int64_t k) -> Value {
      return type ? LLVM::ExtractElementOp::create(rewriter, loc, in, index(k))
                        .getResult()
                  : in;
    };
    std::string text = ("cvt.rn.satfinite." +
                        Twine(isa<Float8E5M2Type>(to) ? "e5m2x2" : "e4m3x2") +
                        ".f32 $0, $1, $2;")
                           .str();
    auto pair = [&](Value low, Value high) -> Value {
      return LLVM::InlineAsmOp::create(
                 rewriter, loc, rewriter.getI16Type(), ValueRange{high, low},
                 text, "=h,f,f", /*has_side_effects=*/false,
                 /*is_align_stack=*/false,
                 LLVM::tailcallkind::TailCallKind::None,
                 LLVM::AsmDialectAttr::get(rewriter.getContext(),
                                           LLVM::AsmDialect::AD_ATT),
                 /*operand_attrs=*/ArrayAttr())
          ->getResult(0);
    };
    Value bits;
    if (!type) {
      bits = arith::TruncIOp::create(rewriter, loc, rewriter.getI8Type(),
                                     pair(element(0), element(0)));
    } else {
      Value pairs = LLVM::PoisonOp::create(
          rewriter, loc, VectorType::get({count / 2}, rewriter.getI16Type()));
      for (int64_t k = 0; k < count; k += 2)
        pairs = LLVM::InsertElementOp::create(rewriter, loc, pairs,
                                              pair(element(k), element(k + 1)),
                                              index(k / 2));
      bits = LLVM::BitcastOp::create(rewriter, loc,
                                     type.clone(rewriter.getI8Type()), pairs);
    }
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

/// True of integers that become 8-bit floats, which f32 in between rounds no
/// other way: those of up to 24 bits are exact in it, and larger ones overflow
/// both times. (f8E8M0FNU has them.)
static bool isIntegerToFloat8(Operation *op) {
  return isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
         isa<Float8E4M3FNType, Float8E5M2Type>(
             getElementTypeOrSelf(op->getResult(0).getType()));
}

template <typename Op>
struct ExpandIntegerToFloat8 final : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isIntegerToFloat8(op))
      return rewriter.notifyMatchFailure(op, "not to an 8-bit float");
    Value wide = Op::create(rewriter, op.getLoc(),
                            withElement(op.getType(), rewriter.getF32Type()),
                            op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

/// truncf to bf16 or an 8-bit float, and from f64 to f16.
struct ExpandTruncF final : OpRewritePattern<arith::TruncFOp> {
  ExpandTruncF(MLIRContext *context, bool onGPU)
      : OpRewritePattern(context), onGPU(onGPU) {}

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType());
    auto to = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    if (isa<TensorType>(op.getType()) ||
        !(isNarrow(to, onGPU) || (!onGPU && from.isF64() && to.isF16())))
      return rewriter.notifyMatchFailure(op, "not to a narrow float");
    Emitter e(rewriter, op.getLoc(), op.getType());
    Value in = op.getIn();
    if (isNarrow(from, /*onGPU=*/false) || from.isF16()) {
      from = rewriter.getF32Type();
      in = e.extend(in, from);
    }
    if (!from.isF32() && !from.isF64())
      return rewriter.notifyMatchFailure(op, "not from f32 or f64");
    rewriter.replaceOp(op, isa<Float8E8M0FNUType>(to)
                               ? roundExponent(e, in, cast<FloatType>(from), to)
                               : round(e, in, cast<FloatType>(from), to));
    return success();
  }

private:
  bool onGPU;

  /// To a power of two: half of the way and more is rounded up, zero to the
  /// smallest one; NaN for what is too large, and below zero.
  static Value roundExponent(Emitter &e, Value in, FloatType from,
                             FloatType to) {
    unsigned width = from.getWidth();
    unsigned mantissa = from.getFPMantissaWidth() - 1;
    auto constant = [&](uint64_t value) { return e.integer(width, value); };
    Value bits = e.bitcast(in, e.rewriter.getIntegerType(width));
    Value magnitude = e.op<arith::AndIOp>(
        bits, constant(llvm::maskTrailingOnes<uint64_t>(width - 1)));
    uint64_t half = 1ull << (mantissa - 1);
    Value result = e.op<arith::ShRUIOp>(
        e.op<arith::AddIOp>(magnitude, constant(half)), constant(mantissa));
    if (from.isF64()) {
      result = e.op<arith::SubIOp>(result, constant(1023 - 127));
      result = e.op<arith::MaxSIOp>(result, constant(0));
    } else {
      // Denormals have the exponent of the smallest normal number.
      Value isUp = e.compare(arith::CmpIPredicate::uge, magnitude,
                             constant(3 * half / 2));
      Value isDenormal =
          e.compare(arith::CmpIPredicate::ult, magnitude, constant(2 * half));
      result = e.select(isDenormal, e.select(isUp, constant(1), constant(0)),
                        result);
    }
    result = e.op<arith::MinUIOp>(result, constant(255));
    Value isNegative = e.compare(arith::CmpIPredicate::ugt, bits,
                                 constant(1ull << (width - 1)));
    result = e.select(isNegative, constant(255), result);
    return e.bitcast(e.truncateBits(result, 8), to);
  }

  static Value round(Emitter &e, Value in, FloatType from, FloatType to) {
    unsigned width = from.getWidth();
    unsigned fromMantissa = from.getFPMantissaWidth() - 1;
    unsigned mantissa = to.getFPMantissaWidth() - 1;
    unsigned shift = fromMantissa - mantissa;
    unsigned toBits = to.getWidth() - 1; // without the sign
    int fromBias = (1 << (width - fromMantissa - 2)) - 1;
    int bias = (1 << (toBits - mantissa - 1)) - 1;
    bool finiteOnly = isa<Float8E4M3FNType>(to);
    uint64_t top = llvm::maskTrailingOnes<uint64_t>(toBits - mantissa)
                   << mantissa;
    uint64_t nan = finiteOnly ? llvm::maskTrailingOnes<uint64_t>(toBits)
                              : top | 1ull << (mantissa - 1);
    uint64_t infinity = llvm::maskTrailingOnes<uint64_t>(width - 1 -
                                                         fromMantissa)
                        << fromMantissa;
    auto constant = [&](uint64_t value) { return e.integer(width, value); };
    Type integer = e.rewriter.getIntegerType(width);

    Value bits = e.bitcast(in, integer);
    Value magnitude = e.op<arith::AndIOp>(
        bits, constant(llvm::maskTrailingOnes<uint64_t>(width - 1)));
    Value odd = e.op<arith::AndIOp>(
        e.op<arith::ShRUIOp>(magnitude, constant(shift)), constant(1));
    Value result = e.op<arith::AddIOp>(
        magnitude, constant(llvm::maskTrailingOnes<uint64_t>(shift - 1)));
    result = e.op<arith::ShRUIOp>(e.op<arith::AddIOp>(result, odd),
                                  constant(shift));
    if (fromBias != bias) {
      result = e.op<arith::SubIOp>(
          result, constant(static_cast<uint64_t>(fromBias - bias) << mantissa));
      int smallest = 1 - bias;
      uint64_t magic = static_cast<uint64_t>(smallest - int(mantissa) +
                                             int(fromMantissa) + fromBias)
                       << fromMantissa;
      Value sum = e.op<arith::AddFOp>(e.bitcast(magnitude, from),
                                      e.bitcast(constant(magic), from));
      Value denormal =
          e.op<arith::SubIOp>(e.bitcast(sum, integer), constant(magic));
      Value isDenormal = e.compare(
          arith::CmpIPredicate::ult, magnitude,
          constant(static_cast<uint64_t>(smallest + fromBias) << fromMantissa));
      result = e.select(isDenormal, denormal, result);
    }
    result = e.op<arith::MinUIOp>(result, constant(finiteOnly ? nan : top));
    Value isNaN = e.compare(arith::CmpIPredicate::ugt, magnitude,
                            constant(infinity));
    result = e.select(isNaN, constant(nan), result);
    Value sign = e.op<arith::ShLIOp>(
        e.op<arith::ShRUIOp>(bits, constant(width - 1)), constant(toBits));
    result = e.op<arith::OrIOp>(result, sign);
    return e.bitcast(e.truncateBits(result, to.getWidth()), to);
  }
};

/// Scaling conversions, as they are defined.
template <typename OpT>
struct ExpandScaling final : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (isa<TensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "on tensors");
    rewriter.replaceOp(op, norm_fusion::expandScaling(rewriter, op));
    return success();
  }
};

struct ExpandFloatConversionsPass final
    : norm_fusion::impl::NormFusionExpandFloatConversionsBase<
          ExpandFloatConversionsPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!chip.empty() && !norm_fusion::TargetInfo::get(chip)) {
      getOperation()->emitError("unknown chip '")
          << chip << "', expected " << norm_fusion::TargetInfo::chips;
      return signalPassFailure();
    }
    // What comes behind would round to nearest even all the same.
    WalkResult rounds =
        getOperation()->walk([](arith::ArithRoundingModeInterface op) {
          if (norm_fusion::roundsToNearestEven(op))
            return WalkResult::advance();
          op->emitError("rounding mode ")
              << arith::stringifyRoundingMode(
                     op.getRoundingModeAttr().getValue())
              << " isn't supported, expected to_nearest_even or none";
          return WalkResult::interrupt();
        });
    if (rounds.wasInterrupted())
      return signalPassFailure();
    // Kernels hold thousands of ops, and few of these, often none.
    SmallVector<Operation *> conversions;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp, arith::ScalingExtFOp,
              arith::ScalingTruncFOp>(op) ||
          isIntegerToFloat8(op))
        conversions.push_back(op);
    });
    for (Operation *op : conversions)
      for (Type type :
           {op->getOperand(0).getType(), op->getResult(0).getType()})
        if (type = getElementTypeOrSelf(type); isUnknown(type)) {
          op->emitError("conversions of ")
              << type
              << " aren't supported, expected f64, f32, f16, bf16, f8E4M3FN, "
                 "f8E5M2 or f8E8M0FNU";
          return signalPassFailure();
        }
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandIntegerToFloat8<arith::SIToFPOp>,
                 ExpandIntegerToFloat8<arith::UIToFPOp>>(&getContext());
    patterns.add<ExpandExtF, ExpandTruncF>(&getContext(), !chip.empty());
    patterns.add<ExpandScaling<arith::ScalingExtFOp>,
                 ExpandScaling<arith::ScalingTruncFOp>>(&getContext());
    if (hasFloat8Conversions(chip))
      patterns.add<ConvertClamped>(&getContext());
    // Folding would turn a constant bitcast back into what was expanded.
    if (failed(applyOpPatternsGreedily(
            conversions, std::move(patterns),
            GreedyRewriteConfig()
                .setStrictness(GreedyRewriteStrictness::ExistingAndNewOps)
                .enableFolding(false)
                .enableConstantCSE(false))))
      signalPassFailure();
  }
};
} // namespace
