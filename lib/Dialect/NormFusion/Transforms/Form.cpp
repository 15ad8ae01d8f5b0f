//===- Form.cpp - Form one mixed reduction a group ------------------------===//
//
// The pass norm-fusion-form: asks the analysis for the groups of each block,
// finds a place in the block for each, builds the op there and removes what
// it leaves dead. A block is looked at again until it has no more groups, so
// that groups of different spaces, or of one space seen in different
// orientations, see each other as single ops.
//
//===----------------------------------------------------------------------===//

#include "GroupBuilder.h"

#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONFORM
#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
/// Forms the groups of one block.
class BlockFormer {
public:
  BlockFormer(Block &block, bool rowOnly) : block(block), rowOnly(rowOnly) {}

  void run();

private:
  bool formRound(bool &again);
  bool form(MixedOrderReductionAnalysis &analysis, const MixedGroup &group);
  /// Finds where the op can stand, and what has to move behind it.
  StringRef place(const MixedGroup &group, ArrayRef<Value> inputs,
                  Operation *&after, SmallVectorImpl<Operation *> &sink,
                  Operation *&blame);
  void replaceSizes(const MixedGroup &group);
  void eraseLeftovers(MixedOrderReductionAnalysis &analysis);
  void remarkFormed(MixedOrderReductionAnalysis &analysis,
                    const MixedGroup &group, MixedReductionOp op,
                    int64_t bytes);

  Block &block;
  bool rowOnly;
  llvm::DenseMap<Value, Value> replaced;
  llvm::SetVector<Operation *> leftovers;
  SmallVector<MissedGroup> missed;
};

struct FormPass final : norm_fusion::impl::NormFusionFormBase<FormPass> {
  using NormFusionFormBase::NormFusionFormBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    auto collect = [&](FunctionOpInterface function) {
      function->walk<WalkOrder::PreOrder>([&](Operation *op) {
        if (isa<linalg::LinalgOp, MixedReductionOp>(op))
          return WalkResult::skip();
        for (Region &region : op->getRegions())
          for (Block &inner : region)
            blocks.push_back(&inner);
        return WalkResult::advance();
      });
      return WalkResult::skip();
    };
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto function = dyn_cast<FunctionOpInterface>(op))
        return collect(function);
      return WalkResult::advance();
    });
    for (Block *block : blocks)
      BlockFormer(*block, rowOnly).run();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

StringRef BlockFormer::place(const MixedGroup &group, ArrayRef<Value> inputs,
                             Operation *&after,
                             SmallVectorImpl<Operation *> &sink,
                             Operation *&blame) {
  llvm::DenseSet<Operation *> makers;
  after = nullptr;
  for (Value input : inputs)
    if (Operation *def = input.getDefiningOp();
        def && def->getBlock() == &block) {
      makers.insert(def);
      if (!after || after->isBeforeInBlock(def))
        after = def;
    }
  if (!after)
    return {};
  llvm::DenseSet<Operation *> members(group.members.begin(),
                                      group.members.end());
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> worklist(group.results);
  while (!worklist.empty()) {
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      Operation *op = block.findAncestorOpInBlock(*user);
      if (!op || members.contains(op) || !seen.insert(op).second)
        continue;
      if (!op->isBeforeInBlock(after) && op != after)
        continue;
      if (makers.contains(op)) {
        blame = op;
        return "cycle";
      }
      if (!isMemoryEffectFree(op) && !isa<cf::AssertOp>(op)) {
        blame = op;
        return "side-effect-between";
      }
      sink.push_back(op);
      worklist.append(op->result_begin(), op->result_end());
    }
  }
  llvm::sort(sink, [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  });
  return {};
}

//===----------------------------------------------------------------------===//
// Forming
//===----------------------------------------------------------------------===//

/// Sizes of results of the group are sizes of what the results start from.
void BlockFormer::replaceSizes(const MixedGroup &group) {
  for (Operation *op : group.members)
    for (OpResult result : op->getResults())
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        if (!isa<tensor::DimOp>(use.getOwner()))
          continue;
        Value source = result;
        while (auto linalgOp = source.getDefiningOp<linalg::LinalgOp>())
          source = linalgOp.getDpsInitOperand(
              cast<OpResult>(source).getResultNumber())->get();
        use.set(source);
      }
}

