//===- KernelRing.cpp - Rows in registers, streamed through shared memory -===//
//
// A row group of `warps` warps holds one row: lane l of warp w owns, for each
// of its `chunks`, the `vector` consecutive columns from
// ((w * chunks + c) * 32 + l) * vector on. Rows come through a ring that is
// private to each lane: it copies and reads only its own bytes, so the ring
// needs no barrier. `slots` rows are in flight; one slot more lets the copies of
// the next row start before this one is read. Column accumulators stay in
// registers over all rows.
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

namespace {
/// An input that is streamed: where its lanes' bytes lie in a slot. An input of
/// the row level comes along with its row: each lane copies the one value.
struct Stream {
  unsigned input;
  unsigned bytes;      ///< of a lane's vector
  unsigned slotOffset; ///< of the input in a warp's slot, bytes
  bool isRow;
};
} // namespace

/// Cheap enough to be computed again rather than kept in a register.
static bool isCheap(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
             arith::ExtFOp, arith::TruncFOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp, arith::CmpFOp, arith::CmpIOp, arith::SelectOp,
             arith::ConstantOp>(op);
}

/// The same words, as far as the compiler can tell new ones: what is computed
/// from them is computed again and not kept from where it was computed before.
static Value makeOpaque(ImplicitLocOpBuilder &b, Value words) {
  auto type = cast<VectorType>(words.getType());
  int64_t size = type.getDimSize(0);
  SmallVector<Value> parts;
  std::string outputs, inputs;
  for (int64_t k = 0; k < size; ++k) {
    Value index = arith::ConstantIntOp::create(b, k, 32);
    parts.push_back(LLVM::ExtractElementOp::create(b, words, index));
    outputs += "=r,";
    inputs += (k ? "," : "") + std::to_string(k);
  }
  Type word = b.getI32Type();
  Type result = size == 1 ? word
                          : LLVM::LLVMStructType::getLiteral(
                                b.getContext(), SmallVector<Type>(size, word));
  Value opaque =
      LLVM::InlineAsmOp::create(
          b, TypeRange(result), parts, "", outputs + inputs,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::tailcallkind::TailCallKind::None,
          LLVM::AsmDialectAttr::get(b.getContext(),
                                    LLVM::AsmDialect::AD_ATT),
          /*operand_attrs=*/ArrayAttr())
          .getResult(0);
  Value rebuilt = LLVM::PoisonOp::create(b, type);
  for (int64_t k = 0; k < size; ++k) {
    Value part = size == 1 ? opaque
                           : LLVM::ExtractValueOp::create(b, opaque, k);
    rebuilt = LLVM::InsertElementOp::create(
        b, rebuilt, part, arith::ConstantIntOp::create(b, k, 32));
  }
  return rebuilt;
}

/// True if what a phase computes and a later one uses would not fit beside the
/// accumulators: 64 registers are for addresses and one vector's temporaries.
bool KernelEmitter::mustRecompute() {
  unsigned lane = schedule.getChunks() * schedule.getVector();
  unsigned words = 0;
  for (unsigned bytes : problem.accumulatorBytes)
    words += lane * std::max(bytes, 4u) / 4;
  for (BlockArgument argument : op.getBodyBlock()->getArguments())
    if (hasColumns(argument) && !hasRows(argument) && !argument.use_empty())
      words += lane / 2;
  for (Operation &inner : op.getBodyBlock()->without_terminator())
    for (Value result : inner.getResults())
      if (hasColumns(result) && hasRows(result) &&
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return isa<YieldOp>(user) ? false
                                      : !isa<RowReduceOp, PartialAccumulateOp>(
                                            user) &&
                                            phase(user->getResult(0)) >
                                                phase(result);
          }))
        words += lane;
  return words + 64 > 65536 / threads;
}

