//===- KernelEmitter.h - Kernels from an op's regions -----------*- C++ -*-===//
//
// Writes the body of one kernel into a gpu.func: the walk over the rows (ring
// or plain), the exchange of row sums between warps, the private column
// accumulators, and their combination over the blocks. What is computed comes
// from the op's regions alone, how it is mapped from its schedule.
//
// Terms: a *segment* is a set of rows with column results of its own (one
// segment unless an accumulation has `over`); a segment's rows are dealt to
// `splits` *items*, each of which leaves one partial row in the workspace. A
// *wave* is a set of row reductions whose operands need the same number of
// earlier row reductions; a value's *phase* is the number of waves before it.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELEMITTER_H
#define NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELEMITTER_H

#include "norm_fusion/Schedule/Schedule.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::norm_fusion {

/// Bytes before the partial rows in a workspace: the grid barrier's word, the
/// count of launches that the tags of partials come from, in a cache line of
/// its own, and in the same 16 bytes, which are read at once, the two counts of
/// pacing; and the count of blocks that have begun, of tiles.
constexpr int64_t kWorkspaceHeaderBytes = 256;
constexpr int64_t kLaunchCountOffset = 128;
constexpr int64_t kPaceCountOffset = 136;
constexpr int64_t kPaceCountStride = 4;
constexpr int64_t kTicketOffset = 192;

/// How a value of `type` lies in memory: i1 and 8-bit floats as a
/// byte, index as i64.
Type getMemoryType(Type type);

/// How a value lies in shared memory and in partial rows: i32, or i64 if it has
/// more than 32 bits.
Type getWordType(Type type);

/// Inline PTX; its result, if it has one. Without side effects it may move as
/// arithmetic may.
Value createAsm(ImplicitLocOpBuilder &b, TypeRange results, ValueRange operands,
                StringRef text, StringRef constraints,
                bool hasSideEffects = true);

/// A memory instruction of `operands`, whose constraints are `constraints`,
/// where `condition` holds, if it isn't null: under a predicate and not behind
/// a branch, so that it is scheduled among the arithmetic.
void createAsmIf(ImplicitLocOpBuilder &b, Value condition, ValueRange operands,
                 StringRef instruction, StringRef constraints);

/// `element`, or a vector of `width` of it if they are more than one.
Type withWidth(Type element, unsigned width);

/// Cheap enough to be computed again rather than kept in a register.
bool isCheapOp(Operation *op);

/// 1 / `value` if it is a finite f32 constant whose reciprocal is normal.
FloatAttr getReciprocal(Value value);

/// True of t - t and t + -t, which a fused multiply-add of t's last product
/// would leave a rounding error of.
bool subtractsItself(Operation *op);

/// The same value, a scalar or vector of i32 or an i64, as far as the compiler
/// can tell a new one: what is computed from it is computed again and not kept
/// from where it was computed before.
Value createOpaque(ImplicitLocOpBuilder &b, Value value);

/// Registers of a multiprocessor, on all targets.
inline constexpr unsigned kRegisters = 65536;

/// "{$first, $first+1, ...}", bare for one, and ".vN.b32": the operands of an
/// inline PTX instruction that takes `count` words.
std::string listAsmOperands(unsigned first, unsigned count);
std::string getVectorSuffix(unsigned count);

/// Partial rows are padded to a multiple of this many columns, a line of the L2
/// cache.
constexpr int64_t kPitchColumns = 32;

/// Columns from the start of one partial row of `columns` (index or i64) to
/// that of the next, of its type.
Value createPitch(ImplicitLocOpBuilder &b, const Problem &problem,
                  ScheduleAttr schedule, Value columns);

/// What a column of one item takes in the workspace, bytes, 4 or 8.
int64_t getWordBytes(PartialAccumulateOp accumulate);
/// The same of all accumulators.
int64_t getWorkspaceColumnBytes(MixedReductionOp op);
/// What one block of one item takes for reductions of everything, bytes.
int64_t getWorkspaceScalarBytes(MixedReductionOp op);

/// What a block takes for a row of a batch under structure=columns, bytes.
int64_t getWorkspaceRowBytes(const Problem &problem);

/// The arguments of a kernel, in order: a pointer (or scalar) an operand, an
/// i64 a dynamic dimension, the workspace, the number of splits (i64; under
/// structure=columns, of columns a block).
struct KernelArguments {
  SmallVector<Value> operands;
  SmallVector<Value> dims; ///< i64, constants where static
  Value workspace;
  Value splits;
};

