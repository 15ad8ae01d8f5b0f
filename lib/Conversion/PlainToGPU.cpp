//===- PlainToGPU.cpp - What isn't fused becomes simple kernels -----------===//
//
// Every linalg op of host code on memrefs becomes one launch: a thread for each
// point of its parallel loops, which runs the reduction loops by itself.
// Upstream writes the loops and outlines the kernels; here is the decision what
// can run on a device, and the launch. The parallel loops are collapsed into
// one, so that the limits of a grid hold for any shape, and a grid is never
// empty.
//
// A reduction to a few values would be work for a few threads: it is split into
// partial results of many threads and a second launch that combines them.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONPLAINTOGPU
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

std::string norm_fusion::getKernelPrefix(StringRef function) {
  std::string prefix = function.str();
  for (char &c : prefix)
    if (!llvm::isAlnum(c) && c != '_' && c != '$')
      c = '_';
  return prefix.empty() || llvm::isDigit(prefix.front()) ? "_" + prefix
                                                         : prefix;
}

/// Threads of a block.
static constexpr int64_t blockSize = 256;
/// Threads that share a reduction to a few values.
static constexpr int64_t numSharers = 2048;
/// A reduction to no more values than this is shared ...
static constexpr int64_t sharedMaxResults = 256;
/// ... if it has at least so many steps, or nobody knows how many.
static constexpr int64_t sharedMinSteps = 16384;

//===----------------------------------------------------------------------===//
// What can run on a device
//===----------------------------------------------------------------------===//

/// Of floats those that norm-fusion-expand-float-conversions and PTX have.
static bool isSupported(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    type = memref.getElementType();
  if (isa<FloatType>(type))
    return isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(type) ||
           norm_fusion::isFloat8(type);
  return type.isIndex() ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

/// Ops that the device pipeline compiles without a library. Of the math dialect
/// norm-fusion-expand-math has left what devices can't do.
static bool isSupported(Operation *op) {
  if (!llvm::all_of(op->getOperandTypes(),
                    [](Type t) { return isSupported(t); }))
    return false;
  if (isa<linalg::IndexOp, linalg::YieldOp, memref::LoadOp, memref::StoreOp,
          scf::IfOp, scf::ForOp, scf::WhileOp, scf::YieldOp, scf::ConditionOp,
          LLVM::CallIntrinsicOp>(op))
    return true;
  return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                         index::IndexDialect, memref::MemRefDialect,
                         ub::UBDialect>(op->getDialect()) &&
         isPure(op) && !isa<arith::RemFOp>(op);
}

/// The op for which a loop must stay on the host; null if there is none.
static Operation *findHostOp(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() ||
      !llvm::all_of(op->getOperandTypes(),
                    [](Type t) { return isSupported(t); }))
    return op;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (!llvm::all_of(captured, [](Value v) { return isSupported(v.getType()); }))
    return op;
  Operation *found = nullptr;
  op->walk([&](Operation *inner) {
    if (inner == op || isSupported(inner))
      return WalkResult::advance();
    found = inner;
    return WalkResult::interrupt();
  });
  return found;
}

/// Iterations of a loop; as many as there can be where nobody knows.
static int64_t getLength(int64_t size) {
  return ShapedType::isDynamic(size) ? std::numeric_limits<int64_t>::max()
                                     : size;
}

/// True for long reductions to a few values by a combiner that is known.
static bool isWorthSharing(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1)
    return false;
  int64_t results = 1, steps = 1;
  for (auto [size, iterator] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    int64_t &total =
        iterator == utils::IteratorType::parallel ? results : steps;
    total = std::min<uint64_t>(
        llvm::SaturatingMultiply<uint64_t>(total, getLength(size)),
        std::numeric_limits<int64_t>::max());
  }
  SmallVector<Operation *> combiners;
  return results >= 1 && results <= sharedMaxResults &&
         steps >= sharedMinSteps &&
         cast<MemRefType>(op.getDpsInits().front().getType())
             .hasStaticShape() &&
         matchReduction(op.getRegionOutputArgs(), 0, combiners) &&
         combiners.size() == 1 && arith::getNeutralElement(combiners.front());
}

/// A parallel loop of `count` steps and no body yet.
static scf::ParallelOp createThreads(int64_t count, Location loc,
                                     IRRewriter &rewriter) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  return scf::ParallelOp::create(rewriter, loc, index(0), index(count),
                                 index(1));
}

namespace {
struct PlainToGPUPass final
    : norm_fusion::impl::NormFusionPlainToGPUBase<PlainToGPUPass> {
  using Base::Base;

  void runOnOperation() override;

private:
  void lowerCopy(memref::CopyOp op, IRRewriter &rewriter);
  void lower(linalg::LinalgOp op, IRRewriter &rewriter);
  void share(linalg::GenericOp op, IRRewriter &rewriter);
  scf::ParallelOp runInThreads(linalg::GenericOp op, IRRewriter &rewriter);
  void launch(scf::ParallelOp loop, IRRewriter &rewriter);

  FlatSymbolRefAttr kernels; ///< the module that they go to
  unsigned numKernels = 0;
};
} // namespace

