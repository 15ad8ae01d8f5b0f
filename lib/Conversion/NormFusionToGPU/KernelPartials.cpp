//===- KernelPartials.cpp - Partial rows in the workspace -----------------===//
//
// What an item leaves for the combination: one row of words an accumulator,
// [accumulator][item][column], each row padded to whole lines of the L2 cache,
// or of framed rows as a block's lanes hold them (arePartialsFramed()). With
// combine=tags the lowest bit of every f32 word is the parity of the launch, so
// that a reader sees by the word alone whether it is new: no barrier, no fence.
// That needs the same blocks to write the same words in every launch: the grid
// doesn't depend on the rows then.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::norm_fusion;

Type norm_fusion::getWordType(Type type) {
  bool wide = type.isIndex() || type.getIntOrFloatBitWidth() > 32;
  return IntegerType::get(type.getContext(), wide ? 64 : 32);
}

Value norm_fusion::createPitch(ImplicitLocOpBuilder &b, const Problem &problem,
                               ScheduleAttr schedule, Value columns) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, b.getIntegerAttr(columns.getType(), value));
  };
  if (arePartialsFramed(problem, schedule))
    return constant(int64_t(schedule.getCluster()) *
                    schedule.getBlockColumns());
  Value lines = b.createOrFold<arith::DivUIOp>(
      b.createOrFold<arith::AddIOp>(columns, constant(kPitchColumns - 1)),
      constant(kPitchColumns));
  return b.createOrFold<arith::MulIOp>(lines, constant(kPitchColumns));
}

int64_t norm_fusion::getWordBytes(PartialAccumulateOp accumulate) {
  return getBytes(getWordType(accumulate.getOperand().getType()));
}

int64_t norm_fusion::getWorkspaceColumnBytes(MixedReductionOp op) {
  int64_t bytes = 0;
  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  op.inferLevels(levels);
  for (auto accumulate : op.getBodyBlock()->getOps<PartialAccumulateOp>())
    if (levels[accumulate.getOperand()].anyCommon(op.getColumnDims()))
      bytes += getWordBytes(accumulate);
  return bytes;
}

int64_t norm_fusion::getWorkspaceScalarBytes(MixedReductionOp op) {
  int64_t bytes = 0;
  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  op.inferLevels(levels);
  for (auto accumulate : op.getBodyBlock()->getOps<PartialAccumulateOp>())
    if (!levels[accumulate.getOperand()].anyCommon(op.getColumnDims()))
      bytes += 8;
  return bytes;
}

/// Of a column's words, those of the accumulators before this one.
int64_t KernelEmitter::getBytesBefore(unsigned accumulator) {
  int64_t bytes = 0;
  for (unsigned a = 0; a < accumulator; ++a)
    bytes += getWordBytes(accumulations[a]);
  return bytes;
}

/// Of `accumulator`, or of another one whose words take as many bytes, with
/// `bytesBefore` (i64).
Value KernelEmitter::partialAddress(unsigned accumulator, Value item,
                                    Value column, Value bytesBefore) {
  Value items = mul(segmentCount, arguments.splits);
  Value plane = mul(items, pitch);
  if (!bytesBefore)
    bytesBefore = i64(getBytesBefore(accumulator));
  Value base = add(mul(plane, bytesBefore), i64(kWorkspaceHeaderBytes));
  Value element = add(mul(item, pitch), column);
  return byteAddress(
      arguments.workspace,
      add(base, mul(element, i64(getWordBytes(accumulations[accumulator])))));
}

/// Stores a scalar or vector of accumulators, tagged if the schedule says so,
/// to lines that stay in the L2 cache as those of storeRelaxed() do; not those
/// of the plain structure, whose partial rows may be of any size. Where
/// `condition` holds, if it isn't null, as it is in the plain structure.
void KernelEmitter::storePartial(unsigned accumulator, Value item, Value column,
                                 Value value, Value condition) {
  Value words = toWord(value);
  Value pointer = partialAddress(accumulator, item, column);
  auto type = dyn_cast<VectorType>(words.getType());
  int64_t bytes = getWordBytes(accumulations[accumulator]);
  int64_t size = bytes * (type ? type.getDimSize(0) : 1);
  if (schedule.getStructure() == Structure::plain) {
    assert(!condition && "expected a store of every thread");
    LLVM::StoreOp::create(b, words, pointer,
                          /*alignment=*/std::min<int64_t>(size, 16));
    return;
  }
  if (bytes == 8)
    words = LLVM::BitcastOp::create(
        b, VectorType::get({size / 4}, b.getI32Type()), words);
  if (schedule.getCombine() != Combine::tags)
    return storeWords("st.global", pointer, words, condition,
                      createEvictLastPolicy());
  words = arith::AndIOp::create(b, words, fill(i32(-2), words));
  words = arith::OrIOp::create(b, words, fill(parity, words));
  storeRelaxed(pointer, words, condition);
}