/// An element-level value as a sum of elements times row-level factors, which
/// are computed once a row: sum of factor[i] * basis[i], plus `constant`.
struct AffineForm {
  struct Term {
    Value basis;         ///< of the region
    Value factor;        ///< null: 1
    bool varies = false; ///< the factor does, from row to row
    /// The factor is proportional to a sum over the row of products of `basis`.
    bool vanishes = false;
  };
  SmallVector<Term> terms;
  Value constant; ///< null: 0
  bool constantVaries = false;
  /// Of the row-level values that were added to `constant`: what each is a
  /// product of, of the region, up to numbers and signs. In no order.
  SmallVector<SmallVector<Value, 2>, 2> added;
};

/// A lane's view of the columns at one point of a kernel: `width` consecutive
/// columns from `column` on, and the values computed for them so far.
struct ColumnView {
  unsigned width = 1;
  Value column; ///< i64, linear over the column dimensions
  Value mask;   ///< i1, null if all columns exist; else of the first column
  /// i1 an element, where some elements of a vector may not exist.
  SmallVector<Value> elementMasks;
  llvm::DenseMap<Value, Value> values; ///< of the region, at this view
  llvm::DenseMap<Value, AffineForm> forms;
};

/// A reduction of everything: each thread keeps one value over all of its rows.
struct ScalarAccumulation {
  PartialAccumulateOp op;
  /// Null, or the row reduction of the same kind that only this one needs:
  /// threads add its elements, the rows' sums are never exchanged.
  RowReduceOp folded;
  unsigned argument; ///< of the combine region
};

/// An output that leaves through the tile in shared memory.
struct TiledOutput {
  unsigned operand, bytes; ///< bytes of an element
  unsigned offset;         ///< of its tile in shared memory
};

/// What a block, or cluster, does of all rows where it takes tiles of them:
/// whole tiles in turn, `stride` tiles apart, then an equal part of the rows
/// that are left, so that all end at once. All i64.
struct TileShare {
  Value first, stride;       ///< tiles
  Value wholeTiles;          ///< of this one
  Value restFirst, restRows; ///< its part of the rest
  Value steps;               ///< in all
};

/// A step of such a share: its place in its tile, i32, and the tile's rows,
/// i64.
struct TileStep {
  Value inTile;
  Value firstRow, endRow;
};

/// A row's elements as they lie in memory, kept from one wave to the next.
struct PackedElement {
  unsigned chunk; ///< of the lane's views
  BlockArgument argument;
  Value words;
};

/// One of the rows that a lane works on at a time.
struct RowView {
  SmallVector<Value> indices; ///< one a row dimension
  Value exists;               ///< i1, null if the row always does
  /// i32, its place in a tile, or among the rows that its warp copies together
  /// (copy=rows); else null.
  Value inTile;
  llvm::DenseMap<Value, Value> values; ///< of the row level
  SmallVector<ColumnView> columns;     ///< one a chunk
};

/// What is a warp's of a row: the row group that holds the row, the warp among
/// those of its block and of all blocks of the cluster, and whether a lane is
/// the row's first (i1).
struct RowPart {
  Value rowGroup, warpOfRow, partOfRow, isLeader;
};

/// How the threads of a plain kernel's block share out rows and columns.
struct PlainWalk {
  Value end;                 ///< i64, of rows, or of tiles of them
  Value firstColumn, stride; ///< i64, of what a thread loops over
  Value isLeader;            ///< i1, stores what is a row's
  /// Makes one of up to `end` the row at hand.
  llvm::function_ref<void(Value)> setRow;
  /// The columns that are worked on at a time, the first of which is given.
  llvm::function_ref<SmallVector<ColumnView>(Value)> getViews;
  /// Emits with the one of these whose partials this thread keeps.
  llvm::function_ref<void(Value, llvm::function_ref<void(Value)>)> forKept;
  /// Adds what is known in phase `p` to the partials.
  llvm::function_ref<void(unsigned p, Value, MutableArrayRef<ColumnView>)>
      addPartials;
  /// Makes a thread's parts of a wave's sums the row's.
  llvm::function_ref<void(ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &,
                          Value step)>
      exchange;
};

/// An input that is streamed: where its lanes' bytes lie in a slot.
struct Stream {
  unsigned input;
  unsigned bytes;      ///< of a lane's vector
  unsigned slotOffset; ///< of the input in a warp's slot, bytes
  /// Pieces of 16 bytes that cover a warp's part of a row, if it is shifted.
  unsigned pieces;
};

