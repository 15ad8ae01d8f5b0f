//===- NormFusionOps.cpp - Ops of the norm_fusion dialect -----------------===//
//
// What a mixed reduction is asked about (dimensions, maps, levels), and its
// assembly. Verification is in NormFusionVerify.cpp, the upstream interfaces
// and canonicalisation in NormFusionInterfaces.cpp.
//
//===----------------------------------------------------------------------===//

#include "Dims.h"
#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"

#include "mlir/IR/OpImplementation.h"

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

llvm::SmallBitVector mlir::norm_fusion::getMapDims(AffineMap map) {
  llvm::SmallBitVector dims(map.getNumDims());
  for (AffineExpr result : map.getResults())
    dims.set(cast<AffineDimExpr>(result).getPosition());
  return dims;
}

bool MixedReductionOp::isColumnOutput(unsigned i) {
  llvm::SmallBitVector dims = getMapDims(getOutputMap(i));
  if (dims.none())
    return true;
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

llvm::SmallBitVector MixedReductionOp::getReducedDims(Operation *op) {
  llvm::SmallBitVector dims(getNumDims());
  std::optional<ArrayRef<int64_t>> over;
  if (auto reduce = dyn_cast<RowReduceOp>(op)) {
    dims = getColumnDims();
    over = reduce.getOver();
  } else if (auto reduce = dyn_cast<ColumnReduceOp>(op)) {
    dims = getRowDims();
    over = reduce.getOver();
  } else if (auto accumulate = dyn_cast<PartialAccumulateOp>(op)) {
    dims = getRowDims();
    over = accumulate.getOver();
  }
  if (!over)
    return dims;
  dims.reset();
  // The verifier asks before it has looked at what `over` lists.
  for (int64_t d : *over)
    if (d >= 0 && d < static_cast<int64_t>(dims.size()))
      dims.set(d);
  return dims;
}

void MixedReductionOp::inferLevels(
    llvm::DenseMap<Value, llvm::SmallBitVector> &levels) {
  unsigned rank = getNumDims();
  auto infer = [&](Block &block) {
    for (Operation &op : block.without_terminator()) {
      llvm::SmallBitVector level(rank);
      for (Value operand : op.getOperands())
        if (auto it = levels.find(operand); it != levels.end())
          level |= it->second;
      if (auto index = dyn_cast<IndexOp>(op))
        level.set(index.getDim());
      level.reset(getReducedDims(&op));
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
    level.reset(getReducedDims(accumulate));
    if (arg < combine->getNumArguments())
      levels[combine->getArgument(arg++)] = level;
  }
  infer(*combine);
}

SmallVector<FewRowsAttr> MixedReductionOp::getFewRowsEntries() {
  if (ArrayAttr entries = getFewRowsAttr())
    return llvm::to_vector(entries.getAsRange<FewRowsAttr>());
  return {};
}

void MixedReductionOp::setFewRowsEntries(ArrayRef<FewRowsAttr> entries) {
  if (entries.empty())
    removeFewRowsAttr();
  else
    setFewRowsAttr(Builder(getContext())
                       .getArrayAttr(SmallVector<Attribute>(entries.begin(),
                                                            entries.end())));
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
  auto attribute = [&](StringRef keyword, Attribute value) {
    if (!value)
      return;
    p.printNewline();
    p << "  " << keyword << " = ";
    p.printAttribute(value);
  };
  attribute("schedule", getScheduleAttr());
  attribute("few_rows", getFewRowsAttr());
  p.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {"dims", "indexing_maps", "schedule", "few_rows", "operandSegmentSizes"});
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
  // `value` is null: of the type that is expected.
  auto parseOptional = [&](StringRef keyword, auto value) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    return failure(parser.parseEqual() ||
                   parser.parseAttribute(value, keyword, result.attributes));
  };
  if (parseOptional("schedule", ScheduleAttr()) ||
      parseOptional("few_rows", ArrayAttr()))
    return failure();
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

#define GET_OP_CLASSES
#include "norm_fusion/Dialect/NormFusion/IR/NormFusionOps.cpp.inc"
