//===- KernelExchange.cpp - How threads and blocks of a kernel meet -------===//
//
// Shuffles within a warp, the row sums that the warps of a row exchange through
// shared memory, and the barrier over the grid.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::norm_fusion;

Value KernelEmitter::shuffleXor(Value value, unsigned distance) {
  return shuffle(value, i32(distance), NVVM::ShflKind::bfly);
}

/// `value` of another lane of the warp.
Value KernelEmitter::shuffle(Value value, Value lane, NVVM::ShflKind kind) {
  Type type = value.getType(), word = b.getI32Type();
  auto shuffleWord = [&](Value v) -> Value {
    return NVVM::ShflOp::create(b, v.getType(), i32(-1), v, lane, i32(31), kind,
                                UnitAttr());
  };
  if (type.isF32() || type.isInteger(32))
    return shuffleWord(value);
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(b, b.getI64Type(), value);
    return arith::IndexCastOp::create(b, type, shuffle(value, lane, kind));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(bits);
  if (type != integer)
    value = arith::BitcastOp::create(b, integer, value);
  if (bits < 32) {
    value = arith::ExtUIOp::create(b, word, value);
    value = arith::TruncIOp::create(b, integer, shuffleWord(value));
  } else {
    auto pair = VectorType::get({2}, word);
    Value words = LLVM::BitcastOp::create(b, pair, value);
    for (int64_t k = 0; k < 2; ++k) {
      Value part = LLVM::ExtractElementOp::create(b, words, i32(k));
      words =
          LLVM::InsertElementOp::create(b, words, shuffleWord(part), i32(k));
    }
    value = LLVM::BitcastOp::create(b, integer, words);
  }
  return type == integer ? value
                         : arith::BitcastOp::create(b, type, value).getResult();
}

/// Adds the elements of a lane's vector to four chains in turn: products among
/// them become fused multiply-adds.
void KernelEmitter::addElements(SmallVectorImpl<Value> &chains, Value vector,
                                Combiner combiner) {
  auto type = dyn_cast<VectorType>(vector.getType());
  for (int64_t k = 0, e = type ? type.getDimSize(0) : 1; k < e; ++k) {
    Value element =
        type ? vector::ExtractOp::create(b, vector, k).getResult() : vector;
    if (chains.size() < 4) {
      chains.push_back(element);
      continue;
    }
    Value &sum = chains[k % 4];
    sum = createCombine(b, b.getLoc(), combiner, sum, element,
                        /*contract=*/true);
  }
}

Value KernelEmitter::addChains(ArrayRef<Value> chains, Combiner combiner) {
  Value total = chains.front();
  for (Value chain : chains.drop_front())
    total = createCombine(b, b.getLoc(), combiner, total, chain,
                          /*contract=*/true);
  return total;
}

/// Adds a view's elements of a row reduction to its chains.
void KernelEmitter::addView(SmallVectorImpl<Value> &chains, RowReduceOp reduce,
                            ColumnView &view) {
  Value value = evaluate(reduce.getOperand(), view);
  if (!view.mask)
    return addElements(chains, value, reduce.getCombiner());
  SmallVector<Value> ofView;
  addElements(ofView, value, reduce.getCombiner());
  addElements(chains,
              masked(addChains(ofView, reduce.getCombiner()), view,
                     reduce.getCombiner()),
              reduce.getCombiner());
}

