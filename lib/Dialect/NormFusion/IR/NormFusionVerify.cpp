//===- NormFusionVerify.cpp - Constraints of the ops ----------------------===//
//
// C1 to C16 of NormFusionOps.td, in the order operands, regions, levels: each
// step may rely on what the one before has shown.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

using namespace mlir;
using namespace mlir::norm_fusion;

template <typename OpTy>
static LogicalResult verifyReduction(OpTy op, bool overRows) {
  auto parent = cast<MixedReductionOp>(op->getParentOp());
  Type type = op.getOperand().getType();
  if (!getIdentity(op.getCombiner(), type))
    return op.emitOpError("C14: combiner '")
           << stringifyCombiner(op.getCombiner()) << "' doesn't fit " << type;
  if (!op.getOver())
    return success();
  llvm::SmallBitVector seen(parent.getNumDims());
  for (int64_t d : ArrayRef<int64_t>(*op.getOver())) {
    if (d < 0 || d >= parent.getNumDims() || seen.test(d) ||
        parent.isColumnDim(d) == overRows)
      return op.emitOpError("C13: 'over' has ")
             << d << ", expected distinct " << (overRows ? "row" : "column")
             << " dimensions of a space of " << parent.getNumDims();
    seen.set(d);
  }
  return success();
}

LogicalResult RowReduceOp::verify() { return verifyReduction(*this, false); }
LogicalResult ColumnReduceOp::verify() { return verifyReduction(*this, true); }
LogicalResult PartialAccumulateOp::verify() {
  return verifyReduction(*this, true);
}

LogicalResult IndexOp::verify() {
  unsigned rank = cast<MixedReductionOp>((*this)->getParentOp()).getNumDims();
  if (getDim() >= rank)
    return emitOpError("C15: found dimension ")
           << getDim() << ", expected one of a space of " << rank;
  return success();
}

static Type getScalarType(Value value) {
  if (auto shaped = dyn_cast<ShapedType>(value.getType()))
    return shaped.getElementType();
  return value.getType();
}

static LogicalResult verifyOperands(MixedReductionOp op) {
  unsigned rank = op.getNumDims();
  if (op.getRowDims().none() || op.getColumnDims().none())
    return op.emitOpError("C6: expected at least one row and one column "
                          "dimension, found ")
           << op.getRowDims().count() << " and " << op.getColumnDims().count();
  if (op.getIndexingMaps().size() != op.getNumOperands())
    return op.emitOpError("C1: found ")
           << op.getIndexingMaps().size() << " maps, expected one an operand: "
           << op.getNumOperands();
  SmallVector<int64_t> sizes(rank, ShapedType::kDynamic);
  llvm::SmallBitVector covered(rank);
  bool anyTensor = false, anyMemRef = false;
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    AffineMap map = op.getInputMap(i);
    if (map.getNumDims() != rank || map.getNumSymbols() != 0 ||
        !map.isProjectedPermutation())
      return op.emitOpError("C1: map #")
             << i << " is " << AffineMapAttr::get(map) << ", expected a projected permutation of "
             << rank << " dimensions";
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (type && !type.hasRank())
      return op.emitOpError("C2: operand #") << i << " has no rank";
    if (type && !isa<RankedTensorType, MemRefType>(type))
      return op.emitOpError("C2: operand #")
             << i << " is " << type
             << ", expected a tensor, a memref or a scalar";
    int64_t operandRank = type ? type.getRank() : 0;
    if (operandRank != map.getNumResults())
      return op.emitOpError("C2: operand #")
             << i << " has rank " << operandRank << ", its map has "
             << map.getNumResults() << " results";
    if (!type)
      continue;
    anyTensor |= isa<TensorType>(type);
    anyMemRef |= isa<MemRefType>(type);
    for (auto [k, expr] : llvm::enumerate(map.getResults())) {
      unsigned d = cast<AffineDimExpr>(expr).getPosition();
      covered.set(d);
      int64_t size = type.getDimSize(k);
      if (ShapedType::isDynamic(size))
        continue;
      if (!ShapedType::isDynamic(sizes[d]) && sizes[d] != size)
        return op.emitOpError("C3: operand #")
               << i << " has size " << size << " in dimension d" << d
               << ", another has " << sizes[d];
      sizes[d] = size;
    }
  }
  if (!covered.all())
    return op.emitOpError("C4: no operand is indexed by dimension d")
           << covered.find_first_unset();
  if (anyTensor && anyMemRef)
    return op.emitOpError("C9: operands are tensors and memrefs");
  unsigned expected = anyMemRef ? 0 : op.getOutputs().size();
  if (op.getNumResults() != expected)
    return op.emitOpError("C9: found ")
           << op.getNumResults() << " results, expected " << expected;
  for (auto [output, result] : llvm::zip(op.getOutputs(), op.getResults()))
    if (output.getType() != result.getType())
      return op.emitOpError("C9: result of type ")
             << result.getType() << " for an output of type "
             << output.getType();
  return success();
}

