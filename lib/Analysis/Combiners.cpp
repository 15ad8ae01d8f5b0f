//===- Combiners.cpp - What a reduction combines with ---------------------===//
//
// The combiner of a reduction, recognised by the dataflow from the accumulator
// to the yield: its ops, fused multiply-adds, differences, selects that are
// maxima or minima, and steps that are computed in f32 and rounded.
//
//===----------------------------------------------------------------------===//

#include "Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <array>

using namespace mlir;
using namespace mlir::norm_fusion;

static std::optional<Combiner> getCombiner(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<Combiner>>(op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Combiner::add; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Combiner::mul; })
      .Case<arith::MaximumFOp>([](auto) { return Combiner::maximum; })
      .Case<arith::MinimumFOp>([](auto) { return Combiner::minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return Combiner::maxnum; })
      .Case<arith::MinNumFOp>([](auto) { return Combiner::minnum; })
      .Case<arith::MaxSIOp>([](auto) { return Combiner::maxs; })
      .Case<arith::MinSIOp>([](auto) { return Combiner::mins; })
      .Case<arith::MaxUIOp>([](auto) { return Combiner::maxu; })
      .Case<arith::MinUIOp>([](auto) { return Combiner::minu; })
      .Case<arith::AndIOp>([](auto) { return Combiner::andi; })
      .Case<arith::OrIOp>([](auto) { return Combiner::ori; })
      .Case<arith::XOrIOp>([](auto) { return Combiner::xori; })
      .Default(std::nullopt);
}

/// The combiner that `select(cmp(a, b), a, b)` is, if it is one exactly: any
/// comparison of integers; of floats only without NaNs, since the select keeps
/// or drops one by its position.
static std::optional<Combiner> getSelectCombiner(arith::SelectOp select) {
  Operation *cmp = select.getCondition().getDefiningOp();
  if (!cmp || cmp->getNumOperands() != 2)
    return std::nullopt;
  Value a = cmp->getOperand(0), b = cmp->getOperand(1);
  bool straight = select.getTrueValue() == a && select.getFalseValue() == b;
  bool swapped = select.getTrueValue() == b && select.getFalseValue() == a;
  if (!straight && !swapped)
    return std::nullopt;
  auto pick = [&](bool greater, Combiner max, Combiner min) {
    return greater == straight ? max : min;
  };
  if (auto cmpi = dyn_cast<arith::CmpIOp>(cmp)) {
    using P = arith::CmpIPredicate;
    P p = cmpi.getPredicate();
    if (p == P::sgt || p == P::sge || p == P::slt || p == P::sle)
      return pick(p == P::sgt || p == P::sge, Combiner::maxs, Combiner::mins);
    if (p == P::ugt || p == P::uge || p == P::ult || p == P::ule)
      return pick(p == P::ugt || p == P::uge, Combiner::maxu, Combiner::minu);
    return std::nullopt;
  }
  auto cmpf = dyn_cast<arith::CmpFOp>(cmp);
  if (!cmpf ||
      !bitEnumContainsAll(cmpf.getFastmath(), arith::FastMathFlags::nnan |
                                                  arith::FastMathFlags::nsz))
    return std::nullopt;
  using P = arith::CmpFPredicate;
  P p = cmpf.getPredicate();
  if (p == P::OGT || p == P::OGE || p == P::UGT || p == P::UGE)
    return pick(true, Combiner::maximum, Combiner::minimum);
  if (p == P::OLT || p == P::OLE || p == P::ULT || p == P::ULE)
    return pick(false, Combiner::maximum, Combiner::minimum);
  return std::nullopt;
}

namespace {
/// What makes a value of two others, or (`rhs` is null) adds a product to one.
/// A difference is a sum with the negative of `rhs`.
struct CombinerStep {
  Combiner combiner;
  Value lhs, rhs;
  std::array<Value, 2> product = {};
  bool negated = false;
};
} // namespace

/// A combiner that is computed in f32 and rounded to bf16 or f16 is one of that
/// type (upstream's arith-emulate-unsupported-floats writes it so). Of values
/// that the type has, too: f32 has more than twice as many bits, so that
/// rounding twice doesn't differ. Others are combined as they are: folding has
/// taken their conversions away.
static std::optional<CombinerStep> getStep(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto fma = dyn_cast_or_null<math::FmaOp>(op))
    return CombinerStep{Combiner::add,
                        unboxScalar(fma.getC()),
                        Value(),
                        {fma.getA(), fma.getB()}};
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (std::optional<Combiner> combiner = getSelectCombiner(select))
      return CombinerStep{*combiner, unboxScalar(select.getTrueValue()),
                          unboxScalar(select.getFalseValue())};
    return std::nullopt;
  }
  if (auto narrow = dyn_cast_or_null<arith::TruncFOp>(op)) {
    std::optional<CombinerStep> step = getStep(narrow.getIn());
    if (!step || !roundsToNearestEven(op) ||
        !narrow.getIn().getType().isF32() ||
        !(narrow.getType().isBF16() || narrow.getType().isF16()))
      return std::nullopt;
    for (Value *side : {&step->lhs, &step->rhs})
      if (auto wide = *side ? side->getDefiningOp<arith::ExtFOp>() : nullptr;
          wide && wide.getIn().getType() == narrow.getType())
        *side = unboxScalar(wide.getIn());
    return step;
  }
  bool negated = isa_and_nonnull<arith::SubFOp>(op);
  std::optional<Combiner> combiner = negated ? Combiner::add
                                     : op    ? getCombiner(op)
                                             : std::nullopt;
  if (!combiner)
    return std::nullopt;
  return CombinerStep{*combiner,
                      unboxScalar(op->getOperand(0)),
                      unboxScalar(op->getOperand(1)),
                      {},
                      negated};
}

bool mlir::norm_fusion::matchReduction(Value yielded, Value accumulator,
                                       PointReduction &reduction) {
  std::optional<Combiner> combiner;
  Value value = unboxScalar(yielded);
  while (value != accumulator) {
    std::optional<CombinerStep> step = getStep(value);
    if (!step || value.getParentBlock() != accumulator.getParentBlock() ||
        (combiner && *combiner != step->combiner))
      return false;
    combiner = step->combiner;
    if (!step->rhs) {
      reduction.elements.push_back({step->product[0], step->product[1]});
      value = step->lhs;
      continue;
    }
    // Which side leads to the accumulator: it itself, or a step of the kind.
    auto leads = [&](Value side) {
      if (side == accumulator)
        return true;
      std::optional<CombinerStep> inner = getStep(side);
      return inner && inner->combiner == combiner &&
             (inner->lhs == accumulator ||
              (!inner->negated && inner->rhs == accumulator));
    };
    if (!step->negated && leads(step->rhs) && step->lhs != accumulator)
      std::swap(step->lhs, step->rhs);
    if (!leads(step->lhs))
      return false;
    reduction.elements.push_back({step->rhs, Value(), step->negated});
    value = step->lhs;
  }
  if (!combiner)
    return false;
  reduction.combiner = *combiner;
  return true;
}
