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

#include <deque>

namespace mlir::norm_fusion {

/// Axes of one dimension or loop, outermost first; none for an extent of 1.
using AxisList = SmallVector<unsigned, 2>;
/// Axes of a value's dimensions, or of an op's loops.
using AxisMap = SmallVector<AxisList, 4>;

class IterationSpace {
public:
  /// A space has few different AxisMaps, so they have numbers. Equal maps have
  /// equal numbers, whatever is split later.
  using MapId = unsigned;
  static constexpr MapId none = ~0u;

  /// Grows the space of the loops of `seed`.
  IterationSpace(BlockInfo &info, const PointOp &seed);

  /// The dimensions of the value, in finest axes; none if it has no place in
  /// the space. Uniform values have none.
  MapId getAxesId(unsigned value) const {
    auto it = values.find(value);
    return it == values.end() ? none : it->second.map;
  }
  /// The loops of op `number`, in finest axes; none if it isn't a member.
  MapId getLoopsId(unsigned number) const {
    auto it = loops.find(number);
    return it == loops.end() ? none : it->second.map;
  }
  /// `map` applied to loops: what an operand's dimensions have to be.
  MapId getRequired(MapId loops, AffineMap map);

  const AxisMap &getMap(MapId id) const { return maps[id].map; }
  /// All axes of the map.
  const llvm::SmallBitVector &getSet(MapId id) const { return maps[id].set; }
  /// True if the map has all axes of the space.
  bool isFull(MapId id) const { return maps[id].full; }

  /// As getAxesId; nullptr if the value has no place.
  const AxisMap *getAxes(Value value) const {
    MapId id = getAxesId(info.getId(value));
    return id == none ? nullptr : &getMap(id);
  }

  /// True if op `number` is a reshape between two values of the space that
  /// agree.
  bool isMemberReshape(unsigned number) const;
  /// Members that reduce, in no order.
  ArrayRef<unsigned> getReductions() const { return reductions; }
  /// All ops with a place in the space, reshapes too, in block order.
  SmallVector<unsigned> getOps() const;

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
  struct MapEntry {
    AxisMap map;
    llvm::SmallBitVector set;
    bool full;
  };
  /// `inner`: of full size, or computed from what is.
  struct ValueEntry {
    MapId map;
    bool inner = false;
  };
  /// `inner`: all results are.
  struct OpEntry {
    MapId map;
    bool inner = false;
  };

  unsigned createAxis(int64_t extent, Value size = {});
  void appendFinest(unsigned axis, AxisList &list) const;
  AxisMap getFinest(const AxisMap &map) const;
  MapId intern(AxisMap map);
  /// After axes were split: all maps in the finest axes again.
  void refine();
  /// Gives the value its axes unless it has some.
  void setAxes(unsigned value, MapId map);
  /// Marks the value as inner if it has a place.
  void setInner(unsigned value);
  bool isInner(unsigned value) const {
    auto it = values.find(value);
    return it != values.end() && it->second.inner;
  }
  void learnExtents(ArrayRef<int64_t> extents, const AxisMap &map);
  /// Spreads `list` over dimensions of the given extents.
  bool distribute(const AxisList &list, ArrayRef<int64_t> extents,
                  ArrayRef<Value> sizes, MutableArrayRef<AxisList> dims);
  bool isAxisSize(Value size, unsigned axis) const;

  void grow();
  void visit(unsigned number);
  void visitPoint(const PointOp &point);
  void join(const PointOp &point, MapId loops);
  void passInner(const PointOp &point, OpEntry &entry);
  void visitReshape(unsigned number);
  /// The axes of the result of reshape `op` whose source has `map`, or with
  /// `inverse` the other way round.
  std::optional<AxisMap> getReshaped(Operation *op, const AxisMap &map,
                                     bool inverse);

  BlockInfo &info;
  SmallVector<Axis> axes;
  bool isSplit = false, hasDynamicAxes = false;
  /// Entries stay where they are.
  std::deque<MapEntry> maps;
  llvm::DenseMap<std::pair<AffineMap, MapId>, MapId> required;
  llvm::DenseMap<unsigned, ValueEntry> values;
  llvm::DenseMap<unsigned, OpEntry> loops;
  llvm::DenseSet<unsigned> reshapes;
  SmallVector<unsigned> reductions;
  SmallVector<unsigned> worklist;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_ANALYSIS_ITERATIONSPACE_H
