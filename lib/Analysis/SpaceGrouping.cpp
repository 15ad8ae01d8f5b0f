//===- SpaceGrouping.cpp - Groups of one iteration space ------------------===//
//
// Levels, ties and orientation: which reductions of a space become one group.
// The ops that it sees are in SpaceMembers.cpp, what else a group takes in in
// GroupMembers.cpp.
//
//===----------------------------------------------------------------------===//

#include "SpaceGrouping.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

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

static bool isReduction(Role role) {
  return role == Role::row || role == Role::column || role == Role::scalar;
}

/// What a member of `role` that reads at `level` gives.
static Level getResultLevel(Role role, Level level) {
  if (role == Role::row)
    level.inside = true;
  else if (role == Role::column || role == Role::scalar)
    level = {level.level + 1, false};
  return level;
}

void SpaceGrouping::assignLevels(Orientation &o) {
  o.levels.assign(members.size(), Level());
  if (!info.spend(rangeSize))
    return assignLevelsRoughly(o);
  // Of all ops of the range.
  SmallVector<Level, 0> levels(rangeSize);
  unsigned next = firstMember;
  for (unsigned index = 0; index < rangeSize; ++index) {
    unsigned number = first + index;
    unsigned here =
        next < members.size() && members[next].number == number ? next++ : none;
    Role role = here == none ? Role::outside : o.roles[here];
    Level level;
    if (role != Role::outside) {
      for (const SpaceRead &read : members[here].reads) {
        unsigned def = info.getDef(read.value);
        meet(level,
             def != none && def >= first && def < number ? levels[def - first]
                                                         : Level(),
             /*leaves=*/!read.match);
      }
    } else {
      // The size of a member's result is known before the result is; so is that
      // of a linalg op of which nothing else is needed.
      if (info.isSizeOp(number))
        if (unsigned def = info.getDef(info.getUsedIds(number).front());
            def != none &&
            (getMember(def) != none ||
             (!info.isLive(def) && isa<linalg::LinalgOp>(info.getOps()[def]))))
          continue;
      for (unsigned used : info.getUsedIds(number))
        if (unsigned def = info.getDef(used);
            def != none && def >= first && def < number)
          meet(level, levels[def - first], /*leaves=*/true);
    }
    if (isReduction(role))
      o.reductionLevels[here] = level.level;
    levels[index] = getResultLevel(role, level);
    if (here != none)
      o.levels[here] = levels[index];
  }
}

void SpaceGrouping::assignLevelsRoughly(Orientation &o) {
  // The latest of the members up to each, seen from outside.
  SmallVector<std::pair<unsigned, unsigned>, 0> latest;
  auto getLatestBefore = [&](unsigned number) {
    auto it = llvm::partition_point(
        latest, [&](auto &entry) { return entry.first < number; });
    return it == latest.begin() ? Level() : Level{std::prev(it)->second, false};
  };
  for (unsigned here = firstMember; here < members.size(); ++here) {
    Role role = o.roles[here];
    Level level;
    for (const SpaceRead &read : members[here].reads) {
      unsigned def = info.getDef(read.value);
      if (def == none || def < first)
        continue;
      if (read.def != none)
        meet(level, o.levels[read.def],
             /*leaves=*/!read.match || role == Role::outside);
      else if (info.needsReduction(def))
        meet(level, getLatestBefore(def), /*leaves=*/false);
    }
    if (isReduction(role))
      o.reductionLevels[here] = level.level;
    o.levels[here] = getResultLevel(role, level);
    unsigned outside = o.levels[here].level + o.levels[here].inside;
    if (latest.empty() || outside > latest.back().second)
      latest.push_back({members[here].number, outside});
  }
}