void KernelEmitter::emitRing(Value item, Value firstRow) {
  unsigned warps = schedule.getWarps(), groups = schedule.getRowGroups();
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  unsigned slots = schedule.getSlots();
  bool async = schedule.getCopy() == Copy::cp_async;
  int64_t columns = problem.columns;
  bool exact = columns == int64_t(warps) * chunks * 32 * width;

  Value thread = threadId();
  Value lane = arith::AndIOp::create(b, thread, i32(31));
  Value warp = arith::ShRUIOp::create(b, thread, i32(5));
  Value rowGroup =
      groups == 1 ? i32(0)
                  : arith::DivUIOp::create(b, warp, i32(warps)).getResult();
  Value warpOfRow =
      groups == 1 ? warp
                  : arith::RemUIOp::create(b, warp, i32(warps)).getResult();
  Value isLeader = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      arith::OrIOp::create(b, warpOfRow, lane), i32(0));

  // The lane's columns.
  SmallVector<ColumnView> views(chunks);
  for (unsigned c = 0; c < chunks; ++c) {
    Value vectorIndex = arith::AddIOp::create(
        b,
        arith::MulIOp::create(
            b,
            arith::AddIOp::create(
                b, arith::MulIOp::create(b, warpOfRow, i32(chunks)), i32(c)),
            i32(32)),
        lane);
    Value column = arith::MulIOp::create(b, vectorIndex, i32(width));
    views[c].width = width;
    views[c].column = toI64(column);
    if (!exact)
      views[c].mask = arith::CmpIOp::create(b, arith::CmpIPredicate::ult,
                                            column, i32(columns));
  }

  // The inputs that a row brings, and those that stay.
  SmallVector<Stream> streams;
  unsigned slotBytes = 0; // of a warp
  Block *body = op.getBodyBlock();
  for (BlockArgument argument : body->getArguments()) {
    if (argument.use_empty() || !hasColumns(argument))
      continue;
    unsigned i = argument.getArgNumber();
    if (!hasRows(argument)) {
      for (ColumnView &view : views)
        view.values[argument] = loadAt(i, view);
      continue;
    }
    unsigned bytes =
        getMemoryType(argument.getType()).getIntOrFloatBitWidth() / 8 * width;
    streams.push_back({i, bytes, slotBytes, /*isRow=*/false});
    slotBytes += chunks * 32 * bytes;
  }
  // Asynchronous copies have at least 4 bytes: narrower inputs of the row level
  // are loaded to registers, one row ahead.
  SmallVector<BlockArgument> rowInputs;
  for (BlockArgument argument : body->getArguments()) {
    if (argument.use_empty() || hasColumns(argument) || !hasRows(argument))
      continue;
    unsigned bytes =
        getMemoryType(argument.getType()).getIntOrFloatBitWidth() / 8;
    if (!async || bytes < 4) {
      rowInputs.push_back(argument);
      continue;
    }
    streams.push_back(
        {argument.getArgNumber(), bytes, slotBytes, /*isRow=*/true});
    slotBytes += 32 * bytes;
  }
  if (!async)
    slots = 1;

  // Rows of this row group: first + k * stride.
  Value first = add(firstRow, mul(toI64(rowGroup), arguments.splits));
  Value stride = mul(arguments.splits, i64(groups));
  Value span = arith::SubIOp::create(
      b, add(rowCount, arith::SubIOp::create(b, stride, i64(1))), first);
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, first,
                                    rowCount);
  Value mine = select(any, arith::DivUIOp::create(b, span, stride), i64(0));

  Value ring = arith::AddIOp::create(
      b, arith::MulIOp::create(b, warp, i32((slots + 1) * slotBytes)),
      i32(exchangeBytes));
  auto slotPointer = [&](Value slot, const Stream &stream, unsigned chunk) {
    Value bytes = arith::AddIOp::create(
        b, ring, arith::MulIOp::create(b, slot, i32(slotBytes)));
    bytes = arith::AddIOp::create(
        b, bytes, arith::MulIOp::create(b, lane, i32(stream.bytes)));
    return sharedPointer(arith::AddIOp::create(
        b, bytes, i32(stream.slotOffset + chunk * 32 * stream.bytes)));
  };
  /// Starts the copies of row `k` into `slot`, one group a row.
  auto issue = [&](Value k, Value slot) {
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, mine);
    auto ifInside = scf::IfOp::create(b, inside);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifInside.thenBlock());
      SmallVector<Value> indices(segmentIndices);
      delinearize(add(first, mul(k, stride)), reducedRowDims, indices);
      for (const Stream &stream : streams)
        if (stream.isRow)
          NVVM::CpAsyncOp::create(
              b, slotPointer(slot, stream, 0),
              address(stream.input, offset(stream.input, indices)),
              stream.bytes, NVVM::LoadCacheModifierKind::CA,
              /*cpSize=*/Value());
      for (unsigned c = 0; c < chunks; ++c) {
        OpBuilder::InsertionGuard chunkGuard(b);
        if (views[c].mask) {
          auto ifExists = scf::IfOp::create(b, views[c].mask);
          b.setInsertionPointToStart(ifExists.thenBlock());
        }
        for (const Stream &stream : streams) {
          if (stream.isRow)
            continue;
          delinearize(views[c].column, columnDims, indices);
          Value source = address(stream.input, offset(stream.input, indices));
          Value target = slotPointer(slot, stream, c);
          unsigned piece = std::min(stream.bytes, 16u);
          for (unsigned at = 0; at < stream.bytes; at += piece)
            NVVM::CpAsyncOp::create(
                b, byteAddress(target, i32(at)), byteAddress(source, i64(at)),
                piece,
                piece == 16 ? NVVM::LoadCacheModifierKind::CG
                            : NVVM::LoadCacheModifierKind::CA,
                /*cpSize=*/Value());
        }
      }
    }
    NVVM::CpAsyncCommitGroupOp::create(b);
  };
  if (async)
    for (unsigned k = 0; k < slots; ++k)
      issue(i64(k), i32(k));

  auto loadRowInputs = [&](Value k, SmallVectorImpl<Value> &loaded) {
    // Past the last row the last row's values are loaded again.
    Value last = arith::SubIOp::create(b, mine, i64(1));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, mine);
    Value row = add(first, mul(select(inside, k, last), stride));
    SmallVector<Value> indices(segmentIndices);
    delinearize(row, reducedRowDims, indices);
    for (BlockArgument argument : rowInputs)
      loaded.push_back(loadGlobal(argument.getArgNumber(),
                                  offset(argument.getArgNumber(), indices),
                                  1));
  };

  // Loop-carried: slot, buffer of the exchange, row inputs, accumulators.
  SmallVector<Value> carried{i32(0), i32(0)};
  unsigned firstAccumulator = 2 + rowInputs.size();
  if (!rowInputs.empty()) {
    auto ifAny = scf::IfOp::create(
        b,
        llvm::to_vector(llvm::map_range(
            rowInputs, [](BlockArgument a) -> Type { return a.getType(); })),
        any, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAny.thenBlock());
    SmallVector<Value> loaded;
    loadRowInputs(i64(0), loaded);
    scf::YieldOp::create(b, loaded);
    b.setInsertionPointToStart(ifAny.elseBlock());
    SmallVector<Value> zeros;
    for (Value value : loaded)
      zeros.push_back(
          arith::ConstantOp::create(b, b.getZeroAttr(value.getType())));
    scf::YieldOp::create(b, zeros);
    llvm::append_range(carried, ifAny.getResults());
  }
  for (PartialAccumulateOp accumulate : accumulations) {
    Type type = accumulate.getOperand().getType();
    Attribute identity = getIdentity(accumulate.getCombiner(), type);
    auto vectorType = VectorType::get({width}, type);
    for (unsigned c = 0; c < chunks; ++c)
      carried.push_back(arith::ConstantOp::create(
          b, width == 1
                 ? cast<TypedAttr>(identity)
                 : cast<TypedAttr>(DenseElementsAttr::get(vectorType,
                                                          identity))));
  }

  auto rows = scf::ForOp::create(b, i64(0), mine, i64(1), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rows.getBody());
    Value k = rows.getInductionVar();
    SmallVector<Value> state(rows.getRegionIterArgs());
    Value slot = state[0], buffer = state[1];
    setRow(add(first, mul(k, stride)));
    for (auto [argument, value] :
         llvm::zip(rowInputs, ArrayRef(state).slice(2, rowInputs.size())))
      rowValues[argument] = value;
    SmallVector<Value> nextRow;
    if (!rowInputs.empty())
      loadRowInputs(add(k, i64(1)), nextRow);

    struct Packed {
      unsigned chunk;
      BlockArgument argument;
      Value words;
    };
    SmallVector<Packed> packedRows;
    auto unpack = [&](Value words, BlockArgument argument) {
      Type memoryType = getMemoryType(argument.getType());
      Type type = width == 1 ? memoryType
                             : VectorType::get({width}, memoryType);
      return fromMemory(LLVM::BitcastOp::create(b, type, words),
                        argument.getType());
    };

    // The slot of the row before is filled anew, then this row goes from its
    // slot to registers.
    SmallVector<ColumnView> row(views);
    if (async) {
      NVVM::CpAsyncWaitGroupOp::create(b, slots - 1);
      Value isFirstSlot =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot, i32(0));
      issue(add(k, i64(slots)),
            select(isFirstSlot, i32(slots),
                   arith::SubIOp::create(b, slot, i32(1))));
    }
    for (const Stream &stream : streams)
      if (stream.isRow) {
        BlockArgument argument = body->getArgument(stream.input);
        rowValues[argument] = fromMemory(
            LLVM::LoadOp::create(b, getMemoryType(argument.getType()),
                                 slotPointer(slot, stream, 0), stream.bytes),
            argument.getType());
      }
    for (unsigned c = 0; c < chunks; ++c)
      for (const Stream &stream : streams) {
        if (stream.isRow)
          continue;
        BlockArgument argument = body->getArgument(stream.input);
        if (!async) {
          row[c].values[argument] = loadAt(stream.input, row[c]);
          continue;
        }
        unsigned piece = std::min(stream.bytes, 16u);
        Value source = slotPointer(slot, stream, c);
        SmallVector<Value> words;
        for (unsigned at = 0; at < stream.bytes; at += piece) {
          Value loaded = LLVM::LoadOp::create(
              b, VectorType::get({piece / 4}, b.getI32Type()),
              byteAddress(source, i32(at)), piece);
          for (unsigned w = 0; w < piece / 4; ++w)
            words.push_back(LLVM::ExtractElementOp::create(b, loaded, i32(w)));
        }
        auto wordsType = VectorType::get({static_cast<int64_t>(words.size())}, b.getI32Type());
        Value packed = LLVM::PoisonOp::create(b, wordsType);
        for (auto [w, word] : llvm::enumerate(words))
          packed = LLVM::InsertElementOp::create(b, packed, word, i32(w));
        packedRows.push_back({c, argument, packed});
        row[c].values[argument] = unpack(packed, argument);
      }
    Value nextSlot = arith::AddIOp::create(b, slot, i32(1));
    slot = select(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot,
                                        i32(slots)),
                  i32(0), nextSlot);

    bool recompute = mustRecompute();
    for (unsigned p = 0; p <= waves.size(); ++p) {
      if (p > 0 && recompute) {
        for (ColumnView &view : row)
          for (Operation &inner : op.getBodyBlock()->without_terminator())
            if (inner.getNumResults() == 1 && isCheap(&inner) &&
                hasRows(inner.getResult(0)))
              view.values.erase(inner.getResult(0));
        for (Packed &packed : packedRows) {
          packed.words = makeOpaque(b, packed.words);
          row[packed.chunk].values[packed.argument] =
              unpack(packed.words, packed.argument);
        }
      }
      prepareRowValues(p);
      storeRowOutputs(p, isLeader);
      auto accumulate = [&] {
        for (auto [a, partial] : llvm::enumerate(accumulations)) {
          if (phase(partial.getOperand()) != p)
            continue;
          for (unsigned c = 0; c < chunks; ++c) {
            Value &sum = state[firstAccumulator + a * chunks + c];
            Value value = masked(evaluate(partial.getOperand(), row[c]), row[c],
                                 partial.getCombiner());
            sum = createCombine(b, b.getLoc(), partial.getCombiner(), sum,
                                value, /*contract=*/true);
          }
        }
      };
      for (ColumnView &view : row)
        storeElementOutputs(p, view);
      if (p == waves.size()) {
        accumulate();
        continue;
      }
      SmallVector<Value> sums;
      for (RowReduceOp reduce : waves[p]) {
        Value sum;
        for (ColumnView &view : row) {
          Value value = masked(evaluate(reduce.getOperand(), view), view,
                               reduce.getCombiner());
          sum = sum ? createCombine(b, b.getLoc(), reduce.getCombiner(), sum,
                                    value, /*contract=*/true)
                    : value;
        }
        sums.push_back(reduceVector(sum, reduce.getCombiner()));
      }
      exchangeRowSums(waves[p], sums, rowGroup, warpOfRow, buffer, accumulate);
      for (auto [reduce, sum] : llvm::zip(waves[p], sums))
        rowValues[reduce.getResult()] = sum;
      buffer = arith::XOrIOp::create(b, buffer, i32(1));
    }
    state[0] = slot;
    state[1] = buffer;
    llvm::copy(nextRow, state.begin() + 2);
    scf::YieldOp::create(b, state);
  }
  SmallVector<Value> totals(rows.getResults().drop_front(firstAccumulator));
  writePartials(item, totals, views, rowGroup);
}