/// A result that leaves through a slot (copy=rows).
struct SlotOutput {
  unsigned operand;
  unsigned bytes;      ///< of an element
  unsigned slotOffset; ///< of its rows in a warp's slot, bytes
};

/// A lane's words of a streamed input, as they came from the slot.
struct PackedInput {
  unsigned unit, chunk;
  BlockArgument argument;
  Value words; ///< vector of i32
};

class KernelEmitter {
public:
  KernelEmitter(ImplicitLocOpBuilder &b, MixedReductionOp op,
                ScheduleAttr schedule, const KernelArguments &arguments,
                StringAttr sharedMemory);

  /// The rows and, if `combine` is `grid`, the combination.
  void emitRows();
  /// The combination alone: the second kernel of combine=kernel.
  void emitCombine();

private:
  //===--- Scalars ---===//
  Value integer(int64_t value, unsigned width);
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value toI64(Value i32Value), toI32(Value i64Value);
  Value product(const llvm::SmallBitVector &dims);
  Value threadId(), laneId(), warpId(), blockId(), gridSize();
  Value readAgain(StringRef name);

  //===--- Addresses ---===//
  /// Splits a linear index over `dims` (last fastest) into one a dimension.
  void delinearize(Value linear, const llvm::SmallBitVector &dims,
                   SmallVectorImpl<Value> &indices);
  Value linearize(const llvm::SmallBitVector &dims, ArrayRef<Value> indices);
  /// Offset in elements that the known `indices` (null: not counted) have in
  /// operand `i`.
  Value offset(unsigned i, ArrayRef<Value> indices);
  Value address(unsigned i, Value elementOffset);
  Value byteAddress(Value base, Value byteOffset);
  /// `isConstant`: nothing writes there while the kernel runs. Else than
  /// `isAligned`, the elements alone are.
  Value loadGlobal(unsigned i, Value elementOffset, unsigned width,
                   bool isConstant = false, bool isAligned = true);
  /// What is read once, past the L1 cache.
  Value loadStreamed(unsigned i, Value elementOffset, unsigned width);
  /// True if rows of an input begin anywhere, and so end within a line of the
  /// L2 cache that the next row's block reads and writes, too: lines are then
  /// fetched whole, and kept until they are written whole. (H200, us, 200 MB:
  /// LayerNorm 1001 columns 50.6 and 50.1, 5001 52.2 and 51.6, 17389 55.1
  /// and 54.8, RMSNorm 9001 52.1 and 51.3; 600 MB: LayerNorm 9001 149.3 and
  /// 148.6, RMSNorm 17389 145.2 and 143.9. Rows of whole vectors that share
  /// lines gain as much at 200 MB, but at 600 LayerNorm 720 takes 146 and 153,
  /// 1000 147 and 154, RMSNorm 480 142 and 150.)
  bool rowsBeginAnywhere();
  /// The instruction for results that this kernel doesn't read again: they
  /// leave the caches first, but for lines that others complete.
  StringRef getStreamedStore();
  /// Where `condition` holds, if it isn't null: as a predicate, so that the
  /// store is scheduled among the arithmetic.
  void storeGlobal(unsigned i, Value elementOffset, Value value,
                   Value condition = Value());
  Value fromMemory(Value value, Type elementType);
  Value toMemory(Value value, Type elementType);
  Value sharedPointer(Value byteOffset);

