//===- GroupShapes.cpp - Dimensions and reshapes of a mixed reduction -----===//
//
// The second half of GroupBuilder: axes of the space become dimensions of the
// op, as few as the layouts of all operands allow, and operands and results are
// regrouped between their own dimensions and those.
//
//===----------------------------------------------------------------------===//

#include "GroupBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

void GroupBuilder::chooseDims() {
  SmallVector<const AxisList *> lists;
  for (const Input &input : inputs)
    lists.push_back(&input.flat);
  for (const Output &output : outputs)
    lists.push_back(&output.flat);
  SmallVector<const AxisList *> operands = lists;
  for (auto &[axes, op] : indices)
    lists.push_back(&axes);
  const AxisList *reference = nullptr;
  llvm::SmallBitVector used(space.getNumAxes());
  for (const AxisList *list : operands) {
    if (!reference || list->size() > reference->size())
      reference = list;
    for (unsigned axis : *list)
      used.set(axis);
  }
  // Axis `a` and the one after it are one dimension if all operands and indices
  // that have either have both, in this order, and so do all reductions.
  auto merges = [&](unsigned a, unsigned b) {
    if (group.columns.test(a) != group.columns.test(b))
      return false;
    for (const AxisList *list : lists) {
      auto it = llvm::find(*list, a);
      bool follows =
          it != list->end() && it + 1 != list->end() && *(it + 1) == b;
      if (!follows && (it != list->end() || llvm::is_contained(*list, b)))
        return false;
    }
    return llvm::all_of(reductions, [&](auto &entry) {
      return entry.second.test(a) == entry.second.test(b);
    });
  };
  SmallVector<AxisList> order;
  llvm::SmallBitVector placed(space.getNumAxes());
  auto place = [&](const AxisList &list) {
    for (auto [i, axis] : llvm::enumerate(list)) {
      if (placed.test(axis))
        continue;
      placed.set(axis);
      if (i != 0 && !order.empty() && order.back().back() == list[i - 1] &&
          merges(list[i - 1], axis))
        order.back().push_back(axis);
      else
        order.push_back({axis});
    }
  };
  place(*reference);
  for (const AxisList *list : operands)
    place(*list);
  for (bool column : {false, true})
    for (const AxisList &dim : order)
      if (group.columns.test(dim.front()) == column)
        dims.push_back(dim);
}

AxisMap GroupBuilder::getCoarse(const AxisList &flat) const {
  AxisMap coarse;
  for (unsigned axis : flat)
    for (const AxisList &dim : dims)
      if (dim.front() == axis)
        coarse.push_back(dim);
  return coarse;
}

/// Gives indices their dimensions: one, or the index in a run of several.
void GroupBuilder::placeIndices() {
  for (auto &[axes, op] : indices) {
    AxisMap runs = getCoarse(axes);
    auto getDim = [&](const AxisList &run) {
      return llvm::find(dims, run) - dims.begin();
    };
    op.setDim(getDim(runs.front()));
    OpBuilder builder(context);
    builder.setInsertionPointAfter(op);
    Value index = op;
    Operation *scaled = nullptr;
    for (const AxisList &run : llvm::drop_begin(runs)) {
      Value size =
          arith::ConstantIndexOp::create(builder, op.getLoc(), getProduct(run));
      Value outer = arith::MulIOp::create(builder, op.getLoc(), index, size);
      scaled = scaled ? scaled : outer.getDefiningOp();
      Value inner = IndexOp::create(builder, op.getLoc(), getDim(run));
      index = arith::AddIOp::create(builder, op.getLoc(), outer, inner);
    }
    if (scaled)
      op.getResult().replaceAllUsesExcept(index, scaled);
  }
}

AffineMap GroupBuilder::getMap(const AxisList &flat) const {
  SmallVector<AffineExpr> exprs;
  for (const AxisList &dim : getCoarse(flat))
    exprs.push_back(
        getAffineDimExpr(llvm::find(dims, dim) - dims.begin(), context));
  return AffineMap::get(dims.size(), 0, exprs, context);
}

