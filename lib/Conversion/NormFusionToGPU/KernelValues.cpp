//===- KernelValues.cpp - What a kernel computes of the op's regions ------===//
//
// How a value of the op's region becomes a scalar (row level) or a vector of
// consecutive columns (column and element level) of a lane; how sums and
// products with row-level values are gathered; and where results are stored.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

static Type withWidth(Type element, unsigned width) {
  return width == 1 ? element : VectorType::get({width}, element);
}

bool KernelEmitter::hasColumns(Value value) {
  return levels.lookup(value).anyCommon(columnDims);
}

bool KernelEmitter::hasRows(Value value) {
  auto it = levels.find(value);
  llvm::SmallBitVector rows = columnDims;
  return it != levels.end() && it->second.anyCommon(rows.flip());
}

unsigned KernelEmitter::phase(Value value) { return phases.lookup(value); }

/// 1 / `value` if it is a finite f32 constant whose reciprocal is normal.
static FloatAttr getReciprocal(Value value) {
  FloatAttr attr;
  if (!value.getType().isF32() || !matchPattern(value, m_Constant(&attr)))
    return {};
  APFloat reciprocal = APFloat::getOne(APFloat::IEEEsingle());
  APFloat divisor = attr.getValue();
  if (!divisor.isNormal())
    return {};
  reciprocal.divide(divisor, APFloat::rmNearestTiesToEven);
  return reciprocal.isNormal() ? FloatAttr::get(value.getType(), reciprocal)
                               : FloatAttr();
}

Value KernelEmitter::cloneOp(Operation *source, ValueRange operands,
                             unsigned width) {
  // What is divided by a constant is multiplied by its reciprocal: an error of
  // one more unit in the last place of f32, for a tenth of the instructions.
  if (auto divide = dyn_cast<arith::DivFOp>(source))
    if (FloatAttr reciprocal = getReciprocal(divide.getRhs())) {
      TypedAttr value = reciprocal;
      if (auto type = dyn_cast<ShapedType>(operands[0].getType()))
        value = DenseElementsAttr::get(type, Attribute(reciprocal));
      Value factor = arith::ConstantOp::create(b, value);
      return arith::MulFOp::create(b, operands[0], factor,
                                   arith::FastMathFlags::contract);
    }
  // Two bf16 of a word become f32 by a shift and a mask.
  if (auto extend = dyn_cast<arith::ExtFOp>(source);
      extend && width % 2 == 0 && extend.getIn().getType().isBF16() &&
      extend.getType().isF32()) {
    auto words = VectorType::get({width / 2}, b.getI32Type());
    auto floats = VectorType::get({width / 2}, b.getF32Type());
    auto constant = [&](int32_t value) {
      return arith::ConstantOp::create(
          b, DenseElementsAttr::get(words, b.getI32IntegerAttr(value)));
    };
    Value packed = LLVM::BitcastOp::create(b, words, operands[0]);
    Value low = arith::ShLIOp::create(b, packed, constant(16));
    Value high = arith::AndIOp::create(b, packed, constant(0xffff0000));
    SmallVector<int32_t> order;
    for (unsigned k = 0; k < width / 2; ++k)
      order.append({int32_t(k), int32_t(k + width / 2)});
    return LLVM::ShuffleVectorOp::create(
        b, arith::BitcastOp::create(b, floats, low),
        arith::BitcastOp::create(b, floats, high), order);
  }
  OperationState state(b.getLoc(), source->getName());
  state.addOperands(operands);
  state.addAttributes(llvm::to_vector(source->getDiscardableAttrs()));
  for (Type type : source->getResultTypes())
    state.addTypes(withWidth(type, width));
  Operation *clone = b.create(state);
  if (source->getPropertiesStorageSize())
    clone->copyProperties(source->getPropertiesStorage());
  // Products and sums may be contracted into fused multiply-adds.
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(clone);
      fast && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(clone))
    clone->setAttr(fast.getFastMathAttrName(),
                   arith::FastMathFlagsAttr::get(
                       b.getContext(), fast.getFastMathFlagsAttr().getValue() |
                                           arith::FastMathFlags::contract));
  return clone->getResult(0);
}

