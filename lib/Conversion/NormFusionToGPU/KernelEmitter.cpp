//===- KernelEmitter.cpp - Addresses, rows and items of a kernel ----------===//
//
// The part of the emitter that every structure shares: where an operand's
// elements are, and which items of which segments a block works on.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

Type norm_fusion::getMemoryType(Type type) {
  if (type.isInteger(1) || isFloat8(type))
    return IntegerType::get(type.getContext(), 8);
  if (type.isIndex())
    return IntegerType::get(type.getContext(), 64);
  return type;
}

Type norm_fusion::withWidth(Type element, unsigned width) {
  return width == 1 ? element : VectorType::get({width}, element);
}

Value norm_fusion::createAsm(ImplicitLocOpBuilder &b, TypeRange results,
                             ValueRange operands, StringRef text,
                             StringRef constraints, bool hasSideEffects) {
  auto op = LLVM::InlineAsmOp::create(
      b, results, operands, text, constraints, hasSideEffects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  return results.empty() ? Value() : op->getResult(0);
}

void norm_fusion::createAsmIf(ImplicitLocOpBuilder &b, Value condition,
                              ValueRange operands, StringRef instruction,
                              StringRef constraints) {
  SmallVector<Value> all(operands);
  std::string text = instruction.str(), types = constraints.str();
  if (condition) {
    text = "{\n.reg .pred p;\nsetp.ne.b32 p, $" + std::to_string(all.size()) +
           ", 0;\n@p " + text + "\n}";
    types += ",r";
    all.push_back(arith::ExtUIOp::create(b, b.getI32Type(), condition));
  }
  createAsm(b, TypeRange(), all, text, types + ",~{memory}");
}

KernelEmitter::KernelEmitter(ImplicitLocOpBuilder &b, MixedReductionOp op,
                             ScheduleAttr schedule,
                             const KernelArguments &arguments,
                             StringAttr sharedMemory)
    : b(b), op(op), schedule(schedule), arguments(arguments),
      problem(Problem::get(op)), sharedMemory(sharedMemory),
      entry(b.getInsertionBlock()), columnDims(op.getColumnDims()),
      segmentDims(op.getNumDims()), reducedRowDims(op.getRowDims()),
      numInputs(op.getInputs().size()), threads(schedule.getThreads()) {
  op.inferLevels(levels);
  unsigned nextArgument = numInputs;
  for (Operation &inner : *op.getBodyBlock()) {
    unsigned p = 0;
    for (Value operand : inner.getOperands())
      p = std::max(p, phase(operand));
    if (auto reduce = dyn_cast<RowReduceOp>(inner);
        reduce && !isBlockReduction(reduce) && !isFolded(reduce)) {
      if (waves.size() <= p)
        waves.resize(p + 1);
      waves[p].push_back(reduce);
      ++p;
    }
    if (auto accumulate = dyn_cast<PartialAccumulateOp>(inner)) {
      if (hasColumns(accumulate.getOperand())) {
        accumulations.push_back(accumulate);
        combineArguments.push_back(nextArgument++);
      } else {
        auto reduce = accumulate.getOperand().getDefiningOp<RowReduceOp>();
        scalars.push_back({accumulate,
                           reduce && isFolded(reduce) ? reduce : RowReduceOp(),
                           nextArgument++});
      }
      if (accumulate.getOver()) {
        reducedRowDims.reset();
        for (int64_t d : ArrayRef<int64_t>(*accumulate.getOver()))
          reducedRowDims.set(d);
      }
    }
    for (Value result : inner.getResults())
      phases[result] = p;
  }
  segmentDims = op.getRowDims();
  segmentDims.reset(reducedRowDims);
  columnCount = product(columnDims);
  pitch = createPitch(b, problem, schedule, columnCount);
  rowCount = product(reducedRowDims);
  if (isRing(schedule.getStructure())) {
    Value count = toI32(rowCount);
    rowCount = toI64(count);
    lastRow = toI64(arith::SubIOp::create(b, count, i32(1)));
  } else {
    lastRow = arith::SubIOp::create(b, rowCount, i64(1));
  }
  segmentCount = product(segmentDims);
  segmentIndices.resize(op.getNumDims());
  rowIndices.resize(op.getNumDims());
  exchangeBytes = getExchangeBytes(problem, schedule);
  sumsOffset = getSumsOffset(problem, schedule);
  framed = isFramed(problem, schedule);
  // The blocks of a cluster work on the same rows.
  cluster = blockId();
  clusterStride = gridSize();
  if (unsigned size = schedule.getCluster(); size > 1) {
    rank = NVVM::ClusterId::create(b, b.getI32Type());
    cluster = arith::DivUIOp::create(b, cluster, i64(size));
    clusterStride = arith::DivUIOp::create(b, clusterStride, i64(size));
  } else {
    rank = i32(0);
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

// Kernels are unrolled: without this, every third op would be a constant.
Value KernelEmitter::integer(int64_t value, unsigned width) {
  Value &constant = constants[{value, width}];
  if (!constant) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(entry);
    constant = arith::ConstantIntOp::create(b, value, width);
  }
  return constant;
}
Value KernelEmitter::i32(int64_t value) { return integer(value, 32); }
Value KernelEmitter::i64(int64_t value) { return integer(value, 64); }

/// `value` as another one and a constant that was added to it last.
static std::pair<Value, int64_t> splitConstant(Value value) {
  APInt constant;
  auto sum = value.getDefiningOp<arith::AddIOp>();
  if (!sum || !matchPattern(sum.getRhs(), m_ConstantInt(&constant)))
    return {value, 0};
  return {sum.getLhs(), constant.getSExtValue()};
}

// Constants stay last in sums: they become offsets in the addresses of
// instructions, and what comes before them is the same for many.
Value KernelEmitter::add(Value a, Value c) {
  auto [first, ofFirst] = splitConstant(a);
  auto [second, ofSecond] = splitConstant(c);
  Value sum = b.createOrFold<arith::AddIOp>(first, second);
  if (uint64_t constant = uint64_t(ofFirst) + ofSecond) {
    auto [rest, more] = splitConstant(sum);
    sum = b.createOrFold<arith::AddIOp>(
        rest, integer(more + constant, sum.getType().getIntOrFloatBitWidth()));
  }
  return sum;
}
Value KernelEmitter::mul(Value a, Value c) {
  auto [first, constant] = splitConstant(a);
  APInt factor;
  if (constant && matchPattern(c, m_ConstantInt(&factor)))
    return add(b.createOrFold<arith::MulIOp>(first, c),
               integer(uint64_t(constant) * factor.getZExtValue(),
                       c.getType().getIntOrFloatBitWidth()));
  APInt inner, outer;
  auto product = a.getDefiningOp<arith::MulIOp>();
  if (product && matchPattern(product.getRhs(), m_ConstantInt(&inner)) &&
      matchPattern(c, m_ConstantInt(&outer)))
    return mul(product.getLhs(),
               integer((inner * outer).getSExtValue(), inner.getBitWidth()));
  return b.createOrFold<arith::MulIOp>(a, c);
}
Value KernelEmitter::toI64(Value value) {
  return arith::ExtUIOp::create(b, b.getI64Type(), value);
}
Value KernelEmitter::toI32(Value value) {
  return b.createOrFold<arith::TruncIOp>(b.getI32Type(), value);
}
Value KernelEmitter::product(const llvm::SmallBitVector &dims) {
  Value result = i64(1);
  for (unsigned d : dims.set_bits())
    result = mul(result, arguments.dims[d]);
  return result;
}
Value KernelEmitter::threadId() {
  return NVVM::ThreadIdXOp::create(b, b.getI32Type());
}
Value KernelEmitter::laneId() {
  return arith::AndIOp::create(b, threadId(), i32(31));
}
Value KernelEmitter::warpId() {
  return arith::ShRUIOp::create(b, threadId(), i32(5));
}
Value KernelEmitter::blockId() {
  return toI64(NVVM::BlockIdXOp::create(b, b.getI32Type()));
}
Value KernelEmitter::gridSize() {
  return toI64(NVVM::GridDimXOp::create(b, b.getI32Type()));
}

/// The special register `name`, i32, read anew, so that it isn't kept in a
/// register for here through loops that have none left.
Value KernelEmitter::readAgain(StringRef name) {
  return createAsm(b, b.getI32Type(), ValueRange(),
                   ("mov.u32 $0, %" + name + ";").str(), "=r");
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

void KernelEmitter::delinearize(Value linear, const llvm::SmallBitVector &dims,
                                SmallVectorImpl<Value> &indices) {
  SmallVector<unsigned> order(dims.set_bits());
  for (unsigned d : llvm::reverse(order)) {
    if (d == order.front()) {
      indices[d] = linear;
      return;
    }
    indices[d] = arith::RemUIOp::create(b, linear, arguments.dims[d]);
    linear = arith::DivUIOp::create(b, linear, arguments.dims[d]);
  }
}

/// What delinearize() takes apart.
Value KernelEmitter::linearize(const llvm::SmallBitVector &dims,
                               ArrayRef<Value> indices) {
  Value linear;
  for (unsigned d : dims.set_bits())
    linear =
        linear ? add(mul(linear, arguments.dims[d]), indices[d]) : indices[d];
  return linear;
}

Value KernelEmitter::offset(unsigned i, ArrayRef<Value> indices) {
  AffineMap map = op.getInputMap(i);
  Value stride = i64(1), result = i64(0);
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    if (indices[d])
      result = add(result, mul(indices[d], stride));
    stride = mul(stride, arguments.dims[d]);
  }
  return result;
}

Value KernelEmitter::byteAddress(Value base, Value byteOffset) {
  auto [variable, constant] = splitConstant(byteOffset);
  Value address = base;
  if (APInt all; matchPattern(variable, m_ConstantInt(&all)))
    constant += all.getSExtValue();
  else
    address = LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base,
                                  ArrayRef<LLVM::GEPArg>{variable});
  if (constant == 0)
    return address;
  bool isShort = llvm::isInt<31>(constant);
  LLVM::GEPArg rest = isShort ? LLVM::GEPArg(int32_t(constant))
                              : LLVM::GEPArg(i64(constant));
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), address, rest);
}

