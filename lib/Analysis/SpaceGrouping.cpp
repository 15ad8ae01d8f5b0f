//===- SpaceGrouping.cpp - Groups of one iteration space ------------------===//
//
// Orientation, levels and ties: which reductions of a space become one group.
// What else a group takes in is in GroupMembers.cpp.
//
//===----------------------------------------------------------------------===//

#include "SpaceGrouping.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Members
//===----------------------------------------------------------------------===//

SpaceGrouping::SpaceGrouping(BlockInfo &info,
                             std::shared_ptr<IterationSpace> space,
                             const llvm::DenseSet<Operation *> &claimed)
    : info(info), space(space), allAxes(space->getAllAxes()) {
  for (Operation *op : space->getReductions())
    if (!claimed.contains(op) && info.isLive(op))
      reductions.push_back(op);
  llvm::sort(reductions, [&](Operation *a, Operation *b) {
    return info.getOrder(a) < info.getOrder(b);
  });
  if (reductions.empty())
    return;
  // Reductions that another space has already are none here.
  llvm::DenseSet<Operation *> unclaimed(reductions.begin(), reductions.end());
  unsigned last = 0;
  for (Operation *op : space->getOps()) {
    if (!info.isLive(op))
      continue;
    if (isReshape(op))
      addReshape(op);
    else if (!info.getPointOp(op)->isReduction() || unclaimed.contains(op))
      addPoint(op);
    if (getMember(op))
      last = std::max(last, info.getOrder(op));
  }
  llvm::erase_if(reductions, [&](Operation *op) { return !getMember(op); });
  if (reductions.empty())
    return;
  first = info.getOrder(reductions.front());
  if (first > last)
    return;
  range = info.getOps().slice(first, last - first + 1);
  memberAt.resize(range.size());
  for (auto &[op, member] : members)
    if (unsigned number = info.getOrder(op); number >= first) {
      memberAt[number - first] = &member;
      memberIndices.push_back(number - first);
    }
  llvm::sort(memberIndices);
}

void SpaceGrouping::addMember(Operation *op, SpaceMember member) {
  for (SpaceRead &read : member.reads) {
    read.uniform = info.isUniform(read.value);
    read.full = isFullSize(read.value);
  }
  members[op] = std::move(member);
}

void SpaceGrouping::addReshape(Operation *op) {
  if (!space->isMemberReshape(op))
    return;
  SpaceMember member;
  member.axes = space->getAxisSet(*space->getAxes(op->getResult(0)));
  member.reduced.resize(space->getNumAxes());
  member.reads.push_back({op->getOperand(0), true, false, false});
  varyingAxes[op->getResult(0)] =
      getVarying(op->getOperand(0), true, member.axes);
  addMember(op, std::move(member));
}

void SpaceGrouping::addPoint(Operation *op) {
  AxisMap loops = *space->getLoops(op);
  const PointOp *point = info.getPointOp(op);
  SpaceMember member;
  member.point = point;
  member.axes = space->getAxisSet(loops);
  member.reduced.resize(space->getNumAxes());
  for (unsigned loop : point->reduced.set_bits())
    for (unsigned axis : loops[loop])
      member.reduced.set(axis);
  auto agrees = [&](Value value, AffineMap map) {
    if (info.isUniform(value))
      return true;
    std::optional<AxisMap> axes = space->getAxes(value);
    return axes && *axes == space->getRequired(loops, map);
  };
  for (const PointOperand &operand : point->operands) {
    bool match = agrees(operand.value, operand.map);
    if (!match && operand.unproven)
      return;
    member.reads.push_back({operand.value, match, false, false});
  }
  for (auto [result, value] :
       llvm::zip_equal(point->results, op->getResults())) {
    if (!agrees(value, result.map))
      return;
    if (result.reduction)
      member.reads.push_back(
          {result.reduction->init,
           agrees(result.reduction->init, result.map), false, false});
  }
  // What a result really varies over: broadcasts add no axes.
  llvm::SmallBitVector varying(space->getNumAxes());
  for (const SpaceRead &read : member.reads)
    varying |= getVarying(read.value, read.match, member.axes);
  llvm::SmallBitVector constant = member.reduced;
  if (constant.reset(varying).any())
    return;
  varying.reset(member.reduced);
  for (Value result : op->getResults())
    varyingAxes[result] = varying;
  addMember(op, std::move(member));
}

