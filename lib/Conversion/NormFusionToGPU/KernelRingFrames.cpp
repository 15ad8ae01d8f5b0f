//===- KernelRingFrames.cpp - Rows that begin anywhere, in aligned vectors ===//
//
// Where the columns aren't a multiple of a vector, rows begin at any multiple
// of an element; and where they aren't one of a sector of the L2 cache, at half
// a sector, so that each warp's vectors touch one sector more. The vectors of a
// *frame* that begins at a multiple of its size, at or before the row's start,
// are aligned all the same. How far a row's start is behind its frame's, its
// *shift*, repeats from row to row, and a row group takes rows of one shift
// alone: so a lane's columns, its accumulators and its column inputs stay what
// they are from row to row, as where rows are aligned.
//
// Rows that a warp copies as one piece (copy=rows, KernelRingRows.cpp) are read
// from where they lie in a slot: their lanes begin with the first whole vector,
// not with the frame.
//
// The elements before a row's first whole vector and behind its last one are
// single lanes' of the warps that hold the vectors which they are a part of;
// they are loaded a step ahead, or lie in the slot as the rest does: with
// copy=rows, and with ends=copy, by which such vectors are copied, too. Blocks
// of a cluster own columns of their own, a multiple of the frame, and each has
// such ends.
//
//===----------------------------------------------------------------------===//

#include "KernelRing.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// True if vectors of chunk `c` may begin before a row or end behind it, or
/// behind what a block owns of it, in any lane, block and row.
static bool mayLack(const Problem &problem, ScheduleAttr schedule, unsigned c) {
  int64_t held = int64_t(c + 1) * schedule.getLanes() * schedule.getVector();
  if (schedule.getCopy() == Copy::rows)
    return held + schedule.getVector() - 1 > problem.columns;
  if (c == 0)
    return true;
  int64_t width = schedule.getVector(), cluster = schedule.getCluster();
  int64_t owned = getOwnedColumns(problem, schedule);
  int64_t last = problem.columns - (cluster - 1) * owned;
  int64_t extent = std::min(owned, last);
  for (int64_t v = 0; v * width < schedule.getBlockColumns(); ++v)
    if (v / schedule.getLanes() % schedule.getChunks() == c &&
        (v + 1) * width > extent)
      return true;
  return false;
}

/// True if chunk `c` is faster with a mask, though none of its vectors lack:
/// the last but one of five that are read again, and of four in pairs of blocks
/// that load row inputs. With two masks ptxas 13.0 loads single vectors from the
/// slot, with three some at once. (H200, bf16 LayerNorm in pairs of blocks, 200
/// and 600 MB, us, without and with: 20101 columns 53.9, 147.4 and 51.7, 143.1;
/// 20201 53.6, 146.3 and 52.4, 143.1; 20301 54.7, 146.8 and 51.7, 142.6; of the
/// second or third chunk the same; in four or two warps of a row nothing, 5055
/// 52.0, 146.6 and 52.0, 146.4. Of four: 16001 53.1, 146.7 and 51.8, 143.1,
/// 16201 53.0, 146.7 and 51.8, 143.2, f16 16001 53.6, 146.9 and 52.0, 143.3,
/// RMSNorm 16001 49.7, 148.4 and 49.5, 142.4; read again or with copies nothing:
/// RMSNorm 18101 51.9, 146.2 and 52.5, 147.5, LayerNorm 14001 51.3, 144.7 and
/// 51.5, 144.5.)
static bool gainsByMask(ScheduleAttr schedule, unsigned c) {
  if (schedule.getAhead() != 0)
    return schedule.getChunks() == 5 && c == 3;
  return schedule.getCluster() == 2 && schedule.getChunks() == 4 && c == 2 &&
         !schedule.getCopiesRowInputs();
}

/// `full`, i32, if there are row groups for all shifts in whole frames, else
/// `least`, that of frames of getLeastFrameVectors().
Value KernelEmitter::selectByFrame(int64_t full, int64_t least) {
  if (full == least)
    return i32(full);
  Value groups = mul(toI32(arguments.splits), i32(schedule.getRowGroups()));
  Value isFull = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, groups,
                                       i32(getFrameClasses(problem, schedule)));
  return select(isFull, i32(full), i32(least));
}