  //===--- Values of the regions ---===//
  bool hasColumns(Value value);
  bool hasRows(Value value);
  unsigned phase(Value value);
  Value cloneOp(Operation *op, ValueRange operands, unsigned width);
  const AffineForm &getForm(Value value, ColumnView &view);
  AffineForm makeForm(Value value, ColumnView &view);
  AffineForm expandNarrow(Value value, const AffineForm &form);
  Value evaluateForm(const AffineForm &form, ColumnView &view);
  bool isDividedByRow(Operation *source);
  Value makeRescale(Value divisor);
  Value makeReciprocal(Value divisor);
  void divideByRow(Operation *source, MutableArrayRef<ColumnView> views);
  Value evaluate(Value value, ColumnView &view);
  /// `scalar` for all columns of a view.
  Value spread(Value scalar, const ColumnView &view);
  /// The index of a column dimension; 0 in columns that don't exist.
  Value evaluateIndex(IndexOp index, ColumnView &view);
  /// A row reduction over some of the columns, whose result varies over others:
  /// every lane of the warp must take part, but in structure=plain.
  bool isBlockReduction(Operation *op);
  Value reduceBlock(RowReduceOp reduce, ColumnView &view);
  Value evaluateRow(Value value);
  Value loadAt(unsigned input, ColumnView &view);
  /// Computes every row-level value of a phase up to `p`, so that nested
  /// regions only use them.
  void prepareRowValues(unsigned p);
  Value masked(Value value, ColumnView &view, Combiner combiner);
  bool spreadsStores();
  /// Stores the outputs whose value is known first in phase `p`.
  void storeElementOutputs(unsigned p, MutableArrayRef<ColumnView> views,
                           Value allExist);
  void storeRowOutputs(unsigned p, Value isLeader);
  void storeView(unsigned operand, Value value, ColumnView &view, bool isMasked,
                 bool isSpread);
  void storeVector(unsigned operand, Value elementOffset, Value value,
                   ColumnView &view, bool isMasked, Value condition);
  void storeElement(unsigned operand, Value elementOffset, Value vector,
                    unsigned e, ColumnView &view, bool isMasked);

  //===--- Exchange ---===//
  Value shuffle(Value value, Value lane, NVVM::ShflKind kind);
  Value shuffleXor(Value value, unsigned distance);
  void addElements(SmallVectorImpl<Value> &chains, Value vector,
                   Combiner combiner);
  SmallVector<Value> addViews(ArrayRef<RowReduceOp> wave,
                              MutableArrayRef<ColumnView> views);
  void addView(SmallVectorImpl<Value> &chains, RowReduceOp reduce,
               ColumnView &view);
  Value addChains(ArrayRef<Value> chains, Combiner combiner);
  /// Between an f32's bits and an integer that orders as `maximum` and
  /// `minimum` order floats, -0 below +0; its own inverse.
  Value swapOrdered(Value bits);
  /// One instruction for the five shuffles and combinations of a butterfly.
  Value reduceWarp(Value value, NVVM::ReduxKind kind);
  /// Over the lanes that share a row, `values` in place.
  void reduceLanes(ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &values,
                   unsigned lanes);
  /// `a` where `condition` is null, too.
  Value select(Value condition, Value a, Value b);
  /// Both hold; either may be null, which holds.
  Value both(Value a, Value b);
  Value toWord(Value value);
  Value fromWord(Value word, Type type);
  /// A word of 32 or 64 bits as i32, lowest first, and back.
  SmallVector<Value> splitWord(Value word);
  Value joinWord(ArrayRef<Value> parts);
  void syncBlock();
  void gridBarrier();
  void initExchange();
  void awaitExchange();
  /// Every lane of the row group gets the sums of all warps of the row, which
  /// may be in other blocks of the cluster. `step` counts the calls. What
  /// `whileSent` emits runs before the wait. `isSynced`: the warp has met since
  /// the exchange before.
  void exchangeRowSums(
      ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &sums, Value rowGroup,
      Value warpOfRow, Value step, llvm::function_ref<void()> whileSent = [] {},
      bool isSynced = false);
  Value exchangeSlot(Value rowGroup, Value buffer);
  void sendSums(ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &sums,
                Value rowGroup, Value warpOfRow, Value step, bool isSynced);
  SmallVector<Value> receiveSums(ArrayRef<RowReduceOp> wave, Value rowGroup,
                                 Value step);
  SmallVector<Value> packSums(ArrayRef<Value> sums);
  void sendRowSums(ArrayRef<Value> words, Value target, Value barrier);
  Value exchangeBarrier(Value rowGroup, Value buffer);
  void awaitBarrier(Value barrier, Value parity, bool suspends);

