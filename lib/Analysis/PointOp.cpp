//===- PointOp.cpp - A linalg op seen at one point of its loops -----------===//
//
// Builds PointOps from linalg ops of any spelling; what their reductions
// combine with is in Combiners.cpp.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Analysis/PointOp.h"

#include "Combiners.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Scalars and constants
//===----------------------------------------------------------------------===//

/// The scalar that `op` puts into a tensor of one element, or null.
static Value getBoxed(Operation *op) {
  auto box = dyn_cast_or_null<tensor::FromElementsOp>(op);
  return box && box.getElements().size() == 1 ? box.getElements()[0] : Value();
}

Value mlir::norm_fusion::unboxScalar(Value value) {
  while (auto extract = value.getDefiningOp<tensor::ExtractOp>()) {
    Value inner = getBoxed(extract.getTensor().getDefiningOp());
    if (!inner)
      break;
    value = inner;
  }
  return value;
}

static bool hasEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

static TypedAttr getSplat(Attribute attr) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(attr))
    return dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>());
  if (isa_and_nonnull<IntegerAttr, FloatAttr>(attr))
    return cast<TypedAttr>(attr);
  return {};
}

TypedAttr mlir::norm_fusion::getUniformConstant(Value value) {
  // Chains of broadcasts of constants are short; the bound only keeps odd IR
  // from costing more than constant time.
  for (unsigned step = 0; step < 16; ++step) {
    value = unboxScalar(value);
    Operation *def = value.getDefiningOp();
    if (!def)
      return {};
    Attribute attr;
    if (matchPattern(value, m_Constant(&attr)))
      return getSplat(attr);
    if (auto extract = dyn_cast<tensor::ExtractOp>(def)) {
      value = extract.getTensor();
    } else if (isReshape(def)) {
      value = def->getOperand(0);
    } else if (Value inner = getBoxed(def)) {
      value = inner;
    } else if (auto splat = dyn_cast<tensor::SplatOp>(def)) {
      value = splat.getInput();
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(def)) {
      if (linalgOp.getNumReductionLoops() != 0)
        return {};
      unsigned index = cast<OpResult>(value).getResultNumber();
      Value yielded = unboxScalar(
          linalgOp.getBlock()->getTerminator()->getOperand(index));
      auto arg = dyn_cast<BlockArgument>(yielded);
      value = arg && arg.getOwner() == linalgOp.getBlock()
                  ? def->getOperand(arg.getArgNumber())
                  : yielded;
      if (!arg && yielded.getParentBlock() == linalgOp.getBlock() &&
          !matchPattern(yielded, m_Constant()))
        return {};
    } else {
      return {};
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// PointOp
//===----------------------------------------------------------------------===//

/// True of what kernels clone as it is, over vectors too: constants, and the
/// elementwise ops of arith and math with one result of a number's type, but
/// for other rounding than to nearest even and powers of integers, which no
/// kernel has.
static bool isElementwise(Operation &op) {
  return op.getNumResults() == 1 && op.getNumRegions() == 0 &&
         !isa<math::IPowIOp>(op) &&
         op.getResult(0).getType().isIntOrIndexOrFloat() &&
         isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op.getDialect()) &&
         roundsToNearestEven(&op);
}

/// True if the results of `map` are loops, each at most once, or 0 where the
/// dimension has extent 1.
static bool isProjection(AffineMap map, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  llvm::SmallBitVector seen(map.getNumDims());
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      if (seen.test(dim.getPosition()))
        return false;
      seen.set(dim.getPosition());
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant || constant.getValue() != 0 || !shaped ||
        shaped.getDimSize(i) != 1)
      return false;
  }
  return true;
}

namespace {
/// Where an extent comes from: a dimension of a tensor, or (dim = -1) a value.
struct ExtentSource {
  Value value;
  int64_t dim = -1;
  bool operator==(const ExtentSource &other) const {
    return value == other.value && dim == other.dim;
  }
};
} // namespace

static ExtentSource getExtentSource(Value tensor, int64_t dim);

/// The same for an index: through `tensor.dim` and casts to i64 and back.
static ExtentSource getExtentSource(Value index) {
  while (auto cast = index.getDefiningOp<arith::IndexCastOp>()) {
    auto inner = cast.getIn().getDefiningOp<arith::IndexCastOp>();
    if (!inner || !cast.getType().isIndex() || !inner.getIn().getType().isIndex() ||
        inner.getType().getIntOrFloatBitWidth() < 64)
      break;
    index = inner.getIn();
  }
  if (auto dim = index.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> constant = dim.getConstantIndex();
        constant && dim.getSpeculatability() == Speculation::Speculatable)
      return getExtentSource(dim.getSource(), *constant);
  return {index};
}

