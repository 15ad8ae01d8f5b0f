//===- IterationSpace.h - Symbolic axes that ops have in common -*- C++ -*-===//
//
// Grows a space from the loops of one reduction: through every op that can be
// seen pointwise and every reshape that it reaches, each dimension of each
// value gets the list of axes that it walks. Reshapes split axes into finer
// ones; extents of 1 are no axes. What a second path would give other axes
// (a transposed use, a reshape that doesn't line up) keeps its first ones, and
// the op on that path reads the value as if it came from outside.
//
// A weight or a row statistic that only comes from outside may be read by all
// norms of a model: growth doesn't go on to its other users.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_ANALYSIS_ITERATIONSPACE_H
#define NORM_FUSION_ANALYSIS_ITERATIONSPACE_H

#include "norm_fusion/Analysis/PointOp.h"

namespace mlir::norm_fusion {

/// Axes of one dimension or loop, outermost first; none for an extent of 1.
using AxisList = SmallVector<unsigned, 2>;
/// Axes of a value's dimensions, or of an op's loops.
using AxisMap = SmallVector<AxisList, 4>;

class IterationSpace {
public:
  /// Grows the space of the loops of `seed`.
  IterationSpace(BlockInfo &info, const PointOp &seed);

  /// The dimensions of `value`, in finest axes; nullopt if it has no place in
  /// the space. Uniform values have none.
  std::optional<AxisMap> getAxes(Value value) const;
  /// The loops of `op`, in finest axes; nullopt if it isn't a member.
  std::optional<AxisMap> getLoops(Operation *op) const;
  /// `map` applied to loops: what an operand's dimensions have to be.
  AxisMap getRequired(const AxisMap &loops, AffineMap map) const;
  /// True if `op` is a reshape between two values of the space that agree.
  bool isMemberReshape(Operation *op) const;
  /// Members that reduce, in no order.
  ArrayRef<Operation *> getReductions() const { return reductions; }
  /// All ops with a place in the space, reshapes too, in block order.
  SmallVector<Operation *> getOps() const;

  /// Upper bound of axis numbers, and the finest ones.
  unsigned getNumAxes() const { return axes.size(); }
  llvm::SmallBitVector getAllAxes() const;
  llvm::SmallBitVector getAxisSet(const AxisMap &map) const;
  int64_t getExtent(unsigned axis) const { return axes[axis].extent; }

private:
  struct Axis {
    int64_t extent;
    /// The extent as a value where a reshape gave one.
    Value size;
    SmallVector<unsigned, 2> parts;
  };

  unsigned createAxis(int64_t extent, Value size = {});
  void appendFinest(unsigned axis, AxisList &list) const;
  AxisMap getFinest(const AxisMap &map) const;
  /// True if `map` has all axes of the space.
  bool isFull(const AxisMap &map) const;
  /// Gives `value` its axes unless it has some.
  void setAxes(Value value, const AxisMap &map);
  void learnExtents(ArrayRef<int64_t> extents, const AxisMap &map);
  /// Spreads `list` over dimensions of the given extents.
  bool distribute(const AxisList &list, ArrayRef<int64_t> extents,
                  ArrayRef<Value> sizes, MutableArrayRef<AxisList> dims);
  bool isAxisSize(Value size, unsigned axis) const;

  void grow();
  void visitPoint(const PointOp &point);
  void join(const PointOp &point, const AxisMap &loops);
  void setInner(const PointOp &point);
  void visitReshape(Operation *op);
  /// The axes of the result of reshape `op` whose source has `source`, or with
  /// `inverse` the other way round.
  std::optional<AxisMap> getReshaped(Operation *op, const AxisMap &map,
                                     bool inverse);

  BlockInfo &info;
  SmallVector<Axis> axes;
  llvm::DenseMap<Value, AxisMap> values;
  llvm::DenseMap<Operation *, AxisMap> loops;
  llvm::DenseSet<Operation *> reshapes;
  /// Values of full size, and what is computed from such.
  llvm::DenseSet<Value> inner;
  SmallVector<Operation *> reductions;
  SmallVector<Value> worklist;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_ANALYSIS_ITERATIONSPACE_H