llvm::SmallBitVector
SpaceGrouping::getVarying(Value value, bool match,
                          const llvm::SmallBitVector &loops) const {
  if (info.isUniform(value))
    return llvm::SmallBitVector(space->getNumAxes());
  if (!match)
    return loops;
  auto it = varyingAxes.find(value);
  return it == varyingAxes.end() ? getValueAxes(value) : it->second;
}

const SpaceMember *SpaceGrouping::getMember(Operation *op) const {
  auto it = members.find(op);
  return it == members.end() ? nullptr : &it->second;
}

llvm::SmallBitVector SpaceGrouping::getValueAxes(Value value) const {
  if (!info.isUniform(value))
    if (std::optional<AxisMap> axes = space->getAxes(value))
      return space->getAxisSet(*axes);
  return llvm::SmallBitVector(space->getNumAxes());
}

bool SpaceGrouping::isFullSize(Value value) const {
  return getValueAxes(value) == allAxes;
}

/// The axes of `a` that aren't in `b`.
static llvm::SmallBitVector minus(llvm::SmallBitVector a,
                                  const llvm::SmallBitVector &b) {
  return a.reset(b);
}

Role SpaceGrouping::getRole(Operation *op,
                            const llvm::SmallBitVector &columns) const {
  const SpaceMember *member = getMember(op);
  if (!member)
    return Role::outside;
  if (member->reduced.none())
    return Role::elementwise;
  if (minus(member->reduced, columns).none())
    return minus(member->axes, columns) == minus(allAxes, columns)
               ? Role::row
               : Role::outside;
  return !member->reduced.anyCommon(columns) && member->axes == allAxes
             ? Role::column
             : Role::outside;
}

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

std::optional<unsigned> SpaceGrouping::getIndex(Value value) const {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != &info.getBlock())
    return std::nullopt;
  unsigned number = info.getOrder(def);
  if (number < first || number >= first + range.size())
    return std::nullopt;
  return number - first;
}

Level SpaceGrouping::getLevel(const Orientation &o, Value value) const {
  std::optional<unsigned> index = getIndex(value);
  return index ? o.levels[*index] : Level();
}

/// `level` is the latest of what an op reads; `other` is one more of that, which
/// it reads from outside of a group if `leaves`.
static void meet(Level &level, Level other, bool leaves) {
  if (leaves && other.inside)
    other = {other.level + 1, false};
  if (other.level > level.level)
    level = other;
  else if (other.level == level.level)
    level.inside |= other.inside;
}

/// What a member of `role` that reads at `level` gives.
static Level getResultLevel(Role role, Level level) {
  if (role == Role::row)
    level.inside = true;
  else if (role == Role::column)
    level = {level.level + 1, false};
  return level;
}

void SpaceGrouping::assignLevels(Orientation &o) {
  o.levels.assign(range.size(), Level());
  if (!info.spend(range.size()))
    return assignLevelsRoughly(o);
  for (auto [index, op] : llvm::enumerate(range)) {
    const SpaceMember *member = memberAt[index];
    Role role = member ? getRole(op, o.columns) : Role::outside;
    Level level;
    if (role != Role::outside) {
      for (const SpaceRead &read : member->reads)
        meet(level, getLevel(o, read.value), /*leaves=*/!read.match);
    } else {
      // The size of a member's result is known before the result is.
      if (auto dim = dyn_cast<tensor::DimOp>(op))
        if (Operation *def = dim.getSource().getDefiningOp();
            def && getMember(def))
          continue;
      for (unsigned used : info.getUsedOps(first + index))
        if (used >= first)
          meet(level, o.levels[used - first], /*leaves=*/true);
    }
    if (role == Role::row || role == Role::column)
      o.reductionLevels[op] = level.level;
    o.levels[index] = getResultLevel(role, level);
  }
}