bool BlockFormer::form(MixedOrderReductionAnalysis &analysis,
                       const MixedGroup &group) {
  GroupBuilder builder(analysis.getInfo(), group, replaced);
  if (!builder.canBuild()) {
    missed.push_back({"unknown-size", group.members.front(),
                      "a size that no operand has", "sizes from operands"});
    return false;
  }
  SmallVector<Value> inputs = builder.getInputs();
  Operation *after = nullptr, *blame = nullptr;
  SmallVector<Operation *> sink;
  StringRef reason = place(group, inputs, after, sink, blame);
  if (!reason.empty()) {
    missed.push_back({reason, blame, "depends on a result of the group",
                      "an order in which the group is one op"});
    return false;
  }
  OpBuilder b(block.getParentOp()->getContext());
  if (after)
    b.setInsertionPointAfter(after);
  else
    b.setInsertionPointToStart(&block);
  replaceSizes(group);
  int64_t bytes = builder.getBytes();
  SmallVector<Value> results;
  MixedReductionOp op = builder.build(b, results);
  Operation *last = results.empty() ? op.getOperation()
                                    : &*std::prev(b.getInsertionPoint());
  for (Operation *moved : sink) {
    moved->moveAfter(last);
    last = moved;
  }
  llvm::DenseSet<Operation *> members(group.members.begin(),
                                      group.members.end());
  BlockInfo &info = analysis.getInfo();
  for (auto [result, value] : llvm::zip_equal(group.results, results)) {
    Value old = result;
    replaced[old] = value;
    old.replaceUsesWithIf(value, [&](OpOperand &use) {
      Operation *user = info.getAncestor(use.getOwner());
      return user && !members.contains(user) && info.isLive(user);
    });
  }
  leftovers.insert(group.members.begin(), group.members.end());
  leftovers.insert(group.producers.begin(), group.producers.end());
  remarkFormed(analysis, group, op, bytes);
  return true;
}

void BlockFormer::eraseLeftovers(MixedOrderReductionAnalysis &analysis) {
  BlockInfo &info = analysis.getInfo();
  // Dead users of what goes go too.
  for (unsigned i = 0; i < leftovers.size(); ++i)
    for (Operation *user : leftovers[i]->getUsers())
      if (Operation *op = info.getAncestor(user); op && !info.isLive(op))
        leftovers.insert(op);
  SmallVector<Operation *> order(leftovers.begin(), leftovers.end());
  llvm::sort(order, [](Operation *a, Operation *b) {
    return a->isBeforeInBlock(b);
  });
  llvm::SetVector<Operation *> worklist(order.begin(), order.end());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (!op->use_empty() || !isMemoryEffectFree(op) ||
        op->hasTrait<OpTrait::IsTerminator>())
      continue;
    SetVector<Operation *> makers;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && !op->isAncestor(def))
          makers.insert(def);
    });
    op->erase();
    for (Operation *def : makers) {
      worklist.remove(def);
      worklist.insert(def);
    }
  }
  leftovers.clear();
}

void BlockFormer::run() {
  // A round forms all groups that the analysis finds at once. Few rounds are
  // ever needed; the bound keeps the work linear whatever the IR.
  for (unsigned round = 0; round < 8; ++round) {
    bool again = false;
    if (!formRound(again) || !again)
      break;
  }
}

bool BlockFormer::formRound(bool &again) {
  if (llvm::none_of(block, [](Operation &op) {
        auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        return linalgOp && linalgOp.getNumReductionLoops() != 0;
      }))
    return false;
  MixedOrderReductionAnalysis analysis(block, {rowOnly});
  missed.clear();
  replaced.clear();
  for (const MixedGroup &group : analysis.getGroups())
    again |= form(analysis, group);
  if (again) {
    eraseLeftovers(analysis);
    return true;
  }
  llvm::append_range(missed, analysis.getMissed());
  for (const MissedGroup &group : missed)
    remark::missed(group.blame->getLoc(),
                   remark::RemarkOpts::name(group.reason)
                       .category("norm-fusion")
                       .function(""))
        << remark::metric("found", group.found)
        << remark::metric("needed", group.needed);
  return false;
}

void BlockFormer::remarkFormed(MixedOrderReductionAnalysis &analysis,
                               const MixedGroup &group, MixedReductionOp op,
                               int64_t bytes) {
  (void)analysis;
  (void)group;
  (void)op;
  (void)bytes;
}