  //===--- Structures ---===//
  /// `step` goes from item to item.
  void emitItems(
      llvm::function_ref<Value(Value item, Value firstRow, Value step)> emit);
  bool hasOneItem() const {
    return segmentDims.none() && schedule.getGrid() == 0;
  }
  Value emitRing(Value item, Value firstRow, Value step, bool awaits);
  struct Ring;
  SmallVector<Value> emitSteps(
      Ring &ring, ArrayRef<Value> carried, Value from, Value to,
      unsigned firstPartial,
      llvm::function_ref<void(Value, MutableArrayRef<Value>)> writeIfLast);
  SmallVector<Value> emitStepsAhead(
      Ring &ring, ArrayRef<Value> carried, unsigned firstPartial,
      llvm::function_ref<void(Value, MutableArrayRef<Value>)> writeIfLast);
  Ring makeRing(Value firstRow);
  Value isStep(const Ring &ring, unsigned k);
  Value countSteps(const Ring &ring);
  SmallVector<Value> startRing(Ring &ring, Value step, bool awaits);
  SmallVector<RowView> getRows(const Ring &ring, Value k);
  void forgetCheapValues(MutableArrayRef<RowView> rows,
                         MutableArrayRef<PackedInput> inputs);
  SmallVector<Value> emitPhase(const Ring &ring, unsigned p, RowView &row,
                               MutableArrayRef<Value> ofScalars,
                               MutableArrayRef<Value> accumulators);
  Value emitPlain(Value item, Value firstRow, Value step);
  Value emitWalk(Value item, Value first, Value step, const PlainWalk &walk);
  /// Of the plain structure, whose partials aren't in registers.
  void addToPartial(unsigned a, Value item, Value column, Value value);
  /// The same with a row a lane (lanes=1), tile by tile of a warp's rows.
  Value emitAcross(Value item, Value firstTile, Value step);
  Value reduceAcross(SmallVector<Value> values, Combiner combiner);
  void loadAcross(MutableArrayRef<ColumnView> views);
  void exchangeAcross(ArrayRef<RowReduceOp> wave, SmallVectorImpl<Value> &sums,
                      Value step);
  /// Stores the outputs that vary over some of the columns' dimensions, where
  /// others have extent 0.
  void storeOutputsOfEmptyBlocks(unsigned p);
  /// What a block (cluster) does of `count` things dealt out to the grid: its
  /// first one, or all from that on where the schedule sets the grid.
  void emitShare(Value first, Value count, Value stride,
                 llvm::function_ref<Value(Value index, Value step)> emit);
  void awaitLaunchBefore(bool letsNextBegin);
  int64_t countPrefetches(unsigned i, unsigned elements);
  void prefetchFirstStep();
  /// The row-only structure: no items, the grid is the rows.
  void emitRowBlocks();
  /// The same with transposed outputs.
  void emitTileBlocks();
  void findTiledOutputs();
  Value tileOffset(const TiledOutput &output, Value row, Value column);
  /// False if `operand` isn't an output of the tile.
  bool storeInTile(unsigned operand, Value value, ColumnView &view);
  SmallVector<Value> readWords(const TiledOutput &output, Value firstColumn);
  SmallVector<Value> readMatrices(const TiledOutput &output, Value firstColumn);
  void writeTile(const TiledOutput &output, Value firstRow, Value endRow);
  void writeTilePieces(const TiledOutput &output, Value firstRow, Value endRow);
  void writeTileElements(const TiledOutput &output, Value firstRow,
                         Value endRow);
  Value tiledAddress(const TiledOutput &output, Value row, Value column);
  Value isTileColumn(Value first, unsigned e, unsigned columns);
  void forTileColumns(unsigned columns, Value ofLane,
                      llvm::function_ref<void(Value first, Value column)> emit);
  void writeTiles(Value firstRow, Value endRow);
  void finishTile(const TileShare &share, Value k);
  void loadColumns(MutableArrayRef<ColumnView> views);
  SmallVector<RowView> getRowsOfStep(Value firstRow, Value step, Value rowGroup,
                                     ArrayRef<ColumnView> views);
  Value toWords(Value vector);
  SmallVector<Value> loadStepRows(MutableArrayRef<RowView> rows);
  void setStepRows(MutableArrayRef<RowView> rows, ArrayRef<Value> loaded,
                   MutableArrayRef<SmallVector<PackedElement>> packed);
  void prepareUniformValues();
  TileShare getTileShare(Value first, Value stride);
  TileStep getTileStep(const TileShare &share, Value k);
  void emitTileSteps(const RowPart &part, ArrayRef<ColumnView> views,
                     Value allExist);
  void emitTileStep(MutableArrayRef<RowView> rows,
                    MutableArrayRef<SmallVector<PackedElement>> packed,
                    const RowPart &part, Value allExist, Value &step,
                    MutableArrayRef<Value> ofScalars);
  SmallVector<Value> emitShareSteps(const TileShare &share, const RowPart &part,
                                    ArrayRef<ColumnView> views, Value allExist,
                                    ArrayRef<Value> identities, Value ticket);
  /// The elements of the row at hand, whose views a lane has loaded, and with
  /// `ofColumns` what all rows read; and their values anew, so that the
  /// compiler doesn't keep them unpacked meanwhile.
  SmallVector<PackedElement> packElements(MutableArrayRef<ColumnView> views,
                                          bool ofColumns);
  void unpackElements(MutableArrayRef<PackedElement> packed,
                      MutableArrayRef<ColumnView> views);
  /// The columns of a lane, `chunks` views: those of part `partOfRow` of the
  /// row. `allExist` is set to whether all columns of the part exist, if that
  /// isn't `exact`ly known; `firstColumn` (may be null) to the part's first.
  SmallVector<ColumnView> getLaneViews(Value partOfRow, Value laneOfRow,
                                       bool exact, Value *firstColumn,
                                       Value *allExist);
  void guarded(Value condition, llvm::function_ref<void()> emit);
  RowPart getRowPart(Value laneOfRow);
  void setRow(Value rowInSegment);
  /// Swaps the row that evaluate() and its like speak of.
  void swapRow(RowView &row);