bool SpaceGrouping::feedsSpace(unsigned reduction) {
  // One walk from the last op to the first settles all reductions that remove
  // the same axes.
  const llvm::SmallBitVector &removed = members[reduction].reduced;
  SmallVector<unsigned> key(removed.set_bits());
  auto [it, isNew] = feeding.try_emplace(key);
  llvm::BitVector &feeds = it->second;
  if (!isNew)
    return feeds[reduction];
  feeds.resize(members.size());
  auto varies = [&](unsigned member) {
    return members[member].axes.anyCommon(removed);
  };
  if (info.spend(rangeSize)) {
    llvm::BitVector range(rangeSize);
    unsigned next = members.size();
    for (unsigned index = rangeSize; index-- != 0;) {
      unsigned number = first + index;
      bool isMember = next != 0 && members[next - 1].number == number;
      next -= isMember;
      if (isMember && range[index])
        feeds.set(next);
      if (!range[index] && !(isMember && varies(next)))
        continue;
      for (unsigned used : info.getUsedIds(number))
        if (unsigned def = info.getDef(used);
            def != none && def >= first && def < number)
          range.set(def - first);
    }
  } else {
    // Whatever an op outside the space reads before the last member may come
    // back into it.
    for (unsigned member = members.size(); member-- != firstMember;)
      for (unsigned result : info.getResultIds(members[member].number))
        for (unsigned user : info.getLiveUsers(result)) {
          if (user >= first + rangeSize)
            continue;
          unsigned other = getMember(user);
          if (other == none || varies(other) || feeds[other])
            feeds.set(member);
        }
  }
  return feeds[reduction];
}

//===----------------------------------------------------------------------===//
// Ties
//===----------------------------------------------------------------------===//

unsigned DisjointSets::find(unsigned node) {
  unsigned root = node;
  for (auto it = parents.find(root); it != parents.end();
       it = parents.find(root))
    root = it->second;
  while (node != root)
    node = std::exchange(parents[node], root);
  return root;
}

bool DisjointSets::join(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return false;
  parents[a] = b;
  return true;
}

void SpaceGrouping::forEachTie(
    const Orientation &o, ArrayRef<unsigned> roots, unsigned level,
    llvm::function_ref<bool(unsigned, unsigned, unsigned)> join) const {
  // Nearest first. Producers only so far: residual streams are elementwise
  // chains as long as a model, and every level would walk all of them.
  constexpr unsigned maxProducersPerRoot = 32;
  SmallVector<unsigned> worklist(roots);
  llvm::SmallDenseSet<unsigned, 16> seen(roots.begin(), roots.end());
  unsigned producers = maxProducersPerRoot * roots.size();
  for (unsigned next = 0; next < worklist.size(); ++next) {
    unsigned member = worklist[next];
    for (const SpaceRead &read : members[member].reads) {
      if (read.uniform)
        continue;
      Level at = getLevel(o, read);
      bool here = at.inside && at.level == level;
      if (!here && !read.full)
        continue;
      // A value of this level, or an elementwise one of earlier inputs, stands
      // for the op that makes it; everything else for itself.
      unsigned node = members.size() + read.value, def = read.def;
      Role role = def == none ? Role::outside : o.roles[def];
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
      if (!join(member, node, members.size() + read.value))
        return;
    }
  }
}

void SpaceGrouping::addWaiting(const Orientation &o, unsigned reduction,
                               Waiting &waiting) const {
  auto join = [&](unsigned a, unsigned b) {
    // Classes that become one bring their reductions along.
    a = waiting.classes.find(a);
    b = waiting.classes.find(b);
    if (!waiting.classes.join(a, b))
      return;
    if (SmallVector<unsigned> moved = waiting.ops.lookup(a); !moved.empty()) {
      waiting.ops.erase(a);
      llvm::append_range(waiting.ops[b], moved);
    }
  };
  waiting.ops[waiting.classes.find(reduction)].push_back(reduction);
  constexpr unsigned later = ~0u;
  forEachTie(o, reduction, later,
             [&](unsigned member, unsigned node, unsigned value) {
               waiting.nodes.insert(node);
               waiting.nodes.insert(value);
               join(member, node);
               join(value, node);
               return true;
             });
}

