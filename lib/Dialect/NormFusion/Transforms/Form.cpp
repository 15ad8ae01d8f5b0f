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
#include "Remarks.h"

#include "norm_fusion/Dialect/NormFusion/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/RegionKindInterface.h"
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
  struct Options {
    bool rowOnly;
    Profit profit;
    TargetInfo target;
    /// Some tensors are buffers, which others may write to.
    bool hasBuffers;
  };

  BlockFormer(Block &block, const Options &options)
      : block(block), options(options) {}

  void run();

private:
  /// Forms what the analysis finds. True if there may be more.
  bool formRound(bool isLast);
  bool form(MixedOrderReductionAnalysis &analysis, const MixedGroup &group);
  /// Finds where the op can stand, and what has to move behind it; or why not.
  std::optional<MissedGroup> place(const MixedGroup &group,
                                   ArrayRef<Value> inputs, size_t maxSunk,
                                   Operation *&after,
                                   SmallVectorImpl<Operation *> &sink);
  Operation *findWriteBetween(const MixedGroup &group, ArrayRef<Value> inputs,
                              Operation *after,
                              ArrayRef<Operation *> sink) const;
  std::optional<Refusal> getRefusal(const GroupCost &cost) const;
  void replaceSizes(Operation *op);
  void eraseLeftovers();
  void remarkFormed(const MixedGroup &group, MixedReductionOp op,
                    const GroupCost &cost);

  /// Where an op stands: its number in the block as it was analysed plus one,
  /// and for what was put behind that op since, a running number. Asking the
  /// block would number it anew for every group.
  using Position = std::pair<unsigned, unsigned>;
  Position getPosition(Operation *op) const;
  /// Takes note of the ops after `first` up to `last`, put at `anchor`.
  void setPositions(Operation *first, Operation *last, unsigned anchor);

  Block &block;
  const Options &options;
  BlockInfo *info = nullptr;
  llvm::DenseMap<Operation *, Position> positions;
  /// The last op that was put behind an op, and its running number.
  llvm::DenseMap<unsigned, std::pair<Operation *, unsigned>> tails;
  llvm::DenseMap<Value, Value> replaced;
  /// Ops by their numbers: in a group that was formed, and not needed by it any
  /// more.
  llvm::BitVector taken, leftovers;
  SmallVector<MissedGroup> missed;
  /// Of earlier rounds.
  llvm::DenseMap<Operation *, MissedGroup> leftOut;
};

/// Forms the groups of all blocks in `op`, but for the bodies of linalg ops: of
/// a block before those of its ops, for some of these are dead once it's done,
/// and erased. (What an inner block leaves without a use comes before the op
/// that holds it.) Where order means nothing there is no place for a group.
void formIn(Operation *op, const BlockFormer::Options &options) {
  for (Region &region : op->getRegions()) {
    if (!mayHaveSSADominance(region))
      continue;
    for (Block &block : region) {
      BlockFormer(block, options).run();
      for (Operation &inner : block)
        if (!isa<linalg::LinalgOp, MixedReductionOp>(inner))
          formIn(&inner, options);
    }
  }
}