void KernelEmitter::writePartials(Value item, ArrayRef<Value> accumulators,
                                  MutableArrayRef<ColumnView> views,
                                  Value rowGroup) {
  unsigned groups = schedule.getRowGroups(), chunks = schedule.getChunks();
  unsigned width = schedule.getVector();
  int64_t columns =
      int64_t(schedule.getWarps()) * chunks * 32 * schedule.getVector();
  auto guarded = [&](Value mask, llvm::function_ref<void()> emit) {
    if (!mask)
      return emit();
    auto ifOp = scf::IfOp::create(b, mask);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emit();
  };
  if (groups == 1) {
    for (unsigned a = 0; a < accumulations.size(); ++a)
      for (unsigned c = 0; c < chunks; ++c)
        guarded(views[c].mask, [&] {
          // Partial rows of N columns keep a vector's alignment only where N
          // has it: every operand that the ring takes has.
          LLVM::StoreOp::create(b, accumulators[a * chunks + c],
                                partialAddress(a, item, views[c].column),
                                /*alignment=*/16);
        });
    return;
  }

  // Once all slots are read, the ring's bytes hold the row groups' sums,
  // [accumulator][rowGroup][column]. (Every copy was waited for by its reader.)
  syncBlock();
  Value thread = toI64(threadId());
  int64_t base = exchangeBytes;
  for (unsigned a = 0; a < accumulations.size(); ++a) {
    Type type = accumulations[a].getOperand().getType();
    int64_t bytes = type.getIntOrFloatBitWidth() / 8;
    for (unsigned c = 0; c < chunks; ++c) {
      Value column = add(mul(toI64(rowGroup), i64(columns)), views[c].column);
      LLVM::StoreOp::create(b, accumulators[a * chunks + c],
                            sharedPointer(add(mul(column, i64(bytes)),
                                              i64(base))),
                            /*alignment=*/std::min<int64_t>(bytes * width, 16));
    }
    base += groups * columns * bytes;
  }
  syncBlock();
  base = exchangeBytes;
  for (unsigned a = 0; a < accumulations.size(); ++a) {
    Type type = accumulations[a].getOperand().getType();
    int64_t bytes = type.getIntOrFloatBitWidth() / 8;
    auto loop = scf::ForOp::create(b, thread, columnCount, i64(threads));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value column = loop.getInductionVar(), sum;
    for (unsigned g = 0; g < groups; ++g) {
      Value at = add(mul(column, i64(bytes)), i64(base + g * columns * bytes));
      Value part = LLVM::LoadOp::create(b, type, sharedPointer(at));
      sum = sum ? createCombine(b, b.getLoc(), accumulations[a].getCombiner(),
                                sum, part, /*contract=*/true)
                : part;
    }
    LLVM::StoreOp::create(b, sum, partialAddress(a, item, column));
    base += groups * columns * bytes;
  }
}
