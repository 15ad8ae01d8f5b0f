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
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Allocator.h"

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
  /// BlockInfo's number of `value`.
  unsigned id = 0;
};

/// What a point combines into the accumulator: a value of the body, its
/// negative, where the accumulator loses it, or its product with another one,
/// where a fused multiply-add adds that.
struct PointElement {
  Value value;
  Value factor;
  bool negated = false;
};

/// One result of a reduction: `combiner` over the elements, from an init.
struct PointReduction {
  Combiner combiner;
  SmallVector<PointElement, 1> elements;
  /// What the accumulator starts from.
  Value init;
  unsigned initId = 0;

  /// The values of the elements.
  SmallVector<Value> getRoots() const;
};

struct PointResult {
  /// From the loops to the dimensions of the result.
  AffineMap map;
  /// The value that the body yields.
  Value yielded;
  /// Set for the results of a reduction whose combiner is understood.
  std::optional<PointReduction> reduction;
  /// True for what a reduction yields at each point, as elementwise ops do,
  /// and something uses.
  bool unreduced = false;
  unsigned id = 0;
};

class PointOp {
public:
  /// Nullopt if `op` isn't a linalg op on tensors that can be seen so. `why`
  /// then says what is in the way ("unsupported-combiner", ...) or stays empty.
  static std::optional<PointOp> get(Operation *op, StringRef &why);

  linalg::LinalgOp op;
  /// BlockInfo's number of the op.
  unsigned number = 0;
  /// Static extents of the loops, ShapedType::kDynamic where unknown.
  SmallVector<int64_t, 4> extents;
  /// Loops of more than one step that are reduced.
  llvm::SmallBitVector reduced;
  SmallVector<PointOperand, 3> operands;
  SmallVector<PointResult, 1> results;
  /// Loops of more than one step whose index the results need.
  llvm::SmallBitVector indexed;

  bool isReduction() const { return reduced.any(); }
  /// True for a reduction with a result that isn't reduced.
  bool hasUnreduced() const {
    return llvm::any_of(
        results, [](const PointResult &result) { return result.unreduced; });
  }
  unsigned getNumLoops() const { return extents.size(); }
  Block *getBody() const { return linalg::LinalgOp(op).getBlock(); }

  /// Marks the ops of the body that `roots` need, up to the operands' elements.
  using Slice = llvm::SmallPtrSet<Operation *, 16>;
  void getSlice(ArrayRef<Value> roots, Slice &slice) const;
  /// Which of the operands `roots` need.
  llvm::SmallBitVector getReads(ArrayRef<Value> roots) const;
  /// Which of the loops `roots` need the index of.
  llvm::SmallBitVector getIndexed(ArrayRef<Value> roots) const;
};

/// True if the op, or one in it, may have other effects on memory than
/// `Allowed`.
template <typename... Allowed>
bool mayHaveOtherEffects(Operation *op) {
  if (isMemoryEffectFree(op))
    return false;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  return !effects || !llvm::all_of(*effects, [](const auto &effect) {
    return isa<Allowed...>(effect.getEffect());
  });
}

/// Looks through a scalar that is boxed in a tensor and taken out again.
Value unboxScalar(Value value);

/// The value that all elements of `value` are known to have, or null.
TypedAttr getUniformConstant(Value value);

/// True for tensor ops that only regroup, insert or drop dimensions, or forget
/// or assert sizes.
bool isReshape(Operation *op);

/// Ops of a block in order, with what the analyses ask about them. Ops and
/// values have numbers, so that what is known of them is in arrays: models have
/// hundreds of thousands, and a look-up by pointer misses the cache each time.
class BlockInfo {
public:
  /// No op of this block.
  static constexpr unsigned none = ~0u;

  /// Uses come after what they use: not for graph regions.
  explicit BlockInfo(Block &block);

