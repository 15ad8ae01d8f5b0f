//===- GroupMembers.cpp - What a group of reductions takes in -------------===//
//
// Forward from the reductions: the elementwise ops that depend on row results
// and what happens to finished columns. Backward: the elementwise producers,
// recomputed unless reading what the block stores anyway moves fewer bytes; and
// what the block stores may be stored by the group.
//
//===----------------------------------------------------------------------===//

#include "SpaceGrouping.h"

#include "llvm/Support/MathExtras.h"

#include <queue>

using namespace mlir;
using namespace mlir::norm_fusion;

int64_t mlir::norm_fusion::estimateBytes(const IterationSpace &space,
                                         const llvm::SmallBitVector &axes,
                                         Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t bytes = element.isIntOrFloat()
                      ? std::max(1u, element.getIntOrFloatBitWidth() / 8)
                      : 8;
  // Sums of some thousand are within 64 bits.
  constexpr int64_t most = int64_t(1) << 52;
  for (unsigned axis : axes.set_bits()) {
    int64_t extent = space.getExtent(axis);
    uint64_t product = llvm::SaturatingMultiply<uint64_t>(
        bytes, ShapedType::isDynamic(extent) ? 1024 : extent);
    bytes = std::min<uint64_t>(product, most);
  }
  return bytes;
}

/// The member whose reduction this one continues: a reduction of nothing but
/// its result, with the same combiner, from the identity both times. A row or
/// column reduction, whose result nothing else needs, over more columns or
/// rows; or a row reduction over all rows, to one of everything.
unsigned SpaceGrouping::getContinued(unsigned index,
                                     const Orientation &o) const {
  const SpaceMember &member = members[index];
  bool isRow = o.roles[index] == Role::row;
  if (!member.isReduction || (!isRow && member.reduced.anyCommon(o.columns)))
    return none;
  auto startsFromIdentity = [](const PointReduction &reduction) {
    TypedAttr init = getUniformConstant(reduction.init);
    if (!init)
      return false;
    // maxnum and minnum take an infinity in place of NaN once as well as twice.
    Combiner combiner = reduction.combiner;
    if (combiner == Combiner::maxnum)
      combiner = Combiner::maximum;
    else if (combiner == Combiner::minnum)
      combiner = Combiner::minimum;
    return init == getIdentity(combiner, init.getType());
  };
  ArrayRef<PointResult> results = member.point->results;
  if (results.size() != 1 || !results[0].reduction ||
      member.point->operands.size() != 1 || !member.reads[0].match)
    return none;
  const PointReduction &outer = *results[0].reduction;
  if (outer.elements.size() != 1 || outer.elements[0].factor ||
      outer.elements[0].negated || !startsFromIdentity(outer) ||
      unboxScalar(outer.elements[0].value) != member.point->operands[0].element)
    return none;
  auto isNeededElsewhere = [&](unsigned def, unsigned user) {
    unsigned id = info.getFirstResultId(members[def].number);
    return info.escapes(id) ||
           llvm::any_of(info.getLiveUsers(id), [&](unsigned other) {
             return other != members[user].number && !info.isSizeOp(other);
           });
  };
  unsigned def = member.reads[0].def, user = index;
  bool isShared = def != none && isNeededElsewhere(def, user);
  while (def != none && !members[def].point) {
    user = def;
    def = members[def].reads[0].def;
    isShared |= def != none && isNeededElsewhere(def, user);
  }
  if (def == none || members[def].point->results.size() != 1)
    return none;
  bool continues = isRow ? o.roles[def] == Role::row && !isShared &&
                               !o.continued.contains(def)
                   : o.roles[def] == Role::column
                       ? !isShared
                       : o.roles[def] == Role::row &&
                             (llvm::SmallBitVector(member.reduced) |=
                              members[def].reduced) == allAxes;
  if (!continues)
    return none;
  const PointReduction &inner = *members[def].point->results[0].reduction;
  return inner.combiner == outer.combiner &&
                 getElementTypeOrSelf(inner.init) ==
                     getElementTypeOrSelf(outer.init) &&
                 startsFromIdentity(inner)
             ? def
             : none;
}