Value KernelEmitter::evaluateRow(Value value) {
  auto &cache = hasRows(value) ? rowValues : uniformValues;
  if (Value known = cache.lookup(value))
    return known;
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned i = argument.getArgNumber();
    if (!isa<ShapedType>(op.getInputs()[i].getType()))
      result = arguments.operands[i];
    else
      result = loadGlobal(i, offset(i, rowIndices), 1);
  } else {
    Operation *source = value.getDefiningOp();
    SmallVector<Value> operands;
    for (Value operand : source->getOperands())
      operands.push_back(evaluateRow(operand));
    result = cloneOp(source, operands, 1);
  }
  // Constants are made where they are used: they must not be kept from a
  // region that doesn't dominate the next use.
  if (!value.getDefiningOp() || !matchPattern(value, m_Constant()))
    cache[value] = result;
  return result;
}

Value KernelEmitter::loadAt(unsigned input, ColumnView &view) {
  // The row part of the offset is the same for all views of a row.
  SmallVector<Value> indices(rowIndices);
  delinearize(view.column, columnDims, indices);
  Value elementOffset = offset(input, indices);
  if (!view.mask)
    return loadGlobal(input, elementOffset, view.width);
  if (!view.elementMasks.empty()) {
    Type element = getElementTypeOrSelf(op.getOperand(input).getType());
    Value vector = LLVM::PoisonOp::create(b, withWidth(element, view.width));
    for (auto [e, exists] : llvm::enumerate(view.elementMasks)) {
      Value at = select(exists, add(elementOffset, i64(e)), i64(0));
      vector = vector::InsertOp::create(b, loadGlobal(input, at, 1), vector,
                                        int64_t(e));
    }
    return vector;
  }
  // Lanes beyond the last column read column 0 and are masked later on.
  for (unsigned d : columnDims.set_bits())
    indices[d] = i64(0);
  Value first = offset(input, indices);
  return loadGlobal(input,
                    arith::SelectOp::create(b, view.mask, elementOffset, first),
                    view.width);
}

Value KernelEmitter::evaluate(Value value, ColumnView &view) {
  if (Value known = view.values.lookup(value))
    return known;
  Value result;
  if (matchPattern(value, m_Constant())) {
    auto constant = cast<TypedAttr>(
        cast<arith::ConstantOp>(value.getDefiningOp()).getValue());
    if (view.width > 1)
      constant = DenseElementsAttr::get(
          cast<ShapedType>(withWidth(value.getType(), view.width)),
          Attribute(constant));
    return arith::ConstantOp::create(b, constant);
  }
  if (!hasColumns(value)) {
    result = evaluateRow(value);
    if (view.width > 1)
      result = vector::BroadcastOp::create(
          b, cast<VectorType>(withWidth(value.getType(), view.width)), result);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    result = loadAt(argument.getArgNumber(), view);
  } else if (AffineForm form = getForm(value, view);
             form.terms.size() != 1 || form.terms[0].first != value) {
    result = evaluateForm(form, view);
  } else {
    Operation *source = value.getDefiningOp();
    SmallVector<Value> operands;
    for (Value operand : source->getOperands())
      operands.push_back(evaluate(operand, view));
    result = cloneOp(source, operands, view.width);
  }
  view.values[value] = result;
  return result;
}