static LogicalResult verifyBlocks(MixedReductionOp op) {
  auto verifyArguments = [&](Block *block, unsigned extra,
                             StringRef rule) -> LogicalResult {
    unsigned expected = op.getInputs().size() + extra;
    if (block->getNumArguments() != expected)
      return op.emitOpError() << rule << ": found " << block->getNumArguments()
                              << " arguments, expected " << expected;
    for (auto [i, input] : llvm::enumerate(op.getInputs()))
      if (block->getArgument(i).getType() != getScalarType(input))
        return op.emitOpError()
               << rule << ": argument #" << i << " has type "
               << block->getArgument(i).getType() << ", its input's elements "
               << getScalarType(input);
    return success();
  };
  if (failed(verifyArguments(op.getBodyBlock(), 0, "C5")))
    return failure();

  Block *body = op.getBodyBlock();
  SmallVector<PartialAccumulateOp> accumulations(
      body->getOps<PartialAccumulateOp>());
  if (op.isSplit()) {
    if (!body->getOps<ColumnReduceOp>().empty())
      return op.emitOpError("C10: column_reduce beside a combine region");
    Block *combine = op.getCombineBlock();
    if (failed(verifyArguments(combine, accumulations.size(), "C10")))
      return failure();
    for (auto [i, accumulate] : llvm::enumerate(accumulations)) {
      Type type = combine->getArgument(op.getInputs().size() + i).getType();
      if (type != accumulate.getOperand().getType())
        return op.emitOpError("C10: combine argument of type ")
               << type << " for an accumulation of "
               << accumulate.getOperand().getType();
    }
  } else if (!accumulations.empty()) {
    return op.emitOpError("C10: partial_accumulate without a combine region");
  }

  for (Region *region : {&op.getBody(), &op.getCombine()}) {
    if (region->empty())
      continue;
    if (region->front().empty() || !isa<YieldOp>(region->front().back()))
      return op.emitOpError("C12: expected norm_fusion.yield at the end");
    for (Operation &inner : region->front().without_terminator()) {
      bool isBody = region == &op.getBody();
      if (isa<RowReduceOp, ColumnReduceOp, PartialAccumulateOp>(inner)) {
        if (!isBody)
          return inner.emitOpError("C10: reduction in a combine region");
        continue;
      }
      if (!isMemoryEffectFree(&inner) || inner.getNumRegions() != 0)
        return inner.emitOpError("C11: expected an op without side effects and "
                                 "regions in a mixed reduction");
      SmallVector<Type> types(inner.getOperandTypes());
      llvm::append_range(types, inner.getResultTypes());
      for (Type type : types)
        if (!type.isIntOrIndexOrFloat())
          return inner.emitOpError("C11: expected scalars, found ") << type;
    }
  }
  return success();
}

static LogicalResult verifyLevels(MixedReductionOp op) {
  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  op.inferLevels(levels);
  // Row dimensions that a value's column reductions have removed.
  llvm::DenseMap<Value, llvm::SmallBitVector> removed;
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    llvm::SmallBitVector gone(op.getNumDims());
    for (Value operand : inner.getOperands())
      if (auto it = removed.find(operand); it != removed.end())
        gone |= it->second;
    bool dependsOnColumn = gone.any();
    llvm::SmallBitVector reduced = op.getReducedDims(&inner);
    if (reduced.any()) {
      if (dependsOnColumn)
        return inner.emitOpError("C8: operand depends on a column reduction");
    } else if (dependsOnColumn && inner.getNumResults() != 0 &&
               levels[inner.getResult(0)].anyCommon(gone)) {
      return inner.emitOpError("C8: result of a column reduction meets a value "
                               "that varies over the rows");
    }
    if (isa<ColumnReduceOp>(inner))
      gone |= reduced;
    for (Value result : inner.getResults())
      if (gone.any())
        removed[result] = gone;
  }

  SmallVector<unsigned> inBody, inCombine;
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    (op.isSplit() && op.isColumnOutput(i) ? inCombine : inBody).push_back(i);
  auto verifyYield = [&](Block *block,
                         ArrayRef<unsigned> outputs) -> LogicalResult {
    auto yield = cast<YieldOp>(block->getTerminator());
    if (yield.getNumOperands() != outputs.size())
      return yield.emitOpError("C12: found ")
             << yield.getNumOperands() << " values, expected "
             << outputs.size();
    for (auto [value, output] : llvm::zip_equal(yield.getValues(), outputs)) {
      Type expected = getScalarType(op.getOutputs()[output]);
      if (value.getType() != expected)
        return yield.emitOpError("C12: value of type ")
               << value.getType() << " for output #" << output
               << " with elements " << expected;
      llvm::SmallBitVector extra = levels[value];
      extra.reset(getMapDims(op.getOutputMap(output)));
      if (extra.any())
        return yield.emitOpError("C7: value for output #")
               << output << " varies over dimension d" << extra.find_first()
               << " that the output lacks";
    }
    return success();
  };
  if (failed(verifyYield(op.getBodyBlock(), inBody)))
    return failure();
  return op.isSplit() ? verifyYield(op.getCombineBlock(), inCombine)
                      : success();
}

static LogicalResult verifyFewRows(MixedReductionOp op) {
  int64_t fewest = 1;
  for (FewRowsAttr few : op.getFewRowsEntries()) {
    if (few.getRows() < fewest)
      return op.emitOpError("C16: few_rows for ")
             << few.getRows() << " rows, expected at least " << fewest;
    fewest = few.getRows() + 1;
  }
  return success();
}

LogicalResult MixedReductionOp::verify() {
  return failure(failed(::verifyOperands(*this)) ||
                 failed(verifyFewRows(*this)));
}

// Ops of the regions have been verified by then.
LogicalResult MixedReductionOp::verifyRegions() {
  return failure(failed(verifyBlocks(*this)) || failed(verifyLevels(*this)));
}