/// Through destinations and casts, to where the extent was given.
static ExtentSource getExtentSource(Value tensor, int64_t dim) {
  while (Operation *def = tensor.getDefiningOp()) {
    if (auto empty = dyn_cast<tensor::EmptyOp>(def)) {
      if (empty.getType().isDynamicDim(dim))
        return getExtentSource(empty.getDynamicSize(dim));
      break;
    }
    if (auto op = dyn_cast<linalg::LinalgOp>(def))
      tensor = op.getDpsInitOperand(cast<OpResult>(tensor).getResultNumber())
                   ->get();
    else if (auto cast = dyn_cast<tensor::CastOp>(def))
      tensor = cast.getSource();
    else
      break;
  }
  return {tensor, dim};
}

/// True if `slice` is all of `whole`: a slice that only drops or inserts
/// dimensions of extent 1.
static bool coversAll(OffsetSizeAndStrideOpInterface slice, Value whole) {
  auto type = cast<RankedTensorType>(whole.getType());
  for (auto [i, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    if (!isZeroInteger(offset) || !isOneInteger(stride))
      return false;
    std::optional<int64_t> constant = getConstantIntValue(size);
    bool equal =
        constant ? *constant == type.getDimSize(i)
                 : type.isDynamicDim(i) && getExtentSource(cast<Value>(size)) ==
                                               getExtentSource(whole, i);
    if (!equal)
      return false;
  }
  return true;
}

bool mlir::norm_fusion::isReshape(Operation *op) {
  if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
           tensor::ReshapeOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(
          op) ||
      hasEncoding(op->getOperand(0).getType()) ||
      hasEncoding(op->getResult(0).getType()))
    return false;
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op))
    return true;
  // Only where the extents other than 1 match one to one: equal static sizes,
  // and the dynamic ones those of a slice of everything, or at most one, which
  // the number of elements then settles.
  auto source = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!source || !result)
    return false;
  auto extents = [](RankedTensorType type) {
    SmallVector<int64_t> sizes;
    llvm::copy_if(type.getShape(), std::back_inserter(sizes),
                  [](int64_t size) { return size != 1; });
    return sizes;
  };
  SmallVector<int64_t> from = extents(source), to = extents(result);
  if (from != to)
    return false;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return coversAll(slice, slice.getSource());
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return coversAll(slice, slice.getDest());
  return llvm::count(from, ShapedType::kDynamic) <= 1;
}

/// `index` as a loop, through `select(extent == 1, 0, loop)`; constants 0 as
/// such. `compared` is that extent, if there is a select.
static AffineExpr getIndexExpr(Value index, Value &compared) {
  MLIRContext *context = index.getContext();
  if (matchPattern(index, m_Zero()))
    return getAffineConstantExpr(0, context);
  if (auto loop = index.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(loop.getDim(), context);
  auto select = index.getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getTrueValue(), m_Zero()))
    return {};
  auto cmp = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!cmp || cmp.getPredicate() != arith::CmpIPredicate::eq ||
      !(matchPattern(cmp.getRhs(), m_One()) ||
        matchPattern(cmp.getLhs(), m_One())))
    return {};
  auto loop = select.getFalseValue().getDefiningOp<linalg::IndexOp>();
  if (!loop)
    return {};
  compared = matchPattern(cmp.getRhs(), m_One()) ? cmp.getLhs() : cmp.getRhs();
  return getAffineDimExpr(loop.getDim(), context);
}

/// Where the extent of a loop comes from, one source an operand that it indexes.
static SmallVector<ExtentSource> getLoopExtents(linalg::LinalgOp op,
                                                unsigned loop) {
  SmallVector<ExtentSource> sources;
  for (OpOperand &operand : op->getOpOperands())
    for (auto [i, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op->getContext()) &&
          isa<RankedTensorType>(operand.get().getType()))
        sources.push_back(getExtentSource(operand.get(), i));
  return sources;
}

void PointOp::getSlice(ArrayRef<Value> roots, Slice &slice) const {
  // Elements that ops of the body make: gathers.
  llvm::SmallPtrSet<Operation *, 4> leaves;
  for (const PointOperand &operand : operands)
    if (Operation *def = operand.element.getDefiningOp())
      leaves.insert(def);
  Block *body = getBody();
  SmallVector<Value> worklist(roots);
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != body || leaves.contains(def) ||
        !slice.insert(def).second)
      continue;
    llvm::append_range(worklist, def->getOperands());
  }
}

llvm::SmallBitVector PointOp::getReads(ArrayRef<Value> roots) const {
  Slice slice;
  getSlice(roots, slice);
  llvm::SmallPtrSet<void *, 16> used;
  for (Value root : roots)
    used.insert(root.getAsOpaquePointer());
  for (Operation *op : slice)
    for (Value operand : op->getOperands())
      used.insert(operand.getAsOpaquePointer());
  llvm::SmallBitVector reads(operands.size());
  for (auto [i, operand] : llvm::enumerate(operands))
    reads[i] = used.contains(operand.element.getAsOpaquePointer());
  return reads;
}