/// Sums and products with row-level values are gathered, so that an element
/// takes one multiply-add a term. What is added to an element that isn't scaled
/// stays with it, x - mean for one: scaling both would lose what they cancel.
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
  if (isa<arith::MulFOp>(source)) {
    Value factor = source->getOperand(0), other = source->getOperand(1);
    if (hasColumns(factor))
      std::swap(factor, other);
    if (hasColumns(factor))
      return itself;
    factor = evaluateRow(factor);
    AffineForm form = getForm(other, view);
    for (auto &[basis, scale] : form.terms)
      scale = multiply(scale, factor);
    if (form.constant)
      form.constant = multiply(form.constant, factor);
    return form;
  }
  if (isa<arith::DivFOp>(source)) {
    FloatAttr reciprocal = getReciprocal(source->getOperand(1));
    if (!reciprocal)
      return itself;
    Value factor = arith::ConstantOp::create(b, reciprocal);
    AffineForm form = getForm(source->getOperand(0), view);
    for (auto &[basis, scale] : form.terms)
      scale = multiply(scale, factor);
    if (form.constant)
      form.constant = multiply(form.constant, factor);
    return form;
  }
  if (isa<arith::NegFOp>(source)) {
    AffineForm form = getForm(source->getOperand(0), view);
    for (auto &[basis, scale] : form.terms)
      scale = negate(scale);
    if (form.constant)
      form.constant = negate(form.constant);
    return form;
  }
  if (!isa<arith::AddFOp, arith::SubFOp>(source))
    return itself;
  AffineForm sum;
  bool plain = true;
  for (auto [k, operand] : llvm::enumerate(source->getOperands())) {
    bool negative = k == 1 && isa<arith::SubFOp>(source);
    if (!hasColumns(operand)) {
      Value row = evaluateRow(operand);
      row = negative ? negate(row) : row;
      sum.constant =
          sum.constant
              ? arith::AddFOp::create(b, sum.constant, row, flags).getResult()
              : row;
      continue;
    }
    AffineForm form = getForm(operand, view);
    plain &= form.isPlain();
    for (auto [basis, scale] : form.terms) {
      if (negative)
        scale = negate(scale);
      auto known = llvm::find_if(
          sum.terms, [&](auto &term) { return term.first == basis; });
      if (known == sum.terms.end()) {
        sum.terms.push_back({basis, scale});
        continue;
      }
      auto one = [&](Value factor) -> Value {
        if (factor)
          return factor;
        return arith::ConstantOp::create(b,
                                         b.getFloatAttr(value.getType(), 1.0));
      };
      known->second =
          arith::AddFOp::create(b, one(known->second), one(scale), flags);
    }
    if (form.constant) {
      Value constant = negative ? negate(form.constant) : form.constant;
      sum.constant =
          sum.constant ? arith::AddFOp::create(b, sum.constant, constant, flags)
                             .getResult()
                       : constant;
    }
  }
  return plain ? itself : sum;
}

Value KernelEmitter::evaluateForm(const AffineForm &form, ColumnView &view) {
  auto flags = arith::FastMathFlags::contract;
  auto spread = [&](Value row) -> Value {
    return view.width == 1
               ? row
               : vector::BroadcastOp::create(
                     b, cast<VectorType>(withWidth(row.getType(), view.width)),
                     row)
                     .getResult();
  };
  Value sum = form.constant ? spread(form.constant) : Value();
  for (auto [basis, factor] : form.terms) {
    Value term = evaluate(basis, view);
    if (factor)
      term = arith::MulFOp::create(b, term, spread(factor), flags);
    sum = sum ? arith::AddFOp::create(b, sum, term, flags).getResult() : term;
  }
  return sum;
}

void KernelEmitter::prepareRowValues(unsigned p) {
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    if (!hasColumns(argument) && !argument.use_empty())
      evaluateRow(argument);
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    for (Value result : inner.getResults())
      if (!hasColumns(result) && phase(result) <= p && !isa<RowReduceOp>(inner))
        evaluateRow(result);
}

Value KernelEmitter::select(Value condition, Value a, Value c) {
  return arith::SelectOp::create(b, condition, a, c);
}

Value KernelEmitter::both(Value a, Value c) {
  return a && c ? arith::AndIOp::create(b, a, c).getResult() : a ? a : c;
}

/// The combiner's identity in the place of columns that don't exist.
Value KernelEmitter::masked(Value value, ColumnView &view, Combiner combiner) {
  if (!view.mask)
    return value;
  TypedAttr identity =
      getIdentity(combiner, getElementTypeOrSelf(value.getType()));
  Value mask = view.mask;
  if (auto type = dyn_cast<VectorType>(value.getType())) {
    identity = DenseElementsAttr::get(type, Attribute(identity));
    if (!view.elementMasks.empty())
      mask = vector::FromElementsOp::create(
          b, VectorType::get(type.getShape(), b.getI1Type()),
          view.elementMasks);
  }
  return select(mask, value, arith::ConstantOp::create(b, identity));
}

/// The outputs that the body (not the combine region) writes, in order.
static SmallVector<unsigned> getBodyOutputs(MixedReductionOp op) {
  SmallVector<unsigned> outputs;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    if (!op.isSplit() || !op.isColumnOutput(i))
      outputs.push_back(i);
  return outputs;
}