/// Columns from the frame's start to the row's, i32.
Value KernelEmitter::getShift(Value row) {
  Value start = arith::TruncIOp::create(b, b.getI32Type(),
                                        mul(row, i64(problem.columns)));
  int64_t least =
      getLeastFrameVectors(problem, schedule) * schedule.getVector();
  return arith::AndIOp::create(
      b, start, selectByFrame(getFrame(schedule) - 1, least - 1));
}

/// Columns of a row before its first whole vector, i32.
Value KernelEmitter::getHead(Value shift) {
  int64_t width = schedule.getVector();
  return arith::AndIOp::create(b, arith::SubIOp::create(b, i32(width), shift),
                               i32(width - 1));
}

/// The ring's rows are those of one shift, or begin with them, and its views
/// what the lane owns of them.
void KernelEmitter::makeFrames(Ring &ring) {
  // Row groups that there are too many of have no rows. (The host sees to it
  // that there are enough, unless each has one row at most.)
  if (schedule.getShifts() == 1) {
    Value classes = selectByFrame(getFrameClasses(problem, schedule),
                                  getLeastRowGroups(problem, schedule));
    Value all = arith::MaxUIOp::create(b, ring.stride, classes);
    ring.stride =
        arith::SubIOp::create(b, all, arith::RemUIOp::create(b, all, classes));
    ring.end = arith::MinUIOp::create(b, ring.end, ring.stride);
  }

  int64_t owned = getOwnedColumns(problem, schedule);
  unsigned width = schedule.getVector();
  ring.firstOfBlock = i64(0);
  ring.extent = i32(problem.columns);
  if (schedule.getCluster() > 1) {
    Value first = arith::MulIOp::create(b, rank, i32(owned));
    ring.firstOfBlock = toI64(first);
    ring.extent = arith::MinSIOp::create(
        b, arith::SubIOp::create(b, ring.extent, first), i32(owned));
  }
  Value vector = arith::AddIOp::create(
      b,
      arith::MulIOp::create(b, ring.part.warpOfRow,
                            i32(schedule.getChunks() * schedule.getLanes())),
      ring.laneOfRow);
  ring.ofFrame = arith::MulIOp::create(b, vector, i32(width));
  if (ring.copiesEnds) {
    Value isRowsLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank,
                                             i32(schedule.getCluster() - 1));
    ring.lastCopyEnd = select(isRowsLast, getVectorsEnd(ring), ring.extent);
  }
  if (schedule.getShifts() > 1)
    shareOutRows(ring);
  setShift(ring, getShift(getRow(ring, i32(0), 0)));
  if (ring.bulk)
    boundBulkCopies(ring,
                    arith::SubIOp::create(
                        b, ring.firstOfLane,
                        arith::MulIOp::create(b, ring.laneOfRow, i32(width))),
                    getVectorsEnd(ring));
}

/// The column in the block before which whole vectors begin, i32.
Value KernelEmitter::getVectorsEnd(const Ring &ring) {
  return arith::MaxSIOp::create(
      b, arith::SubIOp::create(b, ring.extent, i32(schedule.getVector() - 1)),
      i32(0));
}

/// The ring's views are what the lane owns of rows of one shift, i32.
void KernelEmitter::setShift(Ring &ring, Value shift) {
  unsigned width = schedule.getVector(), lanes = schedule.getLanes();
  ring.shift = shift;
  if (ring.together) // read from where the row lies in a slot
    ring.firstOfLane = arith::AddIOp::create(b, ring.ofFrame, getHead(shift));
  else
    ring.firstOfLane = arith::SubIOp::create(b, ring.ofFrame, shift);
  Value column =
      add(ring.firstOfBlock,
          arith::ExtSIOp::create(b, b.getI64Type(), ring.firstOfLane));
  Value end = getVectorsEnd(ring);
  ring.views.assign(schedule.getChunks(), ColumnView());
  for (auto [c, view] : llvm::enumerate(ring.views)) {
    int64_t first = int64_t(c) * lanes * width;
    view.width = width;
    view.column = add(column, i64(first));
    // Negative columns are large ones.
    if (mayLack(problem, schedule, c) || gainsByMask(schedule, c))
      view.mask = arith::CmpIOp::create(
          b, arith::CmpIPredicate::ult,
          arith::AddIOp::create(b, ring.firstOfLane, i32(first)), end);
  }
  if (haveEnds(problem, schedule))
    ring.views.push_back(makeEnds(ring));
}

