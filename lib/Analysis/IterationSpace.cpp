//===- IterationSpace.cpp - Symbolic axes that ops have in common ---------===//
//
// The growth of a space is a worklist over values: one that got its axes shows
// them to the op that makes it and to the ops that use it. An op joins once all
// its loops are known, so a column vector alone doesn't pull in another norm
// that shares it.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Analysis/IterationSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

unsigned IterationSpace::createAxis(int64_t extent, Value size) {
  axes.push_back({extent, size, {}});
  return axes.size() - 1;
}

void IterationSpace::appendFinest(unsigned axis, AxisList &list) const {
  if (axes[axis].parts.empty())
    list.push_back(axis);
  for (unsigned part : axes[axis].parts)
    appendFinest(part, list);
}

AxisMap IterationSpace::getFinest(const AxisMap &map) const {
  AxisMap result(map.size());
  for (auto [list, finest] : llvm::zip_equal(map, result))
    for (unsigned axis : list)
      appendFinest(axis, finest);
  return result;
}

bool IterationSpace::isFull(const AxisMap &map) const {
  return getAxisSet(getFinest(map)) == getAllAxes();
}

SmallVector<Operation *> IterationSpace::getOps() const {
  SmallVector<Operation *> ops(llvm::make_first_range(loops));
  llvm::append_range(ops, reshapes);
  llvm::sort(ops, [&](Operation *a, Operation *b) {
    return info.getOrder(a) < info.getOrder(b);
  });
  return ops;
}

std::optional<AxisMap> IterationSpace::getAxes(Value value) const {
  auto it = values.find(value);
  if (it == values.end())
    return std::nullopt;
  return getFinest(it->second);
}

std::optional<AxisMap> IterationSpace::getLoops(Operation *op) const {
  auto it = loops.find(op);
  if (it == loops.end())
    return std::nullopt;
  return getFinest(it->second);
}

AxisMap IterationSpace::getRequired(const AxisMap &loops, AffineMap map) const {
  AxisMap required(map.getNumResults());
  for (auto [expr, list] : llvm::zip_equal(map.getResults(), required))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      list = loops[dim.getPosition()];
  return required;
}

llvm::SmallBitVector IterationSpace::getAxisSet(const AxisMap &map) const {
  llvm::SmallBitVector set(axes.size());
  for (const AxisList &list : map)
    for (unsigned axis : list)
      set.set(axis);
  return set;
}

llvm::SmallBitVector IterationSpace::getAllAxes() const {
  llvm::SmallBitVector set(axes.size());
  for (auto [i, axis] : llvm::enumerate(axes))
    set[i] = axis.parts.empty();
  return set;
}

bool IterationSpace::isMemberReshape(Operation *op) const {
  if (!isReshape(op))
    return false;
  std::optional<AxisMap> source = getAxes(op->getOperand(0));
  std::optional<AxisMap> result = getAxes(op->getResult(0));
  if (!source || !result)
    return false;
  // Regrouping keeps the order of the axes, whatever their grouping.
  AxisList from, to;
  for (const AxisList &list : *source)
    llvm::append_range(from, list);
  for (const AxisList &list : *result)
    llvm::append_range(to, list);
  return from == to;
}

/// True if `size` is the extent of `axis`: the value known for it, or the
/// tensor.dim of a value that walks just that axis there.
bool IterationSpace::isAxisSize(Value size, unsigned axis) const {
  while (auto cast = size.getDefiningOp<arith::IndexCastOp>())
    size = cast.getIn();
  if (axes[axis].size == size)
    return true;
  auto dim = size.getDefiningOp<tensor::DimOp>();
  if (!dim)
    return false;
  std::optional<int64_t> index = dim.getConstantIndex();
  std::optional<AxisMap> map = getAxes(dim.getSource());
  return index && map && (*map)[*index] == AxisList{axis};
}