/// By butterflies. Two values that combine alike share one: the upper half of
/// the lanes carries the second value, 6 shuffles instead of 10 for 32 lanes.
void KernelEmitter::reduceLanes(ArrayRef<RowReduceOp> wave,
                                SmallVectorImpl<Value> &values,
                                unsigned lanes) {
  unsigned half = lanes / 2;
  if (half == 0)
    return;
  auto combine = [&](unsigned k, Value a, Value c) {
    return createCombine(b, b.getLoc(), RowReduceOp(wave[k]).getCombiner(), a,
                         c, /*contract=*/true);
  };
  for (unsigned k = 0; k < values.size(); ++k) {
    bool pair = half > 1 && k + 1 < values.size() &&
                values[k].getType() == values[k + 1].getType() &&
                RowReduceOp(wave[k]).getCombiner() ==
                    RowReduceOp(wave[k + 1]).getCombiner();
    if (!pair) {
      for (unsigned distance = half; distance > 0; distance /= 2)
        values[k] = combine(k, values[k], shuffleXor(values[k], distance));
      continue;
    }
    Value isUpper = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, laneId(), i32(half)), i32(0));
    Value mine = select(isUpper, values[k + 1], values[k]);
    Value other = select(isUpper, values[k], values[k + 1]);
    mine = combine(k, mine, shuffleXor(other, half));
    for (unsigned distance = half / 2; distance > 0; distance /= 2)
      mine = combine(k, mine, shuffleXor(mine, distance));
    other = shuffleXor(mine, half);
    values[k] = select(isUpper, other, mine);
    values[k + 1] = select(isUpper, mine, other);
    ++k;
  }
}

Value KernelEmitter::toWord(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  auto shaped = [&](Type element) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return vector.clone(element);
    return element;
  };
  if (type.isIndex())
    return arith::IndexCastOp::create(b, shaped(b.getI64Type()), value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(
        b, shaped(b.getIntegerType(type.getIntOrFloatBitWidth())), value);
  return b.createOrFold<arith::ExtUIOp>(shaped(getWordType(type)), value);
}

/// A scalar of `type` from its word.
Value KernelEmitter::fromWord(Value word, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(b, type, word);
  Type integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (word.getType() != integer)
    word = arith::TruncIOp::create(b, integer, word);
  return integer == type ? word
                         : arith::BitcastOp::create(b, type, word).getResult();
}

/// Barrier 0, of all threads of the block.
void KernelEmitter::syncBlock() { NVVM::BarrierOp::create(b); }

/// Row group g has barrier g + 1.
void KernelEmitter::syncRowGroup(Value rowGroup) {
  if (schedule.getRowGroups() == 1)
    return syncBlock();
  NVVM::BarrierOp::create(
      b, TypeRange(), arith::AddIOp::create(b, rowGroup, i32(1)),
      i32(schedule.getWarps() * 32), NVVM::BarrierReductionAttr(), Value());
}

/// One mbarrier a row group and buffer of the exchange, first in shared memory.
Value KernelEmitter::exchangeBarrier(Value rowGroup, Value buffer) {
  Value index = arith::AddIOp::create(
      b, arith::MulIOp::create(b, rowGroup, i32(2)), buffer);
  return sharedPointer(arith::MulIOp::create(b, index, i32(8)));
}

/// What the exchange in a cluster needs before its first use: barriers that all
/// blocks of the cluster know to be initialised.
void KernelEmitter::initExchange() {
  if (schedule.getCluster() == 1)
    return;
  auto ifFirst =
      scf::IfOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                 threadId(), i32(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifFirst.thenBlock());
    for (unsigned k = 0; k < 2 * schedule.getRowGroups(); ++k)
      NVVM::MBarrierInitOp::create(b, sharedPointer(i32(k * 8)), i32(1),
                                   /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(b);
  }
  NVVM::ClusterArriveOp::create(b, b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
}

/// Sends this warp's sums to every block of the cluster: lane r stores them at
/// rank r, and the bytes' arrival counts at that block's barrier.
void KernelEmitter::sendRowSums(ArrayRef<Value> words, Value rowGroup,
                                Value buffer,
                                llvm::function_ref<Value(unsigned)> pointer) {
  Value lane = laneId();
  auto cluster = LLVM::LLVMPointerType::get(b.getContext(), 7);
  auto isReceiver = scf::IfOp::create(
      b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lane,
                               i32(schedule.getCluster())));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isReceiver.thenBlock());
  auto address = [&](Value local) -> Value {
    return LLVM::PtrToIntOp::create(
        b, b.getI32Type(), NVVM::MapaOp::create(b, cluster, local, lane));
  };
  Value barrier = address(exchangeBarrier(rowGroup, buffer));
  for (auto [k, word] : llvm::enumerate(words)) {
    bool wide = word.getType().isInteger(64);
    createAsm(
        b, TypeRange(), {address(pointer(k)), word, barrier},
        std::string("st.async.shared::cluster.mbarrier::complete_tx::bytes.") +
            (wide ? "b64" : "b32") + " [$0], $1, [$2];",
        wide ? "r,l,r,~{memory}" : "r,r,r,~{memory}");
  }
}

