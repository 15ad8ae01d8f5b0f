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

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

unsigned IterationSpace::createAxis(int64_t extent, Value size) {
  axes.push_back({extent, size, {}});
  hasDynamicAxes |= ShapedType::isDynamic(extent);
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

IterationSpace::MapId IterationSpace::intern(AxisMap map) {
  if (isSplit)
    map = getFinest(map);
  for (auto [id, entry] : llvm::enumerate(maps))
    if (entry.map == map)
      return id;
  llvm::SmallBitVector set = getAxisSet(map);
  bool full = set == getAllAxes();
  maps.push_back({std::move(map), std::move(set), full});
  return maps.size() - 1;
}

void IterationSpace::refine() {
  isSplit = true;
  for (MapEntry &entry : maps) {
    entry.map = getFinest(entry.map);
    entry.set = getAxisSet(entry.map);
  }
}

IterationSpace::MapId IterationSpace::getRequired(MapId loops, AffineMap map) {
  auto [it, isNew] = required.try_emplace({map, loops}, none);
  if (!isNew)
    return it->second;
  AxisMap dims(map.getNumResults());
  for (auto [expr, list] : llvm::zip_equal(map.getResults(), dims))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      list = getMap(loops)[dim.getPosition()];
  return it->second = intern(std::move(dims));
}

SmallVector<unsigned> IterationSpace::getOps() const {
  SmallVector<unsigned> ops(llvm::make_first_range(loops));
  llvm::append_range(ops, reshapes);
  llvm::sort(ops, std::less<unsigned>());
  return ops;
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

bool IterationSpace::isMemberReshape(unsigned number) const {
  if (!info.isReshapeOp(number))
    return false;
  MapId sourceId = getAxesId(info.getUsedIds(number).front());
  MapId resultId = getAxesId(info.getFirstResultId(number));
  if (sourceId == none || resultId == none)
    return false;
  // Regrouping keeps the order of the axes, whatever their grouping.
  AxisList from, to;
  for (const AxisList &list : getMap(sourceId))
    llvm::append_range(from, list);
  for (const AxisList &list : getMap(resultId))
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
  const AxisMap *map = getAxes(dim.getSource());
  return index && map && *index >= 0 && *index < int64_t(map->size()) &&
         (*map)[*index] == AxisList{axis};
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
  // Of nothing, extents don't say what is a part of what.
  if (llvm::is_contained(extents, 0) ||
      llvm::any_of(finest,
                   [&](unsigned axis) { return axes[axis].extent == 0; }))
    return false;
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
  join(seed, intern(std::move(map)));
  grow();
}

void IterationSpace::join(const PointOp &point, MapId map) {
  loops.insert({point.number, {map}});
  if (point.isReduction())
    reductions.push_back(point.number);
  for (const PointOperand &operand : point.operands)
    if (!operand.unproven)
      setAxes(operand.id, getRequired(map, operand.map));
  for (const PointResult &result : point.results) {
    setAxes(result.id, getRequired(map, result.map));
    if (result.reduction)
      setAxes(result.reduction->initId, getRequired(map, result.map));
  }
  passInner(point, loops.find(point.number)->second);
}

/// What `point` yields is inner if its loops are all of the space or it reads
/// something that is.
void IterationSpace::passInner(const PointOp &point, OpEntry &entry) {
  if (entry.inner)
    return;
  entry.inner = isFull(entry.map) ||
                llvm::any_of(point.operands, [&](const PointOperand &operand) {
                  return isInner(operand.id);
                });
  for (const PointResult &other : point.results)
    entry.inner |= other.reduction && isInner(other.reduction->initId);
  if (entry.inner)
    for (const PointResult &result : point.results)
      setInner(result.id);
}

void IterationSpace::setInner(unsigned value) {
  auto it = values.find(value);
  if (it == values.end() || it->second.inner)
    return;
  it->second.inner = true;
  worklist.push_back(value);
}

void IterationSpace::learnExtents(ArrayRef<int64_t> extents,
                                  const AxisMap &map) {
  for (auto [extent, list] : llvm::zip_equal(extents, map))
    if (list.size() == 1 && !ShapedType::isDynamic(extent) &&
        ShapedType::isDynamic(axes[list[0]].extent))
      axes[list[0]].extent = extent;
}

void IterationSpace::setAxes(unsigned value, MapId map) {
  if (!info.isVarying(value) ||
      !values.try_emplace(value, ValueEntry{map, isFull(map)}).second)
    return;
  if (hasDynamicAxes)
    learnExtents(
        cast<RankedTensorType>(info.getValue(value).getType()).getShape(),
        getMap(map));
  worklist.push_back(value);
}

void IterationSpace::visit(unsigned number) {
  if (info.isReshapeOp(number))
    visitReshape(number);
  else if (const PointOp *point = info.getPointOp(number))
    visitPoint(*point);
}

void IterationSpace::grow() {
  while (!worklist.empty()) {
    unsigned value = worklist.pop_back_val();
    if (unsigned def = info.getDef(value); def != BlockInfo::none)
      visit(def);
    // A gather uses a value from within its body.
    if (isInner(value))
      for (unsigned user : info.getLiveUsers(value))
        visit(user);
  }
}

void IterationSpace::visitPoint(const PointOp &point) {
  if (auto it = loops.find(point.number); it != loops.end())
    return passInner(point, it->second);
  // The maps stay where they are until the end.
  static const AxisList noAxes;
  SmallVector<const AxisList *, 6> known(point.getNumLoops(), nullptr);
  for (auto [extent, list] : llvm::zip_equal(point.extents, known))
    if (extent == 1)
      list = &noAxes;
  // A value that contradicts what is known already teaches nothing.
  auto learn = [&](unsigned value, AffineMap map) {
    MapId id = getAxesId(value);
    if (id == none)
      return;
    const AxisMap &dims = getMap(id);
    for (auto [expr, list] : llvm::zip_equal(map.getResults(), dims)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim ? known[dim.getPosition()] && *known[dim.getPosition()] != list
              : !list.empty())
        return;
    }
    for (auto [expr, list] : llvm::zip_equal(map.getResults(), dims))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        known[dim.getPosition()] = &list;
  };
  for (const PointResult &result : point.results)
    learn(result.id, result.map);
  for (const PointOperand &operand : point.operands)
    if (!operand.unproven)
      learn(operand.id, operand.map);

  if (llvm::is_contained(known, nullptr))
    return;
  AxisMap map;
  llvm::SmallBitVector seen(axes.size());
  for (const AxisList *list : known) {
    for (unsigned axis : *list) {
      if (seen.test(axis))
        return;
      seen.set(axis);
    }
    map.push_back(*list);
  }
  if (hasDynamicAxes)
    learnExtents(point.extents, map);
  join(point, intern(std::move(map)));
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
  if (isa<tensor::ReshapeOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(
          op)) {
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

void IterationSpace::visitReshape(unsigned number) {
  Operation *op = info.getOps()[number];
  Value source = op->getOperand(0), result = op->getResult(0);
  if (!isa<RankedTensorType>(source.getType()) ||
      !isa<RankedTensorType>(result.getType()))
    return;
  unsigned sourceId = info.getUsedIds(number).front();
  unsigned resultId = info.getFirstResultId(number);
  for (bool inverse : {false, true}) {
    unsigned from = inverse ? resultId : sourceId;
    unsigned to = inverse ? sourceId : resultId;
    MapId map = getAxesId(from);
    if (map == none || values.contains(to))
      continue;
    unsigned before = axes.size();
    std::optional<AxisMap> dims = getReshaped(op, getMap(map), inverse);
    if (axes.size() != before)
      refine();
    if (dims)
      setAxes(to, intern(std::move(*dims)));
  }
  if (!reshapes.contains(number)) {
    if (!isMemberReshape(number))
      return;
    reshapes.insert(number);
  }
  if (isInner(sourceId))
    setInner(resultId);
}
