//===- BlockInfo.cpp - What the analyses ask about a block ----------------===//
//
// Order, liveness and users of a block's ops, and which values are the same
// scalar everywhere. Exporters leave dead code behind; what nothing live uses
// must not keep a value alive or tie reductions together.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Analysis/PointOp.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::norm_fusion;

BlockInfo::BlockInfo(Block &block) : block(block) {
  for (Operation &op : block) {
    order[&op] = ops.size();
    ops.push_back(&op);
  }
  for (Operation *op : llvm::reverse(ops)) {
    bool used = op->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(op);
    for (Operation *user : op->getUsers())
      used = used || live.contains(getAncestor(user));
    if (used)
      live.insert(op);
  }
  reduced.resize(ops.size());
  for (auto [number, op] : llvm::enumerate(ops)) {
    usedBegin.push_back(usedOps.size());
    if (!isLive(op))
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    reduced[number] = linalgOp && linalgOp.getNumReductionLoops() != 0;
    for (Value value : getUsedValues(op)) {
      liveUsers[value].push_back(op);
      Operation *def = value.getDefiningOp();
      if (!def || def->getBlock() != &block)
        continue;
      usedOps.push_back(getOrder(def));
      // Sizes are known before what has them.
      if (reduced[usedOps.back()] && !isa<tensor::DimOp>(op))
        reduced.set(number);
    }
  }
  usedBegin.push_back(usedOps.size());
  // Any model of a few thousand ops stays far below this.
  budget = 20'000'000 + 16 * ops.size();
}

ArrayRef<Value> BlockInfo::getUsedValues(Operation *op) {
  auto [it, isNew] = used.try_emplace(op);
  if (isNew) {
    SetVector<Value> values(op->operand_begin(), op->operand_end());
    if (op->getNumRegions() != 0)
      getUsedValuesDefinedAbove(op->getRegions(), values);
    it->second = values.takeVector();
  }
  return it->second;
}

const PointOp *BlockInfo::getPointOp(Operation *op) {
  auto it = points.find(op);
  if (it != points.end())
    return it->second.get();
  StringRef why;
  std::unique_ptr<PointOp> point = PointOp::get(op, why);
  if (!why.empty())
    reasons[op] = why;
  return (points[op] = std::move(point)).get();
}

bool BlockInfo::isUniform(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return value.getType().isIntOrIndexOrFloat();
  if (llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; }))
    return true;
  if (auto it = uniform.find(value); it != uniform.end())
    return it->second;
  Operation *def = value.getDefiningOp();
  bool result = false;
  uniform[value] = false;
  if (!def) {
  } else if (Attribute attr; matchPattern(value, m_Constant(&attr))) {
    result = getUniformConstant(value) != nullptr;
  } else if (isa<tensor::EmptyOp, tensor::SplatOp>(def)) {
    result = true;
  } else if (isReshape(def)) {
    result = isUniform(def->getOperand(0));
  } else if (const PointOp *point = getPointOp(def)) {
    result = !point->isReduction() &&
             llvm::all_of(point->operands, [&](const PointOperand &operand) {
               return isUniform(operand.value);
             });
  }
  return uniform[value] = result;
}