void SpaceGrouping::assignContinued(Orientation &o) const {
  for (unsigned op : reductions)
    if (o.roles[op] == Role::column)
      o.removed[op] = members[op].reduced;
  for (unsigned op : reductions)
    if (unsigned inner = getContinued(op, o); inner != none) {
      o.continued[op] = inner;
      if (o.roles[inner] == Role::column)
        o.removed[inner] |= members[op].reduced;
    }
}

void SpaceGrouping::collectMembers(const Orientation &o,
                                   SmallVectorImpl<MixedGroup> &out) {
  llvm::DenseMap<unsigned, int> groupOf;
  /// Groups whose column reductions are over the same rows if each goes on with
  /// the one that continues it.
  llvm::SmallBitVector continues(o.groups.size(), true);
  unsigned firstGroup = out.size();
  for (auto [g, ops] : llvm::enumerate(o.groups)) {
    MixedGroup group;
    group.space = space;
    group.columns = o.columns;
    for (unsigned member : ops) {
      groupOf[member] = g;
      Role role = o.roles[member];
      (role == Role::row      ? group.rowReductions
       : role == Role::column ? group.columnReductions
                              : group.scalarReductions)
          .push_back(getOp(member));
      if (auto it = o.continued.find(member); it != o.continued.end())
        group.continued[getOp(member)] = getOp(it->second);
    }
    // What goes on is one reduction.
    llvm::erase_if(group.rowReductions, [&](Operation *op) {
      return llvm::is_contained(llvm::make_second_range(group.continued), op);
    });
    out.push_back(std::move(group));
    auto columns = llvm::make_filter_range(
        ops, [&](unsigned op) { return o.roles[op] == Role::column; });
    for (unsigned op : columns)
      if (o.removed.at(op) != o.removed.at(*columns.begin()))
        continues.reset(g);
  }

  SmallVector<Tag, 0> tags(members.size());
  SmallVector<SmallVector<unsigned>, 0> membersOf(o.groups.size());
  auto getTag = [&](const SpaceRead &read) -> const Tag & {
    static const Tag outside;
    return read.def == none ? outside : tags[read.def];
  };
  for (unsigned index = firstMember; index < members.size(); ++index) {
    const SpaceMember &member = members[index];
    Tag tag;
    if (auto it = groupOf.find(index); it != groupOf.end()) {
      // What reads a reduction of everything stays outside: it isn't finished
      // as a column is.
      tag.group = it->second;
      if (o.roles[index] == Role::column) {
        tag.finished = true;
        tag.removed = member.reduced;
      }
    } else if (auto it = o.continued.find(index);
               it != o.continued.end() && groupOf.contains(it->second) &&
               (o.roles[it->second] == Role::row ||
                continues.test(groupOf.lookup(it->second)))) {
      unsigned inner = it->second;
      tag = getTag(member.reads[0]);
      if (tag.group < 0)
        continue;
      if (o.roles[inner] == Role::row)
        out[firstGroup + tag.group].scalarReductions.push_back(getOp(index));
      tag.removed |= member.reduced;
      out[firstGroup + tag.group].continued[getOp(index)] = getOp(inner);
    } else if (!member.isReduction) {
      Level here = o.levels[index];
      int inside = -1, finished = -1;
      bool mixed = false, foreign = false;
      llvm::SmallBitVector removed(space->getNumAxes());
      for (const SpaceRead &read : member.reads) {
        const Tag &other = getTag(read);
        Level at = getLevel(o, read);
        if (other.finished) {
          foreign |= !read.match || (finished >= 0 && finished != other.group);
          finished = other.group;
          removed |= other.removed;
        } else if (here.inside && at.inside && at.level == here.level) {
          mixed |= other.mixed;
          if (other.group < 0)
            continue;
          mixed |= inside >= 0 && inside != other.group;
          inside = other.group;
        }
      }
      if (finished >= 0) {
        // After the last row: only with what is there before the group, so that
        // sums of several groups' columns don't chain the groups, and with
        // nothing that varies over the rows again.
        unsigned start = members[o.groups[finished].front()].number;
        for (const SpaceRead &read : member.reads) {
          unsigned def = info.getDef(read.value);
          // One number may come from the finished columns too: their norm.
          foreign |= !getTag(read).finished && def != none && def > start &&
                     (!read.uniform || info.needsReduction(def));
        }
        if (foreign || member.axes.anyCommon(removed))
          continue;
        tag.group = finished;
        tag.finished = true;
        tag.removed = removed;
      } else if (mixed) {
        tag.mixed = true;
      } else if (inside >= 0) {
        tag.group = inside;
      } else {
        continue;
      }
    } else {
      continue;
    }
    if (tag.group >= 0)
      membersOf[tag.group].push_back(index);
    tags[index] = std::move(tag);
  }

  for (auto [g, indices] : llvm::enumerate(membersOf)) {
    MixedGroup &group = out[firstGroup + g];
    for (unsigned index : indices) {
      group.members.push_back(getOp(index));
      for (unsigned id : info.getResultIds(members[index].number)) {
        auto outside = [&](unsigned user) {
          unsigned other = getMember(user);
          return !info.isSizeOp(user) &&
                 (other == none || tags[other].group != int(g));
        };
        if (info.escapes(id) || llvm::any_of(info.getLiveUsers(id), outside))
          group.results.push_back(info.getValue(id));
      }
    }
    chooseProducers(group, indices, tags);
  }
}