void SpaceGrouping::assignLevelsRoughly(Orientation &o) {
  Level latest;
  for (unsigned index : memberIndices) {
    Operation *op = range[index];
    Role role = getRole(op, o.columns);
    Level level;
    for (const SpaceRead &read : memberAt[index]->reads) {
      std::optional<unsigned> def = getIndex(read.value);
      if (!def)
        continue;
      if (memberAt[*def])
        meet(level, o.levels[*def], /*leaves=*/!read.match);
      else if (info.needsReduction(first + *def))
        meet(level, latest, /*leaves=*/false);
    }
    if (role == Role::row || role == Role::column)
      o.reductionLevels[op] = level.level;
    o.levels[index] = getResultLevel(role, level);
    meet(latest, o.levels[index], /*leaves=*/true);
    latest.inside = false;
  }
}

bool SpaceGrouping::feedsSpace(Operation *reduction) {
  // One walk from the last op to the first settles all reductions that remove
  // the same axes.
  const llvm::SmallBitVector &removed = getMember(reduction)->reduced;
  SmallVector<unsigned> key(removed.set_bits());
  auto [it, isNew] = feeding.try_emplace(key);
  llvm::BitVector &feeds = it->second;
  if (isNew) {
    feeds.resize(range.size());
    auto varies = [&](unsigned index) {
      return memberAt[index] && memberAt[index]->axes.anyCommon(removed);
    };
    if (info.spend(range.size())) {
      for (unsigned index = range.size(); index-- != 0;)
        if (feeds[index] || varies(index))
          for (unsigned used : info.getUsedOps(first + index))
            if (used >= first)
              feeds.set(used - first);
    } else {
      // Whatever an op outside the space reads before the last member may come
      // back into it.
      for (unsigned index : llvm::reverse(memberIndices))
        for (Value result : range[index]->getResults())
          for (Operation *user : info.getLiveUsers(result)) {
            unsigned number = info.getOrder(user) - first;
            if (number < range.size() &&
                (!memberAt[number] || varies(number) || feeds[number]))
              feeds.set(index);
          }
    }
  }
  return feeds[info.getOrder(reduction) - first];
}

//===----------------------------------------------------------------------===//
// Ties
//===----------------------------------------------------------------------===//

void *SpaceGrouping::findClass(llvm::DenseMap<void *, void *> &classes,
                               void *node) {
  void *root = node;
  for (auto it = classes.find(root); it != classes.end() && it->second != root;
       it = classes.find(root))
    root = it->second;
  while (node != root) {
    void *&parent = classes[node];
    node = std::exchange(parent, root);
  }
  return root;
}

void SpaceGrouping::tie(const Orientation &o, ArrayRef<Operation *> roots,
                        unsigned level,
                        llvm::DenseMap<void *, void *> &classes) {
  // Nearest first. Producers only so far: residual streams are elementwise
  // chains as long as a model, and every level would walk all of them.
  constexpr unsigned maxProducersPerRoot = 32;
  SmallVector<Operation *> worklist(roots);
  llvm::DenseSet<Operation *> seen(roots.begin(), roots.end());
  unsigned producers = maxProducersPerRoot * roots.size();
  for (unsigned next = 0; next < worklist.size(); ++next) {
    Operation *op = worklist[next];
    for (const SpaceRead &read : getMember(op)->reads) {
      if (read.uniform)
        continue;
      Level at = getLevel(o, read.value);
      bool here = at.inside && at.level == level;
      if (!here && !read.full)
        continue;
      // A value of this level, or an elementwise one of earlier inputs, stands
      // for the op that makes it; everything else for itself.
      void *node = read.value.getAsOpaquePointer();
      Operation *def = read.value.getDefiningOp();
      Role role = def ? getRole(def, o.columns) : Role::outside;
      bool traced = read.match && ((role == Role::elementwise &&
                                    (here || !at.inside)) ||
                                   (role == Role::row && here));
      if (traced && (here || producers != 0 || seen.contains(def))) {
        node = def;
        if (seen.insert(def).second) {
          worklist.push_back(def);
          producers -= !here;
        }
      }
      void *a = findClass(classes, op), *b = findClass(classes, node);
      classes[a] = b;
    }
  }
}

