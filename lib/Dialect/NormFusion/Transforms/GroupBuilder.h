//===- GroupBuilder.h - Builds one mixed reduction --------------*- C++ -*-===//

#ifndef NORM_FUSION_LIB_TRANSFORMS_GROUPBUILDER_H
#define NORM_FUSION_LIB_TRANSFORMS_GROUPBUILDER_H

#include "Profit.h"

#include "norm_fusion/Analysis/MixedOrderReductionAnalysis.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::norm_fusion {

/// Turns a MixedGroup into a norm_fusion.mixed_reduction: first the region, in
/// axes of the space, then the dimensions of the op, as few as the operands'
/// layouts allow, and the reshapes around it.
class GroupBuilder {
public:
  /// `replaced` has the results of ops that were built since the analysis.
  GroupBuilder(BlockInfo &info, const MixedGroup &group,
               const llvm::DenseMap<Value, Value> &replaced);
  ~GroupBuilder();

  /// The values from outside that the op will read.
  SmallVector<Value> getInputs() const;

  /// False if a size isn't to be had from the operands.
  bool canBuild();

  /// Builds the op at `builder` and the replacements of the group's results.
  MixedReductionOp build(OpBuilder &builder, SmallVectorImpl<Value> &results);

  /// What the op would need and move; without what its ops move as they stand.
  GroupCost getCost() const;

private:
  struct Input {
    Value value;
    AxisMap axes;
    AxisList flat;
    BlockArgument arg;
  };
  struct Output {
    Value scalar;
    AxisList flat;
  };

  static AxisList flatten(const AxisMap &map);

  void selectNeeded();
  void emitRegion();
  void emitPoint(const PointOp &point, bool isMember);
  void emitReduction(Operation *op);
  Value emitElement(const PointOp &point, Value root, IRMapping &mapping);
  void mapOperands(const PointOp &point, ArrayRef<Value> roots,
                   IRMapping &mapping, bool isMember);
  /// Results of one element have none.
  AxisMap getResultAxes(Value result) const;
  Value getScalar(Value value, unsigned id, IterationSpace::MapId required);
  Value getUniform(Value value);
  Value getConstant(TypedAttr attr);
  Value addInput(Value value, const AxisMap &axes);
  Value getIndex(const AxisList &axes);
  void placeIndices();
  bool isInternal(unsigned id, IterationSpace::MapId required) const;

  void chooseDims();
  AxisMap getCoarse(const AxisList &flat) const;
  AffineMap getMap(const AxisList &flat) const;

  /// A dimension that walks some axes, and the extent of the others in it.
  struct SizeSource {
    Value value;
    unsigned dim;
    int64_t divisor;
  };
  /// The extent of `axes` together, ShapedType::kDynamic where unknown.
  int64_t getProduct(const AxisList &axes) const;
  std::optional<SizeSource> findSize(const AxisList &axes) const;
  bool hasSize(const AxisList &axes) const;
  OpFoldResult getSize(OpBuilder &builder, const AxisList &axes) const;
  /// False if `type` has other sizes than its axes have by what other ops say:
  /// the module contradicts itself.
  bool hasExtents(const AxisMap &axes, Type type) const;
  bool canReshape(const AxisMap &from, const AxisMap &to) const;
  Value reshape(OpBuilder &builder, Value value, const AxisMap &from,
                const AxisMap &to, Type type) const;

  BlockInfo &info;
  const MixedGroup &group;
  IterationSpace &space;
  const llvm::DenseMap<Value, Value> &replaced;
  MLIRContext *context;
  /// BlockInfo's numbers of ops, in block order.
  llvm::SmallDenseSet<unsigned, 64> inGroup;
  SmallVector<unsigned> needed;

  std::unique_ptr<Block> body;
  std::unique_ptr<OpBuilder> bodyBuilder;
  SmallVector<Input> inputs;
  SmallVector<Output> outputs;
  /// The output of each result of the group.
  SmallVector<unsigned> outputOf;
  llvm::DenseMap<Value, Value> scalars;
  llvm::DenseMap<Attribute, Value> constants;
  /// Reductions of the region, and the axes that they remove.
  SmallVector<std::pair<Operation *, llvm::SmallBitVector>> reductions;
  /// Indices of the region, which get their dimensions last.
  SmallVector<std::pair<AxisList, IndexOp>> indices;
  /// Dimensions of the op, each a run of axes.
  SmallVector<AxisList> dims;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_TRANSFORMS_GROUPBUILDER_H