  /// The structure for few rows: blocks own columns.
  void emitColumnBlocks();
  Value exchangeWord(Value count, unsigned word, Value row);
  void sendToGrid(ArrayRef<Value> sums, unsigned word, Value count, Value row);
  SmallVector<Value> receiveFromGrid(ArrayRef<RowReduceOp> wave, unsigned word,
                                     Value count, Value row);
  void storeColumnTotals(ArrayRef<ColumnView> views,
                         ArrayRef<Value> accumulators, Value firstColumn,
                         Value end);

  //===--- Reductions of everything ---===//
  bool isFolded(Operation *op);
  SmallVector<Value> getScalarIdentities();
  /// Adds the row at hand; `views` are the thread's columns.
  void addScalars(unsigned p, MutableArrayRef<ColumnView> views, Value isLeader,
                  MutableArrayRef<Value> state);
  Value reduceBlockScalar(Value value, unsigned k);
  Value scalarAddress(unsigned k, Value entry);
  void writeScalars(Value item, ArrayRef<Value> state);
  /// One block merges what all blocks left and writes the results.
  void emitScalarResults();

  //===--- Pacing ---===//
  Value getPaceCount(Value parity);
  Value loadPace();
  Value isCounting(const Ring &ring);
  Value isPaced(Value seen);
  Value startPace(const Ring &ring);
  void resetPace();
  void waitForPace(Value k, Value seen);
  Value readPace(Value seen);
  void countPace(const Ring &ring, Value seen);

  //===--- Rows that begin anywhere ---===//
  Value selectByFrame(int64_t full, int64_t least);
  Value getShift(Value row);
  Value getHead(Value shift);
  void makeFrames(Ring &ring);
  Value getVectorsEnd(const Ring &ring);
  void setShift(Ring &ring, Value shift);
  ColumnView makeEnds(Ring &ring);
  Value readEnd(const Ring &ring, const Stream &stream, Value slot,
                const ColumnView &ends);
  unsigned getPieceBytes(unsigned stepBytes);
  Value getPlaceInSector(Value row, unsigned elementBytes);
  Value getPlaceInSlot(Value column, unsigned elementBytes);
  SmallVector<Value> loadEnds(const Ring &ring, SmallVector<Value> indices);
  Value getPlaceOfEnd(const Ring &ring, Value position);
  Value isLastRow(Value row);
  Value mayCopy(const Ring &ring, Value row, unsigned chunk);
  Value readCopiedEnd(const Ring &ring, const Stream &stream, Value slot,
                      unsigned u, const RowView &row);
  Value addFramedSets(const Ring &ring, Value column, int64_t base, unsigned a);

  //===--- Row groups whose rows have two shifts ---===//
  void shareOutRows(Ring &ring);
  Value getShiftsPointer(Value group);
  void storeShifts(const Ring &ring);
  std::pair<Value, Value> loadShifts(Value group);
  Value getLastShift(const Ring &ring);
  SmallVector<Value> emitShifts(
      Ring &ring, ArrayRef<Value> carried, unsigned firstPartial,
      llvm::function_ref<void(Value, MutableArrayRef<Value>)> writeIfLast);
  void moveFirstSums(const Ring &ring, Value isFirst,
                     MutableArrayRef<Value> sums);

