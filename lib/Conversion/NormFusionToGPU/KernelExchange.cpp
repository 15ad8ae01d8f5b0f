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

/// Pairwise, so that few wait for each other.
Value KernelEmitter::addChains(ArrayRef<Value> chains, Combiner combiner) {
  if (chains.size() == 1)
    return chains.front();
  size_t half = llvm::bit_ceil(chains.size()) / 2;
  Value first = addChains(chains.take_front(half), combiner);
  Value second = addChains(chains.drop_front(half), combiner);
  return createCombine(b, b.getLoc(), combiner, first, second,
                       /*contract=*/true);
}

/// Adds a view's elements of a row reduction to its chains.
void KernelEmitter::addView(SmallVectorImpl<Value> &chains, RowReduceOp reduce,
                            ColumnView &view) {
  Value value = evaluate(reduce.getOperand(), view);
  if (!view.mask)
    return addElements(chains, value, reduce.getCombiner());
  if (!view.elementMasks.empty())
    return addElements(chains, masked(value, view, reduce.getCombiner()),
                       reduce.getCombiner());
  SmallVector<Value> ofView;
  addElements(ofView, value, reduce.getCombiner());
  addElements(chains,
              masked(addChains(ofView, reduce.getCombiner()), view,
                     reduce.getCombiner()),
              reduce.getCombiner());
}

/// The lane's sums of each reduction over its views.
SmallVector<Value> KernelEmitter::addViews(ArrayRef<RowReduceOp> wave,
                                           MutableArrayRef<ColumnView> views) {
  SmallVector<Value> sums;
  for (RowReduceOp reduce : wave) {
    SmallVector<Value> chains;
    for (ColumnView &view : views)
      addView(chains, reduce, view);
    sums.push_back(addChains(chains, reduce.getCombiner()));
  }
  return sums;
}

/// The kind of redux.sync that reduces values of `type` over a warp. That of a
/// float's maximum or minimum is an integer's, of what swapOrdered() gives.
static std::optional<NVVM::ReduxKind> getReduxKind(Combiner combiner,
                                                   Type type) {
  if (type.isF32()) {
    if (combiner == Combiner::maximum)
      return NVVM::ReduxKind::MAX;
    if (combiner == Combiner::minimum)
      return NVVM::ReduxKind::MIN;
    return std::nullopt;
  }
  if (!type.isInteger(32))
    return std::nullopt;
  switch (combiner) {
  case Combiner::add:
    return NVVM::ReduxKind::ADD;
  case Combiner::maxs:
    return NVVM::ReduxKind::MAX;
  case Combiner::mins:
    return NVVM::ReduxKind::MIN;
  case Combiner::maxu:
    return NVVM::ReduxKind::UMAX;
  case Combiner::minu:
    return NVVM::ReduxKind::UMIN;
  case Combiner::andi:
    return NVVM::ReduxKind::AND;
  case Combiner::ori:
    return NVVM::ReduxKind::OR;
  case Combiner::xori:
    return NVVM::ReduxKind::XOR;
  default:
    return std::nullopt;
  }
}

Value KernelEmitter::swapOrdered(Value bits) {
  Value sign = arith::ShRSIOp::create(b, bits, i32(31));
  Value flips =
      arith::AndIOp::create(b, sign, i32(std::numeric_limits<int32_t>::max()));
  return arith::XOrIOp::create(b, bits, flips);
}

Value KernelEmitter::reduceWarp(Value value, NVVM::ReduxKind kind) {
  Type type = value.getType(), word = b.getI32Type();
  if (type.isF32()) {
    // Both extremes are NaNs' bits: a NaN wins.
    Value extreme =
        i32(kind == NVVM::ReduxKind::MAX ? std::numeric_limits<int32_t>::max()
                                         : std::numeric_limits<int32_t>::min());
    Value isNaN =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
    value = select(isNaN, extreme,
                   swapOrdered(arith::BitcastOp::create(b, word, value)));
  }
  value = NVVM::ReduxOp::create(b, word, value, kind, i32(-1));
  if (type.isF32())
    value = arith::BitcastOp::create(b, type, swapOrdered(value));
  return value;
}

/// Over a whole warp by redux.sync, where it knows the combiner, else by
/// butterflies. Two values that combine alike share one: the upper half of
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
    if (auto kind = getReduxKind(RowReduceOp(wave[k]).getCombiner(),
                                 values[k].getType());
        kind && lanes == 32) {
      values[k] = reduceWarp(values[k], *kind);
      continue;
    }
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

/// `element`, or as many of them as `value` is a vector of.
static Type shapeLike(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.clone(element)) : element;
}