// The columns' part first, as offset() adds them up: it is the same for all
// rows, and what is left to do for a row is one multiply-add.
Value KernelEmitter::address(unsigned i, Value elementOffset) {
  Value bytes = i64(getBytes(getElementTypeOrSelf(op.getOperand(i).getType())));
  Value base = arguments.operands[i];
  auto [variable, constant] = splitConstant(elementOffset);
  if (auto sum = variable.getDefiningOp<arith::AddIOp>()) {
    base = byteAddress(base, mul(sum.getLhs(), bytes));
    elementOffset = add(sum.getRhs(), i64(constant));
  }
  return byteAddress(base, mul(elementOffset, bytes));
}

Value KernelEmitter::sharedPointer(Value byteOffset) {
  auto type = LLVM::LLVMPointerType::get(b.getContext(), 3);
  Value base = LLVM::AddressOfOp::create(b, type, sharedMemory);
  return byteAddress(base, byteOffset);
}

Value KernelEmitter::fromMemory(Value value, Type elementType) {
  Type type = isa<VectorType>(value.getType())
                  ? withWidth(elementType,
                              cast<VectorType>(value.getType()).getDimSize(0))
                  : elementType;
  if (elementType.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  if (isFloat8(elementType))
    return arith::BitcastOp::create(b, type, value);
  if (elementType.isInteger(1)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value, zero);
  }
  return value;
}

