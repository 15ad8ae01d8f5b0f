//===- KernelRing.cpp - Rows in registers, streamed through shared memory -===//
//
// A row group of `warps` warps in each of `cluster` blocks holds one row: lane
// l of the row's warp w owns, for each of its `chunks`, the `vector`
// consecutive columns from ((w * chunks + c) * lanes + l) * vector on. Where a
// row needs fewer than 32 lanes, a warp holds 32 / lanes rows side by side, and
// each lane `rows` of them at once (structure=small). Rows come through a ring
// that is private to each lane: it copies and reads only its own bytes, so the
// ring needs no barrier. `slots` steps are in flight; one slot more lets the
// copies of the next step start before this one is read. Column accumulators
// stay in registers over all rows.
//
// Rows that begin at any address (an odd number of bf16 columns) are *shifted*:
// a warp copies the aligned 16-byte pieces that cover its part of the row, and
// its lanes put their elements together from the aligned words around them.
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
/// An input that is streamed: where its lanes' bytes lie in a slot.
struct Stream {
  unsigned input;
  unsigned bytes;      ///< of a lane's vector
  unsigned slotOffset; ///< of the input in a warp's slot, bytes
  /// Pieces of 16 bytes that cover a warp's part of a row, if it is shifted.
  unsigned pieces;
};
} // namespace