Value KernelEmitter::toWord(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  auto shaped = [&](Type element) { return shapeLike(value, element); };
  if (type.isIndex())
    return arith::IndexCastOp::create(b, shaped(b.getI64Type()), value);
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(
        b, shaped(b.getIntegerType(type.getIntOrFloatBitWidth())), value);
  return b.createOrFold<arith::ExtUIOp>(shaped(getWordType(type)), value);
}

/// A scalar of `type` from its word, or a vector of them from theirs.
Value KernelEmitter::fromWord(Value word, Type type) {
  auto shaped = [&](Type element) { return shapeLike(word, element); };
  if (word.getType() == shaped(type))
    return word;
  if (type.isIndex())
    return arith::IndexCastOp::create(b, shaped(type), word);
  Type integer = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (word.getType() != shaped(integer))
    word = arith::TruncIOp::create(b, shaped(integer), word);
  return integer == type
             ? word
             : arith::BitcastOp::create(b, shaped(type), word).getResult();
}

/// Barrier 0, of all threads of the block.
void KernelEmitter::syncBlock() { NVVM::BarrierOp::create(b); }

/// One mbarrier a row group and buffer of the exchange, first in shared memory.
Value KernelEmitter::exchangeBarrier(Value rowGroup, Value buffer) {
  Value index = arith::AddIOp::create(
      b, arith::MulIOp::create(b, rowGroup, i32(getExchangeBuffers(schedule))),
      buffer);
  return sharedPointer(arith::MulIOp::create(b, index, i32(8)));
}

/// nvvm.mbarrier.test_wait.parity in a loop, or, on sm_90, try_wait, which
/// suspends a warp that waits.
void KernelEmitter::awaitBarrier(Value barrier, Value parity, bool suspends) {
  createAsm(b, TypeRange(), {barrier, parity},
            std::string("{\n.reg .pred p;\nnf_wait:\nmbarrier.") +
                (suspends ? "try" : "test") +
                "_wait.parity.shared::cta.b64 p, [$0], $1;\n"
                "@p bra.uni nf_done;\nbra.uni nf_wait;\nnf_done:\n}",
            "r,r,~{memory}");
}

/// Initialises the exchange's mbarriers. In a block every lane of the row's
/// warps arrives, in a cluster the bytes that they send do. awaitExchange()
/// must come before the first exchange, and as much as possible between the
/// two: the blocks of a cluster begin up to a microsecond apart.
void KernelEmitter::initExchange() {
  if (getExchangeBarrierBytes(schedule) == 0)
    return;
  bool clustered = schedule.getCluster() > 1;
  auto ifFirst =
      scf::IfOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                 threadId(), i32(0)));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifFirst.thenBlock());
    for (unsigned k = 0;
         k < getExchangeBuffers(schedule) * schedule.getRowGroups(); ++k)
      NVVM::MBarrierInitOp::create(
          b, sharedPointer(i32(k * 8)),
          i32(clustered ? 1 : 32 * schedule.getWarps()),
          /*predicate=*/Value());
    if (clustered)
      NVVM::FenceMbarrierInitOp::create(b);
  }
  // The fence publishes all that there is: a release would wait for the device.
  if (clustered)
    NVVM::ClusterArriveRelaxedOp::create(b, b.getUnitAttr());
}

/// Waits until all blocks of the cluster know the mbarriers to be initialised.
void KernelEmitter::awaitExchange() {
  if (getExchangeBarrierBytes(schedule) == 0)
    return;
  if (schedule.getCluster() == 1)
    return syncBlock();
  NVVM::ClusterWaitOp::create(b, b.getUnitAttr());
}

SmallVector<Value> KernelEmitter::splitWord(Value word) {
  if (word.getType().isInteger(32))
    return {word};
  auto pair = VectorType::get({2}, b.getI32Type());
  Value halves = LLVM::BitcastOp::create(b, pair, word);
  return {LLVM::ExtractElementOp::create(b, halves, i32(0)),
          LLVM::ExtractElementOp::create(b, halves, i32(1))};
}

Value KernelEmitter::joinWord(ArrayRef<Value> parts) {
  if (parts.size() == 1)
    return parts[0];
  Value halves =
      LLVM::PoisonOp::create(b, VectorType::get({2}, b.getI32Type()));
  for (auto [k, part] : llvm::enumerate(parts))
    halves = LLVM::InsertElementOp::create(b, halves, part, i32(k));
  return LLVM::BitcastOp::create(b, b.getI64Type(), halves);
}

/// Words that a warp sends where its sums have `words`: more than two are
/// stored and loaded 16 bytes at once.
static unsigned padWords(unsigned words) {
  return words > 2 ? llvm::alignTo(words, 4) : words;
}

