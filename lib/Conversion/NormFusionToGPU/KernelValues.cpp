//===- KernelValues.cpp - What a kernel computes of the op's regions ------===//
//
// How a value of the op's region becomes a scalar (row level) or a vector of
// consecutive columns (column and element level) of a lane.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

bool norm_fusion::isCheapOp(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
             arith::ExtFOp, arith::TruncFOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::CmpFOp, arith::CmpIOp, arith::SelectOp,
             arith::ConstantOp>(op);
}

Value norm_fusion::createOpaque(ImplicitLocOpBuilder &b, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return createAsm(b, value.getType(), value, "",
                     value.getType().isInteger(64) ? "=l,0" : "=r,0");
  int64_t size = type.getDimSize(0);
  SmallVector<Value> parts;
  std::string outputs, inputs;
  for (int64_t k = 0; k < size; ++k) {
    Value index = arith::ConstantIntOp::create(b, k, 32);
    parts.push_back(LLVM::ExtractElementOp::create(b, value, index));
    outputs += "=r,";
    inputs += (k ? "," : "") + std::to_string(k);
  }
  Type word = b.getI32Type();
  Type result = size == 1 ? word
                          : LLVM::LLVMStructType::getLiteral(
                                b.getContext(), SmallVector<Type>(size, word));
  Value opaque = createAsm(b, result, parts, "", outputs + inputs);
  Value rebuilt = LLVM::PoisonOp::create(b, type);
  for (int64_t k = 0; k < size; ++k) {
    Value part =
        size == 1 ? opaque : LLVM::ExtractValueOp::create(b, opaque, k);
    rebuilt = LLVM::InsertElementOp::create(
        b, rebuilt, part, arith::ConstantIntOp::create(b, k, 32));
  }
  return rebuilt;
}

SmallVector<ColumnView> KernelEmitter::getLaneViews(Value partOfRow,
                                                    Value laneOfRow, bool exact,
                                                    Value *firstColumn,
                                                    Value *allExist) {
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  unsigned lanes = schedule.getLanes();
  SmallVector<ColumnView> views(chunks);
  Value first;
  for (unsigned c = 0; c < chunks; ++c) {
    Value vectorIndex = arith::AddIOp::create(
        b,
        arith::MulIOp::create(
            b,
            arith::AddIOp::create(
                b, arith::MulIOp::create(b, partOfRow, i32(chunks)), i32(c)),
            i32(lanes)),
        laneOfRow);
    Value column = arith::MulIOp::create(b, vectorIndex, i32(width));
    views[c].width = width;
    // Constants added last become offsets in the instructions' addresses; to a
    // value whose low bits aren't known, or they are combined with these.
    views[c].column =
        c == 0 ? toI64(column)
               : add(views[0].column, i64(int64_t(c) * lanes * width));
    if (c == 0 && schedule.getStructure() != Structure::tile)
      views[c].column = createOpaque(b, views[c].column);
    if (c == 0)
      first = toI64(arith::SubIOp::create(
          b, column, arith::MulIOp::create(b, laneOfRow, i32(width))));
    for (unsigned e = 0; !exact && e < width; ++e) {
      Value exists = arith::CmpIOp::create(
          b, arith::CmpIPredicate::ult,
          arith::AddIOp::create(b, column, i32(e)), i32(problem.columns));
      if (e == 0)
        views[c].mask = exists;
      if (problem.columns % width != 0)
        views[c].elementMasks.push_back(exists);
    }
  }
  if (firstColumn)
    *firstColumn = first;
  // Most warps own no column that doesn't exist.
  if (!exact)
    *allExist = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                      add(first, i64(chunks * lanes * width)),
                                      i64(problem.columns));
  return views;
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