bool IterationSpace::distribute(const AxisList &list, ArrayRef<int64_t> extents,
                                ArrayRef<Value> sizes,
                                MutableArrayRef<AxisList> dims) {
  SmallVector<unsigned> wanted;
  for (auto [i, extent] : llvm::enumerate(extents))
    if (extent != 1)
      wanted.push_back(i);
  AxisList finest;
  for (unsigned axis : list)
    appendFinest(axis, finest);
  if (wanted.size() <= 1) {
    if (wanted.size() == 1)
      dims[wanted[0]] = finest;
    return wanted.size() == 1 || finest.empty();
  }
  bool isStatic =
      llvm::none_of(extents, ShapedType::isDynamic) &&
      llvm::none_of(finest, [&](unsigned axis) {
        return ShapedType::isDynamic(axes[axis].extent);
      });
  if (!isStatic) {
    // Equal extents outermost or innermost are the same axes; so is what is
    // left between, since the number of elements is the same.
    ArrayRef<unsigned> rest = finest, open = wanted;
    auto match = [&](unsigned axis, unsigned i) {
      if (ShapedType::isDynamic(extents[i]) || axes[axis].extent != extents[i])
        return false;
      dims[i] = {axis};
      return true;
    };
    while (!rest.empty() && !open.empty() && match(rest.front(), open.front())) {
      rest = rest.drop_front();
      open = open.drop_front();
    }
    while (!rest.empty() && !open.empty() && match(rest.back(), open.back())) {
      rest = rest.drop_back();
      open = open.drop_back();
    }
    if (rest.empty() || open.empty())
      return rest.empty() && open.empty();
    if (open.size() == 1) {
      dims[open.front()].assign(rest.begin(), rest.end());
      return true;
    }
    // One axis that isn't split yet becomes the dimensions; else they match
    // one by one.
    if (rest.size() == 1) {
      SmallVector<unsigned, 2> parts;
      for (unsigned i : open) {
        parts.push_back(
            createAxis(extents[i], sizes.empty() ? Value() : sizes[i]));
        dims[i] = {parts.back()};
      }
      axes[rest.front()].parts = parts;
      return true;
    }
    if (rest.size() != open.size())
      return false;
    for (auto [axis, i] : llvm::zip_equal(rest, open)) {
      bool equal = ShapedType::isDynamic(extents[i])
                       ? !sizes.empty() && sizes[i] && isAxisSize(sizes[i], axis)
                       : axes[axis].extent == extents[i];
      if (!equal)
        return false;
      dims[i] = {axis};
    }
    return true;
  }
  // Static: walk both sides, splitting an axis where a dimension ends in it.
  SmallVector<std::pair<unsigned, std::pair<int64_t, int64_t>>> splits;
  std::vector<unsigned> pending(finest.rbegin(), finest.rend());
  for (unsigned i : wanted) {
    int64_t rest = extents[i];
    while (rest != 1) {
      if (pending.empty())
        return false;
      unsigned axis = pending.back();
      int64_t extent = axes[axis].extent;
      pending.pop_back();
      if (rest % extent == 0) {
        dims[i].push_back(axis);
        rest /= extent;
        continue;
      }
      if (extent % rest != 0)
        return false;
      unsigned outer = createAxis(rest), inner = createAxis(extent / rest);
      axes[axis].parts = {outer, inner};
      dims[i].push_back(outer);
      pending.push_back(inner);
      rest = 1;
    }
  }
  return pending.empty();
}

//===----------------------------------------------------------------------===//
// Growth
//===----------------------------------------------------------------------===//

IterationSpace::IterationSpace(BlockInfo &info, const PointOp &seed)
    : info(info) {
  AxisMap map;
  for (int64_t extent : seed.extents)
    map.push_back(extent == 1 ? AxisList{} : AxisList{createAxis(extent)});
  join(seed, map);
  grow();
}

void IterationSpace::join(const PointOp &point, const AxisMap &map) {
  loops[point.op] = map;
  if (point.isReduction())
    reductions.push_back(point.op);
  for (const PointOperand &operand : point.operands)
    if (!operand.unproven)
      setAxes(operand.value, getRequired(map, operand.map));
  for (auto [result, value] :
       llvm::zip_equal(point.results, point.op->getResults())) {
    setAxes(value, getRequired(map, result.map));
    if (result.reduction)
      setAxes(result.reduction->init, getRequired(map, result.map));
  }
  setInner(point);
}

/// What `point` yields is inner if its loops are all of the space or it reads
/// something that is.
void IterationSpace::setInner(const PointOp &point) {
  auto isInner = [&](Value value) { return inner.contains(value); };
  bool result = isFull(loops[point.op]) ||
                llvm::any_of(point.operands, [&](const PointOperand &operand) {
                  return isInner(operand.value);
                });
  for (const PointResult &other : point.results)
    result |= other.reduction && isInner(other.reduction->init);
  if (!result)
    return;
  for (Value value : point.op->getResults())
    if (values.contains(value) && inner.insert(value).second)
      worklist.push_back(value);
}

void IterationSpace::learnExtents(ArrayRef<int64_t> extents,
                                  const AxisMap &map) {
  for (auto [extent, list] : llvm::zip_equal(extents, map))
    if (list.size() == 1 && !ShapedType::isDynamic(extent) &&
        ShapedType::isDynamic(axes[list[0]].extent))
      axes[list[0]].extent = extent;
}

void IterationSpace::setAxes(Value value, const AxisMap &map) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || info.isUniform(value) || !values.try_emplace(value, map).second)
    return;
  learnExtents(type.getShape(), getFinest(map));
  if (isFull(map))
    inner.insert(value);
  worklist.push_back(value);
}

