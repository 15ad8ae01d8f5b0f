//===- SpaceGrouping.h - Groups of one iteration space ----------*- C++ -*-===//
//
// The steps of the analysis inside one space: which reductions are row-wise
// and which column-wise, which can be computed at the same time, which belong
// together, and what else their group takes in.
//
// Time is a level. A value of the block is at level n if n times something had
// to leave a group to reach it: through an op outside the space, through a
// value that the space reads in another layout, or as a finished column result.
// Reductions of one level never need each other from outside, so any of them
// can be one op without a cycle.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_ANALYSIS_SPACEGROUPING_H
#define NORM_FUSION_LIB_ANALYSIS_SPACEGROUPING_H

#include "norm_fusion/Analysis/MixedOrderReductionAnalysis.h"

#include <map>

namespace mlir::norm_fusion {

/// When a value is there, and whether reductions of that level make it.
struct Level {
  unsigned level = 0;
  bool inside = false;
};

/// What an op of the space reads.
struct SpaceRead {
  /// BlockInfo's number of the value.
  unsigned value;
  /// The member that makes it, or BlockInfo::none.
  unsigned def;
  /// It has the axes there that it has in the space.
  bool match;
  /// See BlockInfo; and really of full size: broadcasts aren't.
  bool uniform, full;
};

/// An op's place in the space, whatever the orientation.
struct SpaceMember {
  /// BlockInfo's number of the op.
  unsigned number;
  /// Null for a reshape.
  const PointOp *point = nullptr;
  llvm::SmallBitVector axes, reduced;
  /// What each result really varies over; broadcasts add no axes.
  SmallVector<llvm::SmallBitVector, 1> varying;
  bool isReduction = false;
  /// Inits of reductions come last.
  SmallVector<SpaceRead, 4> reads;
};

enum class Role : uint8_t { outside, elementwise, row, column, scalar };

/// Sets of nodes that are joined one by one.
class DisjointSets {
public:
  unsigned find(unsigned node);
  /// False if they were in one set already.
  bool join(unsigned a, unsigned b);

private:
  /// Nodes that aren't here are sets of their own.
  llvm::DenseMap<unsigned, unsigned> parents;
};

class SpaceGrouping {
public:
  SpaceGrouping(BlockInfo &info, std::shared_ptr<IterationSpace> space,
                const llvm::BitVector &claimed);

  /// Appends the groups of the best orientation.
  void findGroups(bool rowOnly, SmallVectorImpl<MixedGroup> &groups);
  /// Adds to `claimed` the reductions that no other space is to look at: those
  /// of `groups`, all other members over all dimensions, and the seed.
  void claim(ArrayRef<MixedGroup> groups, const PointOp &seed,
             llvm::BitVector &claimed);
  /// Behind claim(): what is missing for a group of those that have none.
  void findMissed(bool rowOnly, const PointOp &seed,
                  const llvm::BitVector &claimed,
                  SmallVectorImpl<MissedGroup> &missed);

private:
  static constexpr unsigned none = BlockInfo::none;

  /// The space seen with some axes as columns. Members have numbers, in block
  /// order.
  struct Orientation {
    llvm::SmallBitVector columns;
    /// Of each member; levels are of its results.
    SmallVector<Role, 0> roles;
    SmallVector<Level, 0> levels;
    /// The reduction that each of these continues.
    llvm::DenseMap<unsigned, unsigned> continued;
    /// The rows that each column reduction removes, with what the one that
    /// continues it removes of its result.
    llvm::DenseMap<unsigned, llvm::SmallBitVector> removed;
    /// Of reductions: when they run.
    llvm::DenseMap<unsigned, unsigned> reductionLevels;
    /// Reductions of each group, legal ones only.
    SmallVector<SmallVector<unsigned>, 0> groups;
    /// Column reductions left out of a group because of the rows they are over.
    SmallVector<unsigned> otherRows;
    /// Row reductions of what varies over some columns alone, left out.
    SmallVector<unsigned> otherColumns;
    unsigned fused = 0, returning = 0;
    bool innermost = false;
  };
  struct Tag {
    int group = -1;
    bool finished = false, mixed = false;
    /// Row axes that column reductions have removed on the way.
    llvm::SmallBitVector removed;
  };
  /// Column reductions that no group has yet, with the values that they share.
  struct Waiting {
    DisjointSets classes;
    /// Nodes of the classes, and the reductions of each class that is left.
    llvm::DenseSet<unsigned> nodes;
    llvm::DenseMap<unsigned, SmallVector<unsigned>> ops;
  };

