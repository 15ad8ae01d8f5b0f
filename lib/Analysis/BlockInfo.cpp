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

using namespace mlir;
using namespace mlir::norm_fusion;

static bool hasReductionIterator(Operation *op) {
  if (isa<linalg::FillOp>(op))
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return llvm::any_of(generic.getIteratorTypes(), [](Attribute kind) {
      return cast<linalg::IteratorTypeAttr>(kind).getValue() ==
             utils::IteratorType::reduction;
    });
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() != 0;
}

/// Calls `use` with the values from outside that the regions of `op` use; more
/// than once where they do so.
static void forEachCapture(Operation *op,
                           llvm::function_ref<void(Value, Operation *)> use) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block) {
        for (Value operand : inner.getOperands())
          // Most operands come from beside the op.
          if (operand.getParentBlock() != &block &&
              !op->isAncestor(operand.getParentBlock()->getParentOp()))
            use(operand, &inner);
        if (inner.getNumRegions() != 0)
          forEachCapture(&inner, [&](Value operand, Operation *user) {
            if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
              use(operand, user);
          });
      }
}

BlockInfo::BlockInfo(Block &block) : block(block) {
  // The IR doesn't fit the caches: each op is looked at once.
  isOnly = block.getParent()->hasOneBlock();
  for (Operation &op : block)
    addOp(&op);
  usedBegin.push_back(usedIds.size());
  findLive();
  reduced.resize(ops.size());
  for (unsigned number = 0; number < ops.size(); ++number)
    // Sizes are known before what has them.
    reduced[number] =
        reduces[number] || (live[number] && !sizes[number] &&
                            llvm::any_of(getUsedIds(number), [&](unsigned id) {
                              unsigned def = getDef(id);
                              return def != none && reduced[def];
                            }));
  // Any model of a few thousand ops stays far below this.
  budget = 4'000'000 + 16 * ops.size();
}

void BlockInfo::addOp(Operation *op) {
  unsigned number = ops.size();
  ops.push_back(op);
  order[op] = number;
  firstResult.push_back(values.size());
  values.append(op->result_begin(), op->result_end());
  owners.append(op->getNumResults(), number);
  reduces.push_back(hasReductionIterator(op));
  reshapes.push_back(isReshape(op));
  sizes.push_back(isa<tensor::DimOp>(op));
  live.push_back(false);
  if (!isOnly)
    for (OpResult result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !getAncestor(user); })) {
        escaping.resize(values.size());
        escaping.set(firstResult[number] + result.getResultNumber());
        live.set(number);
      }

  usedBegin.push_back(usedIds.size());
  llvm::SmallSetVector<Value, 8> used(op->operand_begin(), op->operand_end());
  auto noteSize = [&](Value value, Operation *user) {
    if (!isa<tensor::DimOp>(user))
      return;
    unsigned id = getId(value);
    sizeUsed.resize(std::max(sizeUsed.size(), id + 1));
    sizeUsed.set(id);
  };
  if (sizes[number])
    noteSize(op->getOperand(0), op);
  if (op->getNumRegions() != 0)
    forEachCapture(op, [&](Value value, Operation *user) {
      used.insert(value);
      noteSize(value, user);
    });
  for (Value value : used)
    usedIds.push_back(getId(value));
  if (isa<linalg::LinalgOp>(op)) {
    StringRef why;
    points.push_back(makePointOp(op, number, why));
    if (!why.empty())
      reasons[number] = why;
  } else {
    points.push_back(nullptr);
  }
  for (unsigned id : getResultIds(number))
    getUniformSteps(id, 0);
}

