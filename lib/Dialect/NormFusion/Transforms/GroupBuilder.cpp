//===- GroupBuilder.cpp - Builds one mixed reduction ----------------------===//
//
// The region of the op: the bodies of the group's ops, one after the other, on
// the scalars of one point of the space. Transposes, broadcasts and reshapes
// leave no trace in it; they are in the operands' maps.
//
//===----------------------------------------------------------------------===//

#include "GroupBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::norm_fusion;

AxisList GroupBuilder::flatten(const AxisMap &map) {
  AxisList flat;
  for (const AxisList &list : map)
    llvm::append_range(flat, list);
  return flat;
}

GroupBuilder::GroupBuilder(BlockInfo &info, const MixedGroup &group,
                           const llvm::DenseMap<Value, Value> &replaced)
    : info(info), group(group), space(*group.space), replaced(replaced),
      context(info.getBlock().getParentOp()->getContext()) {
  for (ArrayRef<Operation *> ops : {ArrayRef<Operation *>(group.members),
                                    ArrayRef<Operation *>(group.producers)})
    for (Operation *op : ops)
      inGroup.insert(info.getOrder(op));
  selectNeeded();
  emitRegion();
  chooseDims();
}

GroupBuilder::~GroupBuilder() {
  if (body)
    body->dropAllReferences();
}

SmallVector<Value> GroupBuilder::getInputs() const {
  return llvm::map_to_vector(inputs, [](const Input &i) { return i.value; });
}

//===----------------------------------------------------------------------===//
// Which ops the results need
//===----------------------------------------------------------------------===//

AxisMap GroupBuilder::getResultAxes(Value result) const {
  if (const AxisMap *axes = space.getAxes(result))
    return *axes;
  return AxisMap(cast<RankedTensorType>(result.getType()).getRank());
}

bool GroupBuilder::isInternal(unsigned id,
                              IterationSpace::MapId required) const {
  unsigned def = info.getDef(id);
  return def != BlockInfo::none && inGroup.contains(def) &&
         required != IterationSpace::none && space.getAxesId(id) == required;
}

