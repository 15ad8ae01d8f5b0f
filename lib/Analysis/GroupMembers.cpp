//===- GroupMembers.cpp - What a group of reductions takes in -------------===//
//
// Forward from the reductions: the elementwise ops that depend on row results
// and what happens to finished columns. Backward: the elementwise producers,
// recomputed unless reading what the block stores anyway moves fewer bytes.
//
//===----------------------------------------------------------------------===//

#include "SpaceGrouping.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
  for (unsigned axis : axes.set_bits()) {
    int64_t extent = space.getExtent(axis);
    bytes *= ShapedType::isDynamic(extent) ? 1024 : extent;
  }
  return bytes;
}

/// The op whose column reduction `op` continues: a reduction of nothing but
/// its result, with the same combiner, from the identity both times.
Operation *SpaceGrouping::getContinued(Operation *op,
                                       const Orientation &o) const {
  const SpaceMember *member = getMember(op);
  if (!member || member->reduced.none() || member->reduced.anyCommon(o.columns))
    return nullptr;
  auto startsFromIdentity = [](const PointReduction &reduction) {
    TypedAttr init = getUniformConstant(reduction.init);
    return init && init == getIdentity(reduction.combiner, init.getType());
  };
  ArrayRef<PointResult> results = member->point->results;
  if (results.size() != 1 || !results[0].reduction ||
      member->point->operands.size() != 1 || !member->reads[0].match)
    return nullptr;
  const PointReduction &outer = *results[0].reduction;
  if (outer.elements.size() != 1 || !startsFromIdentity(outer) ||
      unboxScalar(outer.elements[0]) != member->point->operands[0].element)
    return nullptr;
  Value source = member->point->operands[0].value;
  while (Operation *def = source.getDefiningOp()) {
    if (!getMember(def) || !isReshape(def))
      break;
    source = def->getOperand(0);
  }
  Operation *def = source.getDefiningOp();
  if (!def || getRole(def, o.columns) != Role::column ||
      def->getNumResults() != 1)
    return nullptr;
  const PointReduction &inner = *getMember(def)->point->results[0].reduction;
  return inner.combiner == outer.combiner && startsFromIdentity(inner) ? def
                                                                       : nullptr;
}