GroupCost GroupBuilder::getCost() const {
  GroupCost cost;
  llvm::SmallBitVector all(space.getNumAxes());
  Problem &problem = cost.problem;
  problem.columns = 1;
  for (const AxisList &dim : dims)
    all |= space.getAxisSet({dim});
  cost.points = estimateBytes(space, all, IntegerType::get(context, 8));
  for (unsigned axis : all.set_bits())
    if (int64_t extent = space.getExtent(axis); !ShapedType::isDynamic(extent))
      cost.knownPoints =
          llvm::SaturatingMultiply<uint64_t>(cost.knownPoints, extent);
  if (cost.knownPoints > kMostPoints)
    return cost;
  for (const AxisList &dim : dims) {
    if (group.columns.test(dim.front()))
      for (unsigned axis : dim)
        problem.columns = ShapedType::isDynamic(problem.columns) ||
                                  ShapedType::isDynamic(space.getExtent(axis))
                              ? ShapedType::kDynamic
                              : problem.columns * space.getExtent(axis);
  }
  for (const Input &input : inputs) {
    llvm::SmallBitVector axes = space.getAxisSet(input.axes);
    cost.bytesAfter += estimateBytes(space, axes, input.value.getType());
    cost.fullSizeInputs += axes == all;
    unsigned bytes = getBytes(getElementTypeOrSelf(input.value.getType()));
    if (axes.anyCommon(group.columns) && axes.test(group.columns))
      problem.elementBytes.push_back(bytes);
  }
  for (const Output &output : outputs)
    cost.bytesAfter += estimateBytes(space, space.getAxisSet({output.flat}),
                                     output.scalar.getType());
  for (Operation &op : *body) {
    problem.rowReductions += isa<RowReduceOp>(op);
    if (isa<ColumnReduceOp>(op) &&
        !op.getOperand(0).getDefiningOp<RowReduceOp>())
      problem.accumulatorBytes.push_back(getBytes(op.getOperand(0).getType()));
  }
  cost.operands = inputs.size() + outputs.size();
  cost.registers = getLiveRegisters(*body);
  return cost;
}

//===----------------------------------------------------------------------===//
// Sizes and reshapes
//===----------------------------------------------------------------------===//

int64_t GroupBuilder::getProduct(const AxisList &axes) const {
  int64_t product = 1;
  for (unsigned axis : axes) {
    if (ShapedType::isDynamic(space.getExtent(axis)))
      return ShapedType::kDynamic;
    product *= space.getExtent(axis);
  }
  return product;
}

std::optional<GroupBuilder::SizeSource>
GroupBuilder::findSize(const AxisList &axes) const {
  for (const Input &input : inputs)
    for (auto [i, list] : llvm::enumerate(input.axes)) {
      AxisList others;
      llvm::copy_if(list, std::back_inserter(others), [&](unsigned axis) {
        return !llvm::is_contained(axes, axis);
      });
      int64_t divisor = getProduct(others);
      if (others.size() + axes.size() == list.size() && divisor > 0)
        return SizeSource{input.value, unsigned(i), divisor};
    }
  return std::nullopt;
}

bool GroupBuilder::hasSize(const AxisList &axes) const {
  if (!ShapedType::isDynamic(getProduct(axes)) || findSize(axes))
    return true;
  return axes.size() > 1 && llvm::all_of(axes, [&](unsigned axis) {
           return hasSize(AxisList{axis});
         });
}

OpFoldResult GroupBuilder::getSize(OpBuilder &builder,
                                   const AxisList &axes) const {
  int64_t product = getProduct(axes);
  if (!ShapedType::isDynamic(product))
    return builder.getIndexAttr(product);
  Location loc = info.getBlock().getParentOp()->getLoc();
  if (std::optional<SizeSource> source = findSize(axes)) {
    Value size = tensor::DimOp::create(builder, source->value.getLoc(),
                                       source->value, source->dim);
    if (source->divisor == 1)
      return size;
    Value divisor =
        arith::ConstantIndexOp::create(builder, loc, source->divisor);
    return arith::DivUIOp::create(builder, loc, size, divisor).getResult();
  }
  Value size;
  for (unsigned axis : axes) {
    OpFoldResult part = getSize(builder, AxisList{axis});
    Value value = getValueOrCreateConstantIndexOp(builder, loc, part);
    size = size ? arith::MulIOp::create(builder, loc, size, value).getResult()
                : value;
  }
  return size;
}

/// The axes of `from` cut at every boundary of `to` too, dimension by dimension
/// of `from`; a dimension without axes is one empty piece.
static SmallVector<SmallVector<AxisList>> cut(const AxisMap &from,
                                              const AxisMap &to) {
  llvm::DenseSet<unsigned> starts;
  for (const AxisList &list : to)
    if (!list.empty())
      starts.insert(list.front());
  SmallVector<SmallVector<AxisList>> pieces;
  for (const AxisList &list : from) {
    SmallVector<AxisList> &dim = pieces.emplace_back();
    dim.emplace_back();
    for (unsigned axis : list) {
      if (starts.contains(axis) && !dim.back().empty())
        dim.emplace_back();
      dim.back().push_back(axis);
    }
  }
  return pieces;
}

bool GroupBuilder::hasExtents(const AxisMap &axes, Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor ||
         llvm::all_of(llvm::zip_equal(axes, tensor.getShape()), [&](auto dim) {
           auto [list, size] = dim;
           int64_t extent = getProduct(list);
           return extent == size || ShapedType::isDynamic(extent) ||
                  ShapedType::isDynamic(size);
         });
}

bool GroupBuilder::canReshape(const AxisMap &from, const AxisMap &to) const {
  for (ArrayRef<AxisList> dim : cut(from, to))
    if (dim.size() > 1 && !llvm::all_of(dim, [&](const AxisList &piece) {
          return hasSize(piece);
        }))
      return false;
  return true;
}