void SpaceGrouping::chooseProducers(MixedGroup &group,
                                    ArrayRef<unsigned> groupMembers,
                                    ArrayRef<Tag> tags) {
  llvm::SmallDenseSet<unsigned, 64> inGroup(groupMembers.begin(),
                                            groupMembers.end());
  /// True if what is read could be recomputed by the member that makes it.
  auto isProducer = [&](const SpaceRead &read) {
    return read.match && read.def != none && !members[read.def].isReduction &&
           !inGroup.contains(read.def) &&
           (tags[read.def].group < 0 && !tags[read.def].mixed);
  };
  llvm::SmallDenseSet<unsigned, 32> recomputed, seen;
  llvm::SmallDenseSet<unsigned, 32> reads;
  // Latest first: members are in block order.
  std::priority_queue<unsigned> queue;
  auto need = [&](const SpaceMember &member) {
    for (const SpaceRead &read : member.reads) {
      if (read.uniform ||
          (read.match && read.def != none && inGroup.contains(read.def)))
        continue;
      if (!isProducer(read))
        reads.insert(read.value);
      else if (seen.insert(read.def).second)
        queue.push(read.def);
    }
  };
  for (unsigned index : groupMembers)
    need(members[index]);

  // Producers that only the group needs go with it. Latest first, so that an
  // op's users are decided before the op is.
  SmallVector<unsigned> stored;
  while (!queue.empty()) {
    unsigned index = queue.top();
    queue.pop();
    auto isUsedOutside = [&](unsigned id) {
      return info.escapes(id) ||
             llvm::any_of(info.getLiveUsers(id), [&](unsigned user) {
               unsigned other = getMember(user);
               return (other == none || (!inGroup.contains(other) &&
                                         !recomputed.contains(other))) &&
                      !info.isSizeOp(user);
             });
    };
    bool isStored =
        llvm::any_of(info.getResultIds(members[index].number), isUsedOutside);
    if (isStored) {
      stored.push_back(index);
      continue;
    }
    recomputed.insert(index);
    need(members[index]);
  }

  // The others are in memory anyway: recompute them only if what that reads
  // on top of the other operands is less. Earliest first, within bounds.
  auto getBytes = [&](unsigned value) {
    return estimateBytes(*space, getValueAxes(value),
                         info.getValue(value).getType());
  };
  SmallVector<unsigned> read;
  for (unsigned index : llvm::reverse(stored)) {
    llvm::SmallSetVector<unsigned, 16> chain;
    chain.insert(index);
    llvm::SmallSetVector<unsigned, 8> extra;
    bool small = true;
    for (unsigned i = 0; i < chain.size() && small; ++i) {
      for (const SpaceRead &read : members[chain[i]].reads) {
        if (read.uniform || reads.contains(read.value))
          continue;
        if (!isProducer(read))
          extra.insert(read.value);
        else if (!recomputed.contains(read.def))
          chain.insert(read.def);
      }
      small = chain.size() <= 16 && extra.size() <= 8;
    }
    int64_t before = 0, after = 0;
    for (unsigned value : extra)
      after += getBytes(value);
    for (unsigned value : info.getResultIds(members[index].number))
      before += getBytes(value);
    if (small && after < before) {
      recomputed.insert(chain.begin(), chain.end());
      reads.insert(extra.begin(), extra.end());
    } else {
      read.push_back(index);
      for (unsigned value : info.getResultIds(members[index].number))
        reads.insert(value);
    }
  }
  SmallVector<unsigned> producers(recomputed.begin(), recomputed.end());
  llvm::sort(producers, std::less<unsigned>());
  for (unsigned index : producers)
    group.producers.push_back(getOp(index));
  llvm::DenseSet<unsigned> computed(groupMembers.begin(), groupMembers.end());
  computed.insert(recomputed.begin(), recomputed.end());
  chooseStored(group, read, std::move(computed),
               llvm::DenseSet<unsigned>(reads.begin(), reads.end()));
}