Value KernelEmitter::toMemory(Value value, Type elementType) {
  unsigned width = isa<VectorType>(value.getType())
                       ? cast<VectorType>(value.getType()).getDimSize(0)
                       : 1;
  Type type = withWidth(getMemoryType(elementType), width);
  if (elementType.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  if (elementType.isInteger(1))
    return arith::ExtUIOp::create(b, type, value);
  if (isFloat8(elementType))
    return arith::BitcastOp::create(b, type, value);
  return value;
}

Value KernelEmitter::loadGlobal(unsigned i, Value elementOffset, unsigned width,
                                bool isConstant, bool isAligned) {
  Type element = getElementTypeOrSelf(op.getOperand(i).getType());
  unsigned bytes = getBytes(element) * (isAligned ? width : 1);
  Value loaded = LLVM::LoadOp::create(
      b, withWidth(getMemoryType(element), width), address(i, elementOffset),
      /*alignment=*/std::min(bytes, 16u),
      /*isVolatile=*/false, /*isNonTemporal=*/false, isConstant);
  return fromMemory(loaded, element);
}

Value KernelEmitter::loadStreamed(unsigned i, Value elementOffset,
                                  unsigned width) {
  Type element = getElementTypeOrSelf(op.getOperand(i).getType());
  unsigned words = getBytes(element) * width / 4;
  if (words == 0)
    return loadGlobal(i, elementOffset, width);
  Value pointer = address(i, elementOffset);
  Value loaded =
      LLVM::PoisonOp::create(b, VectorType::get({words}, b.getI32Type()));
  unsigned piece = std::min(words, 4u);
  for (unsigned at = 0; at < words; at += piece) {
    Value part =
        loadWords("ld.global.L1::no_allocate",
                  at ? byteAddress(pointer, i64(at * 4)) : pointer, piece,
                  /*isOrdered=*/false);
    for (unsigned w = 0; w < piece; ++w)
      loaded = LLVM::InsertElementOp::create(b, loaded, getWord(part, w),
                                             i32(at + w));
  }
  return fromMemory(LLVM::BitcastOp::create(
                        b, withWidth(getMemoryType(element), width), loaded),
                    element);
}

void KernelEmitter::storeGlobal(unsigned i, Value elementOffset, Value value,
                                Value condition) {
  Type element = getElementTypeOrSelf(op.getOperand(i).getType());
  Value pointer = address(i, elementOffset);
  value = toMemory(value, element);
  auto vectorType = dyn_cast<VectorType>(value.getType());
  unsigned bytes =
      getBytes(element) * (vectorType ? vectorType.getDimSize(0) : 1);
  if (bytes < 8 || !vectorType)
    return guarded(condition,
                   [&] { LLVM::StoreOp::create(b, value, pointer, bytes); });
  Value words = LLVM::BitcastOp::create(
      b, VectorType::get({bytes / 4}, b.getI32Type()), value);
  storeWords(getStreamedStore(), pointer, words, condition);
}

bool KernelEmitter::rowsBeginAnywhere() {
  constexpr int64_t kVectorBytes = 16;
  if (ShapedType::isDynamic(problem.innerColumns))
    return false;
  return llvm::any_of(problem.elementBytes, [&](unsigned bytes) {
    return problem.innerColumns * bytes % kVectorBytes != 0;
  });
}

StringRef KernelEmitter::getStreamedStore() {
  return rowsBeginAnywhere() ? "st.global" : "st.global.cs";
}

/// Emits where `condition` holds, or at once where that is null.
void KernelEmitter::guarded(Value condition, llvm::function_ref<void()> emit) {
  if (!condition)
    return emit();
  auto ifOp = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  emit();
}

//===----------------------------------------------------------------------===//
// Rows and items
//===----------------------------------------------------------------------===//

RowPart KernelEmitter::getRowPart(Value laneOfRow) {
  Value warps = i32(schedule.getWarps());
  RowPart part;
  part.rowGroup = i32(0);
  part.warpOfRow = warpId();
  if (schedule.getRowGroups() > 1) {
    part.rowGroup = arith::DivUIOp::create(b, part.warpOfRow, warps);
    part.warpOfRow = arith::RemUIOp::create(b, part.warpOfRow, warps);
  }
  part.partOfRow = part.warpOfRow;
  if (schedule.getCluster() > 1)
    part.partOfRow = arith::AddIOp::create(
        b, arith::MulIOp::create(b, rank, warps), part.warpOfRow);
  part.isLeader = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      arith::OrIOp::create(b, part.partOfRow, laneOfRow), i32(0));
  return part;
}

