//===- Problem.cpp - What a schedule is chosen for ------------------------===//
//
// The numbers of an op that schedules depend on, and what no kernel can be
// generated for.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Schedule/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

unsigned norm_fusion::getBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static bool convertsOrMoves(Operation *op) {
  // Through f32 (norm-fusion-expand-float-conversions), which f8E8M0FNU would
  // be rounded twice by.
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return !isa<Float8E8M0FNUType>(op->getResult(0).getType());
  return roundsToNearestEven(op) &&
         isa<arith::TruncFOp, arith::ScalingTruncFOp, arith::ExtFOp,
             arith::ScalingExtFOp, arith::BitcastOp, arith::SelectOp,
             arith::ConstantOp, YieldOp>(op);
}

/// Types that kernels can load, store and shuffle.
static bool isKernelType(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex() || isFloat8(type))
    return true;
  if (!type.isSignlessInteger())
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

/// True if a column result needs a reduction of everything, or is one.
static bool
mixesTotals(MixedReductionOp op,
            const llvm::DenseMap<Value, llvm::SmallBitVector> &levels) {
  Block *combine = op.getCombineBlock();
  unsigned inputs = op.getInputs().size();
  SmallVector<Value> worklist;
  auto yielded = combine->getTerminator()->getOperands().begin();
  for (unsigned i = 0; i < op.getOutputs().size(); ++i)
    if (op.isColumnOutput(i)) {
      if (op.getOutputMap(i).getNumResults() != 0)
        worklist.push_back(*yielded);
      ++yielded;
    }
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getArgNumber() >= inputs && levels.lookup(argument).none())
        return true;
      continue;
    }
    llvm::append_range(worklist, value.getDefiningOp()->getOperands());
  }
  return false;
}

/// True for a row reduction that only one reduction of the rows needs, with the
/// same combiner.
static bool isFolded(RowReduceOp reduce) {
  if (!reduce->hasOneUse())
    return false;
  auto accumulate = dyn_cast<PartialAccumulateOp>(*reduce->user_begin());
  return accumulate && accumulate.getCombiner() == reduce.getCombiner();
}

static constexpr StringLiteral kKernelTypes =
    "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E8M0FNU, index, i1, i8, i16, i32 "
    "or i64";

