//===- KernelForms.cpp - Sums of scaled elements, row by row --------------===//
//
// Sums and products with row-level values are gathered into affine forms of
// elements, so that an element takes one multiply-add a term. What a sum may be
// there to cancel stays as it is (docs/numerics.md, "Gathered").
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// `term` added to `sum`, which is null before the first one.
static Value addTo(ImplicitLocOpBuilder &b, Value sum, Value term) {
  if (!sum)
    return term;
  return arith::AddFOp::create(b, sum, term, arith::FastMathFlags::contract);
}

bool norm_fusion::subtractsItself(Operation *op) {
  if (isa<arith::SubFOp>(op))
    return op->getOperand(0) == op->getOperand(1);
  auto isNegated = [](Value value, Value of) {
    auto negated = value.getDefiningOp<arith::NegFOp>();
    return negated && negated.getOperand() == of;
  };
  return isa<arith::AddFOp>(op) &&
         (isNegated(op->getOperand(0), op->getOperand(1)) ||
          isNegated(op->getOperand(1), op->getOperand(0)));
}

/// True if `value` only leaves as floats of 16 bits or fewer.
static bool leavesNarrow(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<arith::TruncFOp>(user) &&
           user->getResult(0).getType().getIntOrFloatBitWidth() <= 16;
  });
}

/// True if `value`, of the row level, is proportional to `element`, so that it
/// is small in rows whose elements are: a sum over the row of its products.
static bool vanishesWith(Value value, Value element,
                         llvm::SmallDenseMap<Value, bool> &known) {
  if (value == element)
    return true;
  Operation *source = value.getDefiningOp();
  if (!source)
    return false;
  auto [entry, isNew] = known.try_emplace(value, false);
  if (!isNew)
    return entry->second;
  auto vanishes = [&](Value operand) {
    return vanishesWith(operand, element, known);
  };
  bool result = false;
  if (auto reduce = dyn_cast<RowReduceOp>(source))
    result =
        reduce.getCombiner() == Combiner::add && vanishes(reduce.getOperand());
  else if (isa<arith::MulFOp>(source))
    result = llvm::any_of(source->getOperands(), vanishes);
  else if (isa<arith::AddFOp, arith::SubFOp>(source))
    result = llvm::all_of(source->getOperands(), vanishes);
  else if (isa<arith::DivFOp, arith::NegFOp, arith::ExtFOp, arith::TruncFOp>(
               source))
    result = vanishes(source->getOperand(0));
  return known[value] = result;
}

/// True if `value`, of the row level, is a multiple of a row's sum: that is
/// rounded, too, by no less than what a difference from it loses.
static bool isRoundedSum(Value value) {
  llvm::SmallSetVector<Value, 8> slice;
  slice.insert(value);
  for (unsigned k = 0; k < slice.size(); ++k) {
    Operation *source = slice[k].getDefiningOp();
    if (auto reduce = dyn_cast_or_null<RowReduceOp>(source)) {
      if (reduce.getCombiner() == Combiner::add)
        return true;
    } else if (isa_and_nonnull<arith::MulFOp, arith::DivFOp, arith::NegFOp>(
                   source)) {
      slice.insert_range(source->getOperands());
    }
  }
  return false;
}

/// A product or quotient of values of the region, in an order that equal ones
/// have, too.
using Product = SmallVector<Value, 2>;

/// `product` times what `value` is a product or quotient of, up to numbers and
/// signs.
static void multiplyBy(Product &product, Value value) {
  SmallVector<Value> worklist{value};
  // Repeated squares have as many factors as they like.
  constexpr unsigned most = 64;
  while (!worklist.empty() && product.size() < most) {
    Value next = worklist.pop_back_val();
    Operation *source = next.getDefiningOp();
    if (isa_and_nonnull<arith::MulFOp, arith::DivFOp, arith::NegFOp,
                        arith::ExtFOp, arith::TruncFOp>(source))
      llvm::append_range(worklist, source->getOperands());
    else if (!matchPattern(next, m_Constant()))
      product.push_back(next);
  }
  llvm::sort(product, [](Value a, Value b) {
    return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  });
}