FloatAttr norm_fusion::getReciprocal(Value value) {
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
    return arith::BitcastOp::create(
        b, VectorType::get({width}, b.getF32Type()),
        LLVM::ShuffleVectorOp::create(b, low, high, order));
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
      fast && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(clone) &&
      !subtractsItself(source))
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
  } else if (auto index = value.getDefiningOp<IndexOp>()) {
    result = arith::IndexCastOp::create(b, b.getIndexType(),
                                        rowIndices[index.getDim()]);
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
  // No output of a row-only kernel lies over what all rows read: such a load
  // may move to where it is needed.
  bool ofRow = hasRows(op.getBodyBlock()->getArgument(input));
  bool isConstant = schedule.getStructure() == Structure::rows && !ofRow;
  // A row is read once: the L1 cache is for what all rows read. (H200, forward
  // norms: 1 to 2% less.)
  bool isStreamed = ofRow && schedule.getStructure() == Structure::rows;
  // What lacks the last column dimension is the same for the whole vector.
  bool isFine = op.getInputMap(input).isFunctionOfDim(columnDims.find_last());
  unsigned width = isFine ? view.width : 1;
  auto load = [&](Value at) {
    Value loaded = isStreamed ? loadStreamed(input, at, width)
                              : loadGlobal(input, at, width, isConstant);
    return isFine ? loaded : spread(loaded, view);
  };
  auto loadEach = [&](llvm::function_ref<Value(unsigned)> getOffset) {
    SmallVector<Value> elements;
    for (unsigned e = 0; e < width; ++e)
      elements.push_back(loadGlobal(input, getOffset(e), 1));
    return vector::FromElementsOp::create(
        b, cast<VectorType>(withWidth(elements[0].getType(), width)), elements);
  };
  if (haveEnds(problem, schedule) &&
      width > 1) { // what all rows read isn't aligned as they are
    if (view.mask)
      elementOffset = select(view.mask, elementOffset, i64(0));
    if (problem.columns >= width)
      return loadGlobal(input, elementOffset, width, isConstant,
                        /*isAligned=*/false);
    return loadEach([&](unsigned e) {
      return add(elementOffset, i64(e < problem.columns ? e : 0));
    });
  }
  if (!view.mask)
    return load(elementOffset);
  if (!view.elementMasks.empty() && width > 1)
    return loadEach([&](unsigned e) {
      return select(view.elementMasks[e], add(elementOffset, i64(e)), i64(0));
    });
  // Lanes beyond the last column read column 0 and are masked later on.
  for (unsigned d : columnDims.set_bits())
    indices[d] = i64(0);
  Value first = offset(input, indices);
  return load(arith::SelectOp::create(b, view.mask, elementOffset, first));
}

Value KernelEmitter::spread(Value scalar, const ColumnView &view) {
  if (view.width == 1)
    return scalar;
  return vector::BroadcastOp::create(
      b, cast<VectorType>(withWidth(scalar.getType(), view.width)), scalar);
}

Value KernelEmitter::evaluateIndex(IndexOp index, ColumnView &view) {
  unsigned d = index.getDim();
  SmallVector<Value> elements;
  bool isRun = int(d) == columnDims.find_last(),
       isOnly = columnDims.count() == 1;
  for (unsigned e = 0; e < (isRun ? view.width : 1); ++e) {
    // Several dimensions: a vector lies in one row of the last.
    Value column = isOnly ? add(view.column, i64(e)) : view.column;
    if (view.mask)
      column = select(arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                            column, columnCount),
                      column, i64(0));
    SmallVector<Value> indices(op.getNumDims());
    delinearize(column, columnDims, indices);
    Value element = isOnly ? indices[d] : add(indices[d], i64(e));
    elements.push_back(
        arith::IndexCastOp::create(b, b.getIndexType(), element));
  }
  if (elements.size() != view.width || view.width == 1)
    return spread(elements.front(), view);
  return vector::FromElementsOp::create(
      b, cast<VectorType>(withWidth(b.getIndexType(), view.width)), elements);
}

bool KernelEmitter::isBlockReduction(Operation *source) {
  auto reduce = dyn_cast<RowReduceOp>(source);
  return reduce && reduce.getOver() &&
         reduce.getOver()->size() != columnDims.count();
}