void SpaceGrouping::formComponents(Orientation &o, bool rowOnly) {
  std::map<unsigned, SmallVector<Operation *>> byLevel;
  for (Operation *op : reductions)
    if (auto it = o.reductionLevels.find(op); it != o.reductionLevels.end())
      byLevel[it->second].push_back(op);
  auto isRow = [&](Operation *op) {
    return getRole(op, o.columns) == Role::row;
  };

  // Column reductions whose results nothing of the space needs may wait for a
  // later level whose row reductions read the same operands.
  SmallVector<Operation *> waiting;
  for (auto &[level, ops] : byLevel) {
    SmallVector<Operation *> roots = ops;
    llvm::append_range(roots, waiting);
    llvm::DenseMap<void *, void *> classes;
    tie(o, roots, level, classes);
    llvm::MapVector<void *, SmallVector<Operation *>> components;
    for (Operation *op : roots)
      components[findClass(classes, op)].push_back(op);
    waiting.clear();
    for (auto &[root, ops] : components) {
      unsigned rows = llvm::count_if(ops, isRow);
      bool mixed = rows != 0 && rows != ops.size();
      if (mixed || (rowOnly && rows != 0 && rows == ops.size())) {
        llvm::sort(ops, [&](Operation *a, Operation *b) {
          return info.getOrder(a) < info.getOrder(b);
        });
        for (Operation *op : ops)
          o.reductionLevels[op] = level;
        o.groups.push_back(ops);
      } else if (rows == 0) {
        for (Operation *op : ops)
          if (!feedsSpace(op))
            waiting.push_back(op);
      }
    }
  }
  for (ArrayRef<Operation *> ops : o.groups)
    for (Operation *op : ops) {
      ++o.fused;
      if (!isRow(op) && feedsSpace(op))
        ++o.returning;
    }
}

//===----------------------------------------------------------------------===//
// Orientation
//===----------------------------------------------------------------------===//

SpaceGrouping::Orientation SpaceGrouping::orient(llvm::SmallBitVector columns,
                                                 bool rowOnly) {
  Orientation o;
  o.columns = columns;
  // Fastest axis of the full-size values that the reductions read.
  unsigned with = 0, without = 0;
  for (Operation *op : reductions)
    for (const SpaceRead &read : getMember(op)->reads)
      if (read.full)
        if (std::optional<AxisMap> axes = space->getAxes(read.value)) {
          unsigned last = 0;
          for (const AxisList &list : *axes)
            if (!list.empty())
              last = list.back();
          ++(columns.test(last) ? with : without);
        }
  o.innermost = with > without;
  assignLevels(o);
  formComponents(o, rowOnly);
  // Column results that come back into the space say that the other
  // orientation is meant, unless columns are where memory is contiguous.
  if (o.returning != 0 && !o.innermost) {
    o.groups.clear();
    o.fused = 0;
  }
  return o;
}

void SpaceGrouping::findGroups(bool rowOnly,
                               SmallVectorImpl<MixedGroup> &groups) {
  if (reductions.empty())
    return;
  SmallVector<llvm::SmallBitVector> candidates;
  for (Operation *op : reductions) {
    const llvm::SmallBitVector &reduced = getMember(op)->reduced;
    if (reduced != allAxes && !llvm::is_contained(candidates, reduced))
      candidates.push_back(reduced);
  }
  std::optional<Orientation> best;
  for (const llvm::SmallBitVector &columns : candidates) {
    // Without both kinds there is no need for levels.
    unsigned rows = 0, cols = 0;
    for (Operation *op : reductions) {
      Role role = getRole(op, columns);
      rows += role == Role::row;
      cols += role == Role::column;
    }
    if (rows == 0 || (cols == 0 && !rowOnly))
      continue;
    Orientation o = orient(columns, rowOnly);
    auto score = [](const Orientation &o) {
      return std::make_tuple(int(o.fused) - int(o.returning), o.innermost);
    };
    if (o.fused != 0 && (!best || score(o) > score(*best)))
      best = std::move(o);
  }
  if (best)
    collectMembers(*best, groups);
}
