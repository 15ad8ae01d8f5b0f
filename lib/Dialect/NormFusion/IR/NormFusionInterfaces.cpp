//===- NormFusionInterfaces.cpp - The mixed reduction for others ----------===//
//
// The upstream interfaces (effects, speculation, shapes, bufferization), and
// folding and canonicalisation.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

void MixedReductionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  for (OpOperand &operand : getOutputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
}

Speculation::Speculatability MixedReductionOp::getSpeculatability() {
  // On tensors it is speculatable unless two dynamic sizes could disagree.
  if (!hasPureTensorSemantics())
    return Speculation::NotSpeculatable;
  for (Value operand : getOperands())
    if (auto type = dyn_cast<ShapedType>(operand.getType()))
      if (!type.hasStaticShape())
        return Speculation::NotSpeculatable;
  return Speculation::Speculatable;
}

LogicalResult MixedReductionOp::reifyResultShapes(
    OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  for (Value output : getOutputs()) {
    auto type = cast<ShapedType>(output.getType());
    SmallVector<OpFoldResult> shape;
    for (int64_t i = 0; i < type.getRank(); ++i)
      shape.push_back(
          type.isDynamicDim(i)
              ? OpFoldResult(
                    tensor::DimOp::create(b, getLoc(), output, i).getResult())
              : OpFoldResult(b.getIndexAttr(type.getDimSize(i))));
    shapes.push_back(std::move(shape));
  }
  return success();
}