/// Stores eight accumulators of four bytes a lane, in two stores of a warp that
/// write whole sectors of 32 bytes: lanes 2i and 2i + 1 swap halves. (Of its
/// own eight, each lane's four would be half of a sector in either store.) Each
/// where its one of `conditions` holds, see getConditionsOfPair().
void KernelEmitter::storePartialByPairs(unsigned accumulator, Value item,
                                        Value column, Value value,
                                        std::pair<Value, Value> conditions) {
  Value isOdd = arith::TruncIOp::create(b, b.getI1Type(), laneId());
  auto half = VectorType::get({4}, getElementTypeOrSelf(value.getType()));
  Value first, second;
  SplatElementsAttr same; // both halves of all lanes, so nothing to swap
  if (matchPattern(value, m_Constant(&same))) {
    first = second = arith::ConstantOp::create(b, same.resizeSplat(half));
  } else {
    Value poison = LLVM::PoisonOp::create(b, value.getType());
    Value low = LLVM::ShuffleVectorOp::create(b, value, poison,
                                              ArrayRef<int32_t>{0, 1, 2, 3});
    Value high = LLVM::ShuffleVectorOp::create(b, value, poison,
                                               ArrayRef<int32_t>{4, 5, 6, 7});
    Value sent = select(isOdd, low, high);
    Value other = LLVM::PoisonOp::create(b, half);
    for (unsigned k = 0; k < 4; ++k)
      other = LLVM::InsertElementOp::create(
          b, other,
          shuffleXor(LLVM::ExtractElementOp::create(b, sent, i32(k)), 1),
          i32(k));
    first = select(isOdd, other, low);
    second = select(isOdd, high, other);
  }
  column = arith::SubIOp::create(b, column, select(isOdd, i64(4), i64(0)));
  storePartial(accumulator, item, column, first, conditions.first);
  storePartial(accumulator, item, add(column, i64(8)), second,
               conditions.second);
}

/// Whether the lane's two stores of storePartialByPairs() are of lanes whose
/// `mask` holds; null if `mask` is.
std::pair<Value, Value> KernelEmitter::getConditionsOfPair(Value mask) {
  if (!mask)
    return {};
  Value isOdd = arith::TruncIOp::create(b, b.getI1Type(), laneId());
  Value own = arith::ExtUIOp::create(b, b.getI32Type(), mask);
  Value other = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                      shuffleXor(own, 1), i32(0));
  return {select(isOdd, other, mask), select(isOdd, mask, other)};
}

/// The parity of this launch's tags. Words of a fresh workspace are zero, so
/// the first launch has parity 1.
void KernelEmitter::readLaunchCount() {
  static_assert(kPaceCountOffset == kLaunchCountOffset + 8 &&
                kPaceCountStride == 4);
  bool isPaced = schedule.getPace() != 0;
  Value words =
      loadRelaxed(byteAddress(arguments.workspace, i64(kLaunchCountOffset)),
                  isPaced ? 4 : 1);
  parity = arith::XOrIOp::create(
      b, arith::AndIOp::create(b, getWord(words, 0), i32(1)), i32(1));
  if (isPaced)
    paceBefore = select(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, parity, i32(0)),
        getWord(words, 3), getWord(words, 2));
}

/// How many blocks have begun before this one, i32, in thread 0: they count
/// round and round, launch after launch.
Value KernelEmitter::takeTicket() {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId(), i32(0));
  Value last = arith::TruncIOp::create(
      b, b.getI32Type(), arith::SubIOp::create(b, gridSize(), i64(1)));
  // A predicate, not a branch behind which it would be waited for.
  return createAsm(
      b, b.getI32Type(),
      {byteAddress(arguments.workspace, i64(kTicketOffset)), last,
       arith::ExtUIOp::create(b, b.getI32Type(), isFirst)},
      "{\n.reg .pred p;\nsetp.ne.b32 p, $3, 0;\nmov.b32 $0, 0;\n@p "
      "atom.relaxed.gpu.global.inc.u32 $0, [$1], $2;\n}",
      "=&r,l,r,r,~{memory}");
}

