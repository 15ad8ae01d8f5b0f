//===- NormFusionOps.cpp - Ops of the norm_fusion dialect -----------------===//
//
// Assembly, level inference, verification (constraints C1 to C15 of
// NormFusionOps.td), the upstream interfaces and canonicalisation of the mixed
// reduction.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::norm_fusion;

//===----------------------------------------------------------------------===//
// Accessors and levels
//===----------------------------------------------------------------------===//

bool MixedReductionOp::isColumnDim(unsigned d) {
  return cast<DimKindAttr>(getDims()[d]).getValue() == DimKind::column;
}

llvm::SmallBitVector MixedReductionOp::getColumnDims() {
  llvm::SmallBitVector dims(getNumDims());
  for (unsigned d = 0; d < getNumDims(); ++d)
    dims[d] = isColumnDim(d);
  return dims;
}

llvm::SmallBitVector MixedReductionOp::getRowDims() {
  return getColumnDims().flip();
}

AffineMap MixedReductionOp::getInputMap(unsigned i) {
  return cast<AffineMapAttr>(getIndexingMaps()[i]).getValue();
}

AffineMap MixedReductionOp::getOutputMap(unsigned i) {
  return getInputMap(getInputs().size() + i);
}

static llvm::SmallBitVector getMapDims(AffineMap map) {
  llvm::SmallBitVector dims(map.getNumDims());
  for (AffineExpr result : map.getResults())
    dims.set(cast<AffineDimExpr>(result).getPosition());
  return dims;
}

bool MixedReductionOp::isColumnOutput(unsigned i) {
  llvm::SmallBitVector dims = getMapDims(getOutputMap(i));
  llvm::SmallBitVector missingRows = getRowDims();
  missingRows.reset(dims);
  return dims.anyCommon(getColumnDims()) && missingRows.any();
}

SmallVector<int64_t> MixedReductionOp::getStaticDimSizes() {
  SmallVector<int64_t> sizes(getNumDims(), ShapedType::kDynamic);
  for (auto [operand, attr] :
       llvm::zip_equal(getOperands(), getIndexingMaps())) {
    auto type = dyn_cast<ShapedType>(operand.getType());
    if (!type)
      continue;
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    for (auto [i, expr] : llvm::enumerate(map.getResults())) {
      int64_t &size = sizes[cast<AffineDimExpr>(expr).getPosition()];
      if (!type.isDynamicDim(i))
        size = type.getDimSize(i);
    }
  }
  return sizes;
}

/// The dimensions that a reduction of `op` removes.
static llvm::SmallBitVector
getReducedDims(llvm::SmallBitVector all,
               std::optional<ArrayRef<int64_t>> over) {
  if (!over)
    return all;
  llvm::SmallBitVector dims(all.size());
  for (int64_t d : *over)
    if (d >= 0 && d < static_cast<int64_t>(all.size()))
      dims.set(d);
  return dims;
}

void MixedReductionOp::inferLevels(
    llvm::DenseMap<Value, llvm::SmallBitVector> &levels) {
  unsigned rank = getNumDims();
  llvm::SmallBitVector columns = getColumnDims(), rows = getRowDims();
  auto infer = [&](Block &block) {
    for (Operation &op : block.without_terminator()) {
      llvm::SmallBitVector level(rank);
      for (Value operand : op.getOperands())
        if (auto it = levels.find(operand); it != levels.end())
          level |= it->second;
      if (auto reduce = dyn_cast<RowReduceOp>(op))
        level.reset(getReducedDims(columns, reduce.getOver()));
      else if (auto reduce = dyn_cast<ColumnReduceOp>(op))
        level.reset(getReducedDims(rows, reduce.getOver()));
      for (Value result : op.getResults())
        levels[result] = level;
    }
  };
  Block *body = getBodyBlock();
  for (unsigned i = 0, e = std::min<unsigned>(body->getNumArguments(),
                                              getInputs().size());
       i < e; ++i)
    levels[body->getArgument(i)] = getMapDims(getInputMap(i));
  infer(*body);
  if (!isSplit())
    return;
  Block *combine = getCombineBlock();
  unsigned arg = 0;
  for (unsigned e = getInputs().size(); arg < e; ++arg)
    levels[combine->getArgument(arg)] = getMapDims(getInputMap(arg));
  for (auto accumulate : body->getOps<PartialAccumulateOp>()) {
    llvm::SmallBitVector level(rank);
    if (auto it = levels.find(accumulate.getOperand()); it != levels.end())
      level = it->second;
    level.reset(getReducedDims(rows, accumulate.getOver()));
    if (arg < combine->getNumArguments())
      levels[combine->getArgument(arg++)] = level;
  }
  infer(*combine);
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

void MixedReductionOp::print(OpAsmPrinter &p) {
  p << " dims = [";
  llvm::interleaveComma(getDims(), p, [&](Attribute attr) {
    p << stringifyDimKind(cast<DimKindAttr>(attr).getValue());
  });
  p << "]";
  auto group = [&](StringRef name, OperandRange operands) {
    if (operands.empty())
      return;
    p.printNewline();
    p << "  " << name << "(" << operands << " : " << operands.getTypes() << ")";
  };
  group("ins", getInputs());
  group("outs", getOutputs());
  p.printNewline();
  p << "  maps = ";
  p.printAttribute(getIndexingMaps());
  if (auto schedule = getScheduleAttr()) {
    p.printNewline();
    p << "  schedule = ";
    p.printAttribute(schedule);
  }
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"dims", "indexing_maps", "schedule", "operandSegmentSizes"});
  p << " ";
  p.printRegion(getBody());
  if (isSplit()) {
    p << " combine ";
    p.printRegion(getCombine());
  }
  if (getNumResults())
    p << " -> " << getResultTypes();
}