void IterationSpace::grow() {
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    auto visit = [&](Operation *op) {
      if (isReshape(op))
        visitReshape(op);
      else if (const PointOp *point = info.getPointOp(op))
        visitPoint(*point);
    };
    if (Operation *def = value.getDefiningOp();
        def && def->getBlock() == &info.getBlock())
      visit(def);
    // A gather uses a value from within its body.
    if (inner.contains(value))
      for (Operation *user : info.getLiveUsers(value))
        visit(user);
  }
}

void IterationSpace::visitPoint(const PointOp &point) {
  if (loops.contains(point.op))
    return setInner(point);
  SmallVector<std::optional<AxisList>> known(point.getNumLoops());
  for (auto [extent, list] : llvm::zip_equal(point.extents, known))
    if (extent == 1)
      list = AxisList{};
  // A value that contradicts what is known already teaches nothing.
  auto learn = [&](Value value, AffineMap map) {
    std::optional<AxisMap> dims = getAxes(value);
    if (!dims)
      return;
    for (auto [expr, list] : llvm::zip_equal(map.getResults(), *dims)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim ? known[dim.getPosition()] && *known[dim.getPosition()] != list
              : !list.empty())
        return;
    }
    for (auto [expr, list] : llvm::zip_equal(map.getResults(), *dims))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        known[dim.getPosition()] = list;
  };
  for (auto [result, value] :
       llvm::zip_equal(point.results, point.op->getResults()))
    learn(value, result.map);
  for (const PointOperand &operand : point.operands)
    if (!operand.unproven)
      learn(operand.value, operand.map);

  AxisMap map;
  llvm::SmallBitVector seen(axes.size());
  for (const std::optional<AxisList> &list : known) {
    if (!list)
      return;
    for (unsigned axis : *list) {
      if (seen.test(axis))
        return;
      seen.set(axis);
    }
    map.push_back(*list);
  }
  learnExtents(point.extents, map);
  join(point, map);
}

std::optional<AxisMap> IterationSpace::getReshaped(Operation *op,
                                                   const AxisMap &map,
                                                   bool inverse) {
  auto source = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  RankedTensorType to = inverse ? source : result;
  if (isa<tensor::CastOp>(op))
    return map;
  AxisMap dims(to.getRank());
  if (isa<tensor::ReshapeOp>(op)) {
    // One to one in the extents other than 1; a dynamic extent that happens to
    // be 1 has an axis like any other.
    AxisMap from;
    RankedTensorType fromType = inverse ? result : source;
    for (auto [i, list] : llvm::enumerate(map))
      if (fromType.getDimSize(i) != 1)
        from.push_back(list);
    unsigned next = 0;
    for (int64_t i = 0; i < to.getRank(); ++i)
      if (to.getDimSize(i) != 1)
        dims[i] = from[next++];
    return dims;
  }
  SmallVector<ReassociationIndices> groups;
  bool expands = isa<tensor::ExpandShapeOp>(op);
  SmallVector<Value> sizes;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    groups = expand.getReassociationIndices();
    unsigned next = 0;
    for (int64_t size : expand.getStaticOutputShape())
      sizes.push_back(ShapedType::isDynamic(size)
                          ? expand.getOutputShape()[next++]
                          : Value());
  } else {
    groups = cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
  }
  for (auto [i, group] : llvm::enumerate(groups)) {
    if (expands == inverse) {
      for (int64_t k : group)
        llvm::append_range(dims[i], map[k]);
      continue;
    }
    ArrayRef<int64_t> extents =
        to.getShape().slice(group.front(), group.size());
    ArrayRef<Value> groupSizes =
        sizes.empty() ? ArrayRef<Value>()
                      : ArrayRef<Value>(sizes).slice(group.front(), group.size());
    if (!distribute(map[i], extents, groupSizes,
                    MutableArrayRef<AxisList>(dims).slice(group.front(),
                                                          group.size())))
      return std::nullopt;
  }
  return dims;
}

void IterationSpace::visitReshape(Operation *op) {
  Value source = op->getOperand(0), result = op->getResult(0);
  if (!isa<RankedTensorType>(source.getType()) ||
      !isa<RankedTensorType>(result.getType()))
    return;
  for (bool inverse : {false, true}) {
    Value from = inverse ? result : source, to = inverse ? source : result;
    std::optional<AxisMap> map = getAxes(from);
    if (!map || values.contains(to))
      continue;
    if (std::optional<AxisMap> dims = getReshaped(op, *map, inverse))
      setAxes(to, *dims);
  }
  if (!isMemberReshape(op))
    return;
  reshapes.insert(op);
  if (inner.contains(source) && inner.insert(result).second)
    worklist.push_back(result);
}