/// The elements of a block's part of a row that are in no whole vector: the
/// first lanes of a warp hold those before them, the next lanes those behind
/// them, of the warp that holds the vector which these are a part of; in both
/// cases of the row's first warp if they don't come with that.
ColumnView KernelEmitter::makeEnds(Ring &ring) {
  Value shift = ring.shift, extent = ring.extent;
  Value lane = ring.laneOfRow, width = i32(schedule.getVector());
  Value low = i32(schedule.getVector() - 1);
  Value head = arith::MinSIOp::create(b, getHead(shift), extent);
  Value tail =
      arith::AndIOp::create(b, arith::SubIOp::create(b, extent, head), low);
  Value isHead =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lane, width);
  Value fromTail = arith::SubIOp::create(b, lane, width);
  Value column =
      select(isHead, lane,
             arith::AddIOp::create(b, arith::SubIOp::create(b, extent, tail),
                                   fromTail));
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                       select(isHead, lane, fromTail),
                                       select(isHead, head, tail));
  Value warp = i32(0);
  int64_t ofWarp = int64_t(schedule.getChunks()) * schedule.getLanes() *
                   schedule.getVector();
  Value position = arith::AddIOp::create(b, shift, column);
  if (ring.copiesEnds)
    warp =
        select(isHead, warp, arith::DivUIOp::create(b, position, i32(ofWarp)));
  Value isOfWarp = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                         ring.part.warpOfRow, warp);
  ColumnView view;
  view.mask = both(exists, isOfWarp);
  view.column =
      add(ring.firstOfBlock, toI64(select(view.mask, column, i32(0))));
  if (ring.copiesEnds)
    ring.placeOfEnd = select(
        view.mask,
        getPlaceOfEnd(ring, arith::SubIOp::create(
                                b, position,
                                arith::MulIOp::create(b, ring.part.warpOfRow,
                                                      i32(ofWarp)))),
        i32(0));
  return view;
}

/// The place of column `position` of what the warp holds of the frame in the
/// warp's part of a slot, elements, i32: lanes that share a row are neighbours
/// in each chunk.
Value KernelEmitter::getPlaceOfEnd(const Ring &ring, Value position) {
  if (!ring.rowOfLane)
    return position;
  unsigned ofRow = schedule.getLanes() * schedule.getVector();
  unsigned ofChunk = 32 * schedule.getVector();
  Value chunk = arith::ShRUIOp::create(b, position, i32(llvm::Log2_32(ofRow)));
  Value place = arith::AddIOp::create(
      b, position, arith::MulIOp::create(b, chunk, i32(ofChunk - ofRow)));
  return arith::AddIOp::create(
      b, place, arith::MulIOp::create(b, ring.rowOfLane, i32(ofRow)));
}

/// True if a lane's vector of a chunk is copied. (What is before a row is in
/// the array, too, and a part of what its first elements are.) Null: it is.
Value KernelEmitter::mayCopy(const Ring &ring, Value row, unsigned chunk) {
  if (!ring.copiesEnds || !ring.views[chunk].mask)
    return ring.views[chunk].mask;
  int64_t chunkColumns =
      int64_t(chunk) * schedule.getLanes() * schedule.getVector();
  Value end = ring.extent, lastEnd = ring.lastCopyEnd;
  if (ring.firstSteps) { // computed again, for want of registers
    Value first = createOpaque(b, toI32(ring.firstOfBlock));
    Value left = arith::SubIOp::create(b, i32(problem.columns), first);
    end = arith::MinSIOp::create(b, left,
                                 i32(getOwnedColumns(problem, schedule)));
    lastEnd = arith::MinSIOp::create(
        b, end, arith::SubIOp::create(b, left, i32(schedule.getVector() - 1)));
  }
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt,
      arith::AddIOp::create(b, ring.firstOfLane, i32(chunkColumns)),
      select(isLastRow(row), lastEnd, end));
}