  //===--- The ring's copies ---===//
  void placeStreams(Ring &ring);
  Value getRowInputPointer(const Ring &ring, Value slot, unsigned u,
                           unsigned i);
  void copyRowInputs(const Ring &ring, Value k, Value slot, Value exists);
  void readRowInputs(const Ring &ring, Value slot,
                     MutableArrayRef<RowView> rows);
  void loadInputs(ArrayRef<unsigned> inputs, MutableArrayRef<ColumnView> views);
  Value getRow(const Ring &ring, Value k, unsigned u);
  Value getRowInTile(const Ring &ring, const TileStep &step, unsigned u);
  Value isRow(Value row);
  Value lastRowAtMost(Value row);
  Value getSlot(const Ring &ring, Value slot);
  Value getSlot(const Ring &ring, const Stream &stream, Value slot);
  Value getSlotPointer(const Ring &ring, const Stream &stream, Value slot,
                       unsigned u, unsigned chunk);
  Value getPartStart(const Ring &ring, const Stream &stream,
                     SmallVector<Value> indices, Value &shift);
  void copyPart(const Ring &ring, const Stream &stream,
                const SmallVector<Value> &indices, Value slot);
  void copyIf(Value condition, Value target, Value source, unsigned bytes);
  void issueStep(const Ring &ring, Value k, Value slot, Value exists);
  void boundBulkCopies(Ring &ring, Value first, Value end);
  void forCopyBarriers(const Ring &ring, llvm::function_ref<void(Value)> visit);
  void issueBulkCopies(const Ring &ring, Value k, Value slot, Value exists);
  void awaitCopies(const Ring &ring, Value k, Value slot);
  Value getCopyBarrier(const Ring &ring, Value slot);
  SmallVector<Value> loadRowInputs(const Ring &ring, Value k);
  SmallVector<Value> readShifted(const Ring &ring, const Stream &stream,
                                 Value slot, ArrayRef<Value> indices);
  Value readAligned(const Ring &ring, const Stream &stream, Value slot,
                    unsigned u, unsigned chunk);
  Value unpack(Value words, BlockArgument argument);
  SmallVector<PackedInput> readStep(const Ring &ring, Value slot,
                                    MutableArrayRef<RowView> rows);

  //===--- The ring's rows as one piece ---===//
  void placeSlotOutputs(const Ring &ring);
  Value getFirstRow(const Ring &ring, Value k);
  Value countRows(const Ring &ring, Value row);
  void forPieces(const Ring &ring, Value rows, unsigned elementBytes,
                 llvm::function_ref<void(Value at, unsigned constant,
                                         unsigned bytes, Value exists)>
                     visit);
  void copyRows(const Ring &ring, Value k, Value slot, Value exists);
  Value getOffsetInRows(const Ring &ring, unsigned elementBytes);
  bool storeInSlot(unsigned operand, Value value, const ColumnView &view,
                   Value condition);
  void storeRows(const Ring &ring, Value k);