/// Regroups `value` from dimensions `from` to `to`: expands what has to be cut,
/// merges, and inserts extents of 1. A `type` that isn't just the element's is
/// the result's, down to which sizes are static.
Value GroupBuilder::reshape(OpBuilder &builder, Value value,
                            const AxisMap &from, const AxisMap &to,
                            Type type) const {
  Location loc = value.getLoc();
  Type element = getElementTypeOrSelf(type);
  auto expand = [&](Value source, ArrayRef<ReassociationIndices> groups,
                    ArrayRef<OpFoldResult> sizes) -> Value {
    SmallVector<int64_t> shape;
    for (OpFoldResult size : sizes)
      shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
    auto result = RankedTensorType::get(shape, element);
    // Upstream expands at most one dynamic size out of a dimension when it
    // comes to strides; tensor.reshape takes the sizes as data.
    bool expandable = llvm::all_of(groups, [&](ArrayRef<int64_t> group) {
      return llvm::count_if(group, [&](int64_t i) {
               return ShapedType::isDynamic(shape[i]);
             }) <= 1;
    });
    if (expandable)
      return tensor::ExpandShapeOp::create(builder, loc, result, source, groups,
                                           sizes);
    SmallVector<Value> values =
        getValueOrCreateConstantIndexOp(builder, loc, sizes);
    Value sizesTensor = tensor::FromElementsOp::create(builder, loc, values);
    return tensor::ReshapeOp::create(builder, loc, result, source, sizesTensor);
  };
  auto getDim = [&](Value source, int64_t i) -> OpFoldResult {
    auto t = cast<RankedTensorType>(source.getType());
    if (!t.isDynamicDim(i))
      return builder.getIndexAttr(t.getDimSize(i));
    return tensor::DimOp::create(builder, loc, source, i).getResult();
  };

  SmallVector<SmallVector<AxisList>> pieces = cut(from, to);
  // What is cut into static sizes has to be static before.
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(value.getType()).getShape());
  for (auto [size, list, dim] : llvm::zip_equal(shape, from, pieces))
    if (ShapedType::isDynamic(size) && dim.size() > 1)
      size = getProduct(list);
  if (auto known = RankedTensorType::get(shape, element);
      known != value.getType())
    value = tensor::CastOp::create(builder, loc, known, value);
  AxisMap flat;
  SmallVector<unsigned> dimOf;
  for (auto [i, dim] : llvm::enumerate(pieces))
    for (const AxisList &piece : dim) {
      flat.push_back(piece);
      dimOf.push_back(i);
    }
  bool cuts = flat.size() != from.size();
  unsigned wanted =
      llvm::count_if(to, [](const AxisList &list) { return !list.empty(); });
  bool merges = flat.size() != wanted;

  // Cut, and merge the pieces of each dimension of `to`; what has extent 1
  // joins its neighbours. Both in one only where nothing is to be merged.
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  if (cuts && merges) {
    groups.resize(from.size());
    for (auto [k, piece] : llvm::enumerate(flat)) {
      groups[dimOf[k]].push_back(k);
      sizes.push_back(pieces[dimOf[k]].size() == 1 ? getDim(value, dimOf[k])
                                                   : getSize(builder, piece));
    }
    value = expand(value, groups, sizes);
  }
  if (merges) {
    llvm::DenseSet<unsigned> starts;
    for (const AxisList &list : to)
      if (!list.empty())
        starts.insert(list.front());
    groups.clear();
    unsigned begun = 0;
    for (auto [k, piece] : llvm::enumerate(flat)) {
      bool begins = !piece.empty() && starts.contains(piece.front());
      if (groups.empty() || (begins && begun != 0))
        groups.emplace_back();
      begun += begins;
      groups.back().push_back(k);
    }
    if (wanted == 0)
      groups.clear();
    value = tensor::CollapseShapeOp::create(builder, loc, value, groups);
  }
  if (wanted != to.size() || (cuts && !merges)) {
    // Every dimension of `to` with axes is now a piece, or will be.
    groups.clear();
    sizes.clear();
    unsigned next = 0;
    for (auto [i, list] : llvm::enumerate(to)) {
      bool starts = !list.empty() && next != 0 &&
                    (merges || dimOf[next] != dimOf[next - 1]);
      if (wanted != 0 && (groups.empty() || starts))
        groups.emplace_back();
      if (wanted != 0)
        groups.back().push_back(i);
      if (list.empty())
        sizes.push_back(builder.getIndexAttr(1));
      else if (!merges && pieces[dimOf[next]].size() > 1)
        sizes.push_back(getSize(builder, list));
      else
        sizes.push_back(getDim(value, merges ? next : dimOf[next]));
      next += !list.empty();
    }
    value = expand(value, groups, sizes);
  }
  if (isa<RankedTensorType>(type) && value.getType() != type)
    value = tensor::CastOp::create(builder, loc, type, value);
  return value;
}