/// Leaves it to the block, before what lies at sumsOffset.
void KernelEmitter::keepTicket(Value ticket) {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, threadId(), i32(0));
  guarded(isFirst, [&] {
    LLVM::StoreOp::create(b, ticket, sharedPointer(i64(exchangeBytes)), 4);
  });
}

/// True in the block that waits for all others and keeps the launch's state:
/// the first one; of tiles, whose launch isn't cooperative, the last one to
/// begin: the others run by then, or are done, and wait for none.
Value KernelEmitter::isKeeper() {
  if (schedule.getStructure() != Structure::tile)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, blockId(),
                                 i64(0));
  Value ticket = LLVM::LoadOp::create(b, b.getI32Type(),
                                      sharedPointer(i64(exchangeBytes)), 4);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, toI64(ticket),
                               arith::SubIOp::create(b, gridSize(), i64(1)));
}

/// Runs `store` in the one thread that keeps the launch's state.
void KernelEmitter::inKeeperThread(llvm::function_ref<void()> store) {
  // (Kept, it makes LayerNorm of 8192 columns spill 4 bytes; read again, f32
  // rows of one block.)
  Value thread = schedule.getCluster() > 1 ? readAgain("tid.x") : threadId();
  guarded(
      both(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, i32(0)),
           isKeeper()),
      store);
}

/// One block counts the launch. Its own columns, or the words of all blocks,
/// are merged by then: so every block has written its partials, and before that
/// read the count.
void KernelEmitter::countLaunch(Value count) {
  inKeeperThread([&] {
    storeRelaxed(byteAddress(arguments.workspace, i64(kLaunchCountOffset)),
                 count);
  });
}

/// The identity of an accumulator: a vector of it, if `width` is more than one.
Value KernelEmitter::createIdentity(unsigned accumulator, unsigned width) {
  PartialAccumulateOp accumulate = accumulations[accumulator];
  Type type = accumulate.getOperand().getType();
  TypedAttr identity = getIdentity(accumulate.getCombiner(), type);
  if (width > 1)
    identity = DenseElementsAttr::get(VectorType::get({width}, type),
                                      Attribute(identity));
  return arith::ConstantOp::create(b, identity);
}

/// What a thread's partial sums start from, [accumulator][view].
SmallVector<Value>
KernelEmitter::getColumnIdentities(ArrayRef<ColumnView> views) {
  SmallVector<Value> identities;
  for (unsigned a = 0; a < accumulations.size(); ++a)
    for (const ColumnView &view : views)
      identities.push_back(createIdentity(a, view.width));
  return identities;
}

/// Adds the row at hand, in its `c`-th view, to the partial sums of phase `p`.
void KernelEmitter::addPartials(unsigned p, unsigned c, ColumnView &view,
                                MutableArrayRef<Value> accumulators) {
  for (auto [a, partial] : llvm::enumerate(accumulations)) {
    if (phase(partial.getOperand()) != p)
      continue;
    unsigned views = accumulators.size() / accumulations.size();
    Value &sum = accumulators[a * views + c];
    Value next = createCombine(b, b.getLoc(), partial.getCombiner(), sum,
                               evaluate(partial.getOperand(), view),
                               /*contract=*/true);
    // The sums of columns that don't exist are never read.
    sum = select(rowExists, next, sum);
  }
}

/// True if a branch, that only a walk's last step takes, leaves out what a row
/// that doesn't exist would add, and not a selection a sum. Where a lane has
/// few sums these become predicates, and so may its framed stores. (H200, us,
/// 600 MB: LayerNorm 129 columns 156.5, else 168.0, 257 151.7 and 167.5;
/// RMSNorm 129 152.0, else 150.3, 99 155.0 and 153.9.)
bool KernelEmitter::branchesOverMissingRows() {
  return rowExists && accumulations.size() > 1;
}