/// The lane's element of the ends of the row at hand, whose vectors with ends
/// were copied; but what is behind the last row's is nobody's, so that these
/// are loaded.
Value KernelEmitter::readCopiedEnd(const Ring &ring, const Stream &stream,
                                   Value slot, unsigned u, const RowView &row) {
  Type type = op.getBodyBlock()->getArgument(stream.input).getType();
  auto ifLast = scf::IfOp::create(
      b, type, isLastRow(linearize(reducedRowDims, rowIndices)),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifLast.thenBlock());
  SmallVector<Value> indices(rowIndices);
  delinearize(row.columns.back().column, columnDims, indices);
  scf::YieldOp::create(
      b, loadGlobal(stream.input, offset(stream.input, indices), 1));
  b.setInsertionPointToStart(ifLast.elseBlock());
  unsigned bytes = stream.bytes / schedule.getVector();
  Value at = arith::AddIOp::create(
      b, getSlot(ring, stream, slot),
      arith::MulIOp::create(b, ring.placeOfEnd, i32(bytes)));
  at = arith::AddIOp::create(b, at,
                             i32(u * schedule.getChunks() * 32 * stream.bytes));
  Value loaded =
      LLVM::LoadOp::create(b, getMemoryType(type), sharedPointer(at), bytes);
  scf::YieldOp::create(b, fromMemory(loaded, type));
  return ifLast.getResult(0);
}

/// The lane's element of the ends of the row at `indices`, of each stream.
SmallVector<Value> KernelEmitter::loadEnds(const Ring &ring,
                                           SmallVector<Value> indices) {
  SmallVector<Value> loaded;
  delinearize(ring.views.back().column, columnDims, indices);
  for (const Stream &stream : ring.streams)
    loaded.push_back(
        loadGlobal(stream.input, offset(stream.input, indices), 1));
  return loaded;
}

/// The sum of accumulator `a` over the block's rows that are worked on at once,
/// each of which left its sums of a column in shared memory from `base` on,
/// [row][column of the frame].
Value KernelEmitter::addFramedSets(const Ring &ring, Value column, int64_t base,
                                   unsigned a) {
  PartialAccumulateOp accumulate = accumulations[a];
  Type type = accumulate.getOperand().getType(), word = getWordType(type);
  int64_t bytes = getWordBytes(accumulate);
  unsigned rows = schedule.getRowsAWarp(), groups = schedule.getRowGroups();
  Value identity =
      arith::ConstantOp::create(b, getIdentity(accumulate.getCombiner(), type));
  auto addSet = [&](Value set, Value shift, int64_t base, Value sum,
                    Value exists = Value()) -> Value {
    Value at = add(add(mul(set, i64(getSetColumns(problem, schedule))), column),
                   shift);
    Value part = fromWord(
        LLVM::LoadOp::create(
            b, word, sharedPointer(add(mul(at, i64(bytes)), i64(base))), bytes),
        type);
    if (exists)
      part = select(exists, part, identity);
    return createCombine(b, b.getLoc(), accumulate.getCombiner(), sum, part,
                         /*contract=*/true);
  };
  auto addGroup = [&](Value group, Value sum) {
    if (schedule.getShifts() > 1) {
      auto [first, last] = loadShifts(group);
      Value hasTwo =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge, first, i32(0));
      sum = addSet(group, toI64(arith::MaxSIOp::create(b, first, i32(0))),
                   getSumsStart(a, getFirstSumsOffset(problem, schedule)), sum,
                   hasTwo);
      return addSet(group, toI64(last), base, sum);
    }
    Value first = mul(add(ring.firstRow, mul(group, arguments.splits)),
                      i64(schedule.getRowsAStep()));
    for (unsigned r = 0; r < rows; ++r) {
      Value set = add(mul(group, i64(rows)), i64(r));
      // Steps that are one piece begin with a frame.
      Value shift = ring.together
                        ? i64(r * problem.columns % schedule.getVector())
                        : toI64(getShift(add(first, i64(r))));
      sum = addSet(set, shift, base, sum);
    }
    return sum;
  };
  if (groups * rows <= 16) { // loads in flight together
    Value sum = identity;
    for (unsigned g = 0; g < groups; ++g)
      sum = addGroup(i64(g), sum);
    return sum;
  }
  auto loop =
      scf::ForOp::create(b, i64(0), i64(groups), i64(1), ValueRange{identity});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  scf::YieldOp::create(
      b, addGroup(loop.getInductionVar(), loop.getRegionIterArgs()[0]));
  return loop.getResult(0);
}