/// The 32-bit words of `sums`, padded to 1, 2 or a multiple of 4.
SmallVector<Value> KernelEmitter::packSums(ArrayRef<Value> sums) {
  SmallVector<Value> words;
  for (Value sum : sums)
    llvm::append_range(words, splitWord(toWord(sum)));
  words.resize(padWords(words.size()), i32(0));
  return words;
}

/// Sends this warp's words to every block of the cluster: lane r stores them at
/// rank r, and the bytes' arrival counts at that block's barrier.
void KernelEmitter::sendRowSums(ArrayRef<Value> words, Value target,
                                Value barrier) {
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
  unsigned batch = std::min<unsigned>(words.size(), 4);
  Value remote = address(target), remoteBarrier = address(barrier);
  for (unsigned at = 0; at < words.size(); at += batch) {
    SmallVector<Value> operands{arith::AddIOp::create(b, remote, i32(4 * at))};
    llvm::append_range(operands, words.slice(at, batch));
    operands.push_back(remoteBarrier);
    std::string constraints = "r";
    for (unsigned k = 0; k <= batch; ++k)
      constraints += ",r";
    createAsm(b, TypeRange(), operands,
              "st.async.shared::cluster.mbarrier::complete_tx::bytes" +
                  getVectorSuffix(batch) + " [$0], " +
                  listAsmOperands(1, batch) + ", [$" +
                  std::to_string(batch + 1) + "];",
              constraints + ",~{memory}");
  }
}

/// [buffer][rowGroup][part][word]: where the sums of the row group begin, i32.
Value KernelEmitter::exchangeSlot(Value rowGroup, Value buffer) {
  unsigned parts = schedule.getCluster() * schedule.getWarps();
  Value slot = arith::AddIOp::create(
      b, arith::MulIOp::create(b, buffer, i32(schedule.getRowGroups())),
      rowGroup);
  slot = arith::MulIOp::create(b, slot,
                               i32(parts * getPartBytes(problem, schedule)));
  return arith::AddIOp::create(b, slot, i32(getExchangeBarrierBytes(schedule)));
}

void KernelEmitter::sendSums(ArrayRef<RowReduceOp> wave,
                             SmallVectorImpl<Value> &sums, Value rowGroup,
                             Value warpOfRow, Value step, bool isSynced) {
  reduceLanes(wave, sums, schedule.getLanes());
  unsigned cluster = schedule.getCluster(), warps = schedule.getWarps();
  unsigned parts = cluster * warps;
  if (parts == 1)
    return;
  SmallVector<Value> words = packSums(sums);
  unsigned size = words.size();
  Value buffer =
      arith::AndIOp::create(b, step, i32(getExchangeBuffers(schedule) - 1));
  Value part = warpOfRow;
  if (cluster > 1)
    part = arith::AddIOp::create(b, arith::MulIOp::create(b, rank, i32(warps)),
                                 warpOfRow);
  Value target = sharedPointer(
      arith::AddIOp::create(b, exchangeSlot(rowGroup, buffer),
                            arith::MulIOp::create(b, part, i32(size * 4))));
  Value barrier = exchangeBarrier(rowGroup, buffer);
  Value isLane0 =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, laneId(), i32(0));
  if (cluster > 1) {
    Value isFirstWarp =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, warpOfRow, i32(0));
    guarded(both(isLane0, isFirstWarp), [&] {
      NVVM::MBarrierArriveExpectTxOp::create(
          b, /*res=*/Type(), barrier, i32(parts * size * 4),
          NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    });
  }
  // What the warp's lanes read of the exchange before is read by now: the lanes
  // that send let others write there next. In a block each lane arrives for
  // itself, and this only keeps ptxas from moving much behind the exchange.
  if (!isSynced) {
    auto sync = NVVM::SyncWarpOp::create(b, i32(-1));
    if (cluster == 1)
      sync->setAttr("norm_fusion.scheduling", b.getUnitAttr());
  }
  if (cluster > 1) {
    sendRowSums(words, target, barrier);
  } else {
    guarded(isLane0, [&] {
      unsigned batch = std::min(size, 4u);
      for (unsigned at = 0; at < size; at += batch) {
        Value stored =
            LLVM::PoisonOp::create(b, VectorType::get({batch}, b.getI32Type()));
        for (unsigned k = 0; k < batch; ++k)
          stored =
              LLVM::InsertElementOp::create(b, stored, words[at + k], i32(k));
        LLVM::StoreOp::create(b, stored, byteAddress(target, i32(at * 4)),
                              batch * 4);
      }
    });
    // Each lane for what it has read of the exchange before. (Lane 0 could for
    // its warp, at the same cost, but racecheck doesn't see that order.)
    NVVM::MBarrierArriveOp::create(b, /*res=*/Type(), barrier,
                                   /*count=*/Value());
  }
}

