//===- CheckShapes.cpp - Sizes that must agree ----------------------------===//
//
// A loop of a linalg op takes its length from one operand and indexes the
// others with it. Where sizes are dynamic, nothing but an assertion notices
// that two inputs don't belong together; nor that the sizes which a dimension
// is taken apart into are too large for it, that a view or a vector is beyond
// its buffer, or that a window is. Sizes are traced to where they come from
// first: most of them are the same value, and need none.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/RuntimeVerifiableOpInterface.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONCHECKSHAPES
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
/// A size: a number; that of a dimension of a buffer; or an index.
struct Size {
  Value source;
  int64_t number = -1; ///< of the dimension, where `source` is a buffer

  bool operator==(const Size &other) const {
    return source == other.source && number == other.number;
  }
};
} // namespace

static Size traceIndex(Value index);

/// Where the size of dimension `dim` of `buffer` comes from.
static Size trace(Value buffer, int64_t dim) {
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return {Value(), type.getDimSize(dim)};
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return traceIndex(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
  if (auto cast = buffer.getDefiningOp<memref::CastOp>())
    if (isa<MemRefType>(cast.getSource().getType()))
      return trace(cast.getSource(), dim);
  return {buffer, dim};
}

static Size traceIndex(Value index) {
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return {Value(), number.getSExtValue()};
  if (auto dim = index.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> number = dim.getConstantIndex();
        number && isa<MemRefType>(dim.getSource().getType()) && *number >= 0 &&
        *number < cast<MemRefType>(dim.getSource().getType()).getRank())
      return trace(dim.getSource(), *number);
  return {index, -1};
}

namespace {
struct CheckShapesPass final
    : norm_fusion::impl::NormFusionCheckShapesBase<CheckShapesPass> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      checked.clear();
      SmallVector<Operation *> ops;
      function->walk<WalkOrder::PreOrder>([&](Operation *op) {
        bool isComputation =
            isa<linalg::LinalgOp, norm_fusion::MixedReductionOp>(op);
        if (isComputation || isAccess(op) ||
            isa<memref::AllocOp, memref::CastOp, memref::ExpandShapeOp,
                memref::ReshapeOp, memref::SubViewOp, memref::CopyOp,
                memref::ViewOp, memref::ReinterpretCastOp>(op))
          ops.push_back(op);
        // Device code and bodies are no place for assertions.
        return isComputation || isa<gpu::LaunchOp>(op) ? WalkResult::skip()
                                                       : WalkResult::advance();
      });
      for (Operation *op : ops)
        check(op);
    }
  }