/// A kernel deals its rows to one set of partial sums: of column reductions
/// over different rows (a segment each, all rows), those stay that are most,
/// the first ones if in doubt.
void SpaceGrouping::dropOtherRows(Orientation &o,
                                  SmallVectorImpl<unsigned> &ops) const {
  auto isColumn = [&](unsigned op) { return o.roles[op] == Role::column; };
  auto differs = [&](unsigned op) {
    return isColumn(op) && members[op].reduced !=
                               members[*llvm::find_if(ops, isColumn)].reduced;
  };
  if (llvm::none_of(ops, differs))
    return;
  SmallVector<std::pair<llvm::SmallBitVector, unsigned>> counts;
  for (unsigned op : llvm::make_filter_range(ops, isColumn)) {
    auto it = llvm::find_if(
        counts, [&](auto &entry) { return entry.first == o.removed[op]; });
    if (it == counts.end())
      counts.push_back({o.removed[op], 1});
    else
      ++it->second;
  }
  const llvm::SmallBitVector &kept =
      std::max_element(counts.begin(), counts.end(), [](auto &a, auto &b) {
        return a.second < b.second;
      })->first;
  llvm::erase_if(ops, [&](unsigned op) {
    bool drop = isColumn(op) && o.removed[op] != kept;
    if (drop)
      o.otherRows.push_back(op);
    return drop;
  });
}

void SpaceGrouping::formComponents(Orientation &o, bool rowOnly) {
  std::map<unsigned, SmallVector<unsigned>> byLevel;
  for (unsigned reduction : reductions)
    if (auto it = o.reductionLevels.find(reduction);
        it != o.reductionLevels.end())
      byLevel[it->second].push_back(reduction);
  auto isRow = [&](unsigned member) { return o.roles[member] == Role::row; };
  auto isColumn = [&](unsigned member) {
    return o.roles[member] == Role::column;
  };
  auto returns = [&](unsigned op) { return isColumn(op) && feedsSpace(op); };

  // Column reductions whose results nothing of the space needs may wait for a
  // later level whose row reductions read the same operands.
  Waiting waiting;
  // Past all other nodes.
  constexpr unsigned waitingNodes = 1u << 31;
  for (auto &[level, roots] : byLevel) {
    DisjointSets classes;
    llvm::SmallDenseSet<unsigned, 8> withRoots(roots.begin(), roots.end());
    SmallVector<unsigned> met;
    auto join = [&](unsigned a, unsigned b) {
      a = classes.find(a);
      b = classes.find(b);
      if (a == b)
        return;
      classes.join(a, b);
      if (withRoots.erase(a))
        withRoots.insert(b);
    };
    forEachTie(o, roots, level,
               [&](unsigned member, unsigned node, unsigned value) {
                 join(member, node);
                 for (unsigned other : {node, value}) {
                   if (!waiting.nodes.contains(other))
                     continue;
                   other = waiting.classes.find(other);
                   if (!waiting.ops.contains(other))
                     continue;
                   met.push_back(other);
                   join(member, waitingNodes + other);
                 }
                 return withRoots.size() > 1 || !waiting.ops.empty();
               });
    llvm::MapVector<unsigned, SmallVector<unsigned>> components;
    for (unsigned root : roots)
      components[classes.find(root)].push_back(root);
    // What waits takes part in the component that reads the same.
    llvm::sort(met, std::less<unsigned>());
    met.erase(llvm::unique(met), met.end());
    llvm::DenseMap<unsigned, SmallVector<unsigned>> joined;
    for (unsigned other : met)
      joined[classes.find(waitingNodes + other)].push_back(other);
    SmallVector<unsigned> wait;
    for (auto &[root, ops] : components) {
      unsigned rows = llvm::count_if(ops, isRow);
      if (rows == 0) {
        llvm::append_range(wait, ops);
        continue;
      }
      for (unsigned other : joined.lookup(root))
        llvm::append_range(ops, waiting.ops.lookup(other));
      // Reductions of everything come along, they make no group. Column results
      // that come back into the space say that the other orientation is meant,
      // unless columns are where memory is contiguous.
      if ((!rowOnly && llvm::none_of(ops, isColumn)) ||
          (!o.innermost && llvm::any_of(ops, returns)))
        continue;
      for (unsigned other : joined.lookup(root))
        waiting.ops.erase(other);
      llvm::sort(ops, std::less<unsigned>());
      dropOtherRows(o, ops);
      for (unsigned op : ops)
        o.reductionLevels[op] = level;
      o.groups.push_back(ops);
    }
    for (unsigned op : wait)
      if (!feedsSpace(op))
        addWaiting(o, op, waiting);
  }
  for (ArrayRef<unsigned> ops : o.groups) {
    o.fused += llvm::count_if(ops, [&](unsigned op) {
      return !isRow(op) || !o.continued.contains(op);
    });
    o.returning += llvm::count_if(ops, returns);
  }
}