SmallVector<Value> KernelEmitter::receiveSums(ArrayRef<RowReduceOp> wave,
                                              Value rowGroup, Value step) {
  unsigned cluster = schedule.getCluster(), warps = schedule.getWarps();
  unsigned parts = cluster * warps, buffers = getExchangeBuffers(schedule);
  unsigned size = 0;
  for (RowReduceOp reduce : wave)
    size += getWordType(reduce.getType()).isInteger(64) ? 2 : 1;
  size = padWords(size);
  Value buffer = arith::AndIOp::create(b, step, i32(buffers - 1));
  Value slot = exchangeSlot(rowGroup, buffer);
  Value lane = laneId();
  // Blocks of a cluster are on sm_90.
  Value phase = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, step, i32(llvm::Log2_32(buffers))), i32(1));
  awaitBarrier(exchangeBarrier(rowGroup, buffer), phase,
               /*suspends=*/cluster > 1);
  // `count` words from word `first` on, as wide as they divide.
  bool areFloats = llvm::all_of(
      wave, [](RowReduceOp reduce) { return reduce.getType().isF32(); });
  Type word = areFloats ? Type(b.getF32Type()) : b.getI32Type();
  auto load = [&](Value first, unsigned count) {
    unsigned batch = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
    SmallVector<Value> all;
    for (unsigned at = 0; at < count; at += batch) {
      Value loaded = LLVM::LoadOp::create(
          b, VectorType::get({batch}, word),
          sharedPointer(add(slot, mul(add(first, i32(at)), i32(4)))),
          batch * 4);
      for (unsigned k = 0; k < batch; ++k)
        all.push_back(LLVM::ExtractElementOp::create(b, loaded, i32(k)));
    }
    return all;
  };
  // Up to 16 parts are read by every lane; more are dealt over the lanes.
  auto unpack = [&](llvm::function_ref<Value(unsigned)> word) {
    SmallVector<Value> values;
    unsigned next = 0;
    for (RowReduceOp reduce : wave) {
      SmallVector<Value> parts{word(next++)};
      if (getWordType(reduce.getType()).isInteger(64))
        parts.push_back(word(next++));
      values.push_back(fromWord(joinWord(parts), reduce.getType()));
    }
    return values;
  };
  SmallVector<SmallVector<Value>> chains(wave.size());
  auto addPart = [&](ArrayRef<Value> values) {
    for (auto [chain, value] : llvm::zip(chains, values))
      chain.push_back(value);
  };
  if (parts <= 16) {
    SmallVector<Value> all = load(i32(0), parts * size);
    for (unsigned p = 0; p < parts; ++p)
      addPart(unpack([&](unsigned word) { return all[p * size + word]; }));
  } else {
    for (unsigned p = 0; p < parts; p += 32) {
      Value index = arith::AddIOp::create(b, lane, i32(p));
      Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                                           i32(parts));
      Value first =
          arith::MulIOp::create(b, select(inside, index, i32(0)), i32(size));
      SmallVector<Value> all = load(first, size);
      SmallVector<Value> values =
          unpack([&](unsigned word) { return all[word]; });
      for (auto [value, reduce] : llvm::zip(values, wave))
        value = select(inside, value,
                       arith::ConstantOp::create(
                           b, getIdentity(RowReduceOp(reduce).getCombiner(),
                                          value.getType())));
      addPart(values);
    }
  }
  SmallVector<Value> sums;
  for (auto [chain, reduce] : llvm::zip(chains, wave))
    sums.push_back(addChains(chain, RowReduceOp(reduce).getCombiner()));
  if (parts > 16)
    reduceLanes(wave, sums, 32);
  return sums;
}

void KernelEmitter::exchangeRowSums(ArrayRef<RowReduceOp> wave,
                                    SmallVectorImpl<Value> &sums,
                                    Value rowGroup, Value warpOfRow, Value step,
                                    llvm::function_ref<void()> whileSent,
                                    bool isSynced) {
  sendSums(wave, sums, rowGroup, warpOfRow, step, isSynced);
  whileSent();
  if (schedule.getCluster() * schedule.getWarps() > 1)
    sums = receiveSums(wave, rowGroup, step);
}

/// Every block arrives by adding to one word; block 0 adds what makes the sum
/// of a round exactly 2^31, so the top bit flips when all have arrived: no
/// reset, whatever the grid of the next launch. (The scheme of CUDA's
/// cooperative groups.) All blocks must be resident.
void KernelEmitter::gridBarrier() {
  // All of the block's partial rows are written; where blocks take several
  // items, the barrier after the last one has said so. Reductions of everything
  // are written by the thread that arrives.
  if (segmentDims.none() && !accumulations.empty())
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