bool MixedReductionOp::bufferizesToMemoryRead(OpOperand &operand,
                                              const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool MixedReductionOp::bufferizesToMemoryWrite(OpOperand &operand,
                                               const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
MixedReductionOp::getAliasingValues(OpOperand &operand,
                                    const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand) || !hasPureTensorSemantics())
    return {};
  return {{getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult
MixedReductionOp::bufferize(RewriterBase &rewriter,
                            const bufferization::BufferizationOptions &options,
                            bufferization::BufferizationState &state) {
  SmallVector<Value> operands;
  SmallVector<Value> outputs;
  for (OpOperand &operand : (*this)->getOpOperands()) {
    Value value = operand.get();
    if (isa<TensorType>(value.getType())) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      value = *buffer;
    }
    operands.push_back(value);
    if (isDpsInit(&operand))
      outputs.push_back(value);
  }
  rewriter.setInsertionPoint(*this);
  OperationState newState(getLoc(), getOperationName());
  newState.addOperands(operands);
  newState.attributes = llvm::to_vector((*this)->getDiscardableAttrs());
  newState.addRegion();
  newState.addRegion();
  newState.getOrAddProperties<Properties>() = getProperties();
  Operation *newOp = rewriter.create(newState);
  rewriter.inlineRegionBefore(getBody(), newOp->getRegion(0),
                              newOp->getRegion(0).begin());
  if (isSplit())
    rewriter.inlineRegionBefore(getCombine(), newOp->getRegion(1),
                                newOp->getRegion(1).begin());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, outputs);
  return success();
}

//===----------------------------------------------------------------------===//
// Folding and canonicalisation
//===----------------------------------------------------------------------===//

LogicalResult MixedReductionOp::fold(FoldAdaptor,
                                     SmallVectorImpl<OpFoldResult> &) {
  // memref.cast that only forgets static sizes or layout folds away.
  return memref::foldMemRefCast(*this);
}

namespace {
/// Takes what a `tensor.cast` that only forgets static sizes was given.
/// Upstream has this for all ops with destinations, but clones regions, which
/// an empty one doesn't survive: this one comes first.
struct FoldTensorCasts final : OpRewritePattern<MixedReductionOp> {
  FoldTensorCasts(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(MixedReductionOp op,
                                PatternRewriter &rewriter) const override {
    if (!tensor::hasFoldableTensorCastOperand(op))
      return rewriter.notifyMatchFailure(op, "no cast forgets sizes");
    SmallVector<Type> types(op.getResultTypes());
    SmallVector<Value> operands =
        tensor::getUpdatedOperandsAfterCastOpFolding(op, types);
    ArrayRef<Value> all = operands;
    unsigned inputs = op.getInputs().size();
    auto newOp = MixedReductionOp::create(
        rewriter, op.getLoc(), types, all.take_front(inputs),
        all.drop_front(inputs), op.getDims(), op.getIndexingMaps(),
        op.getScheduleAttr(), op.getFewRowsAttr());
    newOp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    for (auto [from, to] : llvm::zip(op->getRegions(), newOp->getRegions()))
      rewriter.inlineRegionBefore(from, to, to.begin());
    SmallVector<Value> results;
    for (auto [result, type] :
         llvm::zip_equal(newOp.getResults(), op.getResultTypes()))
      results.push_back(
          result.getType() == type
              ? Value(result)
              : tensor::CastOp::create(rewriter, op.getLoc(), type, result));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Drops inputs that the regions don't use, as long as every dimension keeps
/// an operand that it indexes (C4), and merges an input that is given twice
/// with the same map.
struct DropInputs final : OpRewritePattern<MixedReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MixedReductionOp op,
                                PatternRewriter &rewriter) const override {
    unsigned inputs = op.getInputs().size();
    for (unsigned i = 0; i < inputs; ++i) {
      for (unsigned k = 0; k < i; ++k)
        if (op.getInputs()[i] == op.getInputs()[k] &&
            op.getInputMap(i) == op.getInputMap(k)) {
          rewriter.modifyOpInPlace(op, [&] { erase(op, i, k); });
          return success();
        }
      bool used = !op.getBodyBlock()->getArgument(i).use_empty() ||
                  (op.isSplit() &&
                   !op.getCombineBlock()->getArgument(i).use_empty());
      if (used || !coveredWithout(op, i))
        continue;
      rewriter.modifyOpInPlace(op, [&] { erase(op, i, std::nullopt); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "all inputs are used and distinct");
  }

private:
  static bool coveredWithout(MixedReductionOp op, unsigned dropped) {
    llvm::SmallBitVector covered(op.getNumDims());
    for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i)
      if (i != dropped)
        covered |= getMapDims(op.getInputMap(i));
    return covered.all();
  }

  static void erase(MixedReductionOp op, unsigned i,
                    std::optional<unsigned> replacement) {
    for (Region *region : op->getRegions().empty()
                              ? SmallVector<Region *>{}
                              : SmallVector<Region *>{&op.getBody(),
                                                      &op.getCombine()}) {
      if (region->empty())
        continue;
      Block &block = region->front();
      if (replacement)
        block.getArgument(i).replaceAllUsesWith(
            block.getArgument(*replacement));
      block.eraseArgument(i);
    }
    SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
    maps.erase(maps.begin() + i);
    op.setIndexingMapsAttr(ArrayAttr::get(op.getContext(), maps));
    op.getInputsMutable().erase(i);
  }
};

/// Removes a result that nobody uses, with its output.
struct DropResults final : OpRewritePattern<MixedReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MixedReductionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "has no results");
    unsigned outputs = op.getOutputs().size();
    SmallVector<bool> keep(outputs);
    llvm::SmallBitVector covered(op.getNumDims());
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      covered |= getMapDims(op.getInputMap(i));
    for (unsigned i = 0; i < outputs; ++i)
      if ((keep[i] = !op.getResult(i).use_empty()))
        covered |= getMapDims(op.getOutputMap(i));
    if (llvm::all_of(keep, [](bool k) { return k; }) || !covered.all() ||
        llvm::none_of(keep, [](bool k) { return k; }))
      return rewriter.notifyMatchFailure(op, "no result can be dropped");

    unsigned inputs = op.getInputs().size();
    SmallVector<Value> outs;
    SmallVector<Type> types;
    SmallVector<Attribute> maps(
        op.getIndexingMaps().getValue().take_front(inputs));
    llvm::BitVector bodyDrop, combineDrop;
    for (unsigned i = 0; i < outputs; ++i) {
      (op.isSplit() && op.isColumnOutput(i) ? combineDrop : bodyDrop)
          .push_back(!keep[i]);
      if (!keep[i])
        continue;
      outs.push_back(op.getOutputs()[i]);
      types.push_back(op.getResult(i).getType());
      maps.push_back(op.getIndexingMaps()[inputs + i]);
    }
    auto newOp = MixedReductionOp::create(
        rewriter, op.getLoc(), types, op.getInputs(), outs, op.getDims(),
        rewriter.getArrayAttr(maps), op.getScheduleAttr(), op.getFewRowsAttr());
    newOp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto move = [&](Region &from, Region &to, const llvm::BitVector &drop) {
      if (from.empty())
        return;
      rewriter.inlineRegionBefore(from, to, to.begin());
      Operation *yield = to.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(drop); });
    };
    move(op.getBody(), newOp.getBody(), bodyDrop);
    move(op.getCombine(), newOp.getCombine(), combineDrop);
    SmallVector<Value> replacements(outputs);
    for (unsigned i = 0, k = 0; i < outputs; ++i)
      if (keep[i])
        replacements[i] = newOp.getResult(k++);
    for (auto [old, value] : llvm::zip(op.getResults(), replacements))
      if (value)
        rewriter.replaceAllUsesWith(old, value);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Removes accumulations whose sums the combine region doesn't use. Schedules
/// with and without any differ: one that was chosen keeps the last.
struct DropAccumulations final : OpRewritePattern<MixedReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MixedReductionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.isSplit())
      return rewriter.notifyMatchFailure(op, "isn't split");
    Block *combine = op.getCombineBlock();
    unsigned inputs = op.getInputs().size();
    SmallVector<PartialAccumulateOp> dropped;
    llvm::BitVector arguments(combine->getNumArguments());
    bool keepsOne = false;
    for (auto [i, accumulate] :
         llvm::enumerate(op.getBodyBlock()->getOps<PartialAccumulateOp>())) {
      if (combine->getArgument(inputs + i).use_empty()) {
        dropped.push_back(accumulate);
        arguments.set(inputs + i);
      } else {
        keepsOne = true;
      }
    }
    if (op.getScheduleAttr() && !keepsOne && !dropped.empty()) {
      arguments.reset(inputs);
      dropped.erase(dropped.begin());
    }
    if (dropped.empty())
      return rewriter.notifyMatchFailure(op, "all accumulations are used");
    rewriter.modifyOpInPlace(op, [&] {
      for (PartialAccumulateOp accumulate : dropped)
        rewriter.eraseOp(accumulate);
      combine->eraseArguments(arguments);
    });
    return success();
  }
};
} // namespace

void MixedReductionOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                                   MLIRContext *context) {
  results.add<FoldTensorCasts, DropAccumulations, DropInputs, DropResults>(
      context);
}