  Operation *getOp(unsigned member) const {
    return info.getOps()[members[member].number];
  }
  unsigned getMember(unsigned number) const {
    auto it = memberOf.find(number);
    return it == memberOf.end() ? none : it->second;
  }
  Role computeRole(const SpaceMember &member,
                   const llvm::SmallBitVector &columns) const;
  void assignRoles(Orientation &o) const;
  llvm::SmallBitVector getValueAxes(unsigned value) const;

  /// Makes a member of op `number` if all it reads and yields has a place.
  void addReshape(unsigned number);
  void addPoint(unsigned number);
  SpaceRead getRead(unsigned value, bool match) const;
  void addMember(SpaceMember member);
  /// Adds to `axes` those that the value, read with the axes `required`, really
  /// varies over.
  void addVarying(const SpaceRead &read, const llvm::SmallBitVector &required,
                  llvm::SmallBitVector &axes) const;

  Orientation orient(llvm::SmallBitVector columns, bool rowOnly);
  /// Walks the range; where that costs too much, a value from an op outside
  /// the space counts as later than all members before that op.
  void assignLevels(Orientation &o);
  void assignLevelsRoughly(Orientation &o);
  Level getLevel(const Orientation &o, const SpaceRead &read) const {
    return read.def == none ? Level() : o.levels[read.def];
  }
  void formComponents(Orientation &o, bool rowOnly);
  void dropOtherRows(Orientation &o, SmallVectorImpl<unsigned> &ops) const;
  void addWaiting(const Orientation &o, unsigned reduction,
                  Waiting &waiting) const;
  /// Calls `join` with a member, the node that stands for what it reads, and
  /// that value's own node, for `roots` at `level` and the producers of what
  /// they read, until `join` returns false. Nodes are members, or
  /// members.size() + a value's number.
  void
  forEachTie(const Orientation &o, ArrayRef<unsigned> roots, unsigned level,
             llvm::function_ref<bool(unsigned, unsigned, unsigned)> join) const;
  /// True if something of the space that varies over what the reduction
  /// removed depends on its result.
  bool feedsSpace(unsigned reduction);
  unsigned getContinued(unsigned member, const Orientation &o) const;
  void assignContinued(Orientation &o) const;
  void dropOtherColumns(Orientation &o) const;
  void collectMembers(const Orientation &o, SmallVectorImpl<MixedGroup> &out);
  void chooseProducers(MixedGroup &group, ArrayRef<unsigned> groupMembers,
                       ArrayRef<Tag> tags);
  /// Which of `candidates`, in block order, the group could compute in place of
  /// the block. `inGroup`: what the group computes, `reads`: values it reads.
  void chooseStored(MixedGroup &group, ArrayRef<unsigned> candidates,
                    llvm::DenseSet<unsigned> inGroup,
                    llvm::DenseSet<unsigned> reads);

  BlockInfo &info;
  std::shared_ptr<IterationSpace> space;
  llvm::SmallBitVector allAxes;
  /// In block order.
  SmallVector<SpaceMember, 0> members;
  llvm::DenseMap<unsigned, unsigned> memberOf;
  /// Members, in block order.
  SmallVector<unsigned> reductions;
  /// Reductions of groups, and the columns of these.
  llvm::DenseSet<Operation *> grouped;
  llvm::SmallBitVector groupedColumns;
  /// Of the orientation that findGroups chose.
  SmallVector<unsigned> otherRows, otherColumns;
  /// Elementwise members that a group may compute in place of the block.
  llvm::DenseSet<unsigned> storedByGroup;
  /// Members that lead back into the space, by the axes that were removed.
  std::map<SmallVector<unsigned>, llvm::BitVector> feeding;
  /// The number of the first reduction, and how many ops there are from it to
  /// the last member. Nothing before it matters for the order of things.
  unsigned first = 0, rangeSize = 0, firstMember = 0;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_ANALYSIS_SPACEGROUPING_H