/// The products that a row-level value is a sum of.
static SmallVector<Product, 2> getProducts(Value value) {
  SmallVector<Product, 2> products;
  SmallVector<Value> worklist{value};
  constexpr unsigned most = 64;
  while (!worklist.empty() && products.size() < most) {
    Value next = worklist.pop_back_val();
    Operation *source = next.getDefiningOp();
    if (isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::NegFOp>(source))
      llvm::append_range(worklist, source->getOperands());
    else
      multiplyBy(products.emplace_back(), next);
  }
  return products;
}

/// Terms that a form has at most: a chain of sums of scaled sums doubles them.
static constexpr size_t kMostTerms = 8;

/// Sums and products with row-level values are gathered, so that an element
/// takes one multiply-add a term. What is added to an element that isn't scaled
/// by a value of its row stays with it, x - mean or x * s - max for two:
/// scaling both would lose what they cancel; but not from n * x - sum, whose
/// sum isn't exact either. Neither are two row-level values added, or two
/// multiples of an element gathered, if one of them is the same in all rows:
/// they may be there to cancel, as in (x * s + 0x1.8p23) - 0x1.8p23, which
/// rounds; nor row-level values that are the same but for numbers, with which
/// rows are rounded to a step of their own. Multiples stay two terms, for of an
/// infinite element their difference is NaN.
const AffineForm &KernelEmitter::getForm(Value value, ColumnView &view) {
  auto known = view.forms.find(value);
  if (known != view.forms.end())
    return known->second;
  AffineForm form = makeForm(value, view);
  return view.forms[value] = std::move(form);
}

AffineForm KernelEmitter::makeForm(Value value, ColumnView &view) {
  AffineForm itself;
  itself.terms.push_back({value, Value()});
  Operation *source = value.getDefiningOp();
  bool wide = value.getType().isF32() || value.getType().isF64();
  if (!source || !wide || !hasColumns(value) || !hasRows(value))
    return itself;
  auto flags = arith::FastMathFlags::contract;
  auto multiply = [&](Value a, Value c) -> Value {
    return !a ? c : !c ? a : arith::MulFOp::create(b, a, c, flags).getResult();
  };
  auto negate = [&](Value a) -> Value {
    if (a)
      return arith::NegFOp::create(b, a);
    return arith::ConstantOp::create(b, b.getFloatAttr(value.getType(), -1.0));
  };
  auto scale = [&](AffineForm form, Value factor, Value ofRow = Value()) {
    bool varies = ofRow && hasRows(ofRow);
    if (ofRow)
      for (Product &product : form.added)
        multiplyBy(product, ofRow);
    for (AffineForm::Term &term : form.terms) {
      llvm::SmallDenseMap<Value, bool> known;
      term.factor = multiply(term.factor, factor);
      term.varies |= varies;
      term.vanishes |= varies && vanishesWith(ofRow, term.basis, known);
    }
    if (form.constant)
      form.constant = multiply(form.constant, factor);
    form.constantVaries |= varies;
    return form;
  };
  if (isa<arith::MulFOp>(source)) {
    Value factor = source->getOperand(0), other = source->getOperand(1);
    if (hasColumns(factor))
      std::swap(factor, other);
    if (hasColumns(factor))
      return itself;
    Value scalar = evaluateRow(factor);
    return scale(getForm(other, view), scalar, factor);
  }
  if (isa<arith::DivFOp>(source)) {
    FloatAttr reciprocal = getReciprocal(source->getOperand(1));
    if (!reciprocal)
      return itself;
    Value factor = arith::ConstantOp::create(b, reciprocal);
    return scale(getForm(source->getOperand(0), view), factor);
  }
  if (isa<arith::NegFOp>(source)) {
    AffineForm form = getForm(source->getOperand(0), view);
    for (AffineForm::Term &term : form.terms)
      term.factor = negate(term.factor);
    if (form.constant)
      form.constant = negate(form.constant);
    return form;
  }
  if (!isa<arith::AddFOp, arith::SubFOp>(source) ||
      source->getOperand(0) == source->getOperand(1) || subtractsItself(source))
    return itself;
  AffineForm sum;
  bool varies = false, scaled = false, rounded = false, exact = false;
  bool mayCancel = false;
  auto addConstant = [&](Value constant, bool varies, ArrayRef<Product> added) {
    mayCancel |= sum.constant && !(varies && sum.constantVaries);
    for (const Product &product : added)
      mayCancel |= llvm::is_contained(sum.added, product);
    llvm::append_range(sum.added, added);
    sum.constant = addTo(b, sum.constant, constant);
    sum.constantVaries = varies;
  };
  for (auto [k, operand] : llvm::enumerate(source->getOperands())) {
    bool negative = k == 1 && isa<arith::SubFOp>(source);
    if (!hasColumns(operand)) {
      Value row = evaluateRow(operand);
      (isRoundedSum(operand) ? rounded : exact) = true;
      addConstant(negative ? negate(row) : row, hasRows(operand),
                  getProducts(operand));
      continue;
    }
    AffineForm form = getForm(operand, view);
    varies |= form.constant ||
              llvm::any_of(form.terms, [](auto &term) { return term.varies; });
    scaled |=
        llvm::any_of(form.terms, [](auto &term) { return bool(term.factor); });
    for (AffineForm::Term term : form.terms) {
      if (negative)
        term.factor = negate(term.factor);
      for (const AffineForm::Term &other : sum.terms)
        mayCancel |=
            other.basis == term.basis && !(other.varies && term.varies);
      sum.terms.push_back(term);
    }
    if (form.constant)
      addConstant(negative ? negate(form.constant) : form.constant,
                  form.constantVaries, form.added);
  }
  mayCancel |= sum.terms.size() > kMostTerms;
  bool isKept = !varies && !(scaled && rounded && !exact);
  return isKept || mayCancel ? itself : sum;
}