Problem Problem::get(MixedReductionOp op) {
  Problem problem;
  auto refuse = [&](const std::string &found, StringRef needed) {
    if (!problem.unsupported.empty())
      return; // others may follow from the first
    problem.unsupported = found;
    problem.needed = needed.str();
  };
  SmallVector<int64_t> sizes = op.getStaticDimSizes();
  problem.columns = 1;
  SmallVector<unsigned> columnDims;
  for (unsigned d = 0; d < op.getNumDims(); ++d) {
    if (!op.isColumnDim(d))
      continue;
    columnDims.push_back(d);
    problem.columns = ShapedType::isDynamic(problem.columns) ||
                              ShapedType::isDynamic(sizes[d])
                          ? ShapedType::kDynamic
                          : problem.columns * sizes[d];
  }
  problem.innerColumns = sizes[columnDims.back()];
  problem.linearRows =
      llvm::all_of(llvm::seq<unsigned>(columnDims.front(), op.getNumDims()),
                   [&](unsigned d) { return op.isColumnDim(d); });
  // Vectors must not cross from one block of columns to the next.
  problem.contiguousColumns =
      columnDims.size() == 1 || !ShapedType::isDynamic(problem.innerColumns);
  unsigned inputs = op.getInputs().size();
  unsigned lastRow = op.getRowDims().find_last();
  int64_t bytesOfRows = 0, bytesOfColumns = 0;
  for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i) {
    Type type = getElementTypeOrSelf(op.getOperand(i).getType());
    if (!isKernelType(type))
      refuse(llvm::formatv("operand #{0} has elements of {1}", i, type),
             kKernelTypes);
    AffineMap map = op.getInputMap(i);
    bool hasColumn = false, hasRow = false;
    for (AffineExpr expr : map.getResults())
      (op.isColumnDim(cast<AffineDimExpr>(expr).getPosition()) ? hasColumn
                                                               : hasRow) = true;
    if (!hasColumn && i >= inputs && map.getNumResults() != 0 &&
        map.getNumResults() + columnDims.size() != op.getNumDims())
      refuse(llvm::formatv("output #{0} varies over some row dimensions alone",
                           i - inputs),
             "outputs over all row dimensions, or over columns");
    if (i >= inputs && hasColumn && type.isIndex())
      refuse(llvm::formatv("output #{0} has elements of {1} over columns",
                           i - inputs, type),
             "integers, by an arith.index_cast");
    // Kernels don't load what the body doesn't use.
    if (i < inputs && op.getBodyBlock()->getArgument(i).use_empty())
      continue;
    if (!hasColumn) {
      if (hasRow && i < inputs)
        problem.rowInputBytes.push_back(getBytes(type));
      continue;
    }
    if (hasColumn && hasRow)
      problem.linearRows &= map.isIdentity();
    // Outputs in another order are written element by element.
    auto last = cast<AffineDimExpr>(map.getResults().back());
    if (hasRow && last.getPosition() == lastRow)
      bytesOfRows += getBytes(type);
    else if (hasRow)
      bytesOfColumns += getBytes(type);
    if (i < inputs && map.isFunctionOfDim(columnDims.back()))
      problem.contiguousColumns &= last.getPosition() == columnDims.back();
    if (i >= inputs)
      problem.narrowOutputs |= hasRow && getBytes(type) == 1;
    else if (hasRow)
      problem.elementBytes.push_back(getBytes(type));
    else
      problem.columnInputBytes += getBytes(type);
  }
  for (Region *region : {&op.getBody(), &op.getCombine()})
    for (Operation &inner : region->getOps()) {
      SmallVector<Type> types(inner.getResultTypes());
      for (Type type : types)
        if (!isKernelType(type))
          refuse(llvm::formatv("'{0}' computes {1}", inner.getName(), type),
                 kKernelTypes);
      llvm::append_range(types, inner.getOperandTypes());
      if (auto narrow = llvm::find_if(types, isFloat8);
          narrow != types.end() && !convertsOrMoves(&inner))
        refuse(
            llvm::formatv("'{0}' computes with {1}", inner.getName(), *narrow),
            "8-bit floats that are converted (to nearest even), selected and "
            "moved alone");
    }

  std::optional<llvm::SmallBitVector> kept;
  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  op.inferLevels(levels);
  llvm::DenseMap<Value, unsigned> exchangesBefore;
  for (Operation &inner : *op.getBodyBlock()) {
    unsigned exchanges = 0;
    for (Value operand : inner.getOperands())
      exchanges = std::max(exchanges, exchangesBefore.lookup(operand));
    // What only one reduction of everything needs, which goes on with it, isn't
    // exchanged.
    auto reduced = dyn_cast<RowReduceOp>(inner);
    bool isExchanged = reduced && !isFolded(reduced);
    for (Value result : inner.getResults())
      exchangesBefore[result] = exchanges + isExchanged;
    problem.exchanges = std::max(problem.exchanges, exchanges + isExchanged);
    if (isa<ColumnReduceOp>(inner))
      refuse("column reductions that aren't split",
             "norm-fusion-partial-accumulate before");
    if (auto reduce = dyn_cast<RowReduceOp>(inner)) {
      ++problem.rowReductions;
      problem.rowReductionBytes =
          std::max(problem.rowReductionBytes, getBytes(reduce.getType()));
      if (!levels[reduce.getOperand()].anyCommon(op.getRowDims())) {
        refuse("a row reduction of what is the same in all rows",
               "row reductions of what varies over rows");
        continue;
      }
      if (llvm::SmallBitVector columns = op.getColumnDims();
          columns.reset(levels[reduce.getOperand()]).any())
        refuse("a row reduction of what is the same for some columns",
               "row reductions of what varies over all column dimensions");
      if (!reduce.getOver() || reduce.getOver()->size() == columnDims.size())
        continue;
      // Of the last column dimensions, one block of columns after the other.
      SmallVector<int64_t> over(*reduce.getOver());
      llvm::sort(over);
      int64_t block = 1;
      for (auto [d, dim] :
           llvm::zip(over, ArrayRef(columnDims).take_back(over.size())))
        block = d != dim || block == 0 || ShapedType::isDynamic(sizes[d])
                    ? 0
                    : block * sizes[d];
      problem.blockColumns.push_back(block);
    }
    auto accumulate = dyn_cast<PartialAccumulateOp>(inner);
    if (!accumulate)
      continue;
    llvm::SmallBitVector same = op.getReducedDims(accumulate);
    same.reset(levels[accumulate.getOperand()]);
    if (same.any()) {
      refuse("a column reduction of what is the same for some rows",
             "column reductions of what varies over all that they reduce");
      continue;
    }
    if (!levels[accumulate.getOperand()].anyCommon(op.getColumnDims())) {
      problem.scalarBytes.push_back(
          getBytes(accumulate.getOperand().getType()));
      problem.taggable &= problem.scalarBytes.back() <= 4;
      if (accumulate.getOver())
        refuse("a reduction of rows over some row dimensions",
               "reductions of row values over all row dimensions");
      continue;
    }
    problem.accumulatorBytes.push_back(
        getBytes(accumulate.getOperand().getType()));
    llvm::SmallBitVector rows = op.getRowDims();
    if (accumulate.getOver())
      for (int64_t d : ArrayRef<int64_t>(*accumulate.getOver()))
        rows.reset(d);
    else
      rows.reset();
    if (kept && *kept != rows)
      refuse("column reductions over different row dimensions",
             "column reductions over the same row dimensions");
    kept = rows;
    problem.segmented |= rows.any();
    problem.taggable &= accumulate.getOperand().getType().isF32() &&
                        (accumulate.getCombiner() == Combiner::add ||
                         accumulate.getCombiner() == Combiner::mul);
  }
  uint64_t rows = 1;
  bool areKnown = true;
  for (unsigned d : op.getRowDims().set_bits()) {
    if (kept && kept->test(d))
      continue;
    areKnown &= !ShapedType::isDynamic(sizes[d]);
    rows = llvm::SaturatingMultiply<uint64_t>(rows, sizes[d]);
  }
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  problem.rows = areKnown ? std::min(rows, most) : ShapedType::kDynamic;
  problem.contiguousRows =
      bytesOfRows > bytesOfColumns && !(kept && kept->test(lastRow));
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    if (isTiledOutput(op, i))
      problem.tiledBytes.push_back(
          getBytes(getElementTypeOrSelf(op.getOutputs()[i].getType())));
  if (op.isSplit() && mixesTotals(op, levels))
    refuse("a column result that needs a reduction of everything",
           "results of everything that no column result needs");
  // A column output may vary over the kept rows and the columns alone.
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i) {
    if (!op.isColumnOutput(i))
      continue;
    // The combination of what was accumulated writes it.
    bool isScalar = op.getOutputMap(i).getNumResults() == 0;
    if ((isScalar ? problem.scalarBytes : problem.accumulatorBytes).empty())
      refuse(llvm::formatv("output #{0} is {1} and the op has no {2}", i,
                           isScalar ? "one element" : "over columns",
                           isScalar ? "reduction of everything"
                                    : "column reduction"),
             isScalar ? "a reduction of everything beside it"
                      : "a column reduction beside it");
    if (isScalar)
      continue;
    llvm::SmallBitVector extra(op.getNumDims());
    for (AffineExpr expr : op.getOutputMap(i).getResults())
      if (unsigned d = cast<AffineDimExpr>(expr).getPosition();
          !op.isColumnDim(d))
        extra.set(d);
    if (kept)
      extra.reset(*kept);
    if (extra.any() || op.getOutputMap(i).getNumResults() <
                           columnDims.size() + (kept ? kept->count() : 0))
      refuse(llvm::formatv("output #{0} varies over other dimensions than the "
                           "segments and columns of the reductions",
                           i),
             "column outputs over exactly these");
  }
  return problem;
}

unsigned Problem::bytesPerColumn() const {
  unsigned bytes = 0;
  for (unsigned b : elementBytes)
    bytes += b;
  return bytes;
}