void KernelEmitter::exchangeRowSums(ArrayRef<RowReduceOp> wave,
                                    SmallVectorImpl<Value> &sums,
                                    Value rowGroup, Value warpOfRow,
                                    Value step) {
  reduceLanes(wave, sums, schedule.getLanes());
  unsigned cluster = schedule.getCluster(), warps = schedule.getWarps();
  unsigned parts = cluster * warps;
  if (parts == 1)
    return;

  // Two buffers: a warp writes the next wave's sums while another still reads
  // this one's. The wait between orders every second use of a buffer.
  // Sum k of part p: [buffer][rowGroup][k][p], 8 bytes a sum reserved.
  SmallVector<Value> words;
  for (Value sum : sums)
    words.push_back(toWord(sum));
  Value buffer = arith::AndIOp::create(b, step, i32(1));
  Value slot = arith::AddIOp::create(
      b, arith::MulIOp::create(b, buffer, i32(schedule.getRowGroups())),
      rowGroup);
  slot = arith::MulIOp::create(
      b, slot, i32(std::max(problem.rowReductions, 1u) * parts * 8));
  slot = arith::AddIOp::create(b, slot, i32(getExchangeBarrierBytes(schedule)));
  auto stride = [&](unsigned k) {
    return words[k].getType().isInteger(64) ? 8 : 4;
  };
  auto pointer = [&](unsigned k, Value part) {
    Value bytes = arith::AddIOp::create(
        b, slot, arith::MulIOp::create(b, part, i32(stride(k))));
    return sharedPointer(arith::AddIOp::create(b, bytes, i32(k * parts * 8)));
  };
  Value part = warpOfRow;
  if (cluster > 1)
    part = arith::AddIOp::create(b, arith::MulIOp::create(b, rank, i32(warps)),
                                 warpOfRow);
  Value lane = laneId();
  auto onLane0 = [&](Value also, llvm::function_ref<void()> emit) {
    Value isLane0 =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, i32(0));
    auto ifOp = scf::IfOp::create(b, both(isLane0, also));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emit();
  };
  if (cluster == 1) {
    onLane0(Value(), [&] {
      for (auto [k, word] : llvm::enumerate(words))
        LLVM::StoreOp::create(b, word, pointer(k, part));
    });
    syncRowGroup(rowGroup);
  } else {
    unsigned bytes = 0;
    for (unsigned k = 0; k < words.size(); ++k)
      bytes += parts * stride(k);
    Value isFirstWarp =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warpOfRow, i32(0));
    onLane0(isFirstWarp, [&] {
      NVVM::MBarrierArriveExpectTxOp::create(
          b, /*res=*/Type(), exchangeBarrier(rowGroup, buffer), i32(bytes),
          NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    });
    // What the warp's lanes read of the exchange before is read by now: the
    // lanes that send let others write there next.
    NVVM::SyncWarpOp::create(b, i32(-1));
    sendRowSums(words, rowGroup, buffer,
                [&](unsigned k) { return pointer(k, part); });
    Value phase = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, step, i32(1)), i32(1));
    // As nvvm.mbarrier.try_wait.parity, but without its limit of time: a wait
    // here is short.
    createAsm(b, TypeRange(), {exchangeBarrier(rowGroup, buffer), phase},
              "{\n.reg .pred p;\nnf_wait:\n"
              "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
              "@p bra.uni nf_done;\nbra.uni nf_wait;\nnf_done:\n}",
              "r,r,~{memory}");
  }

  // Up to 16 parts are read by every lane; more are dealt over the lanes.
  for (auto [k, reduction] : llvm::enumerate(wave)) {
    RowReduceOp reduce = reduction;
    Type type = sums[k].getType(), wordType = words[k].getType();
    SmallVector<Value> values;
    if (parts <= 16) {
      unsigned batch = parts % 4 == 0 && stride(k) == 4 ? 4 : 1;
      for (unsigned p = 0; p < parts; p += batch) {
        Value loaded = LLVM::LoadOp::create(
            b, batch == 1 ? wordType : VectorType::get({batch}, wordType),
            pointer(k, i32(p)), batch == 1 ? stride(k) : 16);
        for (unsigned e = 0; e < batch; ++e)
          values.push_back(fromWord(
              batch == 1 ? loaded
                         : LLVM::ExtractElementOp::create(b, loaded, i32(e))
                               .getResult(),
              type));
      }
    } else {
      for (unsigned p = 0; p < parts; p += 32) {
        Value index = arith::AddIOp::create(b, lane, i32(p));
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                             index, i32(parts));
        Value loaded = LLVM::LoadOp::create(
            b, wordType, pointer(k, select(inside, index, i32(0))), stride(k));
        Value identity = arith::ConstantOp::create(
            b, getIdentity(reduce.getCombiner(), type));
        values.push_back(select(inside, fromWord(loaded, type), identity));
      }
    }
    Value total;
    for (Value value : values)
      total = total ? createCombine(b, b.getLoc(), reduce.getCombiner(), total,
                                    value, /*contract=*/true)
                    : value;
    sums[k] = total;
  }
  if (parts > 16)
    reduceLanes(wave, sums, 32);
}

