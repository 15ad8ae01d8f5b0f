//===- PointOp.h - A linalg op seen at one point of its loops ---*- C++ -*-===//
//
// Front ends write the same computation as generics, named ops, maps, reduces,
// gathers of one element or with scalars boxed in tensors. A PointOp is what
// they have in common: the operands that one point of the loops reads, each
// through a projection of the loops, and what that point yields or combines
// into an accumulator. Nothing is rewritten to get there.
//
// BlockInfo holds the PointOps of a block, and which of its ops are live.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_ANALYSIS_POINTOP_H
#define NORM_FUSION_ANALYSIS_POINTOP_H

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

#include <memory>
#include <optional>

namespace mlir::norm_fusion {

/// What one point of the loops reads.
struct PointOperand {
  /// A tensor, or a scalar.
  Value value;
  /// From the loops to the dimensions of `value`: results are loops, or the
  /// constant 0 for a dimension of extent 1.
  AffineMap map;
  /// The value of the body that stands for the element.
  Value element;
  /// Read by a tensor.extract of the body that can't be proved to have the
  /// loops' extents: only good where other ops show that the axes agree.
  bool unproven = false;
};

/// One result of a reduction: `combiner` over the elements, from an init.
struct PointReduction {
  Combiner combiner;
  /// Values of the body that a point combines into the accumulator.
  SmallVector<Value, 2> elements;
  /// What the accumulator starts from.
  Value init;
};

struct PointResult {
  /// From the loops to the dimensions of the result.
  AffineMap map;
  /// The value that the body yields.
  Value yielded;
  /// Set for the results of a reduction whose combiner is understood.
  std::optional<PointReduction> reduction;
};

class PointOp {
public:
  /// Null if `op` isn't a linalg op on tensors that can be seen so. `why` then
  /// says what is in the way ("unsupported-combiner", ...) or stays empty.
  static std::unique_ptr<PointOp> get(Operation *op, StringRef &why);

  linalg::LinalgOp op;
  /// Static extents of the loops, ShapedType::kDynamic where unknown.
  SmallVector<int64_t> extents;
  /// Loops of more than one step that are reduced.
  llvm::SmallBitVector reduced;
  SmallVector<PointOperand> operands;
  SmallVector<PointResult> results;

  bool isReduction() const { return reduced.any(); }
  unsigned getNumLoops() const { return extents.size(); }
  Block *getBody() const { return linalg::LinalgOp(op).getBlock(); }

  /// Marks the ops of the body that `roots` need, up to the operands' elements.
  void getSlice(ArrayRef<Value> roots, llvm::DenseSet<Operation *> &slice) const;
};

/// Looks through a scalar that is boxed in a tensor and taken out again.
Value unboxScalar(Value value);

/// The value that all elements of `value` are known to have, or null.
TypedAttr getUniformConstant(Value value);

/// True for tensor ops that only regroup, insert or drop dimensions, or forget
/// or assert sizes.
bool isReshape(Operation *op);

/// Ops of a block in order, with what the analyses ask about them.
class BlockInfo {
public:
  explicit BlockInfo(Block &block);

  Block &getBlock() const { return block; }
  ArrayRef<Operation *> getOps() const { return ops; }
  /// True if the op has side effects, ends the block, or something live uses
  /// one of its results.
  bool isLive(Operation *op) const { return live.contains(op); }
  /// The op of this block that is or contains `op`; null if there is none.
  Operation *getAncestor(Operation *op) const {
    return block.findAncestorOpInBlock(*op);
  }
  unsigned getOrder(Operation *op) const { return order.lookup(op); }
  /// Live ops of the block that use `value`, themselves or in their regions, in
  /// order.
  ArrayRef<Operation *> getLiveUsers(Value value) const {
    auto it = liveUsers.find(value);
    return it == liveUsers.end() ? ArrayRef<Operation *>() : it->second;
  }
  /// Values from above that `op` or its regions use.
  ArrayRef<Value> getUsedValues(Operation *op);

  /// Numbers (getOrder) of the ops of this block whose results op `number`, if
  /// it's live, or its regions use.
  ArrayRef<unsigned> getUsedOps(unsigned number) const {
    return ArrayRef<unsigned>(usedOps).slice(
        usedBegin[number], usedBegin[number + 1] - usedBegin[number]);
  }
  /// True if something that op `number` needs is reduced in this block.
  bool needsReduction(unsigned number) const { return reduced[number]; }
  /// Takes `visits` off what walks of all ops between two may cost together.
  /// False if no more is left: be content with less than walking them all.
  bool spend(size_t visits) {
    bool enough = visits <= budget;
    budget -= enough ? visits : 0;
    return enough;
  }

  const PointOp *getPointOp(Operation *op);
  /// Why `op` has no PointOp; empty if there is nothing to say.
  StringRef getReason(Operation *op) const { return reasons.lookup(op); }
  /// True if all elements of `value` are the same whatever the point, and can
  /// be made from scalars alone.
  bool isUniform(Value value);

private:
  Block &block;
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, unsigned> order;
  llvm::DenseSet<Operation *> live;
  llvm::DenseMap<Operation *, std::unique_ptr<PointOp>> points;
  llvm::DenseMap<Operation *, StringRef> reasons;
  llvm::DenseMap<Value, bool> uniform;
  llvm::DenseMap<Operation *, SmallVector<Value>> used;
  /// A value from above can have users in any number of other blocks: those
  /// of this block are looked up, not searched for.
  llvm::DenseMap<Value, SmallVector<Operation *, 2>> liveUsers;
  SmallVector<unsigned> usedBegin, usedOps;
  llvm::BitVector reduced;
  size_t budget = 0;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_ANALYSIS_POINTOP_H