/// What addPartials() adds of a row's views, behind one branch.
void KernelEmitter::addPartialsIfExists(unsigned p,
                                        MutableArrayRef<ColumnView> views,
                                        MutableArrayRef<Value> accumulators) {
  auto isOfPhase = [&](PartialAccumulateOp partial) {
    return phase(partial.getOperand()) == p;
  };
  if (llvm::none_of(accumulations, isOfPhase))
    return;
  for (ColumnView &view : views)
    for (PartialAccumulateOp partial : accumulations)
      if (isOfPhase(partial))
        evaluate(partial.getOperand(), view);
  auto ifExists = scf::IfOp::create(b, ValueRange(accumulators).getTypes(),
                                    rowExists, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifExists.elseBlock());
  scf::YieldOp::create(b, ValueRange(accumulators));
  b.setInsertionPointToStart(ifExists.thenBlock());
  llvm::SaveAndRestore exists(rowExists, Value());
  for (auto [c, view] : llvm::enumerate(views))
    addPartials(p, c, view, accumulators);
  scf::YieldOp::create(b, ValueRange(accumulators));
  llvm::copy(ifExists.getResults(), accumulators.begin());
}

void KernelEmitter::writePartials(Value item,
                                  MutableArrayRef<Value> accumulators,
                                  const Ring &ring) {
  if (accumulations.empty())
    return;
  ArrayRef<ColumnView> views = ring.views;
  unsigned groups = schedule.getRowGroups(), chunks = schedule.getChunks();
  unsigned width = schedule.getVector(), lanes = schedule.getLanes();
  // Rows side by side in a warp are added first; the first lanes write.
  Value writes;
  if (lanes < 32 && !framed) {
    for (unsigned a = 0; a < accumulations.size(); ++a)
      for (unsigned c = 0; c < chunks; ++c) {
        Value &vector = accumulators[a * chunks + c];
        SmallVector<Value> elements;
        for (unsigned e = 0; e < width; ++e) {
          Value value =
              width == 1 ? vector
                         : vector::ExtractOp::create(b, vector, e).getResult();
          for (unsigned distance = lanes; distance < 32; distance *= 2)
            value = createCombine(b, b.getLoc(), accumulations[a].getCombiner(),
                                  value, shuffleXor(value, distance),
                                  /*contract=*/true);
          elements.push_back(value);
        }
        vector = width == 1
                     ? elements[0]
                     : vector::FromElementsOp::create(
                           b, cast<VectorType>(vector.getType()), elements);
      }
    writes = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, laneId(),
                                   i32(lanes));
  }
  if (groups == 1 && !framed) {
    for (unsigned a = 0; a < accumulations.size(); ++a)
      for (unsigned c = 0; c < chunks; ++c) {
        Value sums = accumulators[a * chunks + c];
        Value stores = both(views[c].mask, writes);
        if (!stores && width == 8 && getWordBytes(accumulations[a]) == 4)
          storePartialByPairs(a, item, views[c].column, sums);
        else
          guarded(stores,
                  [&] { storePartial(a, item, views[c].column, sums); });
      }
    return;
  }

  if (arePartialsFramed(problem, schedule))
    return writeFramedPartials(item, accumulators, ring);

  int64_t columns = getSetColumns(problem, schedule);
  int64_t owned = getOwnedColumns(problem, schedule);
  Value firstColumn = i64(0);
  if (schedule.getCluster() > 1)
    firstColumn = mul(toI64(rank), i64(owned));
  unsigned step = columns % 4 == 0 && !framed ? 4 : 1; // columns of a thread
  bool oneByOne = schedule.getAhead() != 0;
  Value mine = arith::MinSIOp::create(
      b, arith::SubIOp::create(b, columnCount, firstColumn), i64(owned));
  auto addSets = [&](unsigned a, int64_t base) {
    Type type = accumulations[a].getOperand().getType();
    int64_t bytes = getWordBytes(accumulations[a]);
    Type word = getWordType(type);
    // While the first warps add the first accumulator's, the next ones add the
    // second one's.
    Value thread = threadId();
    int64_t before = a * llvm::alignTo(llvm::divideCeil(owned, step), 32);
    if (!oneByOne && a > 0 && before < threads)
      thread = arith::RemUIOp::create(
          b, arith::AddIOp::create(b, thread, i32(threads - before)),
          i32(threads));
    auto loop = scf::ForOp::create(b, mul(toI64(thread), i64(step)), mine,
                                   i64(threads * step), ValueRange());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar();
    SmallVector<Value> sums(step);
    if (framed)
      sums[0] = addFramedSets(ring, column, base, a);
    for (unsigned g = 0; !framed && g < groups; ++g) {
      Value at = add(mul(column, i64(bytes)), i64(base + g * columns * bytes));
      Value part = LLVM::LoadOp::create(
          b, step == 1 ? word : Type(VectorType::get({step}, word)),
          sharedPointer(at), std::min<int64_t>(bytes * step, 16));
      for (unsigned e = 0; e < step; ++e) {
        Value value = fromWord(getWord(part, e), type);
        sums[e] = sums[e] ? createCombine(b, b.getLoc(),
                                          accumulations[a].getCombiner(),
                                          sums[e], value, /*contract=*/true)
                          : value;
      }
    }
    Value total = sums[0];
    if (step > 1)
      total = vector::FromElementsOp::create(b, VectorType::get({step}, type),
                                             sums);
    storePartial(a, item, add(column, firstColumn), total);
  };

  // [accumulator][rowGroup][column that the block holds], behind the ring, or
  // in its bytes once all slots are read. (Every copy was waited for by its
  // reader.) A step ahead of that one accumulator after the other.
  unsigned count = accumulations.size();
  for (unsigned a = 0; a < count; ++a) {
    // The scalars' were in the same place.
    if (a == 0 ? !scalars.empty() || !areSumsBehindRing(problem, schedule)
               : oneByOne)
      syncBlock();
    int64_t base = getSumsStart(oneByOne ? 0 : a, sumsOffset);
    storeSums(ring, a, accumulators, writes, base);
    if (oneByOne) {
      syncBlock();
      addSets(a, base);
    }
  }
  if (oneByOne)
    return;
  syncBlock();
  for (unsigned a = 0; a < count; ++a)
    addSets(a, getSumsStart(a, sumsOffset));
}