/// Whether ops in `root` make tensors of buffers, or free a tensor's.
bool hasTensorsOfBuffers(Operation *root) {
  auto isOfBuffer = [](Operation *op) {
    return isa<bufferization::DeallocTensorOp>(op) ||
           (llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>) &&
            llvm::any_of(op->getOperandTypes(),
                         [](Type type) { return isa<BaseMemRefType>(type); }));
  };
  return root
      ->walk([&](Operation *op) {
        return isOfBuffer(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct FormPass final : norm_fusion::impl::NormFusionFormBase<FormPass> {
  using NormFusionFormBase::NormFusionFormBase;

  void runOnOperation() override {
    std::optional<TargetInfo> target = TargetInfo::get(chip);
    if (!target) {
      getOperation()->emitError("unknown chip '")
          << chip << "', expected " << TargetInfo::chips;
      return signalPassFailure();
    }
    BlockFormer::Options options{rowOnly, profit, *target,
                                 hasTensorsOfBuffers(getOperation())};
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      // What is device code already has no launches.
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (!isa<FunctionOpInterface>(op))
        return WalkResult::advance();
      formIn(op, options);
      return WalkResult::skip();
    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

BlockFormer::Position BlockFormer::getPosition(Operation *op) const {
  auto it = positions.find(op);
  return it != positions.end() ? it->second
                               : Position(info->getOrder(op) + 1, 0);
}

void BlockFormer::setPositions(Operation *first, Operation *last,
                               unsigned anchor) {
  auto &[tail, number] = tails[anchor];
  for (Operation *op = first; op; op = op->getNextNode()) {
    positions[op] = {anchor, ++number};
    if (op == last)
      break;
  }
  tail = last;
}

/// Whether a tensor may be a view of a buffer that others write to or free,
/// which bufferization will read where the tensor is used.
static bool mayBeOfBuffer(Value value) {
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    value = worklist.pop_back_val();
    if (!isa<TensorType>(value.getType()) || !seen.insert(value).second)
      continue;
    if (llvm::any_of(value.getUsers(),
                     llvm::IsaPred<bufferization::DeallocTensorOp>))
      return true;
    Operation *def = value.getDefiningOp();
    if (!def) {
      Block *owner = cast<BlockArgument>(value).getOwner();
      if (owner->isEntryBlock() &&
          isa<FunctionOpInterface>(owner->getParentOp()))
        continue;
      return true;
    }
    // Written in place, a result is where its init is.
    if (isa<linalg::LinalgOp, MixedReductionOp>(def))
      llvm::append_range(worklist,
                         cast<DestinationStyleOpInterface>(def).getDpsInits());
    else if (!isa<arith::ConstantOp, tensor::EmptyOp, tensor::SplatOp,
                  tensor::FromElementsOp>(def))
      return true;
  }
  return false;
}

static bool mayWrite(Operation *op) {
  return !isa<cf::AssertOp>(op) &&
         mayHaveOtherEffects<MemoryEffects::Read, MemoryEffects::Allocate>(op);
}

/// An op that may write to a buffer, between where ops read one, the group's
/// and those that `sink` behind it, and where they would: behind `after`. Or
/// null.
Operation *BlockFormer::findWriteBetween(const MixedGroup &group,
                                         ArrayRef<Value> inputs,
                                         Operation *after,
                                         ArrayRef<Operation *> sink) const {
  if (!options.hasBuffers)
    return nullptr;
  // As the block was analysed: what was formed since writes to no buffer.
  unsigned place = after ? getPosition(after).first : 0;
  unsigned first = place, last = place;
  llvm::DenseSet<Value> read;
  for (ArrayRef<Operation *> ops : {ArrayRef<Operation *>(group.producers),
                                    ArrayRef<Operation *>(group.members)})
    for (Operation *op : ops) {
      unsigned number = info->getOrder(op);
      for (unsigned id : info->getUsedIds(number))
        if (Value value = info->getValue(id); mayBeOfBuffer(value)) {
          read.insert(value);
          first = std::min(first, number);
          last = std::max(last, number);
        }
    }
  // What no op of the group reads itself may have been read at its definition.
  for (Value input : inputs)
    if (mayBeOfBuffer(input) && !read.contains(input)) {
      Operation *def = input.getDefiningOp();
      first = std::min(
          first, def && def->getBlock() == &block ? getPosition(def).first : 0);
    }
  for (Operation *op : sink)
    first = std::min(first, getPosition(op).first - 1);
  ArrayRef<Operation *> ops = info->getOps();
  auto found = llvm::find_if(ops.slice(first, last - first), mayWrite);
  return found == ops.begin() + last ? nullptr : *found;
}

std::optional<MissedGroup>
BlockFormer::place(const MixedGroup &group, ArrayRef<Value> inputs,
                   size_t maxSunk, Operation *&after,
                   SmallVectorImpl<Operation *> &sink) {
  auto refuse = [](StringRef reason, Operation *blame) {
    return MissedGroup{reason, blame, "depends on a result of the group",
                       "an order in which the group is one op"};
  };
  auto refuseWrite = [&]() -> std::optional<MissedGroup> {
    if (Operation *write = findWriteBetween(group, inputs, after, sink))
      return MissedGroup{"side-effect-between", write,
                         "may write to a buffer that the group reads before it",
                         "the group's reads on one side of it"};
    return std::nullopt;
  };
  sink.clear();
  llvm::DenseSet<Value> results(group.results.begin(), group.results.end());
  llvm::DenseSet<Operation *> makers;
  for (Value input : inputs)
    if (Operation *def = input.getDefiningOp();
        def && def->getBlock() == &block) {
      // Read in another orientation than the one that it is made in.
      if (results.contains(input))
        return refuse("cycle", def);
      makers.insert(def);
      if (!after || getPosition(after) < getPosition(def))
        after = def;
    }
  if (!after)
    return refuseWrite();
  llvm::DenseSet<Operation *> members(group.members.begin(),
                                      group.members.end());
  // A member whose result others keep, who don't need its elements, stays where
  // it is: what it reads can't go behind the group.
  auto isKept = [&](Operation *op) {
    return members.contains(op) &&
           llvm::any_of(op->getResults(), [&](Value result) {
             return !results.contains(result) &&
                    llvm::any_of(result.getUsers(), [&](Operation *user) {
                      Operation *other = info->getAncestor(user);
                      return !other || !members.contains(other);
                    });
           });
  };
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> worklist(group.results);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    // Sizes of results will be taken from what those start from.
    Operation *def = value.getDefiningOp();
    bool isResult = def && members.contains(def);
    bool startsFrom = isResult && isa<linalg::LinalgOp>(def);
    for (Operation *user : value.getUsers()) {
      if (startsFrom && isa<tensor::DimOp>(user))
        continue;
      Operation *op = block.findAncestorOpInBlock(*user);
      if (op && !isResult && isKept(op))
        return refuse("cycle", op);
      if (!op || members.contains(op) || !seen.insert(op).second)
        continue;
      // What comes behind the ops that were put behind `after` stays.
      if (getPosition(op).first > getPosition(after).first)
        continue;
      if (makers.contains(op))
        return refuse("cycle", op);
      if (!isMemoryEffectFree(op) && !isa<cf::AssertOp>(op))
        return refuse("side-effect-between", op);
      if (sink.size() == maxSunk)
        return refuse("cycle", op);
      sink.push_back(op);
      worklist.append(op->result_begin(), op->result_end());
    }
  }
  llvm::sort(sink, [&](Operation *a, Operation *b) {
    return getPosition(a) < getPosition(b);
  });
  return refuseWrite();
}

//===----------------------------------------------------------------------===//
// Forming
//===----------------------------------------------------------------------===//

/// Sizes of results are sizes of what the results start from.
void BlockFormer::replaceSizes(Operation *op) {
  for (OpResult result : op->getResults()) {
    if (!info->hasSizeUsers(info->getId(result)))
      continue;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      if (!isa<tensor::DimOp>(use.getOwner()))
        continue;
      Value source = result;
      while (auto linalgOp = source.getDefiningOp<linalg::LinalgOp>())
        source =
            linalgOp
                .getDpsInitOperand(cast<OpResult>(source).getResultNumber())
                ->get();
      use.set(source);
    }
  }
}

/// Bytes that the ops of the group read and write as they stand: each reduction
/// its operands, each stored value once.
static int64_t getBytesBefore(BlockInfo &info, const MixedGroup &group) {
  const IterationSpace &space = *group.space;
  int64_t bytes = 0;
  auto count = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return;
    IterationSpace::MapId axes = space.getAxesId(info.getId(value));
    if (axes != IterationSpace::none)
      bytes += estimateBytes(space, space.getSet(axes), type);
  };
  for (ArrayRef<Operation *> ops : {ArrayRef<Operation *>(group.producers),
                                    ArrayRef<Operation *>(group.members)})
    for (Operation *op : ops) {
      if (isReshape(op))
        continue;
      // On tensors, inits are the last operands, one a result. Only what is
      // reduced reads them.
      unsigned inits = op->getNumOperands() - op->getNumResults();
      const PointOp &point = *info.getPointOp(op);
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        if (i < inits ||
            (point.isReduction() && !point.results[i - inits].unreduced))
          count(operand);
      for (Value result : op->getResults())
        count(result);
    }
  return bytes;
}

std::optional<Refusal> BlockFormer::getRefusal(const GroupCost &cost) const {
  if (cost.knownPoints > kMostPoints)
    return Refusal{"over-budget", "more elements than there are addresses",
                   llvm::formatv("at most {0}", kMostPoints)};
  if (options.profit == Profit::always)
    return std::nullopt;
  if (options.profit == Profit::never)
    return Refusal{"forbidden", "profit=never", "profit=auto or always"};
  return findRefusal(block.getParentOp()->getContext(), cost, options.target);
}

bool BlockFormer::form(MixedOrderReductionAnalysis &analysis,
                       const MixedGroup &group) {
  // An op that another group took in meanwhile: the next round sees it there.
  BlockInfo &info = analysis.getInfo();
  if (llvm::any_of(group.members,
                   [&](Operation *op) { return taken[info.getOrder(op)]; }))
    return false;
  GroupBuilder builder(info, group, replaced);
  SmallVector<Value> inputs = builder.getInputs();
  // So with a value that only another group's ops have by now.
  if (llvm::any_of(inputs, [&](Value input) {
        Operation *def = input.getDefiningOp();
        std::optional<unsigned> number =
            def ? info.findOrder(def) : std::nullopt;
        return number && taken[*number];
      }))
    return false;
  if (!builder.canBuild()) {
    missed.push_back({"unknown-size", group.members.front(),
                      "a size that no operand has", "sizes from operands"});
    return false;
  }
  GroupCost cost = builder.getCost();
  cost.bytesBefore = getBytesBefore(info, group);
  if (std::optional<Refusal> refusal = getRefusal(cost)) {
    missed.push_back({refusal->reason, group.members.front(), refusal->found,
                      refusal->needed});
    return false;
  }
  // Best where the last of the ops stood, behind what the block checks first,
  // if few ops have to move behind it; else as soon as the operands are there.
  Operation *after = group.members.back();
  SmallVector<Operation *> sink;
  std::optional<MissedGroup> refused =
      place(group, inputs, /*maxSunk=*/64, after, sink);
  if (refused) {
    after = nullptr;
    refused =
        place(group, inputs, std::numeric_limits<size_t>::max(), after, sink);
  }
  if (refused) {
    missed.push_back(*refused);
    return false;
  }
  // Behind what other groups put there.
  OpBuilder b(block.getParentOp()->getContext());
  unsigned anchor = after ? getPosition(after).first : 0;
  Operation *before = tails.lookup(anchor).first;
  if (!before)
    before = after;
  if (before)
    b.setInsertionPointAfter(before);
  else
    b.setInsertionPointToStart(&block);
  for (Operation *op : group.members)
    replaceSizes(op);
  SmallVector<Value> results;
  MixedReductionOp op = builder.build(b, results);
  Operation *last = results.empty() ? op.getOperation()
                                    : &*std::prev(b.getInsertionPoint());
  Operation *first = before ? before->getNextNode() : &block.front();
  for (Operation *moved : sink) {
    moved->moveAfter(last);
    last = moved;
  }
  setPositions(first, last, anchor);
  llvm::DenseSet<Operation *> members(group.members.begin(),
                                      group.members.end());
  for (auto [result, value] : llvm::zip_equal(group.results, results)) {
    Value old = result;
    replaced[old] = value;
    old.replaceUsesWithIf(value, [&](OpOperand &use) {
      Operation *user = info.getAncestor(use.getOwner());
      // Ops of a group that was formed before this one are new, and live.
      return !user || (!members.contains(user) &&
                       (!info.findOrder(user) || info.isLive(user)));
    });
  }
  for (Operation *op : group.members) {
    taken.set(info.getOrder(op));
    leftovers.set(info.getOrder(op));
  }
  for (Operation *op : group.producers)
    leftovers.set(info.getOrder(op));
  remarkFormed(group, op, cost);
  return true;
}

void BlockFormer::eraseLeftovers() {
  // What was seen at one point has no effects (PointOp::get()).
  llvm::BitVector pure = leftovers;
  // Dead users of what goes go too.
  if (info->hasDeadOps()) {
    SmallVector<unsigned> worklist(leftovers.set_bits());
    while (!worklist.empty())
      for (Operation *user :
           info->getOps()[worklist.pop_back_val()]->getUsers())
        if (Operation *op = info->getAncestor(user))
          if (std::optional<unsigned> number = info->findOrder(op);
              number && !info->isLive(*number) && !leftovers[*number]) {
            leftovers.set(*number);
            replaceSizes(op);
            worklist.push_back(*number);
          }
  }
  // From the last to the first, and with each what it leaves without a use.
  SmallVector<Operation *> worklist;
  SetVector<Operation *> used;
  auto isDead = [&](Operation *op, std::optional<unsigned> number) {
    return op->use_empty() &&
           ((number && pure[*number]) ||
            (isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>()));
  };
  for (int number = leftovers.find_last(); number >= 0;
       number = leftovers.find_prev(number)) {
    if (!isDead(info->getOps()[number], number))
      continue;
    worklist.push_back(info->getOps()[number]);
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val();
      if (std::optional<unsigned> order = info->findOrder(op))
        leftovers.reset(*order);
      used.clear();
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (inner == op || operand.getParentBlock() != inner->getBlock())
            if (Operation *def = operand.getDefiningOp();
                def && !op->isProperAncestor(def))
              used.insert(def);
      });
      op->erase();
      for (Operation *def : used)
        if (def->use_empty() && isDead(def, info->findOrder(def)))
          worklist.push_back(def);
    }
  }
}