/// True if rows of operand `i` don't all begin at a multiple of a vector.
bool KernelEmitter::mayBeUnaligned(unsigned i, unsigned width) {
  Type type = getElementTypeOrSelf(op.getOperand(i).getType());
  unsigned bytes = getMemoryType(type).getIntOrFloatBitWidth() / 8;
  return width > 1 && problem.columns * bytes % (bytes * width) != 0;
}

/// Where all columns exist for the whole warp, one branch says so.
void KernelEmitter::storeElementOutputs(unsigned p,
                                        MutableArrayRef<ColumnView> views,
                                        Value allExist) {
  auto yield = cast<YieldOp>(op.getBodyBlock()->getTerminator());
  SmallVector<std::pair<unsigned, Value>> ready;
  for (auto [k, output] : llvm::enumerate(getBodyOutputs(op))) {
    Value value = yield.getValues()[k];
    bool isElement = op.getOutputMap(output).getNumResults() == op.getNumDims();
    if (isElement && phase(value) == p)
      ready.push_back({numInputs + output, value});
  }
  if (ready.empty())
    return;
  for (ColumnView &view : views)
    for (auto [operand, value] : ready)
      evaluate(value, view);
  auto guarded = [&](Value condition, llvm::function_ref<void()> emit) {
    if (!condition)
      return emit();
    auto ifOp = scf::IfOp::create(b, condition);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emit();
  };
  auto storeView = [&](unsigned operand, Value value, ColumnView &view,
                       bool masked) {
    SmallVector<Value> indices(rowIndices);
    delinearize(view.column, columnDims, indices);
    Value elementOffset = offset(operand, indices);
    if (!mayBeUnaligned(operand, view.width))
      return guarded(masked ? view.mask : Value(),
                     [&] { storeGlobal(operand, elementOffset, value); });
    // Whole vectors if the row begins at a multiple of them, else elements.
    Type element = getElementTypeOrSelf(op.getOperand(operand).getType());
    unsigned bytes =
        getMemoryType(element).getIntOrFloatBitWidth() / 8 * view.width;
    Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(),
                                          address(operand, elementOffset));
    Value whole = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq,
        arith::AndIOp::create(b, bits, i64(bytes - 1)), i64(0));
    if (masked)
      whole = both(whole, view.elementMasks.empty()
                              ? view.mask
                              : view.elementMasks.back());
    auto ifWhole = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifWhole.thenBlock());
    storeGlobal(operand, elementOffset, value);
    b.setInsertionPointToStart(ifWhole.elseBlock());
    for (unsigned e = 0; e < view.width; ++e)
      guarded(!masked ? Value()
              : view.elementMasks.empty() ? view.mask
                                          : view.elementMasks[e],
              [&] {
                storeGlobal(operand, add(elementOffset, i64(e)),
                            vector::ExtractOp::create(b, value, int64_t(e)));
              });
  };
  auto store = [&](bool masked) {
    for (ColumnView &view : views)
      for (auto [operand, value] : ready)
        storeView(operand, evaluate(value, view), view, masked);
  };
  guarded(rowExists, [&] {
    if (!allExist)
      return store(/*masked=*/true);
    auto ifAll = scf::IfOp::create(b, allExist, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAll.thenBlock());
    store(/*masked=*/false);
    b.setInsertionPointToStart(ifAll.elseBlock());
    store(/*masked=*/true);
  });
}

void KernelEmitter::storeRowOutputs(unsigned p, Value isLeader) {
  auto yield = cast<YieldOp>(op.getBodyBlock()->getTerminator());
  SmallVector<std::pair<unsigned, Value>> ready;
  for (auto [k, output] : llvm::enumerate(getBodyOutputs(op))) {
    Value value = yield.getValues()[k];
    bool isElement = op.getOutputMap(output).getNumResults() == op.getNumDims();
    if (!isElement && phase(value) == p)
      ready.push_back({numInputs + output, evaluateRow(value)});
  }
  if (ready.empty())
    return;
  auto ifOp = scf::IfOp::create(b, both(isLeader, rowExists));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  for (auto [operand, value] : ready)
    storeGlobal(operand, offset(operand, rowIndices), value);
}