void PlainToGPUPass::runOnOperation() {
  numKernels = 0;
  SmallVector<Operation *> ops;
  for (auto function : getOperation().getOps<FunctionOpInterface>())
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (!isa<memref::CopyOp, linalg::LinalgOp>(op))
        return WalkResult::advance();
      ops.push_back(op);
      return WalkResult::skip();
    });
  SymbolTable symbols(getOperation());
  std::string name = norm_fusion::plainKernelModulePrefix.str();
  for (unsigned i = 0; symbols.lookup(name); ++i)
    name = (norm_fusion::plainKernelModulePrefix + "_" + Twine(i)).str();
  kernels = FlatSymbolRefAttr::get(&getContext(), name);
  IRRewriter rewriter(&getContext());
  for (Operation *op : ops)
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      lowerCopy(copy, rewriter);
    else
      lower(cast<linalg::LinalgOp>(op), rewriter);
}

void PlainToGPUPass::lowerCopy(memref::CopyOp op, IRRewriter &rewriter) {
  auto from = dyn_cast<MemRefType>(op.getSource().getType());
  auto to = dyn_cast<MemRefType>(op.getTarget().getType());
  if (!from || !to)
    return; // unranked: the host copies it
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  if (from == to && from.getLayout().isIdentity()) {
    // Packed buffers are the driver's to copy, from the host's memory too.
    Type token = gpu::AsyncTokenType::get(&getContext());
    Value order =
        gpu::WaitOp::create(rewriter, loc, token, ValueRange()).getAsyncToken();
    order = gpu::MemcpyOp::create(rewriter, loc, token, order, op.getTarget(),
                                  op.getSource())
                .getAsyncToken();
    gpu::WaitOp::create(rewriter, loc, Type(), order);
  } else {
    lower(
        linalg::makeMemRefCopyOp(rewriter, loc, op.getSource(), op.getTarget()),
        rewriter);
  }
  rewriter.eraseOp(op);
}

void PlainToGPUPass::lower(linalg::LinalgOp op, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  auto keep = [](Location loc, const Twine &why) {
    remark::missed(loc,
                   remark::RemarkOpts::name("plain").category("norm-fusion"))
        << ("stays on the host: " + why).str();
  };
  if (Operation *blamed = findHostOp(op)) {
    std::string what = blamed->getName().getStringRef().str();
    auto type = llvm::find_if_not(blamed->getOperandTypes(),
                                  [](Type t) { return isSupported(t); });
    if (type != blamed->operand_type_end()) {
      what.clear();
      llvm::raw_string_ostream(what) << *type;
    }
    return keep(blamed->getLoc(), "a plain kernel can't have '" + what + "'");
  }
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic) {
    FailureOr<linalg::GenericOp> named =
        linalg::generalizeNamedOp(rewriter, op);
    if (failed(named))
      return keep(op.getLoc(), "'" + op->getName().getStringRef() +
                                   "' has no form as linalg.generic");
    generic = *named;
  }
  bool shared = isWorthSharing(generic);
  // Parallel loops first, then the longest reduction: the one that is shared.
  SmallVector<int64_t> sizes = generic.getStaticLoopRanges();
  SmallVector<unsigned> order, reduction;
  generic.getParallelDims(order);
  generic.getReductionDims(reduction);
  if (shared)
    llvm::stable_sort(reduction, [&](unsigned a, unsigned b) {
      return getLength(sizes[a]) > getLength(sizes[b]);
    });
  llvm::append_range(order, reduction);
  if (!llvm::is_sorted(order))
    generic = *linalg::interchangeGenericOp(rewriter, generic, order);
  if (shared)
    share(generic, rewriter);
  else
    launch(runInThreads(generic, rewriter), rewriter);
}

/// A nest of loops around the body of `op`, whose outermost one is parallel.
scf::ParallelOp PlainToGPUPass::runInThreads(linalg::GenericOp op,
                                             IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  scf::ParallelOp threads;
  if (op.getNumParallelLoops() == 0) {
    threads = createThreads(1, op.getLoc(), rewriter);
    rewriter.moveOpBefore(op, threads.getBody()->getTerminator());
    rewriter.setInsertionPoint(op);
    (void)linalg::linalgOpToLoops(rewriter, op);
  } else {
    threads = cast<scf::ParallelOp>(
        linalg::linalgOpToParallelLoops(rewriter, op)->front());
  }
  rewriter.eraseOp(op);
  return threads;
}