void BlockFormer::run() {
  // A round forms all groups that the analysis finds at once. Few rounds are
  // ever needed; the bound keeps the work linear whatever the IR.
  constexpr unsigned maxRounds = 8;
  for (unsigned round = 1; round <= maxRounds; ++round)
    if (!formRound(/*isLast=*/round == maxRounds))
      return;
}

bool BlockFormer::formRound(bool isLast) {
  if (llvm::none_of(block, [](Operation &op) {
        auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
        return linalgOp && linalgOp.getNumReductionLoops() != 0;
      }))
    return false;
  MixedOrderReductionAnalysis analysis(block, {options.rowOnly});
  missed.clear();
  replaced.clear();
  info = &analysis.getInfo();
  for (llvm::BitVector *ops : {&taken, &leftovers}) {
    ops->clear();
    ops->resize(info->getOps().size());
  }
  positions.clear();
  tails.clear();
  bool formed = false;
  for (const MixedGroup &group : analysis.getGroups()) {
    if (!group.stored.empty()) {
      // Without them where that can't be done.
      size_t before = missed.size();
      if (form(analysis, group.withStored())) {
        formed = true;
        continue;
      }
      missed.truncate(before);
    }
    formed |= form(analysis, group);
  }
  llvm::append_range(missed, analysis.getMissed());
  // What a group leaves out for its rows or columns looks alone once the group
  // is formed.
  for (MissedGroup &group : missed)
    if (group.reason == "different-rows" || group.reason == "different-columns")
      leftOut.try_emplace(group.blame, group);
    else if (auto it = leftOut.find(group.blame);
             it != leftOut.end() && (group.reason == "no-row-reduction" ||
                                     group.reason == "no-column-reduction"))
      group = it->second;
  // Another round sees what is left beside the groups as single ops.
  bool isDone = !formed || isLast ||
                (missed.empty() && llvm::all_of(analysis.getReductions(),
                                                [&](const PointOp *point) {
                                                  return taken[point->number];
                                                }));
  if (isDone)
    for (const MissedGroup &group : missed)
      remark::missed(group.blame->getLoc(),
                     getRemark(group.reason, block.getParentOp()))
          << remark::metric("op", group.blame->getName().getStringRef().str())
          << remark::metric("found", group.found)
          << remark::metric("needed", group.needed);
  if (formed)
    eraseLeftovers();
  return !isDone;
}

void BlockFormer::remarkFormed(const MixedGroup &group, MixedReductionOp op,
                               const GroupCost &cost) {
  SmallVector<int64_t> sizes = op.getStaticDimSizes();
  int64_t rows = 1, columns = 1;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    int64_t &extent = op.isColumnDim(d) ? columns : rows;
    extent = ShapedType::isDynamic(size) || ShapedType::isDynamic(extent)
                 ? ShapedType::kDynamic
                 : extent * size;
  }
  auto text = [](int64_t extent) {
    return ShapedType::isDynamic(extent) ? std::string("?")
                                         : std::to_string(extent);
  };
  remark::passed(op.getLoc(), getRemark("formed", op))
      << remark::metric("rows", text(rows))
      << remark::metric("columns", text(columns))
      << remark::metric("row-reductions", group.rowReductions.size())
      << remark::metric("column-reductions", group.columnReductions.size())
      << remark::metric("scalar-reductions", group.scalarReductions.size())
      << remark::metric("bytes-before", cost.bytesBefore)
      << remark::metric("bytes-after", cost.bytesAfter);
}