  //===--- Partial rows ---===//
  /// The phase behind which nothing is added to partials any more.
  unsigned getPartialsPhase();
  void write(Value item, Ring &ring, ValueRange partials);
  void writeEarly(Value isLast, Value item, Ring &ring, ValueRange identities,
                  MutableArrayRef<Value> partials);
  Value createIdentity(unsigned accumulator, unsigned width);
  SmallVector<Value> getColumnIdentities(ArrayRef<ColumnView> views);
  void addPartials(unsigned p, unsigned c, ColumnView &view,
                   MutableArrayRef<Value> accumulators);
  bool branchesOverMissingRows();
  void addPartialsIfExists(unsigned p, MutableArrayRef<ColumnView> views,
                           MutableArrayRef<Value> accumulators);
  void writePartials(Value item, MutableArrayRef<Value> accumulators,
                     const Ring &ring);
  void writeFramedPartials(Value item, ArrayRef<Value> sums, const Ring &ring);
  void writeFramedIdentities(Value item);
  Value getFirstOfFramedPartials();
  int64_t getSumsStart(unsigned a, int64_t base);
  void storeSums(const Ring &ring, unsigned a, ArrayRef<Value> sums,
                 Value writes, int64_t base);
  int64_t getBytesBefore(unsigned accumulator);
  Value partialAddress(unsigned accumulator, Value item, Value column,
                       Value bytesBefore = Value());
  void storePartial(unsigned accumulator, Value item, Value column, Value value,
                    Value condition = Value());
  void storePartialByPairs(unsigned accumulator, Value item, Value column,
                           Value value,
                           std::pair<Value, Value> conditions = {});
  std::pair<Value, Value> getConditionsOfPair(Value mask);
  void storeWords(StringRef instruction, Value pointer, Value words,
                  Value condition = Value(), Value policy = Value());
  Value createEvictLastPolicy();
  void storeRelaxed(Value pointer, Value words, Value condition = Value());
  Value loadWords(StringRef instruction, Value pointer, unsigned words,
                  bool isOrdered = true);
  Value createWordsAsm(ValueRange operands, StringRef text,
                       StringRef constraints, unsigned words,
                       bool hasSideEffects);
  Value loadRelaxed(Value pointer, unsigned words);
  Value loadRelaxedIf(Value condition, Value pointer, Value offset,
                      Value words);
  Value createDifference(ArrayRef<Value> words, Value word);
  Value getWord(Value words, unsigned k);
  Value toWords(unsigned accumulator, unsigned count);
  Value fill(Value word, Value like);
  Value loadRelaxed64(Value pointer);
  void storeTagged(Value pointer, Value word, Value tag);
  ValueRange awaitTagged(ValueRange pointers, Value tag);
  void readLaunchCount();
  void countLaunch(Value count);
  Value takeTicket();
  void keepTicket(Value ticket);
  Value isKeeper();
  void inKeeperThread(llvm::function_ref<void()> store);
  /// Results of columns that are combined together.
  struct CombineShare {
    SmallVector<std::pair<unsigned, Value>> outputs; ///< and their values
    llvm::SmallBitVector accumulators; ///< all that they hang on, by index
    void merge(const CombineShare &other);
  };
  /// How a block shares out a tile of a partial row.
  struct TileShape {
    unsigned width = 1;   ///< columns of a lane
    unsigned parts = 1;   ///< at most one a warp
    bool ofShare = false; ///< of one share of the results, else of all
    int64_t getColumns() const { return 32 * width * parts; }
  };
  SmallVector<CombineShare> getCombineShares();
  TileShape getTileShape(ArrayRef<CombineShare> shares);
  void emitTiles();
  bool areAlike(ArrayRef<CombineShare> shares);
  void emitTile(ArrayRef<CombineShare> shares, Value shareOfTile,
                const TileShape &shape, Value segment, Value firstColumn);
  void storeColumnResults(const CombineShare &share, Value column,
                          ArrayRef<Value> totals);
  SmallVector<Value> loadTile(ArrayRef<CombineShare> shares, Value shareOfTile,
                              Value firstItem, ArrayRef<Value> columns,
                              Value warp, unsigned warps, unsigned width);
  Value getPlaceOfPartial(Value column);

  ImplicitLocOpBuilder &b;
  MixedReductionOp op;
  ScheduleAttr schedule;
  KernelArguments arguments;
  Problem problem;
  StringAttr sharedMemory;
  Block *entry; ///< the kernel's first
  /// The integers in it, by value and width.
  llvm::DenseMap<std::pair<int64_t, unsigned>, Value> constants;

  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  llvm::DenseMap<Value, unsigned> phases;
  SmallVector<SmallVector<RowReduceOp>> waves;
  SmallVector<PartialAccumulateOp> accumulations; ///< of columns
  SmallVector<unsigned> combineArguments;         ///< theirs
  SmallVector<ScalarAccumulation> scalars;
  SmallVector<TiledOutput> tiled;
  SmallVector<SlotOutput> slotOutputs;
  Value outputSlot; ///< i32, where theirs of the step at hand begin
  Value stepRow;    ///< i64, the warp's first row of it (copy=rows)
  Value tileRow;    ///< i32, RowView::inTile of the row at hand
  llvm::SmallBitVector columnDims, segmentDims, reducedRowDims;
  unsigned numInputs;

  /// i64, of a segment; rings', the former two, are extended from 32 bits.
  Value rowCount, lastRow;
  Value segmentCount, columnCount; ///< i64
  Value pitch;                     ///< of partial rows, i64
  Value rank;                      ///< i32, of the block in its cluster
  Value cluster, clusterStride;    ///< i64, of the block and of the grid
  Value parity;                    ///< i32, of this launch's tags
  Value paceBefore;                ///< i32, the other parity's count of pacing
  SmallVector<Value> segmentIndices, rowIndices;
  Value rowExists; ///< i1, null if it always does
  /// Values of the row at hand, and those that no row changes.
  llvm::DenseMap<Value, Value> rowValues, uniformValues;
  unsigned threads;
  int64_t exchangeBytes, sumsOffset;
  bool framed; ///< vectors are aligned, though rows begin anywhere
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELEMITTER_H