/// Such an op is read from memory once less. What else uses its results has to
/// come after all that the group reads: no order of the block changes, and
/// there is no cycle.
void SpaceGrouping::chooseStored(MixedGroup &group,
                                 ArrayRef<unsigned> candidates,
                                 llvm::DenseSet<unsigned> inGroup,
                                 llvm::DenseSet<unsigned> reads) {
  constexpr unsigned maxStored = 4, maxChain = 16, maxExtra = 4;
  auto isOutside = [&](unsigned user, auto &inside) {
    unsigned member = getMember(user);
    return !info.isSizeOp(user) && (member == none || !inside.contains(member));
  };
  SmallVector<unsigned> stored, producers;
  // Latest first: an op may be all that uses an earlier one.
  for (unsigned index : llvm::reverse(candidates)) {
    const SpaceMember &member = members[index];
    auto results = info.getResultIds(member.number);
    if (stored.size() == maxStored || !member.point ||
        storedByGroup.contains(index) ||
        !llvm::all_of(results,
                      [&](unsigned id) { return getValueAxes(id) == allAxes; }))
      continue;
    // With what only this op needs.
    llvm::SmallSetVector<unsigned, 16> chain;
    auto isUsedElsewhere = [&](unsigned id) {
      return info.escapes(id) ||
             llvm::any_of(info.getLiveUsers(id), [&](unsigned user) {
               return isOutside(user, chain);
             });
    };
    llvm::SmallDenseSet<unsigned, 8> extra;
    chain.insert(index);
    for (unsigned i = 0; i < chain.size() && chain.size() <= maxChain; ++i)
      for (const SpaceRead &read : members[chain[i]].reads) {
        if (read.uniform || reads.contains(read.value) ||
            (read.match && read.def != none && inGroup.contains(read.def)))
          continue;
        bool isOwn = read.match && read.def != none &&
                     !members[read.def].isReduction &&
                     !storedByGroup.contains(read.def) &&
                     llvm::none_of(info.getResultIds(members[read.def].number),
                                   isUsedElsewhere);
        if (isOwn)
          chain.insert(read.def);
        else
          extra.insert(read.value);
      }
    if (chain.size() > maxChain || extra.size() > maxExtra)
      continue;
    unsigned last = 0; // read by the group
    auto note = [&](unsigned value) {
      if (unsigned def = info.getDef(value);
          def != none && !llvm::is_contained(results, value))
        last = std::max(last, def);
    };
    llvm::for_each(reads, note);
    llvm::for_each(extra, note);
    bool isEarly = llvm::any_of(results, [&](unsigned id) {
      return llvm::any_of(info.getLiveUsers(id), [&](unsigned user) {
        return user <= last && isOutside(user, inGroup);
      });
    });
    if (isEarly)
      continue;
    for (unsigned id : results)
      reads.erase(id);
    reads.insert(extra.begin(), extra.end());
    inGroup.insert(chain.begin(), chain.end());
    storedByGroup.insert(index);
    stored.push_back(index);
    producers.append(std::next(chain.begin()), chain.end());
    for (unsigned id : results)
      if (info.escapes(id) ||
          llvm::any_of(info.getLiveUsers(id),
                       [&](unsigned user) { return isOutside(user, inGroup); }))
        group.storedResults.push_back(info.getValue(id));
  }
  for (auto [indices, ops] : {std::pair(&stored, &group.stored),
                              std::pair(&producers, &group.storedProducers)}) {
    llvm::sort(*indices, std::less<unsigned>());
    for (unsigned index : *indices)
      ops->push_back(getOp(index));
  }
}

MixedGroup MixedGroup::withStored() const {
  MixedGroup all = *this;
  // All of these stand before some member that reads them.
  all.members.assign(stored);
  all.members.append(members);
  all.producers.append(storedProducers);
  all.results.append(storedResults);
  return all;
}
