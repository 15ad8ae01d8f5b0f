//===- PartialAccumulate.cpp - Split column reductions --------------------===//
//
// Splits every column reduction of a mixed reduction in two: what a block does
// with its own rows (`partial_accumulate`, in the body) and what happens to a
// column once the blocks' partial accumulators are merged (the `combine`
// region). The body then has no value that waits for other blocks.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONPARTIALACCUMULATE
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;
using namespace mlir::norm_fusion;

/// Copies what `value` is computed from to the end of the combine region.
static Value materialize(Value value, IRMapping &mapping, OpBuilder &builder) {
  if (Value mapped = mapping.lookupOrNull(value))
    return mapped;
  Operation *producer = value.getDefiningOp();
  for (Value operand : producer->getOperands())
    materialize(operand, mapping, builder);
  builder.clone(*producer, mapping);
  return mapping.lookup(value);
}

/// True if `value` needs a reduction of type `Op`, but for what a column
/// reduction needs.
template <typename Op>
static bool needs(Value value) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *producer = worklist.pop_back_val().getDefiningOp();
    if (!producer || !seen.insert(producer).second)
      continue;
    if (isa<Op>(producer))
      return true;
    if (isa<ColumnReduceOp>(producer))
      continue;
    llvm::append_range(worklist, producer->getOperands());
  }
  return false;
}

static void split(MixedReductionOp op) {
  Block *body = op.getBodyBlock();
  SmallVector<ColumnReduceOp> reductions(body->getOps<ColumnReduceOp>());
  SmallVector<Value> columnValues, bodyValues;
  auto yield = cast<YieldOp>(body->getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues()))
    (op.isColumnOutput(i) ? columnValues : bodyValues).push_back(value);
  if (reductions.empty() && columnValues.empty())
    return;
  // A row reduction of what is the same in all rows can't be had in `combine`,
  // a finished column not in the body.
  if (llvm::any_of(columnValues, needs<RowReduceOp>) ||
      llvm::any_of(bodyValues, needs<ColumnReduceOp>) ||
      llvm::any_of(reductions, [](ColumnReduceOp reduction) {
        return needs<ColumnReduceOp>(reduction.getOperand());
      }))
    return;

  OpBuilder builder(op.getContext());
  Block *combine = builder.createBlock(&op.getCombine());
  IRMapping mapping;
  for (BlockArgument argument : body->getArguments())
    mapping.map(argument, combine->addArgument(argument.getType(),
                                               argument.getLoc()));
  for (ColumnReduceOp reduction : reductions)
    mapping.map(reduction.getResult(),
                combine->addArgument(reduction.getType(), reduction.getLoc()));
  builder.setInsertionPointToEnd(combine);
  SmallVector<Value> combined;
  for (Value value : columnValues)
    combined.push_back(materialize(value, mapping, builder));
  YieldOp::create(builder, yield.getLoc(), combined);

  yield.getValuesMutable().assign(bodyValues);
  for (ColumnReduceOp reduction : reductions) {
    builder.setInsertionPoint(reduction);
    PartialAccumulateOp::create(builder, reduction.getLoc(),
                                reduction.getCombinerAttr(),
                                reduction.getOperand(),
                                reduction.getOverAttr());
  }
  // What only the combine region needs now is dead in the body.
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&inner))
      inner.erase();
}

namespace {
struct PartialAccumulatePass final
    : norm_fusion::impl::NormFusionPartialAccumulateBase<
          PartialAccumulatePass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](MixedReductionOp op) {
      if (!op.isSplit())
        split(op);
    });
  }
};
} // namespace