/// Where a block's sums begin in a framed partial row, columns, i64.
Value KernelEmitter::getFirstOfFramedPartials() {
  return schedule.getCluster() > 1
             ? mul(toI64(rank), i64(schedule.getBlockColumns()))
             : i64(0);
}

/// Stores a block's sums as they lie in its lanes' frames: in aligned vectors,
/// and without a way through shared memory (arePartialsFramed()).
void KernelEmitter::writeFramedPartials(Value item, ArrayRef<Value> sums,
                                        const Ring &ring) {
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  Value first = getFirstOfFramedPartials();
  // Opaque, as in writeEarly(). (From the views' columns, or the thread's index
  // read again, bf16 LayerNorm takes 0.3 to 1.9 us more of 52 to 54.)
  Value ofLane = add(first, toI64(createOpaque(b, ring.ofFrame)));
  Value toFrame; // from a column of the op
  if (haveEnds(problem, schedule))
    toFrame = add(arith::SubIOp::create(b, first, ring.firstOfBlock),
                  toI64(getShift(getRow(ring, i32(0), 0))));
  SmallVector<std::pair<Value, Value>> conditions;
  for (const ColumnView &view : ArrayRef(ring.views).take_front(chunks))
    conditions.push_back(getConditionsOfPair(view.mask));
  for (unsigned a = 0; a < accumulations.size(); ++a)
    for (auto [c, view] : llvm::enumerate(ring.views)) {
      Value sum = sums[a * ring.views.size() + c];
      Value column = c == chunks ? add(view.column, toFrame)
                                 : add(ofLane, i64(c * 32 * width));
      if (c < chunks && width == 8 && getWordBytes(accumulations[a]) == 4)
        storePartialByPairs(a, item, column, sum, conditions[c]);
      else
        storePartial(a, item, column, sum, view.mask);
    }
}