//===----------------------------------------------------------------------===//
// Orientation
//===----------------------------------------------------------------------===//

/// No kernel reduces what varies over some columns alone, but as a step of a
/// reduction of all.
void SpaceGrouping::dropOtherColumns(Orientation &o) const {
  for (unsigned op : reductions) {
    if (auto it = o.continued.find(op);
        it != o.continued.end() && o.roles[it->second] == Role::outside)
      o.continued.erase(it);
    if (o.roles[op] != Role::row || members[op].axes == allAxes ||
        o.continued.contains(op))
      continue;
    o.roles[op] = Role::outside;
    o.otherColumns.push_back(op);
  }
}

SpaceGrouping::Orientation SpaceGrouping::orient(llvm::SmallBitVector columns,
                                                 bool rowOnly) {
  Orientation o;
  o.columns = columns;
  assignRoles(o);
  assignContinued(o);
  dropOtherColumns(o);
  // Fastest axis of the full-size values that the reductions read.
  unsigned with = 0, without = 0;
  for (unsigned reduction : reductions)
    for (const SpaceRead &read : members[reduction].reads)
      if (read.full) {
        unsigned last = 0;
        for (const AxisList &list : space->getMap(space->getAxesId(read.value)))
          if (!list.empty())
            last = list.back();
        ++(columns.test(last) ? with : without);
      }
  o.innermost = with > without;
  assignLevels(o);
  formComponents(o, rowOnly);
  return o;
}

void SpaceGrouping::findGroups(bool rowOnly,
                               SmallVectorImpl<MixedGroup> &groups) {
  if (reductions.empty())
    return;
  SmallVector<llvm::SmallBitVector> candidates;
  for (unsigned reduction : reductions) {
    const llvm::SmallBitVector &reduced = members[reduction].reduced;
    if (reduced != allAxes && !llvm::is_contained(candidates, reduced))
      candidates.push_back(reduced);
  }
  // What two row reductions, one of the other's result, reduce together.
  unsigned inOneStep = candidates.size();
  for (unsigned reduction : reductions) {
    unsigned def = members[reduction].reads[0].def;
    while (def != none && !members[def].point)
      def = members[def].reads[0].def;
    if (def == none || !members[def].isReduction)
      continue;
    llvm::SmallBitVector reduced = members[reduction].reduced;
    reduced |= members[def].reduced;
    if (reduced != allAxes && !llvm::is_contained(candidates, reduced))
      candidates.push_back(reduced);
  }
  std::optional<Orientation> best;
  for (auto [index, columns] : llvm::enumerate(candidates)) {
    // Without both kinds there is no need for levels.
    unsigned rows = 0, cols = 0;
    for (unsigned reduction : reductions) {
      Role role = computeRole(members[reduction], columns);
      rows += role == Role::row;
      cols += role == Role::column;
    }
    if (rows == 0 || (cols == 0 && !rowOnly))
      continue;
    Orientation o = orient(columns, rowOnly);
    if (index >= inOneStep && !o.otherColumns.empty())
      continue;
    auto score = [](const Orientation &o) {
      return std::make_tuple(int(o.fused) - int(o.returning), o.innermost);
    };
    if (o.fused != 0 && (!best || score(o) > score(*best)))
      best = std::move(o);
  }
  if (!best)
    return;
  otherRows = best->otherRows;
  otherColumns = best->otherColumns;
  collectMembers(*best, groups);
}

void SpaceGrouping::claim(ArrayRef<MixedGroup> groups, const PointOp &seed,
                          llvm::BitVector &claimed) {
  for (const MixedGroup &group : groups) {
    groupedColumns = group.columns;
    grouped.insert(group.rowReductions.begin(), group.rowReductions.end());
    grouped.insert(group.columnReductions.begin(),
                   group.columnReductions.end());
    grouped.insert(group.scalarReductions.begin(),
                   group.scalarReductions.end());
    for (auto [op, inner] : group.continued) {
      grouped.insert(op);
      grouped.insert(inner);
    }
  }
  claimed.set(seed.number);
  // A norm next to a sum over one dimension more has a space of its own.
  for (unsigned reduction : reductions)
    if (members[reduction].axes == allAxes ||
        grouped.contains(getOp(reduction)))
      claimed.set(members[reduction].number);
}