/// Every block arrives by adding to one word; block 0 adds what makes the sum
/// of a round exactly 2^31, so the top bit flips when all have arrived: no
/// reset, whatever the grid of the next launch. (The scheme of CUDA's
/// cooperative groups.) All blocks must be resident.
void KernelEmitter::gridBarrier() {
  // All of the block's partial rows are written; where blocks take several
  // items, the barrier after the last one has said so.
  if (segmentDims.none())
    syncBlock();
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId(), i32(0));
  auto ifFirst = scf::IfOp::create(b, isFirst);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifFirst.thenBlock());
    Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
    Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
    Value isBlock0 =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, block, i32(0));
    Value top = i32(std::numeric_limits<int32_t>::min());
    Value rest =
        arith::SubIOp::create(b, top, arith::SubIOp::create(b, blocks, i32(1)));
    Value increment = select(isBlock0, rest, i32(1));
    // The block's partial rows are visible before its arrival is.
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, "device");
    Value old = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::add, arguments.workspace, increment,
        LLVM::AtomicOrdering::monotonic, "device", /*alignment=*/4);
    auto loop = scf::WhileOp::create(b, TypeRange(), ValueRange());
    Block *before = b.createBlock(&loop.getBefore());
    b.setInsertionPointToStart(before);
    Value now = LLVM::LoadOp::create(
        b, b.getI32Type(), arguments.workspace, /*alignment=*/4,
        /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::acquire, "device");
    Value flipped =
        arith::AndIOp::create(b, arith::XOrIOp::create(b, now, old), top);
    scf::ConditionOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, flipped, i32(0)),
        ValueRange());
    Block *after = b.createBlock(&loop.getAfter());
    b.setInsertionPointToStart(after);
    scf::YieldOp::create(b);
  }
  syncBlock();
}