/// From the last op to the first: what a live op uses is live, but for what it
/// only asks for a size.
void BlockInfo::findLive() {
  for (unsigned number = ops.size(); number-- != 0;) {
    if (!live[number] && !ops[number]->hasTrait<OpTrait::IsTerminator>() &&
        isMemoryEffectFree(ops[number])) {
      hasDead = true;
      continue;
    }
    live.set(number);
    for (unsigned id : getUsedIds(number).drop_front(sizes[number] ? 1 : 0))
      if (unsigned def = getDef(id); def != none)
        live.set(def);
  }
  userBegin.assign(values.size() + 1, 0);
  for (unsigned number = 0; number < ops.size(); ++number)
    if (live[number])
      for (unsigned id : getUsedIds(number))
        ++userBegin[id + 1];
  for (unsigned id = 0; id < values.size(); ++id)
    userBegin[id + 1] += userBegin[id];
  users.resize(userBegin.back());
  SmallVector<unsigned, 0> next(userBegin);
  for (unsigned number = 0; number < ops.size(); ++number)
    if (live[number])
      for (unsigned id : getUsedIds(number))
        users[next[id]++] = number;
}

unsigned BlockInfo::getId(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    if (std::optional<unsigned> number = findOrder(result.getOwner()))
      return firstResult[*number] + result.getResultNumber();
  auto [it, isNew] = foreign.try_emplace(value, values.size());
  if (isNew) {
    values.push_back(value);
    owners.push_back(none);
  }
  return it->second;
}

PointOp *BlockInfo::makePointOp(Operation *op, unsigned number,
                                StringRef &why) {
  std::optional<PointOp> made = PointOp::get(op, why);
  if (!made)
    return nullptr;
  PointOp *point = new (allocator.Allocate()) PointOp(std::move(*made));
  point->number = number;
  for (PointOperand &operand : point->operands)
    operand.id = getId(operand.value);
  for (auto [result, value] :
       llvm::zip_equal(point->results, op->getResults())) {
    result.id = getId(value);
    if (result.reduction)
      result.reduction->initId = getId(result.reduction->init);
  }
  return point;
}

const PointOp *BlockInfo::getPointOp(Operation *op) {
  if (std::optional<unsigned> number = findOrder(op))
    return points[*number];
  auto it = foreignPoints.find(op);
  if (it == foreignPoints.end()) {
    StringRef why;
    PointOp *point = makePointOp(op, none, why);
    it = foreignPoints.try_emplace(op, point).first;
  }
  return it->second;
}

/// Chains of broadcasts of constants are short. A value of more steps is read
/// like any other, so that nothing recurses deeper.
static constexpr unsigned maxSteps = 64;

unsigned BlockInfo::getUniformSteps(unsigned id, unsigned depth) {
  if (id >= uniform.size())
    uniform.resize(values.size());
  if (uniform[id])
    return uniform[id];
  if (depth == maxSteps)
    return varies;
  Value value = values[id];
  auto type = dyn_cast<RankedTensorType>(value.getType());
  // New values may get numbers meanwhile, and the array with them.
  auto known = [&](unsigned steps) { return uniform[id] = steps; };
  if (!type)
    return known(value.getType().isIntOrIndexOrFloat() ? 1 : noTensor);
  if (llvm::all_of(type.getShape(), [](int64_t size) { return size == 1; }))
    return known(1);
  Operation *def = value.getDefiningOp();
  // Until the operands are known, for IR that goes in circles.
  known(varies);
  Attribute attr;
  if (!def)
    return varies;
  if (isa<tensor::EmptyOp, tensor::SplatOp, linalg::FillOp>(def))
    return known(1);
  unsigned steps = 0;
  if (isReshape(def)) {
    steps = getUniformSteps(getId(def->getOperand(0)), depth + 1);
  } else if (const PointOp *point = getPointOp(def)) {
    if (point->isReduction() || point->indexed.any())
      return varies;
    for (const PointOperand &operand : point->operands)
      if (steps < maxSteps)
        steps = std::max(steps, getUniformSteps(operand.id, depth + 1));
  } else if (matchPattern(value, m_Constant(&attr))) {
    return known(getUniformConstant(value) ? 1 : varies);
  } else {
    return varies;
  }
  return known(steps < maxSteps ? steps + 1 : varies);
}