void KernelEmitter::setRow(Value rowInSegment) {
  rowValues.clear();
  rowIndices = segmentIndices;
  delinearize(rowInSegment, reducedRowDims, rowIndices);
}

void KernelEmitter::swapRow(RowView &row) {
  std::swap(rowIndices, row.indices);
  std::swap(rowValues, row.values);
  std::swap(rowExists, row.exists);
  std::swap(tileRow, row.inTile);
}

void KernelEmitter::emitItems(
    llvm::function_ref<Value(Value item, Value firstRow, Value step)> emit) {
  Value step = i32(0);
  if (hasOneItem()) {
    emit(cluster, cluster, step);
    return;
  }
  Value items = mul(segmentCount, arguments.splits);
  auto loop =
      scf::ForOp::create(b, cluster, items, clusterStride, ValueRange{step});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value item = loop.getInductionVar();
  Value segment = arith::DivUIOp::create(b, item, arguments.splits);
  if (segmentDims.any())
    delinearize(segment, segmentDims, segmentIndices);
  step = emit(item, arith::RemUIOp::create(b, item, arguments.splits),
              loop.getRegionIterArgs()[0]);
  // The next item uses the same shared memory.
  if (schedule.getCopy() == Copy::bulk) // its copies come over what was stored
    NVVM::FenceProxyOp::create(
        b, NVVM::ProxyKind::async_shared,
        NVVM::SharedSpaceAttr::get(b.getContext(),
                                   NVVM::SharedSpace::shared_cta));
  syncBlock();
  scf::YieldOp::create(b, step);
}