Value KernelEmitter::emitRing(Value item, Value firstRow, Value step) {
  unsigned warps = schedule.getWarps(), groups = schedule.getRowGroups();
  unsigned chunks = schedule.getChunks(), width = schedule.getVector();
  unsigned slots = schedule.getSlots(), lanes = schedule.getLanes();
  unsigned units = schedule.getRows(), rowsAStep = schedule.getRowsAStep();
  bool async = schedule.getCopy() == Copy::cp_async;
  int64_t columns = problem.columns;
  bool shifted = isShifted(problem, schedule);
  bool exact =
      columns == int64_t(schedule.getCluster()) * schedule.getBlockColumns();

  Value lane = laneId(), warp = warpId();
  Value laneOfRow = lane, rowOfLane; // of the rows side by side in a warp
  if (lanes < 32) {
    laneOfRow = arith::AndIOp::create(b, lane, i32(lanes - 1));
    rowOfLane =
        toI64(arith::ShRUIOp::create(b, lane, i32(llvm::Log2_32(lanes))));
  }
  Value rowGroup =
      groups == 1 ? i32(0)
                  : arith::DivUIOp::create(b, warp, i32(warps)).getResult();
  Value warpOfRow =
      groups == 1 ? warp
                  : arith::RemUIOp::create(b, warp, i32(warps)).getResult();
  Value partOfRow = warpOfRow;
  if (schedule.getCluster() > 1)
    partOfRow = arith::AddIOp::create(
        b, arith::MulIOp::create(b, rank, i32(warps)), warpOfRow);
  Value isLeader = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq,
      arith::OrIOp::create(b, partOfRow, laneOfRow), i32(0));

  Value firstColumn, allExist;
  SmallVector<ColumnView> views =
      getLaneViews(partOfRow, laneOfRow, exact, &firstColumn, &allExist);

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
    unsigned partBytes = units * chunks * 32 * bytes;
    streams.push_back({i, bytes, slotBytes, partBytes / 16 + 1});
    slotBytes += shifted ? getShiftedBytes(partBytes) : partBytes;
  }
  SmallVector<BlockArgument> rowInputs;
  for (BlockArgument argument : body->getArguments())
    if (!argument.use_empty() && !hasColumns(argument) && hasRows(argument))
      rowInputs.push_back(argument);
  if (!async)
    slots = 1;

  // Steps of this row group: first + k * stride, of `rowsAStep` rows each.
  Value steps = rowCount;
  if (rowsAStep > 1)
    steps = arith::DivUIOp::create(b, add(rowCount, i64(rowsAStep - 1)),
                                   i64(rowsAStep));
  Value first = add(firstRow, mul(toI64(rowGroup), arguments.splits));
  Value stride = mul(arguments.splits, i64(groups));
  Value span = arith::SubIOp::create(
      b, add(steps, arith::SubIOp::create(b, stride, i64(1))), first);
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, first, steps);
  Value mine = select(any, arith::DivUIOp::create(b, span, stride), i64(0));
  // Row u of a lane in step k. A warp's last rows may not exist.
  auto rowOf = [&](Value k, unsigned u) {
    Value row = add(first, mul(k, stride));
    if (rowsAStep == 1)
      return row;
    row = add(mul(row, i64(rowsAStep)), i64(u * (32 / lanes)));
    return rowOfLane ? add(row, rowOfLane) : row;
  };
  auto exists = [&](Value row) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, rowCount);
  };
  auto lastRowAtMost = [&](Value row) -> Value {
    return arith::MinUIOp::create(b, row,
                                  arith::SubIOp::create(b, rowCount, i64(1)));
  };

  Value ring = arith::AddIOp::create(
      b, arith::MulIOp::create(b, warp, i32((slots + 1) * slotBytes)),
      i32(exchangeBytes));
  auto slotPointer = [&](Value slot, const Stream &stream, unsigned u,
                         unsigned chunk) {
    Value bytes = arith::AddIOp::create(
        b, ring, arith::MulIOp::create(b, slot, i32(slotBytes)));
    bytes = arith::AddIOp::create(
        b, bytes, arith::MulIOp::create(b, lane, i32(stream.bytes)));
    return sharedPointer(arith::AddIOp::create(
        b, bytes,
        i32(stream.slotOffset + (u * chunks + chunk) * 32 * stream.bytes)));
  };
  // Where a warp's part of row `indices` of a shifted input begins: the piece
  // of 16 bytes, and the byte in it.
  auto partStart = [&](const Stream &stream, SmallVector<Value> indices,
                       Value &shift) {
    delinearize(firstColumn, columnDims, indices);
    Value start = address(stream.input, offset(stream.input, indices));
    Value bits = LLVM::PtrToIntOp::create(b, b.getI64Type(), start);
    shift = arith::TruncIOp::create(b, b.getI32Type(),
                                    arith::AndIOp::create(b, bits, i64(15)));
    return byteAddress(start, arith::SubIOp::create(b, i64(0), toI64(shift)));
  };
  auto slotBase = [&](Value slot, const Stream &stream) {
    Value bytes = arith::AddIOp::create(
        b, ring, arith::MulIOp::create(b, slot, i32(slotBytes)));
    return arith::AddIOp::create(b, bytes, i32(stream.slotOffset));
  };
  auto guarded = [&](Value condition, llvm::function_ref<void()> emit) {
    if (!condition)
      return emit();
    auto ifOp = scf::IfOp::create(b, condition);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    emit();
  };
  /// Starts the copies of a shifted input's pieces; the last one ends with the
  /// part, so that nothing beyond the operand is read.
  auto copyPart = [&](const Stream &stream, const SmallVector<Value> &indices,
                      Value slot) {
    Value shift;
    Value source = partStart(stream, indices, shift);
    Value end = arith::AddIOp::create(
        b, shift,
        arith::MulIOp::create(
            b,
            arith::MinSIOp::create(
                b, i32(chunks * 32 * width),
                arith::TruncIOp::create(
                    b, b.getI32Type(),
                    arith::SubIOp::create(b, i64(columns), firstColumn))),
            i32(stream.bytes / width)));
    for (unsigned piece = 0; piece < stream.pieces; piece += 32) {
      Value at = arith::MulIOp::create(
          b, arith::AddIOp::create(b, lane, i32(piece)), i32(16));
      Value exists =
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, end);
      guarded(exists, [&] {
        Value size = arith::MinSIOp::create(
            b, arith::SubIOp::create(b, end, at), i32(16));
        NVVM::CpAsyncOp::create(
            b,
            sharedPointer(arith::AddIOp::create(b, slotBase(slot, stream), at)),
            byteAddress(source, toI64(at)), 16, NVVM::LoadCacheModifierKind::CG,
            size);
      });
    }
  };
  /// Predicated and not branched over, so that the copies are scheduled among
  /// the arithmetic.
  auto copyIf = [&](Value condition, Value target, Value source,
                    unsigned bytes) {
    std::string text = "{\n.reg .pred p;\nsetp.ne.b32 p, $0, 0;\n@p cp.async.";
    text += bytes == 16 ? "cg" : "ca";
    createAsm(b, TypeRange(),
              {arith::ExtUIOp::create(b, b.getI32Type(), condition), target,
               source},
              text + ".shared.global [$1], [$2], " + std::to_string(bytes) +
                  ";\n}",
              "r,r,l,~{memory}");
  };
  /// Starts the copies of step `k` into `slot`, one group a step.
  auto issue = [&](Value k, Value slot) {
    for (unsigned u = 0; u < units; ++u) {
      Value row = rowOf(k, u);
      Value inside =
          rowsAStep > 1
              ? exists(row)
              : arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, mine)
                    .getResult();
      SmallVector<Value> indices(segmentIndices);
      if (shifted) {
        guarded(inside, [&] {
          delinearize(row, reducedRowDims, indices);
          for (const Stream &stream : streams)
            copyPart(stream, indices, slot);
        });
        continue;
      }
      delinearize(row, reducedRowDims, indices);
      for (unsigned c = 0; c < chunks; ++c)
        for (const Stream &stream : streams) {
          delinearize(views[c].column, columnDims, indices);
          Value source = address(stream.input, offset(stream.input, indices));
          Value target = slotPointer(slot, stream, u, c);
          unsigned piece = std::min(stream.bytes, 16u);
          for (unsigned at = 0; at < stream.bytes; at += piece)
            copyIf(both(inside, views[c].mask), byteAddress(target, i32(at)),
                   byteAddress(source, i64(at)), piece);
        }
    }
    NVVM::CpAsyncCommitGroupOp::create(b);
  };
  if (async)
    for (unsigned k = 0; k < slots; ++k)
      issue(i64(k), i32(k));

  // Inputs of the row level are loaded one step ahead.
  auto loadRowInputs = [&](Value k) {
    SmallVector<Value> loaded;
    for (unsigned u = 0; u < units; ++u) {
      SmallVector<Value> indices(segmentIndices);
      delinearize(lastRowAtMost(rowOf(k, u)), reducedRowDims, indices);
      for (BlockArgument argument : rowInputs)
        loaded.push_back(
            loadGlobal(argument.getArgNumber(),
                       offset(argument.getArgNumber(), indices), 1));
    }
    return loaded;
  };

  // Loop-carried: slot, step of the exchange, row inputs, accumulators of
  // everything and of columns.
  SmallVector<Value> carried{i32(0), step};
  unsigned numRowInputs = units * rowInputs.size();
  unsigned firstScalar = 2 + numRowInputs;
  unsigned firstAccumulator = firstScalar + scalars.size();
  if (numRowInputs > 0) {
    SmallVector<Type> types;
    for (unsigned u = 0; u < units; ++u)
      for (BlockArgument argument : rowInputs)
        types.push_back(argument.getType());
    auto ifAny = scf::IfOp::create(b, types, any, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifAny.thenBlock());
    scf::YieldOp::create(b, loadRowInputs(i64(0)));
    b.setInsertionPointToStart(ifAny.elseBlock());
    SmallVector<Value> zeros;
    for (Type type : types)
      zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
    scf::YieldOp::create(b, zeros);
    llvm::append_range(carried, ifAny.getResults());
  }
  llvm::append_range(carried, getScalarIdentities());
  for (PartialAccumulateOp accumulate : accumulations) {
    Type type = accumulate.getOperand().getType();
    Attribute identity = getIdentity(accumulate.getCombiner(), type);
    auto vectorType = VectorType::get({width}, type);
    for (unsigned c = 0; c < chunks; ++c)
      carried.push_back(arith::ConstantOp::create(
          b, width == 1 ? cast<TypedAttr>(identity)
                        : cast<TypedAttr>(
                              DenseElementsAttr::get(vectorType, identity))));
  }

  auto loop = scf::ForOp::create(b, i64(0), mine, i64(1), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    SmallVector<Value> state(loop.getRegionIterArgs());
    Value slot = state[0];
    step = state[1];
    SmallVector<RowView> rows(units);
    for (auto [u, row] : llvm::enumerate(rows)) {
      Value index = rowOf(k, u);
      if (rowsAStep > 1) {
        row.exists = exists(index);
        index = lastRowAtMost(index);
      }
      row.indices = segmentIndices;
      delinearize(index, reducedRowDims, row.indices);
      row.columns = views;
    }
    // A mask an element is too many to keep.
    if (!exact && columns % width != 0) {
      Value first = arith::TruncIOp::create(b, b.getI32Type(), views[0].column);
      Value left = arith::SubIOp::create(b, i32(columns), first);
      left = createAsm(b, left.getType(), left, "", "=r,0");
      for (RowView &row : rows)
        for (auto [c, view] : llvm::enumerate(row.columns)) {
          for (auto [e, exists] : llvm::enumerate(view.elementMasks))
            exists = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, left,
                                           i32(c * lanes * width + e));
          view.mask = view.elementMasks[0];
        }
    }
    if (numRowInputs > 0) {
      // The shuffle is where a step waits for what was loaded a step ago: a
      // copy could wait as early as in that step. Waiting here also keeps
      // warps from running ahead where memory is congested.
      unsigned next = 2;
      Value source = lanes < 32 ? lane : i32(0);
      for (RowView &row : rows)
        for (BlockArgument argument : rowInputs)
          row.values[argument] =
              shuffle(state[next++], source, NVVM::ShflKind::idx);
      llvm::copy(loadRowInputs(add(k, i64(1))), state.begin() + 2);
    }

    struct Packed {
      unsigned unit, chunk;
      BlockArgument argument;
      Value words;
    };
    SmallVector<Packed> packedRows;
    auto unpack = [&](Value words, BlockArgument argument) {
      Type memoryType = getMemoryType(argument.getType());
      Type type =
          width == 1 ? memoryType : VectorType::get({width}, memoryType);
      // Less than a word: its low part.
      unsigned bits = memoryType.getIntOrFloatBitWidth() * width;
      if (bits < 32) {
        words = LLVM::BitcastOp::create(b, b.getI32Type(), words);
        words = arith::TruncIOp::create(b, b.getIntegerType(bits), words);
      }
      return fromMemory(LLVM::BitcastOp::create(b, type, words),
                        argument.getType());
    };

    if (async) {
      NVVM::CpAsyncWaitGroupOp::create(b, slots - 1);
      // Lanes read what others copied, and copy over what others have read.
      if (shifted)
        NVVM::SyncWarpOp::create(b, i32(-1));
    }
    // The slot of the step before is filled anew once this step's first row
    // sums are on their way: sooner, more is in flight than memory serves well.
    auto refill = [&, thisSlot = slot] {
      if (!async)
        return;
      Value isFirstSlot =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thisSlot, i32(0));
      issue(add(k, i64(slots)),
            select(isFirstSlot, i32(slots),
                   arith::SubIOp::create(b, thisSlot, i32(1))));
    };
    // A lane's words of a chunk, from 32-bit words at the address rounded down.
    auto readShifted = [&, thisSlot = slot](const Stream &stream,
                                            ArrayRef<Value> indices) {
      Value shift;
      partStart(stream, SmallVector<Value>(indices), shift);
      Value at = arith::AddIOp::create(
          b, arith::AddIOp::create(b, slotBase(thisSlot, stream), shift),
          arith::MulIOp::create(b, lane, i32(stream.bytes)));
      Value low = arith::AndIOp::create(b, at, i32(3));
      Value bits = arith::MulIOp::create(b, low, i32(8));
      Value aligned = arith::SubIOp::create(b, at, low);
      unsigned count = llvm::divideCeil(stream.bytes, 4);
      bool moves = stream.bytes / width < 4;
      SmallVector<Value> chunkWords;
      for (unsigned c = 0; c < chunks; ++c) {
        SmallVector<Value> words;
        for (unsigned w = 0; w < count + moves; ++w)
          words.push_back(LLVM::LoadOp::create(
              b, b.getI32Type(),
              sharedPointer(arith::AddIOp::create(
                  b, aligned, i32(c * 32 * stream.bytes + 4 * w))),
              4));
        Value packed = LLVM::PoisonOp::create(
            b, VectorType::get({count}, b.getI32Type()));
        for (unsigned w = 0; w < count; ++w) {
          Value word = words[w];
          if (moves)
            word = LLVM::FshrOp::create(b, words[w + 1], word, bits);
          packed = LLVM::InsertElementOp::create(b, packed, word, i32(w));
        }
        chunkWords.push_back(packed);
      }
      return chunkWords;
    };
    auto readAligned = [&](const Stream &stream, unsigned u, unsigned c) {
      unsigned piece = std::min(stream.bytes, 16u);
      Value source = slotPointer(slot, stream, u, c);
      Value packed = LLVM::PoisonOp::create(
          b, VectorType::get({stream.bytes / 4}, b.getI32Type()));
      for (unsigned at = 0; at < stream.bytes; at += piece) {
        Value loaded = LLVM::LoadOp::create(
            b, VectorType::get({piece / 4}, b.getI32Type()),
            byteAddress(source, i32(at)), piece);
        for (unsigned w = 0; w < piece / 4; ++w)
          packed = LLVM::InsertElementOp::create(
              b, packed, LLVM::ExtractElementOp::create(b, loaded, i32(w)),
              i32(at / 4 + w));
      }
      return packed;
    };
    for (auto [u, row] : llvm::enumerate(rows)) {
      swapRow(row);
      for (const Stream &stream : streams) {
        BlockArgument argument = body->getArgument(stream.input);
        SmallVector<Value> shiftedWords;
        if (shifted)
          shiftedWords = readShifted(stream, rowIndices);
        for (unsigned c = 0; c < chunks; ++c) {
          ColumnView &view = row.columns[c];
          if (!async) {
            view.values[argument] = loadAt(stream.input, view);
            continue;
          }
          Value packed =
              shifted ? shiftedWords[c] : readAligned(stream, u, c);
          packedRows.push_back({unsigned(u), c, argument, packed});
          view.values[argument] = unpack(packed, argument);
        }
      }
      swapRow(row);
    }
    Value nextSlot = arith::AddIOp::create(b, slot, i32(1));
    slot = select(
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, slot, i32(slots)),
        i32(0), nextSlot);

    for (unsigned p = 0; p <= waves.size(); ++p) {
      if (p > 0) { // unpacked again, rather than kept
        for (RowView &row : rows)
          for (ColumnView &view : row.columns)
            for (Operation &inner : op.getBodyBlock()->without_terminator())
              if (inner.getNumResults() == 1 && isCheapOp(&inner) &&
                  hasRows(inner.getResult(0)))
                view.values.erase(inner.getResult(0));
        for (Packed &packed : packedRows) {
          packed.words = createOpaque(b, packed.words);
          rows[packed.unit].columns[packed.chunk].values[packed.argument] =
              unpack(packed.words, packed.argument);
        }
      }
      // A chunk at a time, so that few values live at once.
      SmallVector<SmallVector<Value>> sums(units);
      for (auto [u, row] : llvm::enumerate(rows)) {
        swapRow(row);
        prepareRowValues(p);
        storeRowOutputs(p, isLeader);
        ArrayRef<RowReduceOp> wave;
        if (p < waves.size())
          wave = waves[p];
        SmallVector<SmallVector<Value>> chains(wave.size());
        for (auto [c, view] : llvm::enumerate(row.columns)) {
          for (auto [reduction, chain] : llvm::zip(wave, chains))
            addView(chain, reduction, view);
          for (auto [a, partial] : llvm::enumerate(accumulations)) {
            if (phase(partial.getOperand()) != p)
              continue;
            Value &sum = state[firstAccumulator + a * chunks + c];
            Value next =
                createCombine(b, b.getLoc(), partial.getCombiner(), sum,
                              evaluate(partial.getOperand(), view),
                              /*contract=*/true);
            // The sums of columns that don't exist are never read.
            sum = rowExists ? select(rowExists, next, sum) : next;
          }
        }
        addScalars(p, row.columns, isLeader,
                   MutableArrayRef(state).slice(firstScalar, scalars.size()));
        storeElementOutputs(p, row.columns, allExist);
        for (auto [reduction, chain] : llvm::zip(wave, chains))
          sums[u].push_back(
              addChains(chain, RowReduceOp(reduction).getCombiner()));
        swapRow(row);
      }
      if (p == waves.size()) {
        if (p == 0)
          refill();
        break;
      }
      for (auto [u, row] : llvm::enumerate(rows)) {
        swapRow(row);
        bool refills = p == 0 && u + 1 == units;
        exchangeRowSums(waves[p], sums[u], rowGroup, warpOfRow, step, [&] {
          if (refills)
            refill();
        });
        for (auto [reduce, sum] : llvm::zip(waves[p], sums[u]))
          rowValues[reduce.getResult()] = sum;
        swapRow(row);
      }
      step = arith::AddIOp::create(b, step, i32(1));
    }
    state[0] = slot;
    state[1] = step;
    scf::YieldOp::create(b, state);
  }
  SmallVector<Value> ofScalars(
      loop.getResults().slice(firstScalar, scalars.size()));
  writeScalars(item, ofScalars);
  SmallVector<Value> totals(loop.getResults().drop_front(firstAccumulator));
  writePartials(item, totals, views, rowGroup);
  return loop.getResult(1);
}