ParseResult MixedReductionOp::parse(OpAsmParser &parser,
                                    OperationState &result) {
  Builder &b = parser.getBuilder();
  SmallVector<Attribute> dims;
  auto parseDim = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<DimKind> kind = symbolizeDimKind(keyword);
    if (!kind)
      return parser.emitError(loc) << "expected 'row' or 'column', found '"
                                   << keyword << "'";
    dims.push_back(DimKindAttr::get(b.getContext(), *kind));
    return success();
  };
  if (parser.parseKeyword("dims") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return failure();
  result.addAttribute("dims", b.getArrayAttr(dims));

  int32_t counts[2] = {0, 0};
  for (unsigned i = 0; i < 2; ++i) {
    StringRef name = i == 0 ? "ins" : "outs";
    if (failed(parser.parseOptionalKeyword(name)))
      continue;
    SmallVector<OpAsmParser::UnresolvedOperand> operands;
    SmallVector<Type> types;
    SMLoc loc;
    if (parser.parseLParen() || parser.getCurrentLocation(&loc) ||
        parser.parseOperandList(operands) || parser.parseColonTypeList(types) ||
        parser.parseRParen() ||
        parser.resolveOperands(operands, types, loc, result.operands))
      return failure();
    counts[i] = operands.size();
  }
  result.getOrAddProperties<Properties>().operandSegmentSizes = {counts[0],
                                                                 counts[1]};
  ArrayAttr maps;
  if (parser.parseKeyword("maps") || parser.parseEqual() ||
      parser.parseAttribute(maps, "indexing_maps", result.attributes))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("schedule"))) {
    ScheduleAttr schedule;
    if (parser.parseEqual() ||
        parser.parseAttribute(schedule, "schedule", result.attributes))
      return failure();
  }
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  Region *combine = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("combine")) &&
      parser.parseRegion(*combine))
    return failure();
  if (succeeded(parser.parseOptionalArrow()) &&
      parser.parseTypeList(result.types))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult verifyReduction(OpTy op, bool overRows) {
  auto parent = cast<MixedReductionOp>(op->getParentOp());
  Type type = op.getOperand().getType();
  if (!getIdentity(op.getCombiner(), type))
    return op.emitOpError("C15: combiner '")
           << stringifyCombiner(op.getCombiner()) << "' doesn't fit " << type;
  if (!op.getOver())
    return success();
  llvm::SmallBitVector seen(parent.getNumDims());
  for (int64_t d : *op.getOver()) {
    if (d < 0 || d >= parent.getNumDims() || seen.test(d) ||
        parent.isColumnDim(d) == overRows)
      return op.emitOpError("C14: 'over' has ")
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

static LogicalResult verifyRegions(MixedReductionOp op) {
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
    if (!isa<YieldOp>(region->front().getTerminator()))
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
  llvm::SmallBitVector rows = op.getRowDims(), columns = op.getColumnDims();
  llvm::SmallBitVector none(op.getNumDims());
  // Row dimensions that a value's column reductions have removed.
  llvm::DenseMap<Value, llvm::SmallBitVector> removed;
  for (Operation &inner : op.getBodyBlock()->without_terminator()) {
    llvm::SmallBitVector gone(op.getNumDims());
    for (Value operand : inner.getOperands())
      if (auto it = removed.find(operand); it != removed.end())
        gone |= it->second;
    bool dependsOnColumn = gone.any();
    llvm::SmallBitVector reduced = none;
    if (auto reduce = dyn_cast<RowReduceOp>(inner))
      reduced = getReducedDims(columns, reduce.getOver());
    else if (auto reduce = dyn_cast<ColumnReduceOp>(inner))
      reduced = getReducedDims(rows, reduce.getOver());
    else if (auto reduce = dyn_cast<PartialAccumulateOp>(inner))
      reduced = getReducedDims(rows, reduce.getOver());
    if (reduced.any()) {
      if (dependsOnColumn)
        return inner.emitOpError("C8: operand depends on a column reduction");
      llvm::SmallBitVector missing = reduced;
      missing.reset(levels[inner.getOperand(0)]);
      if (missing.any())
        return inner.emitOpError("C13: operand doesn't vary over dimension d")
               << missing.find_first() << " that is reduced";
    } else if (dependsOnColumn &&
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

LogicalResult MixedReductionOp::verify() {
  if (failed(::verifyOperands(*this)) || failed(::verifyRegions(*this)))
    return failure();
  return verifyLevels(*this);
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

void MixedReductionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  for (OpOperand &operand : getOutputsMutable())
    if (isa<BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
}

Speculation::Speculatability MixedReductionOp::getSpeculatability() {
  // On tensors it is speculatable unless two dynamic sizes could disagree.
  if (!hasPureTensorSemantics())
    return Speculation::NotSpeculatable;
  for (Value operand : getOperands())
    if (auto type = dyn_cast<ShapedType>(operand.getType()))
      if (!type.hasStaticShape())
        return Speculation::NotSpeculatable;
  return Speculation::Speculatable;
}

LogicalResult MixedReductionOp::reifyResultShapes(
    OpBuilder &b, ReifiedRankedShapedTypeDims &shapes) {
  for (Value output : getOutputs()) {
    auto type = cast<ShapedType>(output.getType());
    SmallVector<OpFoldResult> shape;
    for (int64_t i = 0; i < type.getRank(); ++i)
      shape.push_back(
          type.isDynamicDim(i)
              ? OpFoldResult(
                    tensor::DimOp::create(b, getLoc(), output, i).getResult())
              : OpFoldResult(b.getIndexAttr(type.getDimSize(i))));
    shapes.push_back(std::move(shape));
  }
  return success();
}

bool MixedReductionOp::bufferizesToMemoryRead(OpOperand &operand,
                                              const bufferization::AnalysisState &) {
  return !isDpsInit(&operand);
}

bool MixedReductionOp::bufferizesToMemoryWrite(OpOperand &operand,
                                               const bufferization::AnalysisState &) {
  return isDpsInit(&operand);
}

bufferization::AliasingValueList
MixedReductionOp::getAliasingValues(OpOperand &operand,
                                    const bufferization::AnalysisState &) {
  if (!isDpsInit(&operand) || !hasPureTensorSemantics())
    return {};
  return {{getTiedOpResult(&operand), bufferization::BufferRelation::Equivalent}};
}

LogicalResult
MixedReductionOp::bufferize(RewriterBase &rewriter,
                            const bufferization::BufferizationOptions &options,
                            bufferization::BufferizationState &state) {
  SmallVector<Value> operands;
  SmallVector<Value> outputs;
  for (OpOperand &operand : (*this)->getOpOperands()) {
    Value value = operand.get();
    if (isa<TensorType>(value.getType())) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      value = *buffer;
    }
    operands.push_back(value);
    if (isDpsInit(&operand))
      outputs.push_back(value);
  }
  rewriter.setInsertionPoint(*this);
  OperationState newState(getLoc(), getOperationName());
  newState.addOperands(operands);
  newState.attributes = llvm::to_vector((*this)->getDiscardableAttrs());
  newState.addRegion();
  newState.addRegion();
  newState.getOrAddProperties<Properties>() = getProperties();
  Operation *newOp = rewriter.create(newState);
  rewriter.inlineRegionBefore(getBody(), newOp->getRegion(0),
                              newOp->getRegion(0).begin());
  if (isSplit())
    rewriter.inlineRegionBefore(getCombine(), newOp->getRegion(1),
                                newOp->getRegion(1).begin());
  bufferization::replaceOpWithBufferizedValues(rewriter, *this, outputs);
  return success();
}

//===----------------------------------------------------------------------===//
// Folding and canonicalisation
//===----------------------------------------------------------------------===//

LogicalResult MixedReductionOp::fold(FoldAdaptor,
                                     SmallVectorImpl<OpFoldResult> &) {
  // memref.cast that only forgets static sizes or layout folds away.
  return memref::foldMemRefCast(*this);
}

namespace {
/// Drops inputs that the regions don't use, as long as every dimension keeps
/// an operand that it indexes (C4), and merges an input that is given twice
/// with the same map.
struct DropInputs final : OpRewritePattern<MixedReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MixedReductionOp op,
                                PatternRewriter &rewriter) const override {
    unsigned inputs = op.getInputs().size();
    for (unsigned i = 0; i < inputs; ++i) {
      for (unsigned k = 0; k < i; ++k)
        if (op.getInputs()[i] == op.getInputs()[k] &&
            op.getInputMap(i) == op.getInputMap(k)) {
          rewriter.modifyOpInPlace(op, [&] { erase(op, i, k); });
          return success();
        }
      bool used = !op.getBodyBlock()->getArgument(i).use_empty() ||
                  (op.isSplit() &&
                   !op.getCombineBlock()->getArgument(i).use_empty());
      if (used || !coveredWithout(op, i))
        continue;
      rewriter.modifyOpInPlace(op, [&] { erase(op, i, std::nullopt); });
      return success();
    }
    return rewriter.notifyMatchFailure(op, "all inputs are used and distinct");
  }

private:
  static bool coveredWithout(MixedReductionOp op, unsigned dropped) {
    llvm::SmallBitVector covered(op.getNumDims());
    for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i)
      if (i != dropped)
        covered |= getMapDims(op.getInputMap(i));
    return covered.all();
  }

  static void erase(MixedReductionOp op, unsigned i,
                    std::optional<unsigned> replacement) {
    for (Region *region : op->getRegions().empty()
                              ? SmallVector<Region *>{}
                              : SmallVector<Region *>{&op.getBody(),
                                                      &op.getCombine()}) {
      if (region->empty())
        continue;
      Block &block = region->front();
      if (replacement)
        block.getArgument(i).replaceAllUsesWith(
            block.getArgument(*replacement));
      block.eraseArgument(i);
    }
    SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
    maps.erase(maps.begin() + i);
    op.setIndexingMapsAttr(ArrayAttr::get(op.getContext(), maps));
    op.getInputsMutable().erase(i);
  }
};

/// Removes a result that nobody uses, with its output.
struct DropResults final : OpRewritePattern<MixedReductionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MixedReductionOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "has no results");
    unsigned outputs = op.getOutputs().size();
    SmallVector<bool> keep(outputs);
    llvm::SmallBitVector covered(op.getNumDims());
    for (unsigned i = 0; i < op.getInputs().size(); ++i)
      covered |= getMapDims(op.getInputMap(i));
    for (unsigned i = 0; i < outputs; ++i)
      if ((keep[i] = !op.getResult(i).use_empty()))
        covered |= getMapDims(op.getOutputMap(i));
    if (llvm::all_of(keep, [](bool k) { return k; }) || !covered.all() ||
        llvm::none_of(keep, [](bool k) { return k; }))
      return rewriter.notifyMatchFailure(op, "no result can be dropped");

    unsigned inputs = op.getInputs().size();
    SmallVector<Value> outs;
    SmallVector<Type> types;
    SmallVector<Attribute> maps(
        op.getIndexingMaps().getValue().take_front(inputs));
    llvm::BitVector bodyDrop, combineDrop;
    for (unsigned i = 0; i < outputs; ++i) {
      (op.isSplit() && op.isColumnOutput(i) ? combineDrop : bodyDrop)
          .push_back(!keep[i]);
      if (!keep[i])
        continue;
      outs.push_back(op.getOutputs()[i]);
      types.push_back(op.getResult(i).getType());
      maps.push_back(op.getIndexingMaps()[inputs + i]);
    }
    auto newOp = MixedReductionOp::create(
        rewriter, op.getLoc(), types, op.getInputs(), outs, op.getDims(),
        rewriter.getArrayAttr(maps), op.getScheduleAttr());
    newOp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    auto move = [&](Region &from, Region &to, const llvm::BitVector &drop) {
      if (from.empty())
        return;
      rewriter.inlineRegionBefore(from, to, to.begin());
      Operation *yield = to.front().getTerminator();
      rewriter.modifyOpInPlace(yield, [&] { yield->eraseOperands(drop); });
    };
    move(op.getBody(), newOp.getBody(), bodyDrop);
    move(op.getCombine(), newOp.getCombine(), combineDrop);
    SmallVector<Value> replacements(outputs);
    for (unsigned i = 0, k = 0; i < outputs; ++i)
      if (keep[i])
        replacements[i] = newOp.getResult(k++);
    for (auto [old, value] : llvm::zip(op.getResults(), replacements))
      if (value)
        rewriter.replaceAllUsesWith(old, value);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void MixedReductionOp::getCanonicalizationPatterns(RewritePatternSet &results,
                                                   MLIRContext *context) {
  results.add<DropInputs, DropResults>(context);
}

#define GET_OP_CLASSES
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionOps.cpp.inc"
