//===- NormFusionToLinalg.cpp - Mixed reductions as linalg ----------------===//
//
// The pass norm-fusion-to-linalg. Each reduction of the region, and each value
// that it yields, becomes a linalg.generic over the dimensions that it varies
// over; the elementwise ops between are cloned into every generic that needs
// them. What a generic reads are the op's inputs and the finished reductions.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONTOLINALG
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;
using namespace mlir::norm_fusion;

namespace {
/// What a value of the region is outside of it: a scalar, or a tensor indexed
/// by dimensions of the space.
struct Leaf {
  Value value;
  SmallVector<unsigned> dims;
};

/// Rewrites one op.
class ToLinalg {
public:
  explicit ToLinalg(MixedReductionOp op)
      : op(op), builder(op), loc(op.getLoc()) {}

  void run();

private:
  void bindInputs(Block &block);
  /// The leaves that `root` needs, and the ops between.
  void collect(Value root, llvm::SetVector<Value> &used,
               llvm::DenseSet<Operation *> &slice);
  OpFoldResult getSize(unsigned dim);
  /// A generic over `loops` of what `root` is; with a combiner, reduced into
  /// the elements of `init`.
  Value build(Value root, ArrayRef<unsigned> loops, Value init,
              ArrayRef<unsigned> initDims, std::optional<Combiner> combiner);
  Leaf reduce(Value operand, Combiner combiner,
              const llvm::SmallBitVector &reduced);
  void bindReductions();
  void buildResults(Block &block, ArrayRef<unsigned> outputs,
                    SmallVectorImpl<Value> &results);

  MixedReductionOp op;
  OpBuilder builder;
  Location loc;
  llvm::DenseMap<Value, Leaf> leaves;
  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
};

struct NormFusionToLinalgPass final
    : norm_fusion::impl::NormFusionToLinalgBase<NormFusionToLinalgPass> {
  using NormFusionToLinalgBase::NormFusionToLinalgBase;

  void runOnOperation() override {
    SmallVector<MixedReductionOp> ops;
    auto result = getOperation()->walk([&](MixedReductionOp op) -> WalkResult {
      if (!op.hasPureTensorSemantics() && !unscheduledOnly)
        return op.emitOpError("on memrefs: there is no way back to linalg; "
                              "expected tensors");
      if (op.hasPureTensorSemantics() &&
          !(unscheduledOnly && op.getScheduleAttr()))
        ops.push_back(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (MixedReductionOp op : ops)
      ToLinalg(op).run();
  }
};
} // namespace

static SmallVector<unsigned> getDims(AffineMap map) {
  return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition();
  });
}

void ToLinalg::bindInputs(Block &block) {
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    leaves[block.getArgument(i)] = {input, getDims(op.getInputMap(i))};
}

OpFoldResult ToLinalg::getSize(unsigned dim) {
  int64_t size = op.getStaticDimSizes()[dim];
  if (!ShapedType::isDynamic(size))
    return builder.getIndexAttr(size);
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    SmallVector<unsigned> dims = getDims(op.getInputMap(i));
    auto it = llvm::find(dims, dim);
    if (it != dims.end())
      return tensor::DimOp::create(builder, loc, operand, it - dims.begin())
          .getResult();
  }
  llvm_unreachable("C4: every dimension has an operand");
}

void ToLinalg::collect(Value root, llvm::SetVector<Value> &used,
                       llvm::DenseSet<Operation *> &slice) {
  SmallVector<Value> worklist{root};
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (leaves.contains(value)) {
      used.insert(value);
      continue;
    }
    Operation *def = value.getDefiningOp();
    if (slice.insert(def).second)
      llvm::append_range(worklist, def->getOperands());
  }
}

