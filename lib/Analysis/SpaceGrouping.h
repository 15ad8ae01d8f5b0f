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
  Value value;
  /// It has the axes there that it has in the space.
  bool match;
  /// See BlockInfo; and of full size.
  bool uniform, full;
};

/// An op's place in the space, whatever the orientation.
struct SpaceMember {
  /// Null for a reshape.
  const PointOp *point = nullptr;
  llvm::SmallBitVector axes, reduced;
  /// Inits of reductions come last.
  SmallVector<SpaceRead> reads;
};

enum class Role { outside, elementwise, row, column };

class SpaceGrouping {
public:
  SpaceGrouping(BlockInfo &info, std::shared_ptr<IterationSpace> space,
                const llvm::DenseSet<Operation *> &claimed);

  /// Appends the groups of the best orientation.
  void findGroups(bool rowOnly, SmallVectorImpl<MixedGroup> &groups);
  /// Says what is missing for a group where findGroups found none.
  void findMissed(bool rowOnly, ArrayRef<MixedGroup> groups,
                  SmallVectorImpl<MissedGroup> &missed);

private:
  /// The space seen with some axes as columns.
  struct Orientation {
    llvm::SmallBitVector columns;
    /// Of the results of each op of the range.
    std::vector<Level> levels;
    llvm::DenseMap<Operation *, unsigned> reductionLevels;
    /// Reductions of each group, legal ones only.
    SmallVector<SmallVector<Operation *>, 0> groups;
    unsigned fused = 0, returning = 0;
    bool innermost = false;
  };
  struct Tag {
    int group = -1;
    bool finished = false, mixed = false;
    /// Row axes that column reductions have removed on the way.
    llvm::SmallBitVector removed;
  };

  const SpaceMember *getMember(Operation *op) const;
  Role getRole(Operation *op, const llvm::SmallBitVector &columns) const;
  bool isFullSize(Value value) const;
  llvm::SmallBitVector getValueAxes(Value value) const;

  /// Makes a member of `op` if all it reads and yields has a place.
  void addReshape(Operation *op);
  void addPoint(Operation *op);
  void addMember(Operation *op, SpaceMember member);
  /// The axes that `value`, read by an op over `loops`, really varies over.
  llvm::SmallBitVector getVarying(Value value, bool match,
                                  const llvm::SmallBitVector &loops) const;

  Orientation orient(llvm::SmallBitVector columns, bool rowOnly);
  /// Walks the range; where that costs too much, a value from an op outside
  /// the space counts as later than all members before that op.
  void assignLevels(Orientation &o);
  void assignLevelsRoughly(Orientation &o);
  Level getLevel(const Orientation &o, Value value) const;
  /// The number of `value`'s op in the range, or nullopt.
  std::optional<unsigned> getIndex(Value value) const;
  void formComponents(Orientation &o, bool rowOnly);
  /// Full-size values and reductions that tie `roots` together at `level`.
  void tie(const Orientation &o, ArrayRef<Operation *> roots, unsigned level,
           llvm::DenseMap<void *, void *> &classes);
  static void *findClass(llvm::DenseMap<void *, void *> &classes, void *node);
  /// True if something of the space that varies over what `reduction` removed
  /// depends on its result.
  bool feedsSpace(Operation *reduction);
  Operation *getContinued(Operation *op, const Orientation &o) const;
  void collectMembers(const Orientation &o, SmallVectorImpl<MixedGroup> &out);
  void chooseProducers(MixedGroup &group, int index,
                       const llvm::DenseMap<Value, Tag> &tags);

  BlockInfo &info;
  std::shared_ptr<IterationSpace> space;
  llvm::SmallBitVector allAxes;
  llvm::DenseMap<Operation *, SpaceMember> members;
  llvm::DenseMap<Value, llvm::SmallBitVector> varyingAxes;
  SmallVector<Operation *> reductions;
  /// Ops of the range that lead back into the space, by the axes that were
  /// removed.
  std::map<SmallVector<unsigned>, llvm::BitVector> feeding;
  /// Ops from the first reduction to the last member, the number of the first,
  /// and the members among them.
  ArrayRef<Operation *> range;
  unsigned first = 0;
  std::vector<const SpaceMember *> memberAt;
  SmallVector<unsigned> memberIndices;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_ANALYSIS_SPACEGROUPING_H