Value KernelEmitter::reduceBlock(RowReduceOp reduce, ColumnView &view) {
  llvm::SmallBitVector reduced(op.getNumDims());
  for (int64_t d : ArrayRef<int64_t>(*reduce.getOver()))
    reduced.set(d);
  if (schedule.getStructure() != Structure::plain) {
    // Neighbouring lanes hold the block, in this view.
    int64_t size = 1;
    for (unsigned d : reduced.set_bits())
      size *= op.getStaticDimSizes()[d];
    SmallVector<Value> chains;
    addView(chains, reduce, view);
    SmallVector<Value> total{addChains(chains, reduce.getCombiner())};
    reduceLanes(reduce, total, size / view.width);
    return spread(total.front(), view);
  }
  // Each thread for itself, column by column.
  SmallVector<Value> indices(op.getNumDims());
  delinearize(view.column, columnDims, indices);
  Value identity = arith::ConstantOp::create(
      b, getIdentity(reduce.getCombiner(), reduce.getType()));
  auto loop = scf::ForOp::create(b, i64(0), product(reduced), i64(1),
                                 ValueRange{identity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  delinearize(loop.getInductionVar(), reduced, indices);
  ColumnView other;
  other.column = linearize(columnDims, indices);
  Value next = createCombine(b, b.getLoc(), reduce.getCombiner(),
                             loop.getRegionIterArgs()[0],
                             evaluate(reduce.getOperand(), other),
                             /*contract=*/true);
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

/// An f32 element divided by a value of its row (a scale, say).
bool KernelEmitter::isDividedByRow(Operation *source) {
  auto divide = dyn_cast<arith::DivFOp>(source);
  return divide && divide.getType().isF32() && hasColumns(divide.getLhs()) &&
         !hasColumns(divide.getRhs()) && !getReciprocal(divide.getRhs());
}

/// A power of two, 1 most often, times which `divisor` has a normal reciprocal,
/// unless it's 0, infinite or not a number.
Value KernelEmitter::makeRescale(Value divisor) {
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  };
  auto is = [&](arith::CmpFPredicate predicate, float bound) -> Value {
    return arith::CmpFOp::create(b, predicate, math::AbsFOp::create(b, divisor),
                                 constant(bound));
  };
  return select(is(arith::CmpFPredicate::OLT, 0x1p-126f), constant(0x1p64f),
                select(is(arith::CmpFPredicate::OGT, 0x1p126f),
                       constant(0x1p-64f), constant(1)));
}

Value KernelEmitter::makeReciprocal(Value divisor) {
  Value one = arith::ConstantOp::create(b, b.getF32FloatAttr(1));
  return arith::DivFOp::create(
      b, one, arith::MulFOp::create(b, divisor, makeRescale(divisor)));
}

/// The dividends of `views` times the reciprocal: one more unit in the last
/// place, for a tenth of the instructions. Where a reciprocal of the divisor
/// itself wouldn't be normal it is that of a multiple, and the products are
/// multiplied alike. All views share the branch: what follows on them may be
/// interleaved.
void KernelEmitter::divideByRow(Operation *source,
                                MutableArrayRef<ColumnView> views) {
  Value reciprocal = rowValues.lookup(source->getResult(0));
  SmallVector<Value> quotients;
  for (ColumnView &view : views)
    quotients.push_back(arith::MulFOp::create(
        b, evaluate(source->getOperand(0), view), spread(reciprocal, view),
        arith::FastMathFlags::contract));
  Value rescale = makeRescale(evaluateRow(source->getOperand(1)));
  Value isOne =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, rescale,
                            arith::ConstantOp::create(b, b.getF32FloatAttr(1)));
  auto ifOne = scf::IfOp::create(b, ValueRange(quotients).getTypes(), isOne,
                                 /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOne.thenBlock());
    scf::YieldOp::create(b, quotients);
    b.setInsertionPointToStart(ifOne.elseBlock());
    for (auto [quotient, view] : llvm::zip(quotients, views))
      quotient = arith::MulFOp::create(b, quotient, spread(rescale, view));
    scf::YieldOp::create(b, quotients);
  }
  for (auto [quotient, view] : llvm::zip(ifOne.getResults(), views))
    view.values[source->getResult(0)] = quotient;
}

Value KernelEmitter::evaluate(Value value, ColumnView &view) {
  if (Value known = view.values.lookup(value))
    return known;
  Value result;
  if (auto constantOp = value.getDefiningOp<arith::ConstantOp>()) {
    TypedAttr constant = constantOp.getValue();
    if (view.width > 1)
      constant = DenseElementsAttr::get(
          cast<ShapedType>(withWidth(value.getType(), view.width)),
          Attribute(constant));
    return arith::ConstantOp::create(b, constant);
  }
  if (!hasColumns(value)) {
    result = spread(evaluateRow(value), view);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    result = loadAt(argument.getArgNumber(), view);
  } else if (auto index = value.getDefiningOp<IndexOp>()) {
    result = evaluateIndex(index, view);
  } else if (AffineForm form = getForm(value, view);
             form.terms.size() != 1 || form.terms[0].basis != value) {
    result = evaluateForm(expandNarrow(value, form), view);
  } else if (isBlockReduction(value.getDefiningOp())) {
    result = reduceBlock(cast<RowReduceOp>(value.getDefiningOp()), view);
  } else {
    Operation *source = value.getDefiningOp();
    if (isDividedByRow(source) && rowValues.contains(value)) {
      divideByRow(source, view);
      return view.values.lookup(value);
    }
    SmallVector<Value> operands;
    for (Value operand : source->getOperands())
      operands.push_back(evaluate(operand, view));
    result = cloneOp(source, operands, view.width);
  }
  view.values[value] = result;
  return result;
}

void KernelEmitter::prepareRowValues(unsigned p) {
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    if (!hasColumns(argument) && !argument.use_empty())
      evaluateRow(argument);
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    for (Value result : inner.getResults())
      if (!hasColumns(result) && phase(result) <= p && !isa<RowReduceOp>(inner))
        evaluateRow(result);
      else if (isDividedByRow(&inner) && phase(inner.getOperand(1)) <= p &&
               !rowValues.contains(result))
        rowValues[result] = makeReciprocal(evaluateRow(inner.getOperand(1)));
}

Value KernelEmitter::select(Value condition, Value a, Value c) {
  return condition ? arith::SelectOp::create(b, condition, a, c).getResult()
                   : a;
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
