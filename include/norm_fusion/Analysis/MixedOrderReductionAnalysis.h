//===- MixedOrderReductionAnalysis.h - Groups to fuse -----------*- C++ -*-===//
//
// Finds, in one block, the groups of row-wise and column-wise reductions that
// one norm_fusion.mixed_reduction can compute, and says of reductions that
// share a large operand and aren't in a group why not. Nothing is changed.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_ANALYSIS_MIXEDORDERREDUCTIONANALYSIS_H
#define NORM_FUSION_ANALYSIS_MIXEDORDERREDUCTIONANALYSIS_H

#include "norm_fusion/Analysis/IterationSpace.h"

#include <string>

namespace mlir::norm_fusion {

/// What becomes one mixed reduction.
struct MixedGroup {
  std::shared_ptr<IterationSpace> space;
  /// Axes along a row; all other axes of the space are walked by rows.
  llvm::SmallBitVector columns;
  SmallVector<Operation *> rowReductions, columnReductions;
  /// Of everything: rows and columns.
  SmallVector<Operation *> scalarReductions;
  /// Reductions of what another reduction leaves, which continue it: the op in
  /// this map reduces the operand of the other one further, a column reduction
  /// over more rows, a row reduction over more columns or everything.
  llvm::DenseMap<Operation *, Operation *> continued;
  /// Ops that the group computes in place of the block: the reductions, and
  /// elementwise ops and reshapes that depend on them. In block order.
  SmallVector<Operation *> members;
  /// Elementwise ops and reshapes before the reductions that are computed in
  /// the group from what they read, whether or not the block still needs them.
  SmallVector<Operation *> producers;
  /// Values of members that the rest of the block uses.
  SmallVector<Value> results;
  /// Elementwise ops before the reductions that the block needs too, the sum of
  /// a residual add for one: the group reads `storedResults`, or computes them
  /// in place of the block, with `storedProducers` of which nothing else needs
  /// the results.
  SmallVector<Operation *> stored, storedProducers;
  SmallVector<Value> storedResults;

  /// The group with `stored` among its members.
  MixedGroup withStored() const;
};

/// Reductions that share a large operand and can't be one group.
struct MissedGroup {
  /// Stable identifier: "no-row-reduction", "cycle", ...
  StringRef reason;
  /// The op that is to blame.
  Operation *blame;
  std::string found, needed;
};

class MixedOrderReductionAnalysis {
public:
  struct Options {
    /// Groups of row reductions alone too.
    bool rowOnly = false;
  };

  MixedOrderReductionAnalysis(Block &block, Options options);

  ArrayRef<MixedGroup> getGroups() const { return groups; }
  ArrayRef<MissedGroup> getMissed() const { return missed; }
  BlockInfo &getInfo() { return info; }
  /// Live reductions that could be in a group.
  ArrayRef<const PointOp *> getReductions() const { return seeds; }

private:
  BlockInfo info;
  SmallVector<const PointOp *, 0> seeds;
  SmallVector<MixedGroup, 0> groups;
  SmallVector<MissedGroup> missed;
};

/// Estimated bytes of a value with the elements of `type` over `axes`; unknown
/// extents count as 1024.
int64_t estimateBytes(const IterationSpace &space,
                      const llvm::SmallBitVector &axes, Type type);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_ANALYSIS_MIXEDORDERREDUCTIONANALYSIS_H