private:
  static bool isAccess(Operation *op) {
    return isa<vector::LoadOp, vector::StoreOp, vector::TransferReadOp,
               vector::TransferWriteOp>(op);
  }

  void check(Operation *op) {
    if (auto cast = dyn_cast<memref::CastOp>(op)) {
      auto from = dyn_cast<MemRefType>(cast.getSource().getType());
      auto to = dyn_cast<MemRefType>(cast.getType());
      for (int64_t d = 0; from && to && d < to.getRank(); ++d)
        if (from.isDynamicDim(d) && !to.isDynamicDim(d))
          require(op, trace(cast.getSource(), d), {Value(), to.getDimSize(d)},
                  llvm::formatv("dimension {0} must have size {1}", d,
                                to.getDimSize(d)));
      return;
    }
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
      return checkExpansion(expand);
    if (auto reshape = dyn_cast<memref::ReshapeOp>(op))
      return checkReshape(reshape);
    if (isa<memref::SubViewOp, memref::CopyOp>(op))
      return checkView(op);
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      return checkAllocation(alloc);
    if (auto view = dyn_cast<memref::ViewOp>(op))
      return checkByteView(view);
    if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
      return checkReinterpretation(cast);
    if (isAccess(op))
      return checkVector(op);
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    auto fused = dyn_cast<norm_fusion::MixedReductionOp>(op);
    // The first operand that each loop runs over, and its dimension.
    llvm::SmallDenseMap<unsigned, std::pair<unsigned, unsigned>> first;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      unsigned i = operand.getOperandNumber();
      AffineMap map = linalgOp ? linalgOp.getMatchingIndexingMap(&operand)
                               : fused.getInputMap(i);
      for (auto [d, expr] : llvm::enumerate(map.getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop)
          continue;
        auto [entry, isNew] = first.insert({loop.getPosition(), {i, d}});
        auto [j, e] = entry->second;
        if (!isNew)
          require(op, trace(operand.get(), d), trace(op->getOperand(j), e),
                  llvm::formatv("dimension {0} of operand {1} must have the "
                                "size of dimension {2} of operand {3}",
                                d, i, e, j));
      }
    }
    if (linalgOp)
      checkWindows(linalgOp, first);
  }

  /// Operands that are read or written at a sum of multiples of loops, as
  /// convolutions do: where all loops end.
  void checkWindows(
      linalg::LinalgOp op,
      const llvm::SmallDenseMap<unsigned, std::pair<unsigned, unsigned>>
          &first) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [d, expr] : llvm::enumerate(map.getResults())) {
        if (isa<AffineDimExpr, AffineConstantExpr>(expr) || !grows(expr))
          continue;
        ImplicitLocOpBuilder b(op.getLoc(), op);
        Value one = arith::ConstantIndexOp::create(b, 1);
        SmallVector<Value> last(map.getNumDims());
        bool isKnown = true;
        for (auto [loop, value] : llvm::enumerate(last)) {
          auto it = first.find(loop);
          isKnown &= it != first.end() || !expr.isFunctionOfDim(loop);
          value = it == first.end() ? one
                                    : b.createOrFold<arith::SubIOp>(
                                          b.createOrFold<memref::DimOp>(
                                              op->getOperand(it->second.first),
                                              it->second.second),
                                          one);
        }
        if (!isKnown)
          continue;
        Value end = affine::expandAffineExpr(b, b.getLoc(), expr, last, {});
        Value size = b.createOrFold<memref::DimOp>(operand.get(), d);
        Value isWithin =
            b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, end, size);
        if (matchPattern(isWithin, m_One()))
          continue;
        // Nothing is read where a loop has no steps.
        Value zero = arith::ConstantIndexOp::create(b, 0);
        for (Value value : last)
          isWithin = b.createOrFold<arith::OrIOp>(
              isWithin, b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt,
                                                      value, zero));
        if (!matchPattern(isWithin, m_One()))
          cf::AssertOp::create(
              b, isWithin,
              describe(op, llvm::formatv("dimension {0} of operand {1} is too "
                                         "small for the loops",
                                         d, operand.getOperandNumber())
                               .str()));
      }
    }
  }

  /// True for sums of non-negative multiples of loops.
  static bool grows(AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!binary)
      return !isa<AffineConstantExpr>(expr) ||
             cast<AffineConstantExpr>(expr).getValue() >= 0;
    return llvm::is_contained({AffineExprKind::Add, AffineExprKind::Mul},
                              binary.getKind()) &&
           grows(binary.getLHS()) && grows(binary.getRHS());
  }

  /// What the op's interface asks for, of sizes that aren't known.
  void checkView(Operation *op) {
    auto verifiable = dyn_cast<RuntimeVerifiableOpInterface>(op);
    // An offset or a size that is an operand isn't.
    auto isStatic = [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped && shaped.hasRank() && shaped.hasStaticShape();
    };
    if (!verifiable || (llvm::all_of(op->getOperandTypes(), isStatic) &&
                        llvm::all_of(op->getResultTypes(), isStatic)))
      return;
    OpBuilder builder(op);
    verifiable.generateRuntimeVerification(
        builder, op->getLoc(),
        [](Operation *op, StringRef what) { return describe(op, what); });
  }

  void checkReshape(memref::ReshapeOp op) {
    auto type = dyn_cast<MemRefType>(op.getType());
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    if (!type || !source || (type.hasStaticShape() && source.hasStaticShape()))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value have = countElements(op.getSource(), b);
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        sizes.push_back(b.getIndexAttr(type.getDimSize(d)));
        continue;
      }
      Value at = arith::ConstantIndexOp::create(b, d);
      Value size = memref::LoadOp::create(b, op.getShape(), at);
      if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(b, b.getIndexType(), size);
      sizes.push_back(size);
    }
    requireProduct(
        op, sizes, traceIndex(have),
        "the sizes of the shape must multiply to the number of elements");
  }

  /// What an assertion says.
  static std::string describe(Operation *op, StringRef what) {
    std::string where;
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
      where = llvm::formatv(" in line {0}", place.getLine());
    return llvm::formatv("{0}{1}: {2}", op->getName(), where, what);
  }

  void checkExpansion(memref::ExpandShapeOp op) {
    SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
    for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
      if (!op.getSrcType().isDynamicDim(d) &&
          llvm::none_of(group, [&](int64_t e) {
            return op.getResultType().isDynamicDim(e);
          }))
        continue; // the verifier has
      SmallVector<OpFoldResult> factors;
      for (int64_t e : group)
        factors.push_back(sizes[e]);
      requireProduct(
          op, factors, trace(op.getSrc(), d),
          llvm::formatv("the sizes that dimension {0} is taken apart into "
                        "must multiply to its own",
                        d));
    }
  }

  /// Asserts that `sizes` multiply to `product`, that none is negative, and
  /// that they don't multiply to more than an index can hold on the way.
  void requireProduct(Operation *op, ArrayRef<OpFoldResult> sizes, Size product,
                      const std::string &what) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    SmallVector<Value> factors;
    int64_t number = 1;
    for (OpFoldResult size : sizes)
      if (std::optional<int64_t> known = getConstantIntValue(size))
        number = llvm::SaturatingMultiply<uint64_t>(number, *known);
      else
        factors.push_back(cast<Value>(size));
    if (factors.empty() || (factors.size() == 1 && number == 1))
      return require(op, product,
                     factors.empty() ? Size{Value(), number}
                                     : traceIndex(factors[0]),
                     what);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value have = number == 1 ? factors.pop_back_val()
                             : arith::ConstantIndexOp::create(b, number);
    Value holds = isAtMost(zero, have, b);
    for (Value factor : factors) {
      have = multiply(have, factor, holds, b);
      holds = both(holds, isAtMost(zero, factor, b), b);
    }
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       getValue(product, b), have);
    requireThat(op, both(holds, same, b), what);
  }

  /// An index has the bytes of what is allocated: the size would wrap around,
  /// and the loops go on behind the buffer.
  void checkAllocation(memref::AllocOp op) {
    constexpr uint64_t most = std::numeric_limits<int64_t>::max();
    Type element = op.getType().getElementType();
    if (!isa<IntegerType, IndexType, FloatType, ComplexType, VectorType>(
            element))
      return;
    uint64_t bytes = std::max<uint64_t>(
        DataLayout::closest(op).getTypeSize(element).getKnownMinValue(), 1);
    SmallVector<Size> sizes;
    for (int64_t d = 0; d < op.getType().getRank(); ++d)
      if (Size size = trace(op, d); size.source)
        sizes.push_back(size);
      else if (size.number == 0)
        return;
      else
        bytes = llvm::SaturatingMultiply<uint64_t>(bytes, size.number);
    if (sizes.empty() ? bytes <= most : isAsLargeAsArgument(sizes, bytes))
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value left = arith::ConstantIndexOp::create(b, most / bytes);
    Value holds = arith::ConstantIntOp::create(b, bytes <= most, 1);
    for (auto [i, size] : llvm::enumerate(sizes)) {
      Value factor = getValue(size, b);
      holds = both(
          holds,
          arith::CmpIOp::create(b, arith::CmpIPredicate::ule, factor, left), b);
      if (i + 1 != sizes.size())
        left = arith::DivUIOp::create(b, left,
                                      arith::MaxUIOp::create(b, factor, one));
    }
    requireThat(op, holds,
                "sizes must not be negative, nor multiply to more bytes than "
                "an index can say");
  }

  /// True if `sizes` are all the dynamic ones of an argument, which is
  /// somewhere in memory: nothing of a few times as many bytes wraps around.
  static bool isAsLargeAsArgument(ArrayRef<Size> sizes, uint64_t bytes) {
    auto argument = dyn_cast<BlockArgument>(sizes.front().source);
    auto type =
        argument ? dyn_cast<MemRefType>(argument.getType()) : MemRefType();
    if (!type ||
        !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ||
        !argument.getOwner()->isEntryBlock() || bytes > (1 << 20) ||
        llvm::is_contained(type.getShape(), 0) ||
        size_t(type.getNumDynamicDims()) != sizes.size())
      return false;
    llvm::SmallDenseSet<int64_t> dims;
    return llvm::all_of(sizes, [&](Size size) {
      return size.source == argument && dims.insert(size.number).second;
    });
  }

  /// A view is within its buffer of bytes.
  void checkByteView(memref::ViewOp op) {
    Type element = op.getType().getElementType();
    if (!element.isIntOrIndexOrFloat())
      return;
    unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value end = arith::ConstantIndexOp::create(
        b, llvm::PowerOf2Ceil(llvm::divideCeil(bits, 8)));
    Value holds = isAtMost(zero, op.getByteShift(), b);
    for (OpFoldResult mixed :
         getMixedValues(op.getType().getShape(), op.getSizes(), b)) {
      Value size = getValueOrCreateConstantIndexOp(b, op.getLoc(), mixed);
      holds = both(holds, isAtMost(zero, size, b), b);
      end = multiply(end, size, holds, b);
    }
    Value left = b.createOrFold<arith::SubIOp>(
        b.createOrFold<memref::DimOp>(op.getSource(), 0), op.getByteShift());
    requireThat(op, both(holds, isAtMost(end, left, b), b),
                "the view must be within its buffer");
  }

  /// The elements that a cast names are the source's, where it says how many
  /// these are.
  void checkReinterpretation(memref::ReinterpretCastOp op) {
    auto source = dyn_cast<MemRefType>(op.getSource().getType());
    if (!source || !source.getLayout().isIdentity())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto get = [&](OpFoldResult mixed) {
      return getValueOrCreateConstantIndexOp(b, op.getLoc(), mixed);
    };
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value elements = countElements(op.getSource(), b);
    // The first and the last element, by the signs of the strides.
    Value first = get(op.getMixedOffsets().front()), last = first;
    Value holds =
        both(isAtMost(zero, first, b), isAtMost(first, elements, b), b);
    Value isPositive = arith::ConstantIntOp::create(b, 1, 1), isEmpty;
    for (auto [mixedSize, mixedStride] :
         llvm::zip_equal(op.getMixedSizes(), op.getMixedStrides())) {
      Value size = get(mixedSize);
      isPositive = both(isPositive, isAtMost(zero, size, b), b);
      Value none =
          b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, size, zero);
      isEmpty = isEmpty ? b.createOrFold<arith::OrIOp>(isEmpty, none) : none;
      Value extent = multiply(b.createOrFold<arith::SubIOp>(size, one),
                              get(mixedStride), holds, b);
      last = b.createOrFold<arith::AddIOp>(
          last, b.createOrFold<arith::MaxSIOp>(extent, zero));
      first = b.createOrFold<arith::AddIOp>(
          first, b.createOrFold<arith::MinSIOp>(extent, zero));
      // What wrapped around is negative.
      holds = both(holds, isAtMost(zero, last, b), b);
      holds = both(holds, isAtMost(zero, first, b), b);
    }
    Value most = b.createOrFold<arith::SubIOp>(elements, one);
    holds = both(holds, isAtMost(last, most, b), b);
    if (isEmpty)
      holds = b.createOrFold<arith::OrIOp>(holds, isEmpty);
    requireThat(op, both(isPositive, holds, b),
                "the view must be within its buffer");
  }

  /// Vectors are read and written within their buffers. `sizes` are a vector's
  /// in each dimension: 0 where something else keeps it within bounds.
  void checkVector(Operation *op, Value buffer, ValueRange indices,
                   ArrayRef<int64_t> sizes) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value holds = arith::ConstantIntOp::create(b, 1, 1);
    for (auto [d, index] : llvm::enumerate(indices)) {
      if (sizes[d] == 0)
        continue;
      Value most = b.createOrFold<arith::SubIOp>(
          b.createOrFold<memref::DimOp>(buffer, d),
          arith::ConstantIndexOp::create(b, sizes[d]));
      holds = both(holds, isAtMost(zero, index, b), b);
      holds = both(holds, isAtMost(index, most, b), b);
    }
    requireThat(op, holds, "the vector must be within its buffer");
  }

  void checkVector(Operation *op) {
    // Null where elements are vectors, or vectors of a size that isn't known.
    auto getBuffer = [](Value base, VectorType vector) {
      auto type = dyn_cast<MemRefType>(base.getType());
      return type && !isa<VectorType>(type.getElementType()) &&
                     !vector.isScalable()
                 ? type
                 : MemRefType();
    };
    auto check = [&](auto access) {
      VectorType vector = access.getVectorType();
      MemRefType type = getBuffer(access.getBase(), vector);
      if (!type || vector.getRank() > type.getRank())
        return;
      SmallVector<int64_t> sizes(type.getRank() - vector.getRank(), 1);
      llvm::append_range(sizes, vector.getShape());
      checkVector(op, access.getBase(), access.getIndices(), sizes);
    };
    if (auto load = dyn_cast<vector::LoadOp>(op))
      return check(load);
    if (auto store = dyn_cast<vector::StoreOp>(op))
      return check(store);
    auto transfer = cast<VectorTransferOpInterface>(op);
    VectorType vector = transfer.getVectorType();
    MemRefType type = getBuffer(transfer.getBase(), vector);
    if (!type || transfer.getMask())
      return;
    SmallVector<int64_t> sizes(type.getRank(), 1);
    for (auto [d, expr] :
         llvm::enumerate(transfer.getPermutationMap().getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        sizes[dim.getPosition()] =
            transfer.isDimInBounds(d) ? vector.getDimSize(d) : 0;
    checkVector(op, transfer.getBase(), transfer.getIndices(), sizes);
  }

  /// How many elements `buffer`, of a known rank, has.
  static Value countElements(Value buffer, ImplicitLocOpBuilder &b) {
    Value count = arith::ConstantIndexOp::create(b, 1);
    for (int64_t d = 0; d < cast<MemRefType>(buffer.getType()).getRank(); ++d)
      count = b.createOrFold<arith::MulIOp>(
          count, b.createOrFold<memref::DimOp>(buffer, d));
    return count;
  }

  static Value both(Value a, Value c, ImplicitLocOpBuilder &b) {
    return b.createOrFold<arith::AndIOp>(a, c);
  }

  static Value isAtMost(Value a, Value limit, ImplicitLocOpBuilder &b) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, a, limit);
  }

  /// The product; clears `holds` where no index can hold it.
  static Value multiply(Value a, Value c, Value &holds,
                        ImplicitLocOpBuilder &b) {
    auto product = arith::MulSIExtendedOp::create(b, a, c);
    Value sign = arith::ShRSIOp::create(b, product.getLow(),
                                        arith::ConstantIndexOp::create(b, 63));
    holds = both(holds,
                 arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       product.getHigh(), sign),
                 b);
    return product.getLow();
  }

  static void requireThat(Operation *op, Value holds, const std::string &what) {
    OpBuilder builder(op);
    if (!matchPattern(holds, m_One()))
      cf::AssertOp::create(builder, op->getLoc(), holds, describe(op, what));
  }

  static Value getValue(Size size, ImplicitLocOpBuilder &b) {
    if (!size.source)
      return arith::ConstantIndexOp::create(b, size.number);
    if (size.number < 0)
      return size.source;
    return memref::DimOp::create(b, size.source, size.number);
  }

  void require(Operation *op, Size a, Size b, const std::string &what) {
    if (a == b || (!a.source && !b.source))
      return;
    // What was asserted at the top of the function holds in all of it.
    bool atTop = isa<FunctionOpInterface>(op->getParentOp()) &&
                 op->getBlock()->isEntryBlock();
    if (llvm::is_contained(checked, std::make_pair(a, b)))
      return;
    if (atTop)
      checked.push_back({a, b});
    ImplicitLocOpBuilder builder(op->getLoc(), op);
    Value same =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                              getValue(a, builder), getValue(b, builder));
    cf::AssertOp::create(builder, same, describe(op, what));
  }

  SmallVector<std::pair<Size, Size>> checked; ///< of the function
};
} // namespace