void GroupBuilder::selectNeeded() {
  llvm::SmallDenseSet<unsigned, 64> seen;
  SmallVector<unsigned> worklist;
  auto need = [&](unsigned id, IterationSpace::MapId required) {
    if (!info.isUniform(id) && isInternal(id, required) &&
        seen.insert(info.getDef(id)).second)
      worklist.push_back(info.getDef(id));
  };
  for (Value result : group.results) {
    unsigned id = info.getId(result);
    // One element has no axes.
    if (unsigned def = info.getDef(id);
        llvm::is_contained(group.scalarReductions, info.getOps()[def])) {
      if (seen.insert(def).second)
        worklist.push_back(def);
    } else {
      need(id, space.getAxesId(id));
    }
  }
  while (!worklist.empty()) {
    unsigned number = worklist.pop_back_val();
    needed.push_back(number);
    // A reduction that continues another one reads what that one reads.
    if (Operation *inner = group.continued.lookup(info.getOps()[number]))
      number = info.getOrder(inner);
    if (info.isReshapeOp(number)) {
      unsigned source = info.getUsedIds(number).front();
      need(source, space.getAxesId(source));
      continue;
    }
    const PointOp *point = info.getPointOp(number);
    IterationSpace::MapId loops = space.getLoopsId(number);
    for (const PointOperand &operand : point->operands)
      need(operand.id, space.getRequired(loops, operand.map));
    for (const PointResult &result : point->results)
      if (result.reduction)
        need(result.reduction->initId, space.getRequired(loops, result.map));
  }
  llvm::sort(needed, std::less<unsigned>());
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

Value GroupBuilder::addInput(Value value, const AxisMap &axes) {
  AxisList flat = flatten(axes);
  if (auto it = replaced.find(value); it != replaced.end())
    value = it->second;
  for (Input &input : inputs)
    if (input.value == value && input.flat == flat)
      return input.arg;
  Type type = getElementTypeOrSelf(value.getType());
  inputs.push_back(
      {value, axes, flat, body->addArgument(type, value.getLoc())});
  return inputs.back().arg;
}

Value GroupBuilder::getConstant(TypedAttr attr) {
  Value &constant = constants[attr];
  if (!constant) {
    OpBuilder::InsertionGuard guard(*bodyBuilder);
    bodyBuilder->setInsertionPointToStart(body.get());
    constant = arith::ConstantOp::create(
        *bodyBuilder, info.getBlock().getParentOp()->getLoc(), attr);
  }
  return constant;
}

/// The index in a loop that walks `axes`, outermost first.
Value GroupBuilder::getIndex(const AxisList &axes) {
  if (axes.empty())
    return getConstant(bodyBuilder->getIndexAttr(0));
  for (auto &[known, op] : indices)
    if (known == axes)
      return op;
  OpBuilder::InsertionGuard guard(*bodyBuilder);
  bodyBuilder->setInsertionPointToStart(body.get());
  Location loc = info.getBlock().getParentOp()->getLoc();
  indices.push_back({axes, IndexOp::create(*bodyBuilder, loc, /*dim=*/0)});
  return indices.back().second;
}

/// The scalar that all elements of `value` are.
Value GroupBuilder::getUniform(Value value) {
  if (auto it = scalars.find(value); it != scalars.end())
    return it->second;
  Value scalar;
  Operation *def = value.getDefiningOp();
  Type element = getElementTypeOrSelf(value.getType());
  if (TypedAttr attr = getUniformConstant(value);
      attr && attr.getType() == element) {
    scalar = getConstant(attr);
  } else if (!isa<ShapedType>(value.getType())) {
    scalar = addInput(value, {});
  } else if (isa_and_nonnull<tensor::EmptyOp>(def)) {
    scalar = getConstant(bodyBuilder->getZeroAttr(element));
  } else if (auto splat = value.getDefiningOp<tensor::SplatOp>()) {
    scalar = getUniform(splat.getInput());
  } else if (isa_and_nonnull<tensor::FromElementsOp>(def) &&
             def->getNumOperands() == 1) {
    scalar = getUniform(def->getOperand(0));
  } else if (def && isReshape(def)) {
    scalar = getUniform(def->getOperand(0));
  } else if (const PointOp *point = def ? info.getPointOp(def) : nullptr;
             point && !point->isReduction() &&
             llvm::all_of(point->operands, [&](const PointOperand &operand) {
               return info.isUniform(operand.value);
             })) {
    emitPoint(*point, /*isMember=*/false);
    return scalars.lookup(value);
  } else {
    scalar = addInput(
        value, AxisMap(cast<RankedTensorType>(value.getType()).getRank()));
  }
  return scalars[value] = scalar;
}

/// One element of `value`, whose number is `id`, where it has the axes
/// `required`; IterationSpace::none for what can only be uniform.
Value GroupBuilder::getScalar(Value value, unsigned id,
                              IterationSpace::MapId required) {
  if (required == IterationSpace::none || info.isUniform(id))
    return getUniform(value);
  return isInternal(id, required) ? scalars.lookup(value)
                                  : addInput(value, space.getMap(required));
}

void GroupBuilder::mapOperands(const PointOp &point, ArrayRef<Value> roots,
                               IRMapping &mapping, bool isMember) {
  IterationSpace::MapId loops =
      isMember ? space.getLoopsId(point.number) : IterationSpace::none;
  llvm::SmallBitVector reads = point.getReads(roots);
  for (unsigned i : reads.set_bits()) {
    const PointOperand &operand = point.operands[i];
    mapping.map(operand.element,
                getScalar(operand.value, operand.id,
                          isMember ? space.getRequired(loops, operand.map)
                                   : IterationSpace::none));
  }
}

/// Clones what `root` needs of the body.
Value GroupBuilder::emitElement(const PointOp &point, Value root,
                                IRMapping &mapping) {
  PointOp::Slice slice;
  point.getSlice({root}, slice);
  auto mapConstant = [&](Value value) {
    Attribute attr;
    if (!mapping.contains(value) && value.getParentBlock() != point.getBody() &&
        matchPattern(value, m_Constant(&attr)) && isa<TypedAttr>(attr))
      mapping.map(value, getConstant(cast<TypedAttr>(attr)));
  };
  for (Operation &op : point.getBody()->without_terminator()) {
    if (!slice.contains(&op) || mapping.contains(op.getResult(0)))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      AxisList axes;
      if (unsigned loop = index.getDim(); point.extents[loop] != 1)
        axes = space.getMap(space.getLoopsId(point.number))[loop];
      mapping.map(index.getResult(), getIndex(axes));
      continue;
    }
    for (Value operand : op.getOperands())
      mapConstant(operand);
    if (isa<tensor::FromElementsOp, tensor::ExtractOp>(op))
      mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    else
      bodyBuilder->clone(op, mapping);
  }
  mapConstant(root);
  return mapping.lookup(root);
}

void GroupBuilder::emitPoint(const PointOp &point, bool isMember) {
  IRMapping mapping;
  SmallVector<Value> roots;
  for (const PointResult &result : point.results)
    roots.push_back(result.yielded);
  mapOperands(point, roots, mapping, isMember);
  linalg::LinalgOp op = point.op;
  for (auto [root, result] : llvm::zip_equal(roots, op->getResults()))
    scalars[result] = emitElement(point, root, mapping);
}