  Block &getBlock() const { return block; }
  ArrayRef<Operation *> getOps() const { return ops; }
  /// The op of this block that is or contains `op`; null if there is none.
  Operation *getAncestor(Operation *op) const {
    return block.findAncestorOpInBlock(*op);
  }
  /// The number of an op of this block.
  unsigned getOrder(Operation *op) const { return order.lookup(op); }
  /// The same; nullopt for an op that is elsewhere or wasn't there yet.
  std::optional<unsigned> findOrder(Operation *op) const {
    auto it = order.find(op);
    return it == order.end() ? std::nullopt : std::optional(it->second);
  }
  /// True if the op has side effects, ends the block, or something live uses
  /// the elements of one of its results. Ops that weren't there yet aren't.
  bool isLive(unsigned number) const { return live[number]; }
  bool isLive(Operation *op) const {
    std::optional<unsigned> number = findOrder(op);
    return number && live[*number];
  }
  bool hasDeadOps() const { return hasDead; }
  /// True for a linalg op that reduces, understood or not.
  bool hasReductionLoops(unsigned number) const { return reduces[number]; }
  bool isReshapeOp(unsigned number) const { return reshapes[number]; }
  bool isSizeOp(unsigned number) const { return sizes[number]; }

  /// The number of a value; one that nothing here uses gets a new one.
  unsigned getId(Value value);
  Value getValue(unsigned id) const { return values[id]; }
  /// The numbers of the results of op `number`, one after the other.
  unsigned getFirstResultId(unsigned number) const {
    return firstResult[number];
  }
  auto getResultIds(unsigned number) const {
    unsigned begin = firstResult[number];
    return llvm::seq(begin, begin + ops[number]->getNumResults());
  }
  /// The number of the op of this block that makes value `id`, or none.
  unsigned getDef(unsigned id) const { return owners[id]; }
  /// Live ops of the block that use value `id`, themselves or in their regions,
  /// in order.
  ArrayRef<unsigned> getLiveUsers(unsigned id) const {
    if (id + 1 >= userBegin.size())
      return {};
    return ArrayRef<unsigned>(users).slice(userBegin[id],
                                           userBegin[id + 1] - userBegin[id]);
  }
  /// True if another block uses value `id`.
  bool escapes(unsigned id) const {
    return id < escaping.size() && escaping[id];
  }
  /// True if something asks for a size of value `id`.
  bool hasSizeUsers(unsigned id) const {
    return id < sizeUsed.size() && sizeUsed[id];
  }
  /// Numbers of the values that op `number` or its regions use, operands first.
  ArrayRef<unsigned> getUsedIds(unsigned number) const {
    return ArrayRef<unsigned>(usedIds).slice(
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

  /// Null if the op can't be seen at one point.
  const PointOp *getPointOp(unsigned number) const { return points[number]; }
  const PointOp *getPointOp(Operation *op);
  /// Why op `number` has no PointOp; empty if there is nothing to say.
  StringRef getReason(unsigned number) const { return reasons.lookup(number); }
  /// True if all elements of the value are the same whatever the point, and can
  /// be made from scalars alone, in few steps.
  bool isUniform(unsigned id) { return getUniformSteps(id, 0) < noTensor; }
  /// True for a tensor that isn't uniform.
  bool isVarying(unsigned id) { return getUniformSteps(id, 0) == varies; }
  bool isUniform(Value value) { return isUniform(getId(value)); }

private:
  void addOp(Operation *op);
  void findLive();
  PointOp *makePointOp(Operation *op, unsigned number, StringRef &why);
  unsigned getUniformSteps(unsigned id, unsigned depth);

  Block &block;
  SmallVector<Operation *, 0> ops;
  llvm::DenseMap<Operation *, unsigned> order;
  llvm::BitVector live, reduces, reshapes, sizes, reduced, escaping, sizeUsed;
  bool isOnly = true, hasDead = false;
  /// Of each value, and of each op its first.
  SmallVector<Value, 0> values;
  SmallVector<unsigned, 0> owners, firstResult;
  llvm::DenseMap<Value, unsigned> foreign;
  /// What ops use, and the reverse for live ones.
  SmallVector<unsigned, 0> usedIds, usedBegin, users, userBegin;
  llvm::SpecificBumpPtrAllocator<PointOp> allocator;
  SmallVector<PointOp *, 0> points;
  /// Of ops of enclosing blocks.
  llvm::DenseMap<Operation *, PointOp *> foreignPoints;
  llvm::DenseMap<unsigned, StringRef> reasons;
  /// Of each value: 0 if not known yet, the steps to make it from scalars, or
  /// one of these.
  static constexpr uint8_t noTensor = 254, varies = 255;
  SmallVector<uint8_t, 0> uniform;
  size_t budget = 0;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_ANALYSIS_POINTOP_H