/// An element of 16 bits or fewer.
static bool isNarrow(Value value) {
  auto extend = value.getDefiningOp<arith::ExtFOp>();
  return extend && extend.getIn().getType().getIntOrFloatBitWidth() <= 16;
}

/// A scaled x - mean of narrow elements becomes two terms, one operation less,
/// where it is one of several and its factor is a sum of its products: dx of a
/// norm. What the two cancel is lost, but few more than the 8 or 11 bits that
/// an element has, of 24, and the factor is small in rows that hardly vary.
/// (x - mean) * rstd, whose factor isn't, must be 0 there.
AffineForm KernelEmitter::expandNarrow(Value value, const AffineForm &form) {
  if (form.terms.size() < 2 || !leavesNarrow(value))
    return form;
  auto flags = arith::FastMathFlags::contract;
  AffineForm expanded;
  expanded.constant = form.constant;
  for (const AffineForm::Term &term : form.terms) {
    auto [basis, factor, varies, vanishes] = term;
    Operation *sum = basis.getDefiningOp();
    bool isSum = isa_and_nonnull<arith::AddFOp, arith::SubFOp>(sum);
    if (!isSum || !vanishes || !isNarrow(sum->getOperand(0)) ||
        hasColumns(sum->getOperand(1))) {
      expanded.terms.push_back(term);
      continue;
    }
    expanded.terms.push_back({sum->getOperand(0), factor, varies, vanishes});
    Value added = arith::MulFOp::create(b, evaluateRow(sum->getOperand(1)),
                                        factor, flags);
    if (isa<arith::SubFOp>(sum))
      added = arith::NegFOp::create(b, added);
    expanded.constant = addTo(b, expanded.constant, added);
  }
  return expanded;
}

Value KernelEmitter::evaluateForm(const AffineForm &form, ColumnView &view) {
  auto flags = arith::FastMathFlags::contract;
  Value sum = form.constant ? spread(form.constant, view) : Value();
  for (const AffineForm::Term &term : form.terms) {
    Value value = evaluate(term.basis, view);
    if (term.factor)
      value = arith::MulFOp::create(b, value, spread(term.factor, view), flags);
    sum = addTo(b, sum, value);
  }
  return sum;
}