/// Sums and products of floats narrower than f32 are accumulated in f32.
static Type getAccumulatorType(Combiner combiner, Type type) {
  bool rounds = combiner == Combiner::add || combiner == Combiner::mul;
  if (rounds && isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return type;
}

void GroupBuilder::emitReduction(Operation *op) {
  Operation *inner = group.continued.lookup(op);
  Operation *source = inner ? inner : op;
  const PointOp &point = *info.getPointOp(source);
  IterationSpace::MapId loops = space.getLoopsId(point.number);
  bool isScalar = llvm::is_contained(group.scalarReductions, op);
  bool isRow = llvm::is_contained(group.rowReductions, op);
  auto getReduced = [&](Operation *reduction) {
    const PointOp *p = info.getPointOp(reduction);
    const AxisMap &loops = space.getMap(space.getLoopsId(p->number));
    AxisMap removed;
    for (unsigned loop : p->reduced.set_bits())
      removed.push_back(loops[loop]);
    return space.getAxisSet(removed);
  };
  llvm::SmallBitVector reduced = getReduced(source);
  if (inner)
    reduced |= getReduced(op);

  OpBuilder &b = *bodyBuilder;
  Location loc = op->getLoc();
  IRMapping mapping;
  for (auto [index, result] : llvm::enumerate(point.results)) {
    if (result.unreduced) {
      mapOperands(point, result.yielded, mapping, /*isMember=*/true);
      scalars[op->getResult(index)] =
          emitElement(point, result.yielded, mapping);
    }
    if (!result.reduction || op->getResult(index).use_empty())
      continue;
    const PointReduction &reduction = *result.reduction;
    mapOperands(point, reduction.getRoots(), mapping, /*isMember=*/true);
    Type type = getElementTypeOrSelf(reduction.init);
    Type wide = getAccumulatorType(reduction.combiner, type);
    for (const PointElement &root : reduction.elements)
      if (root.value.getType() != type)
        wide = root.value.getType();
    auto emit = [&](Value root) -> Value {
      Value value = emitElement(point, root, mapping);
      return value.getType() == wide
                 ? value
                 : arith::ExtFOp::create(b, loc, wide, value);
    };
    Value element;
    for (const PointElement &root : reduction.elements) {
      Value next = emit(root.value);
      if (root.factor)
        next = arith::MulFOp::create(b, loc, next, emit(root.factor));
      if (root.negated)
        next = arith::NegFOp::create(b, loc, next);
      element = element ? createCombine(b, loc, reduction.combiner, element, next)
                        : next;
    }
    auto combiner = CombinerAttr::get(context, reduction.combiner);
    // Everything: each row, which may be there already, then the rows.
    Value known = inner ? scalars.lookup(inner->getResult(index)) : Value();
    if (isScalar && known && known.getType() == wide) {
      element = known;
    } else if (isScalar) {
      auto ofRow =
          RowReduceOp::create(b, loc, wide, combiner, element, nullptr);
      reductions.push_back({ofRow, reduced});
      element = ofRow.getResult();
    }
    Operation *reduce =
        isRow ? RowReduceOp::create(b, loc, wide, combiner, element, nullptr)
                    .getOperation()
              : ColumnReduceOp::create(b, loc, wide, combiner, element, nullptr)
                    .getOperation();
    reductions.push_back({reduce, reduced});
    Value total = reduce->getResult(0);
    // The op starts from the identity: another init enters once, here.
    TypedAttr init = getUniformConstant(reduction.init);
    bool isIdentity =
        init && (init == getIdentity(reduction.combiner, type) ||
                 (reduction.combiner == Combiner::add &&
                  matchPattern(init, m_AnyZeroFloat())));
    if (!isIdentity) {
      Value start = getScalar(reduction.init, reduction.initId,
                              space.getRequired(loops, result.map));
      if (wide != type)
        start = arith::ExtFOp::create(b, loc, wide, start);
      total = createCombine(b, loc, reduction.combiner, start, total);
    }
    if (wide != type)
      total = arith::TruncFOp::create(b, loc, type, total);
    scalars[op->getResult(index)] = total;
  }
}

void GroupBuilder::emitRegion() {
  body = std::make_unique<Block>();
  bodyBuilder = std::make_unique<OpBuilder>(context);
  bodyBuilder->setInsertionPointToEnd(body.get());
  for (unsigned number : needed) {
    Operation *op = info.getOps()[number];
    if (info.isReshapeOp(number)) {
      // Its operand may be the result of another group by now.
      unsigned id = info.getUsedIds(number).front();
      scalars[op->getResult(0)] =
          getScalar(info.getValue(id), id, space.getAxesId(id));
      continue;
    }
    const PointOp *point = info.getPointOp(number);
    if (point->isReduction())
      emitReduction(op);
    else
      emitPoint(*point, /*isMember=*/true);
  }
  for (Value result : group.results) {
    Value scalar = scalars.lookup(result);
    AxisList flat = flatten(getResultAxes(result));
    auto same = [&](const Output &output) {
      return output.scalar == scalar && output.flat == flat;
    };
    auto it = llvm::find_if(outputs, same);
    outputOf.push_back(it - outputs.begin());
    if (it == outputs.end())
      outputs.push_back({scalar, flat});
  }
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

bool GroupBuilder::canBuild() {
  for (const Input &input : inputs)
    if (!hasExtents(input.axes, input.value.getType()) ||
        !canReshape(input.axes, getCoarse(input.flat)))
      return false;
  for (const Output &output : outputs)
    for (const AxisList &dim : getCoarse(output.flat))
      if (!hasSize(dim))
        return false;
  for (Value result : group.results) {
    AxisMap axes = getResultAxes(result);
    if (!hasExtents(axes, result.getType()) ||
        !canReshape(getCoarse(flatten(axes)), axes))
      return false;
  }
  // What only an index walks is no dimension; nor can an index be made of
  // dimensions without their sizes.
  llvm::SmallBitVector all(space.getNumAxes());
  for (const AxisList &dim : dims)
    all |= space.getAxisSet({dim});
  for (auto &[op, reduced] : reductions)
    if (reduced.test(all))
      return false;
  for (auto &[axes, op] : indices) {
    if (space.getAxisSet({axes}).test(all))
      return false;
    AxisMap runs = getCoarse(axes);
    for (const AxisList &dim : llvm::drop_begin(runs))
      if (ShapedType::isDynamic(getProduct(dim)))
        return false;
  }
  unsigned columns = llvm::count_if(dims, [&](const AxisList &dim) {
    return group.columns.test(dim.front());
  });
  return columns != 0 && columns != dims.size();
}

MixedReductionOp GroupBuilder::build(OpBuilder &builder,
                                     SmallVectorImpl<Value> &results) {
  Location loc = group.members.front()->getLoc();
  SmallVector<Attribute> kinds, maps;
  for (const AxisList &dim : dims)
    kinds.push_back(DimKindAttr::get(context, group.columns.test(dim.front())
                                                  ? DimKind::column
                                                  : DimKind::row));
  SmallVector<Value> ins, outs;
  for (const Input &input : inputs) {
    maps.push_back(AffineMapAttr::get(getMap(input.flat)));
    auto type = dyn_cast<RankedTensorType>(input.value.getType());
    if (!type) {
      ins.push_back(input.value);
      continue;
    }
    ins.push_back(reshape(builder, input.value, input.axes,
                          getCoarse(input.flat), type.getElementType()));
  }
  SmallVector<Type> types;
  SmallVector<Value> scalarsOut;
  for (const Output &output : outputs) {
    maps.push_back(AffineMapAttr::get(getMap(output.flat)));
    SmallVector<OpFoldResult> sizes;
    for (const AxisList &dim : getCoarse(output.flat))
      sizes.push_back(getSize(builder, dim));
    Value empty = tensor::EmptyOp::create(builder, loc, sizes,
                                          output.scalar.getType());
    outs.push_back(empty);
    types.push_back(empty.getType());
    scalarsOut.push_back(output.scalar);
  }
  placeIndices();
  YieldOp::create(*bodyBuilder, loc, scalarsOut);
  for (auto &[op, reduced] : reductions) {
    SmallVector<int64_t> over;
    bool isRow = isa<RowReduceOp>(op), all = true;
    for (auto [d, dim] : llvm::enumerate(dims)) {
      if (group.columns.test(dim.front()) != isRow)
        continue;
      if (reduced.test(dim.front()))
        over.push_back(d);
      else
        all = false;
    }
    if (!all)
      op->setAttr("over", DenseI64ArrayAttr::get(context, over));
  }
  auto op = MixedReductionOp::create(
      builder, loc, types, ins, outs, builder.getArrayAttr(kinds),
      builder.getArrayAttr(maps), /*schedule=*/ScheduleAttr(),
      /*few_rows=*/ArrayAttr());
  op.getBody().push_back(body.release());
  for (auto [result, output] : llvm::zip_equal(group.results, outputOf)) {
    AxisMap axes = getResultAxes(result);
    results.push_back(reshape(builder, op.getResult(output),
                              getCoarse(flatten(axes)), axes,
                              result.getType()));
  }
  return op;
}