/// Stores what a block without rows has, identities, as writeFramedPartials()
/// would: one short loop.
void KernelEmitter::writeFramedIdentities(Value item) {
  Value first = getFirstOfFramedPartials();
  for (unsigned a = 0; a < accumulations.size(); ++a) {
    int64_t width = 16 / getWordBytes(accumulations[a]);
    Value identity = createIdentity(a, width);
    // Opaque, lest it is unrolled.
    auto loop = scf::ForOp::create(
        b, mul(toI64(threadId()), i64(width)),
        createOpaque(b, i64(schedule.getBlockColumns())), i64(threads * width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    storePartial(a, item, add(first, loop.getInductionVar()), identity);
  }
}

/// Where accumulator `a`'s begin of a block's sums of all accumulators from
/// `base` on. Framed rows begin somewhere in what their lanes hold, so that
/// each of those side by side in a warp has a set as a row group of its own.
int64_t KernelEmitter::getSumsStart(unsigned a, int64_t base) {
  int64_t sets =
      schedule.getRowGroups() * (framed ? schedule.getRowsAWarp() : 1);
  for (PartialAccumulateOp before : ArrayRef(accumulations).take_front(a))
    base += sets * getSetColumns(problem, schedule) * getWordBytes(before);
  return base;
}

/// Leaves a row group's sums of accumulator `a`, [accumulator][view], in shared
/// memory from `base` on, [set][column that the block holds], if `writes`.
void KernelEmitter::storeSums(const Ring &ring, unsigned a,
                              ArrayRef<Value> sums, Value writes,
                              int64_t base) {
  ArrayRef<ColumnView> views = ring.views;
  int64_t bytes = getWordBytes(accumulations[a]);
  int64_t columns = getSetColumns(problem, schedule);
  Value set = toI64(ring.part.rowGroup), firstColumn = i64(0), shift;
  if (schedule.getCluster() > 1)
    firstColumn = mul(toI64(rank), i64(getOwnedColumns(problem, schedule)));
  if (framed) {
    // Of one shift computed again, not kept over the loop.
    shift =
        toI64(ring.firstSteps ? ring.shift : getShift(getRow(ring, i32(0), 0)));
    if (ring.rowOfLane)
      set = add(mul(set, i64(schedule.getRowsAWarp())), toI64(ring.rowOfLane));
  }
  for (unsigned c = 0; c < views.size(); ++c)
    guarded(framed ? views[c].mask : writes, [&] {
      Value column =
          add(mul(set, i64(columns)),
              arith::SubIOp::create(b, views[c].column, firstColumn));
      if (framed)
        column = add(column, shift);
      LLVM::StoreOp::create(
          b, toWord(sums[a * views.size() + c]),
          sharedPointer(add(mul(column, i64(bytes)), i64(base))),
          /*alignment=*/std::min<int64_t>(bytes * views[c].width, 16));
    });
}

unsigned KernelEmitter::getPartialsPhase() {
  unsigned last = 0;
  for (PartialAccumulateOp partial : accumulations)
    last = std::max(last, phase(partial.getOperand()));
  for (const ScalarAccumulation &scalar : scalars) {
    PartialAccumulateOp partial = scalar.op;
    last = std::max(last, phase(partial.getOperand()));
  }
  return last;
}

/// `partials`: of the scalars, then of the columns.
void KernelEmitter::write(Value item, Ring &ring, ValueRange partials) {
  writeScalars(item, SmallVector<Value>(partials.take_front(scalars.size())));
  SmallVector<Value> accumulators(partials.drop_front(scalars.size()));
  writePartials(item, accumulators, ring);
}

/// Writes within the ring's loop, in the last step of each row group. So that
/// this takes no registers of the other steps, addresses start from opaque
/// values, for they would be computed before the loop, and `partials` become
/// `identities`.
void KernelEmitter::writeEarly(Value isLast, Value item, Ring &ring,
                               ValueRange identities,
                               MutableArrayRef<Value> partials) {
  isLast =
      LLVM::ExpectOp::create(b, isLast, arith::ConstantIntOp::create(b, 0, 1));
  auto ifLast = scf::IfOp::create(b, ValueRange(partials).getTypes(), isLast,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifLast.elseBlock());
  scf::YieldOp::create(b, ValueRange(partials));
  b.setInsertionPointToStart(ifLast.thenBlock());
  llvm::SaveAndRestore savedPitch(pitch, createOpaque(b, pitch));
  llvm::SaveAndRestore savedSplits(arguments.splits,
                                   createOpaque(b, arguments.splits));
  llvm::SaveAndRestore savedViews(ring.views);
  for (ColumnView &view : ring.views)
    view.column = createOpaque(b, view.column);
  if (hasOneItem())
    item = toI64(arith::DivUIOp::create(b, readAgain("ctaid.x"),
                                        i32(schedule.getCluster())));
  else
    item = createOpaque(b, item);
  llvm::SaveAndRestore savedFirstRow(
      ring.firstRow, hasOneItem() ? item : createOpaque(b, ring.firstRow));
  llvm::SaveAndRestore savedFirst(
      ring.first, add(toI32(ring.firstRow),
                      mul(ring.part.rowGroup, toI32(arguments.splits))));
  write(item, ring, partials);
  scf::YieldOp::create(b, identities);
  llvm::copy(ifLast.getResults(), partials.begin());
}