void SpaceGrouping::collectMembers(const Orientation &o,
                                   SmallVectorImpl<MixedGroup> &out) {
  llvm::DenseMap<Operation *, int> groupOf;
  unsigned firstGroup = out.size();
  for (auto [g, ops] : llvm::enumerate(o.groups)) {
    MixedGroup group;
    group.space = space;
    group.columns = o.columns;
    for (Operation *op : ops) {
      groupOf[op] = g;
      (getRole(op, o.columns) == Role::row ? group.rowReductions
                                           : group.columnReductions)
          .push_back(op);
    }
    out.push_back(std::move(group));
  }

  llvm::DenseMap<Value, Tag> tags;
  llvm::DenseMap<Operation *, int> memberOf;
  for (Operation *op : range) {
    const SpaceMember *member = getMember(op);
    if (!member)
      continue;
    Tag tag;
    if (auto it = groupOf.find(op); it != groupOf.end()) {
      tag.group = it->second;
      if (getRole(op, o.columns) == Role::column) {
        tag.finished = true;
        tag.removed = member->reduced;
      }
    } else if (Operation *inner = getContinued(op, o);
               inner && groupOf.contains(inner)) {
      tag = tags.lookup(member->reads[0].value);
      if (tag.group < 0)
        continue;
      tag.removed |= member->reduced;
      out[firstGroup + tag.group].continued[op] = inner;
    } else if (member->reduced.none()) {
      Level here = getLevel(o, op->getResult(0));
      int inside = -1, finished = -1;
      bool mixed = false, foreign = false;
      llvm::SmallBitVector removed(space->getNumAxes());
      for (auto [value, match, uniform, full] : member->reads) {
        Tag read = tags.lookup(value);
        Level at = getLevel(o, value);
        if (read.finished) {
          foreign |= !match || (finished >= 0 && finished != read.group);
          finished = read.group;
          removed |= read.removed;
        } else if (here.inside && at.inside && at.level == here.level) {
          mixed |= read.mixed;
          if (read.group < 0)
            continue;
          mixed |= inside >= 0 && inside != read.group;
          inside = read.group;
        }
      }
      if (finished >= 0) {
        // After the last row: only with what is there before the group, so that
        // sums of several groups' columns don't chain the groups, and with
        // nothing that varies over the rows again.
        for (auto [value, match, uniform, full] : member->reads) {
          Operation *def = value.getDefiningOp();
          foreign |= !tags.lookup(value).finished && def &&
                     !uniform &&
                     def->getBlock() == &info.getBlock() &&
                     info.getOrder(def) >
                         info.getOrder(o.groups[finished].front());
        }
        if (foreign || member->axes.anyCommon(removed))
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
    for (Value result : op->getResults())
      tags[result] = tag;
    if (tag.group >= 0) {
      memberOf[op] = tag.group;
      out[firstGroup + tag.group].members.push_back(op);
    }
  }

  for (auto [g, ops] : llvm::enumerate(o.groups)) {
    MixedGroup &group = out[firstGroup + g];
    for (Operation *op : group.members)
      for (Value result : op->getResults()) {
        auto outside = [&](Operation *user) {
          auto it = memberOf.find(user);
          return !isa<tensor::DimOp>(user) &&
                 (it == memberOf.end() || it->second != int(g));
        };
        if (llvm::any_of(info.getLiveUsers(result), outside))
          group.results.push_back(result);
      }
    chooseProducers(group, g, tags);
  }
}

void SpaceGrouping::chooseProducers(MixedGroup &group, int index,
                                    const llvm::DenseMap<Value, Tag> &tags) {
  llvm::DenseSet<Operation *> inGroup(group.members.begin(),
                                      group.members.end());
  /// The op that `value` could be recomputed by, or null.
  auto getProducer = [&](Value value) -> Operation * {
    Operation *def = value.getDefiningOp();
    const SpaceMember *member = def ? getMember(def) : nullptr;
    if (!member || member->reduced.any() || inGroup.contains(def))
      return nullptr;
    auto it = tags.find(value);
    return it == tags.end() || (it->second.group < 0 && !it->second.mixed)
               ? def
               : nullptr;
  };
  llvm::DenseSet<Operation *> recomputed, seen;
  llvm::DenseSet<Value> reads;
  auto compare = [&](Operation *a, Operation *b) {
    return info.getOrder(a) < info.getOrder(b);
  };
  std::priority_queue<Operation *, std::vector<Operation *>, decltype(compare)>
      queue(compare);
  auto need = [&](const SpaceMember &member) {
    for (auto [value, match, uniform, full] : member.reads) {
      if (uniform)
        continue;
      Operation *def = value.getDefiningOp();
      if (match && def && inGroup.contains(def))
        continue;
      Operation *producer = match ? getProducer(value) : nullptr;
      if (!producer)
        reads.insert(value);
      else if (seen.insert(producer).second)
        queue.push(producer);
    }
  };
  for (Operation *op : group.members)
    need(*getMember(op));

  // Producers that only the group needs go with it. Latest first, so that an
  // op's users are decided before the op is.
  SmallVector<Operation *> stored;
  while (!queue.empty()) {
    Operation *op = queue.top();
    queue.pop();
    bool isStored = llvm::any_of(op->getResults(), [&](Value result) {
      return llvm::any_of(info.getLiveUsers(result), [&](Operation *user) {
        return !inGroup.contains(user) && !recomputed.contains(user) &&
               !isa<tensor::DimOp>(user);
      });
    });
    if (isStored) {
      stored.push_back(op);
      continue;
    }
    recomputed.insert(op);
    need(*getMember(op));
  }

  // The others are in memory anyway: recompute them only if what that reads
  // on top of the other operands is less. Earliest first, within bounds.
  for (Operation *op : llvm::reverse(stored)) {
    llvm::SetVector<Operation *> chain;
    chain.insert(op);
    llvm::SetVector<Value> extra;
    bool small = true;
    for (unsigned i = 0; i < chain.size() && small; ++i) {
      for (auto [value, match, uniform, full] : getMember(chain[i])->reads) {
        if (uniform || reads.contains(value))
          continue;
        Operation *producer = match ? getProducer(value) : nullptr;
        if (!producer)
          extra.insert(value);
        else if (!recomputed.contains(producer))
          chain.insert(producer);
      }
      small = chain.size() <= 16 && extra.size() <= 8;
    }
    int64_t before = 0, after = 0;
    for (Value value : extra)
      after += estimateBytes(*space, getValueAxes(value), value.getType());
    for (Value value : op->getResults())
      before += estimateBytes(*space, getValueAxes(value), value.getType());
    if (small && after < before) {
      recomputed.insert(chain.begin(), chain.end());
      reads.insert(extra.begin(), extra.end());
    } else {
      reads.insert(op->result_begin(), op->result_end());
    }
  }
  group.producers.assign(recomputed.begin(), recomputed.end());
  llvm::sort(group.producers, compare);
}