/// Every one of some threads takes its share of the steps of the first
/// reduction loop into partial results of its own; a second launch combines
/// them.
void PlainToGPUPass::share(linalg::GenericOp op, IRRewriter &rewriter) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<Operation *> combiners;
  matchReduction(op.getRegionOutputArgs(), 0, combiners);
  Operation *combiner = combiners.front();
  Value result = op.getDpsInits().front();
  auto type = cast<MemRefType>(result.getType());
  SmallVector<int64_t> shape{numSharers};
  llvm::append_range(shape, type.getShape());
  Value partials = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(shape, type.getElementType()));
  Value neutral = arith::ConstantOp::create(
      rewriter, loc, *arith::getNeutralElement(combiner));
  auto fill = linalg::FillOp::create(rewriter, loc, neutral, partials);

  unsigned rank = shape.size();

  // The combination: partials [thread, results...] into [results...].
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  AffineMap all = rewriter.getMultiDimIdentityMap(rank);
  auto combine = linalg::GenericOp::create(
      rewriter, loc, partials, result, ArrayRef{all, all.dropResult(0)},
      iterators, [&](OpBuilder &b, Location loc, ValueRange values) {
        Operation *combined = b.clone(*combiner);
        combined->setOperands({values[1], values[0]});
        linalg::YieldOp::create(b, loc, combined->getResults());
      });

  rewriter.setInsertionPoint(combine);
  scf::ParallelOp threads = createThreads(numSharers, loc, rewriter);
  rewriter.setInsertionPointToStart(threads.getBody());
  Value thread = threads.getInductionVars().front();
  SmallVector<OpFoldResult> offsets(rank, rewriter.getIndexAttr(0)), sizes,
      strides(rank, rewriter.getIndexAttr(1));
  offsets.front() = thread;
  for (int64_t size : shape)
    sizes.push_back(rewriter.getIndexAttr(size));
  sizes.front() = rewriter.getIndexAttr(1);
  Value own = memref::SubViewOp::create(
      rewriter, loc,
      memref::SubViewOp::inferRankReducedResultType(
          type.getShape(), cast<MemRefType>(partials.getType()), offsets, sizes,
          strides),
      partials, offsets, sizes, strides);
  rewriter.moveOpBefore(op, threads.getBody()->getTerminator());
  op.setDpsInitOperand(0, own);
  unsigned outer = op.getNumParallelLoops();
  rewriter.setInsertionPoint(op);
  linalg::LinalgLoops loops = *linalg::linalgOpToLoops(rewriter, op);
  rewriter.eraseOp(op);
  auto steps = cast<scf::ForOp>(loops[outer]);
  rewriter.setInsertionPoint(steps);
  steps.setLowerBound(thread);
  steps.setStep(arith::ConstantIndexOp::create(rewriter, loc, numSharers));

  lower(fill, rewriter);
  launch(threads, rewriter);
  lower(combine, rewriter);
}

void PlainToGPUPass::launch(scf::ParallelOp loop, IRRewriter &rewriter) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  if (unsigned rank = loop.getNumLoops(); rank > 1) {
    std::vector<unsigned> dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    Operation *next = loop->getNextNode();
    collapseParallelLoops(rewriter, loop, {dims});
    loop = cast<scf::ParallelOp>(next->getPrevNode());
    rewriter.setInsertionPoint(loop);
  }
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value points = loop.getUpperBound().front();
  std::optional<int64_t> known = getConstantIntValue(points);
  Value threads =
      index(std::clamp<int64_t>(known.value_or(blockSize), 1, blockSize));
  Value one = index(1);
  // A grid of no blocks can't be launched; no thread of this one has a point.
  Value blocks = arith::MaxUIOp::create(
      rewriter, loc, arith::CeilDivUIOp::create(rewriter, loc, points, threads),
      one);
  auto function = cast<FunctionOpInterface>(
      loop->getParentOfType<FunctionOpInterface>().getOperation());
  auto name = FlatSymbolRefAttr::get(
      &getContext(), norm_fusion::getKernelPrefix(function.getName()) +
                         "_plain_" + std::to_string(numKernels++));
  auto launch = gpu::LaunchOp::create(
      rewriter, loc, blocks, one, one, threads, one, one,
      /*dynamicSharedMemorySize=*/Value(), /*asyncTokenType=*/Type(),
      /*asyncDependencies=*/{}, /*workgroupAttributions=*/{},
      /*privateAttributions=*/{}, /*clusterSizeX=*/Value(),
      /*clusterSizeY=*/Value(), /*clusterSizeZ=*/Value(), kernels, name);
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  Value point = arith::AddIOp::create(
      rewriter, loc,
      arith::MulIOp::create(rewriter, loc, launch.getBlockIds().x, threads),
      launch.getThreadIds().x);
  Value exists = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                       point, points);
  auto guard =
      scf::IfOp::create(rewriter, loc, exists, /*withElseRegion=*/false);
  gpu::TerminatorOp::create(rewriter, loc);
  rewriter.eraseOp(loop.getBody()->getTerminator());
  rewriter.inlineBlockBefore(loop.getBody(), guard.thenBlock()->getTerminator(),
                             point);
  rewriter.eraseOp(loop);
}