/// The launch before this one may still run (programmatic dependent launch): no
/// memory before this. `letsNextBegin`: where all blocks run at once, the next
/// launch's take their places as these leave them, and wait in turn. Blocks of
/// many that come and go keep theirs (H200: forward norms took twice as long).
void KernelEmitter::awaitLaunchBefore(bool letsNextBegin) {
  if (letsNextBegin)
    NVVM::GriddepcontrolOp::create(b,
                                   NVVM::GridDepActionKind::launch_dependents);
  prefetchFirstStep();
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
}

void KernelEmitter::emitRows() {
  bool isTile = schedule.getStructure() == Structure::tile;
  awaitLaunchBefore(/*letsNextBegin=*/(op.isSplit() && !isTile) ||
                    isRing(schedule.getStructure()));
  if (getTileRows(schedule) != 0)
    findTiledOutputs();
  if (schedule.getStructure() == Structure::rows)
    return emitRowBlocks();
  if (isTile)
    return emitTileBlocks();
  if (schedule.getStructure() == Structure::columns)
    return emitColumnBlocks();
  bool tags = op.isSplit() && schedule.getCombine() == Combine::tags;
  if (tags)
    readLaunchCount();
  bool isRing = schedule.getStructure() != Structure::plain;
  bool awaitsInItem = isRing && hasOneItem();
  if (!awaitsInItem) {
    initExchange();
    awaitExchange();
    resetPace();
  }
  emitItems([&](Value item, Value firstRow, Value step) {
    return isRing               ? emitRing(item, firstRow, step, awaitsInItem)
           : isAcross(schedule) ? emitAcross(item, firstRow, step)
                                : emitPlain(item, firstRow, step);
  });
  if (!op.isSplit() || schedule.getCombine() == Combine::kernel)
    return;
  if (!tags)
    gridBarrier();
  emitTiles();
  emitScalarResults();
  if (tags)
    countLaunch(parity);
}

void KernelEmitter::emitCombine() {
  awaitLaunchBefore(/*letsNextBegin=*/false);
  emitTiles();
  emitScalarResults();
}