llvm::SmallBitVector PointOp::getIndexed(ArrayRef<Value> roots) const {
  Slice slice;
  getSlice(roots, slice);
  llvm::SmallBitVector loops(getNumLoops());
  for (Operation *op : slice)
    if (auto index = dyn_cast<linalg::IndexOp>(op);
        index && extents[index.getDim()] != 1)
      loops.set(index.getDim());
  return loops;
}

SmallVector<Value> PointReduction::getRoots() const {
  SmallVector<Value> roots;
  for (const PointElement &element : elements) {
    roots.push_back(element.value);
    if (element.factor)
      roots.push_back(element.factor);
  }
  return roots;
}

std::optional<PointOp> PointOp::get(Operation *operation, StringRef &why) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || !op.hasPureTensorSemantics() || op->getNumRegions() != 1)
    return std::nullopt;
  // A body may hold what nothing of its results needs.
  if (mayHaveOtherEffects<MemoryEffects::Read>(op)) {
    why = "side-effect";
    return std::nullopt;
  }
  std::optional<PointOp> point(std::in_place);
  point->op = op;
  Block *body = op.getBlock();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned loops = maps.front().getNumDims();
  point->extents.assign(loops, ShapedType::kDynamic);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    if (hasEncoding(type)) {
      why = "encoded-tensor";
      return std::nullopt;
    }
    for (auto [i, expr] :
         llvm::enumerate(maps[operand.getOperandNumber()].getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr);
          dim && !type.isDynamicDim(i)) {
        // Upstream's verifier lets different ones pass in odd places.
        int64_t &extent = point->extents[dim.getPosition()];
        if (!ShapedType::isDynamic(extent) && extent != type.getDimSize(i))
          return std::nullopt;
        extent = type.getDimSize(i);
      }
  }
  point->reduced.resize(loops);
  for (auto [i, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      point->reduced[i] = point->extents[i] != 1;
    else if (kind != utils::IteratorType::parallel)
      return std::nullopt;

  // The results: their element values, combiners, and what they read.
  llvm::DenseSet<Value> accumulators;
  SmallVector<Value> roots;
  // On tensors, inits are the last operands, one a result.
  unsigned firstInit = op->getNumOperands() - op->getNumResults();
  for (OpResult tied : op->getResults()) {
    OpOperand &init = op->getOpOperand(firstInit + tied.getResultNumber());
    Value arg = op.getMatchingBlockArgument(&init);
    PointResult result;
    result.map = maps[init.getOperandNumber()];
    result.yielded =
        unboxScalar(body->getTerminator()->getOperand(tied.getResultNumber()));
    // Every loop that isn't reduced has its own place in the result, and none
    // that is.
    llvm::SmallBitVector placed(loops);
    for (AffineExpr expr : result.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        placed.set(dim.getPosition());
    // One that isn't reduced beside others has a place for every point.
    bool isUnreduced = placed.anyCommon(point->reduced);
    bool isExact = isProjection(result.map, init.get().getType());
    for (unsigned loop = 0; loop < loops; ++loop)
      isExact &=
          point->extents[loop] == 1 ||
          placed.test(loop) == (isUnreduced || !point->reduced.test(loop));
    if (!isExact) {
      why = isUnreduced ? "unreduced-result" : "non-projected-operand";
      return std::nullopt;
    }
    if (isUnreduced) {
      result.unreduced = !tied.use_empty();
      if (result.unreduced)
        roots.push_back(result.yielded);
    } else if (point->isReduction()) {
      accumulators.insert(arg);
      PointReduction reduction{Combiner::add, {}, init.get()};
      if (matchReduction(result.yielded, arg, reduction)) {
        llvm::append_range(roots, reduction.getRoots());
        result.reduction = std::move(reduction);
      } else if (!tied.use_empty()) {
        why = "unsupported-combiner";
        return std::nullopt;
      }
    } else {
      roots.push_back(result.yielded);
    }
    point->results.push_back(std::move(result));
  }

  // What the body takes from outside. Constants are cloned into the region,
  // everything else is an operand.
  Slice slice;
  point->getSlice(roots, slice);
  llvm::DenseSet<Value> added;
  auto use = [&](Value element) -> bool {
    if (auto arg = dyn_cast<BlockArgument>(element);
        arg && arg.getOwner() == body) {
      if (accumulators.contains(arg))
        return false;
      if (!added.insert(arg).second)
        return true;
      if (!arg.getType().isIntOrIndexOrFloat()) {
        why = "unsupported-type";
        return false;
      }
      OpOperand &operand = op->getOpOperand(arg.getArgNumber());
      AffineMap map = maps[arg.getArgNumber()];
      if (!isProjection(map, operand.get().getType())) {
        why = "non-projected-operand";
        return false;
      }
      point->operands.push_back({operand.get(), map, arg});
      return true;
    }
    Attribute constant;
    if (element.getParentBlock() == body || !added.insert(element).second ||
        (matchPattern(element, m_Constant(&constant)) &&
         isa<TypedAttr>(constant)))
      return true;
    if (!element.getType().isIntOrIndexOrFloat())
      return false;
    point->operands.push_back(
        {element, AffineMap::get(loops, 0, op->getContext()), element});
    return true;
  };
  llvm::DenseSet<Operation *> gathers;
  for (Operation &inner : body->without_terminator()) {
    if (!slice.contains(&inner))
      continue;
    auto extract = dyn_cast<tensor::ExtractOp>(inner);
    if (!extract || getBoxed(extract.getTensor().getDefiningOp()))
      continue;
    Value source = extract.getTensor();
    auto type = dyn_cast<RankedTensorType>(source.getType());
    if (!type || source.getParentBlock() == body) {
      why = "non-projected-operand";
      return std::nullopt;
    }
    bool exact = true;
    SmallVector<AffineExpr> exprs;
    for (auto [i, index] : llvm::enumerate(extract.getIndices())) {
      Value compared;
      AffineExpr expr = getIndexExpr(index, compared);
      if (!expr) {
        why = "non-projected-operand";
        return std::nullopt;
      }
      // Without equal static extents the loops might cover only a part.
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        int64_t extent = point->extents[dim.getPosition()];
        ExtentSource sourceExtent = getExtentSource(source, i);
        if (type.getDimSize(i) == 1 && extent != 1 && compared)
          expr = getAffineConstantExpr(0, op->getContext());
        else if (extent != type.getDimSize(i))
          exact = false;
        else if (ShapedType::isDynamic(extent))
          exact &= llvm::is_contained(getLoopExtents(op, dim.getPosition()),
                                      sourceExtent) &&
                   (!compared || getExtentSource(compared) == sourceExtent);
        else
          exact &= !compared || getConstantIntValue(compared) == extent;
      }
      exprs.push_back(expr);
    }
    AffineMap map = AffineMap::get(loops, 0, exprs, op->getContext());
    if (!isProjection(map, type)) {
      why = "non-projected-operand";
      return std::nullopt;
    }
    point->operands.push_back({source, map, extract.getResult(), !exact});
    added.insert(extract.getResult());
    gathers.insert(extract);
  }
  // Index computations that only served the gathers are out of the slice now.
  slice.clear();
  point->getSlice(roots, slice);
  for (Value root : roots)
    if (!use(root))
      return why = why.empty() ? "unsupported-combiner" : why, std::nullopt;
  for (Operation &inner : body->without_terminator()) {
    if (!slice.contains(&inner))
      continue;
    bool boxing = getBoxed(&inner) || isa<tensor::ExtractOp>(inner);
    if (!boxing && !isa<linalg::IndexOp>(inner) && !isElementwise(inner)) {
      why = "unsupported-operation";
      return std::nullopt;
    }
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != body || isa<BlockArgument>(operand))
        if (!use(operand))
          return why = why.empty() ? "unsupported-combiner" : why, std::nullopt;
  }

  point->indexed = point->getIndexed(roots);
  if (!point->isReduction())
    return point;
  // A reduction reads something at every point: else it's a contraction.
  llvm::SmallBitVector wanted(loops);
  for (unsigned i = 0; i < loops; ++i)
    wanted[i] = point->extents[i] != 1;
  bool spans = llvm::any_of(point->operands, [&](const PointOperand &operand) {
    llvm::SmallBitVector missing = wanted;
    for (AffineExpr expr : operand.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        missing.reset(dim.getPosition());
    return missing.none();
  });
  if (!spans)
    return std::nullopt;
  if (!point->hasUnreduced())
    return point;
  // What isn't reduced is there with sums of rows, not with those of columns,
  // which are later.
  bool hasRows =
      llvm::any_of(point->operands, [&](const PointOperand &operand) {
        for (AffineExpr expr : llvm::reverse(operand.map.getResults()))
          if (auto dim = dyn_cast<AffineDimExpr>(expr);
              dim && point->extents[dim.getPosition()] != 1)
            return point->reduced.test(dim.getPosition());
        return false;
      });
  bool hasSums = llvm::any_of(point->results, [](const PointResult &result) {
    return result.reduction.has_value();
  });
  if (!hasRows || !hasSums) {
    why = "unreduced-result";
    return std::nullopt;
  }
  return point;
}