Value ToLinalg::build(Value root, ArrayRef<unsigned> loops, Value init,
                      ArrayRef<unsigned> initDims,
                      std::optional<Combiner> combiner) {
  llvm::SetVector<Value> used;
  llvm::DenseSet<Operation *> slice;
  collect(root, used, slice);
  SmallVector<Value> order = used.takeVector();
  llvm::sort(order, [](Value a, Value b) {
    auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
    if (x && y)
      return x.getArgNumber() < y.getArgNumber();
    if (x || y)
      return bool(x);
    return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
  });
  auto getLoop = [&](unsigned dim) -> int64_t {
    return llvm::find(loops, dim) - loops.begin();
  };
  auto getMap = [&](ArrayRef<unsigned> dims) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : dims)
      exprs.push_back(builder.getAffineDimExpr(getLoop(dim)));
    return AffineMap::get(loops.size(), 0, exprs, builder.getContext());
  };
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  SmallVector<unsigned> unsized(loops);
  auto dropSized = [&](ArrayRef<unsigned> dims) {
    llvm::erase_if(unsized,
                   [&](unsigned dim) { return llvm::is_contained(dims, dim); });
  };
  dropSized(initDims);
  for (Value value : order) {
    ins.push_back(leaves[value].value);
    maps.push_back(getMap(leaves[value].dims));
    dropSized(leaves[value].dims);
  }
  // Loops that nothing is read over have their extents from an empty tensor.
  if (!unsized.empty()) {
    SmallVector<OpFoldResult> sizes = llvm::map_to_vector(
        unsized, [&](unsigned dim) { return getSize(dim); });
    ins.push_back(
        tensor::EmptyOp::create(builder, loc, sizes, builder.getI8Type()));
    maps.push_back(getMap(unsized));
  }
  maps.push_back(getMap(initDims));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim : loops)
    iterators.push_back(llvm::is_contained(initDims, dim)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  Block *block = root.getParentBlock();
  auto generic = linalg::GenericOp::create(
      builder, loc, init.getType(), ins, init, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange args) {
        IRMapping mapping;
        // Behind these are an empty tensor's element and what is accumulated.
        for (auto [value, arg] : llvm::zip(order, args))
          mapping.map(value, arg);
        for (Operation &inner : block->without_terminator())
          if (auto index = dyn_cast<IndexOp>(inner);
              index && slice.contains(&inner))
            mapping.map(
                index.getResult(),
                linalg::IndexOp::create(b, loc, getLoop(index.getDim())));
          else if (slice.contains(&inner))
            b.clone(inner, mapping);
        Value value = mapping.lookup(root);
        if (combiner)
          value = createCombine(b, loc, *combiner, args.back(), value);
        linalg::YieldOp::create(b, loc, value);
      });
  return generic.getResult(0);
}

Leaf ToLinalg::reduce(Value operand, Combiner combiner,
                      const llvm::SmallBitVector &reduced) {
  SmallVector<unsigned> loops, kept;
  SmallVector<OpFoldResult> sizes;
  llvm::SmallBitVector taken = levels[operand];
  taken |= reduced;
  for (unsigned dim : taken.set_bits()) {
    loops.push_back(dim);
    if (reduced.test(dim))
      continue;
    kept.push_back(dim);
    sizes.push_back(getSize(dim));
  }
  Type type = operand.getType();
  Value identity =
      arith::ConstantOp::create(builder, loc, getIdentity(combiner, type));
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type);
  Value init =
      linalg::FillOp::create(builder, loc, identity, empty).getResult(0);
  return {build(operand, loops, init, kept, combiner), kept};
}

void ToLinalg::bindReductions() {
  unsigned total = op.getInputs().size();
  for (Operation &inner : *op.getBodyBlock()) {
    if (auto row = dyn_cast<RowReduceOp>(inner)) {
      leaves[row.getResult()] =
          reduce(row.getOperand(), row.getCombiner(), op.getReducedDims(row));
    } else if (auto column = dyn_cast<ColumnReduceOp>(inner)) {
      leaves[column.getResult()] = reduce(
          column.getOperand(), column.getCombiner(), op.getReducedDims(column));
    } else if (auto part = dyn_cast<PartialAccumulateOp>(inner)) {
      leaves[op.getCombineBlock()->getArgument(total++)] = reduce(
          part.getOperand(), part.getCombiner(), op.getReducedDims(part));
    }
  }
}

void ToLinalg::buildResults(Block &block, ArrayRef<unsigned> outputs,
                            SmallVectorImpl<Value> &results) {
  auto yield = cast<YieldOp>(block.getTerminator());
  for (auto [value, output] : llvm::zip_equal(yield.getValues(), outputs)) {
    SmallVector<unsigned> dims = getDims(op.getOutputMap(output));
    results[output] =
        build(value, dims, op.getOutputs()[output], dims, std::nullopt);
  }
}

void ToLinalg::run() {
  op.inferLevels(levels);
  bindInputs(*op.getBodyBlock());
  if (op.isSplit())
    bindInputs(*op.getCombineBlock());
  bindReductions();
  SmallVector<unsigned> inBody, inCombine;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    (op.isSplit() && op.isColumnOutput(i) ? inCombine : inBody).push_back(i);
  SmallVector<Value> results(op.getNumResults());
  buildResults(*op.getBodyBlock(), inBody, results);
  if (op.isSplit())
    buildResults(*op.getCombineBlock(), inCombine, results);
  op->replaceAllUsesWith(results);
  op.erase();
}
