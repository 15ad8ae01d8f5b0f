//===- Schedule.h - From a problem and a target to a schedule ---*- C++ -*-===//
//
// Pure functions that choose how a mixed reduction is mapped to a kernel, and
// that tell whether a given schedule is possible. Nothing here looks at sizes
// that are known at run time alone: where few rows take another kernel, the
// launch decides.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_SCHEDULE_SCHEDULE_H
#define NORM_FUSION_SCHEDULE_SCHEDULE_H

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/Schedule/TargetInfo.h"

#include <limits>

namespace mlir::norm_fusion {

/// Bytes of a value of `type` in memory: an index has eight, i1 one.
unsigned getBytes(Type type);

/// What a schedule depends on.
struct Problem {
  /// Columns of the space, ShapedType::kDynamic where unknown.
  int64_t columns = 0;
  /// Columns of the last column dimension: vectors lie within them.
  int64_t innerColumns = 0;
  /// Columns of a block of every row reduction that reduces a part of the row:
  /// of the last column dimensions, in one piece. 0: of others, or dynamic.
  SmallVector<int64_t> blockColumns;
  /// Bytes of one element of every input of the element level.
  SmallVector<unsigned> elementBytes;
  /// Bytes of one element of every input of the row level.
  SmallVector<unsigned> rowInputBytes;
  /// Bytes of one accumulator of every partial accumulation.
  SmallVector<unsigned> accumulatorBytes;
  /// Bytes of one element of all inputs of the column level.
  unsigned columnInputBytes = 0;
  /// Bytes of one element of every output in transposed order.
  SmallVector<unsigned> tiledBytes;
  /// An output of the element level has elements of one byte.
  bool narrowOutputs = false;
  /// Bytes of one accumulator of every reduction of everything.
  SmallVector<unsigned> scalarBytes;
  unsigned rowReductions = 0;
  /// Bytes of one value of the widest of them.
  unsigned rowReductionBytes = 0;
  /// Row reductions that wait for one another, one after the other.
  unsigned exchanges = 0;
  /// Consecutive columns are consecutive in memory in every input that varies
  /// over the last column dimension.
  bool contiguousColumns = true;
  /// In most of what is read and written consecutive rows are consecutive in
  /// memory instead, of the last row dimension, over which all is reduced.
  bool contiguousRows = false;
  /// Element (row, column) of every operand that has both lies at row * columns
  /// + column, rows counted over all row dimensions.
  bool linearRows = true;
  /// Rows may be added up in an order that depends on where they begin.
  bool mayBeFramed = true;
  /// Every accumulator is an f32 sum or product: its words can carry tags.
  bool taggable = true;
  /// Rows of a segment, of all that there are otherwise; dynamic if they are.
  int64_t rows = ShapedType::kDynamic;
  /// Rows that segmented accumulations keep apart.
  bool segmented = false;
  /// Why no kernel can be generated at all, and what one needs; empty if one
  /// can.
  std::string unsupported, needed;

  /// Of an op that is split. Tensors and memrefs give the same.
  static Problem get(MixedReductionOp op);
  unsigned bytesPerColumn() const;
  /// Something is reduced over rows: of columns, or of everything.
  bool hasPartials() const {
    return !accumulatorBytes.empty() || !scalarBytes.empty();
  }
};

/// Columns that a warp of a plain kernel with a row a lane works on at a time:
/// the loads of all of them are on their way at once.
inline constexpr unsigned kColumnsAcross = 8;

/// True for structure=plain with a row a lane, lanes=1.
bool isAcross(ScheduleAttr schedule);

/// The schedule for `problem` on `target`, and why in `reason`.
ScheduleAttr chooseSchedule(MLIRContext *context, const Problem &problem,
                            const TargetInfo &target, std::string &reason);

/// Blocks of a cluster that every device with clusters runs (CUDA C++
/// Programming Guide 13.0, "Thread Block Clusters").
inline constexpr unsigned kPortableCluster = 8;

/// Schedules for launches with few rows, for which `schedule`, which is
/// chooseSchedule()'s, isn't the fastest, by the number of rows.
SmallVector<FewRowsAttr> chooseFewRows(const Problem &problem,
                                       const TargetInfo &target,
                                       ScheduleAttr schedule);

/// Rows of a tile, 0 where there is none; steps that fill it; rows of the parts
/// that the last tiles are cut into, so that all blocks have as many rows; and
/// bytes of shared memory for all outputs in transposed order.
unsigned getTileRows(ScheduleAttr schedule);
unsigned getTileSteps(ScheduleAttr schedule);
unsigned getTilePart(ScheduleAttr schedule);
unsigned getTileBytes(const Problem &problem, ScheduleAttr schedule);
/// True if a warp reads a tile of elements of `bytes` bytes as matrices of 8 x
/// 8 16-bit words: four pieces of 16 bytes of a column at once.
bool readsMatrices(ScheduleAttr schedule, unsigned bytes);
/// Rows that a block takes in a step.
unsigned getStepRows(ScheduleAttr schedule);
/// Steps whose rows are loaded ahead, on a multiprocessor with so many
/// registers; 0 where a tile is one step.
unsigned getStepsAhead(const Problem &problem, ScheduleAttr schedule,
                       unsigned registers);
/// True if output `i` of the op has the last row dimension last, behind the
/// columns: tiles write it through shared memory.
bool isTiledOutput(MixedReductionOp op, unsigned i);

/// Under structure=rows and structure=tile, the blocks that a multiprocessor
/// with so many registers should run at once; else 1.
unsigned getMinBlocks(const Problem &problem, ScheduleAttr schedule,
                      unsigned registers);

/// A schedule of the given structure with its usual fields, to start from where
/// a user asks for another structure than the chosen one. Null, and why in
/// `reason`, where there is none.
ScheduleAttr getDefaultSchedule(MLIRContext *context, const Problem &problem,
                                const TargetInfo &target, Structure structure,
                                std::string &reason);

/// Bytes of shared memory of a block under `schedule`.
unsigned getSharedMemoryBytes(const Problem &problem, ScheduleAttr schedule);

/// Blocks in clusters of `cluster` blocks that nearly all parts with 128
/// multiprocessors or more run at once.
unsigned getUsualBlocks(unsigned cluster);

/// Clusters that a launch takes where a device runs a few more (up to a
/// sixteenth), so that numbers of rows with large powers of two in them leave
/// none with a row more than the others; 0: all that there are.
unsigned getEvenClusters(const Problem &problem, ScheduleAttr schedule);

/// True if a warp copies aligned pieces around its part of a row: elements too
/// narrow for lanes to copy their own.
bool isShifted(const Problem &problem, ScheduleAttr schedule);
/// Bytes that the L2 cache reads and writes at once.
inline constexpr unsigned kSectorBytes = 32;
/// Sectors of a line of the L2 cache.
inline constexpr unsigned kLineSectors = 4;

/// Bytes of a slot for `bytes` of memory that begin within a sector as there,
/// unless they are whole ones (copy=rows).
unsigned getPieceRoom(unsigned bytes);
/// Bytes of a warp's part of a slot that an input of elements of `elementBytes`
/// bytes takes.
unsigned getStreamBytes(const Problem &problem, ScheduleAttr schedule,
                        unsigned elementBytes);

/// True if elements of so many bytes of a row-level input come through a ring's
/// slots.
bool copiesRowInput(ScheduleAttr schedule, unsigned bytes);
/// Bytes of such inputs in a warp's part of a slot.
unsigned getRowInputBytes(const Problem &problem, ScheduleAttr schedule);

/// Rings count the rows of a segment, and one step more, in 32 bits; the plain
/// kernel takes more.
constexpr int64_t kMostRingRows = std::numeric_limits<int32_t>::max() - 1;

/// True if a ring's lanes hold aligned vectors of rows that begin anywhere.
/// Steps whose rows begin alike to a multiple of `getFrame()` columns make
/// getFrameClasses() classes, and a row group has steps of one class, so that
/// what its lanes own of the columns doesn't change; with shifts=2 of up to
/// two, one behind the other.
bool isFramed(const Problem &problem, ScheduleAttr schedule);
unsigned getFrame(ScheduleAttr schedule);
/// True if framed rows have elements that are in no whole vector.
bool haveEnds(const Problem &problem, ScheduleAttr schedule);
/// Vectors of a frame, which a block holds more than it owns.
unsigned getFrameVectors(ScheduleAttr schedule);
/// Those of a launch that has too few row groups for the classes of these: a
/// sector of the L2 cache at most.
unsigned getLeastFrameVectors(const Problem &problem, ScheduleAttr schedule);
/// True if a block's sums lie in the workspace as in its lanes, from its
/// frame's start on, in getBlockColumns() columns of its own; else a partial
/// row lies there from column 0 on, and framed sums pass through shared memory.
bool arePartialsFramed(const Problem &problem, ScheduleAttr schedule);
/// Columns that a lane adds of such partial rows, so that each block has a
/// tile.
unsigned getFramedTileWidth(const Problem &problem, ScheduleAttr schedule);
/// True if the problem's rows can be framed, whatever the schedule.
bool canBeFramed(const Problem &problem);
unsigned getFrameClasses(const Problem &problem, ScheduleAttr schedule);
/// Row groups that framed rows need at least, for all classes to have one.
unsigned getLeastRowGroups(const Problem &problem, ScheduleAttr schedule);
/// Columns that the lanes of a row need room for in whole vectors: a frame a
/// block more than there are, or only those of whole vectors where the ends are
/// held besides.
int64_t getHeldColumns(const Problem &problem, ScheduleAttr schedule);
/// Columns that the sums of a row group take in shared memory.
int64_t getSetColumns(const Problem &problem, ScheduleAttr schedule);
/// Columns that a block owns: all that it holds, but for what a row's start
/// takes of a frame.
int64_t getOwnedColumns(const Problem &problem, ScheduleAttr schedule);

/// Of these, the bytes that come first: barriers of the exchange of row sums
/// between warps, what a warp sends in a wave, where the barriers of bulk
/// copies begin, [warp][slot], and all of these.
unsigned getExchangeBarrierBytes(ScheduleAttr schedule);
unsigned getPartBytes(const Problem &problem, ScheduleAttr schedule);
unsigned getCopyBarriersOffset(const Problem &problem, ScheduleAttr schedule);
unsigned getExchangeBytes(const Problem &problem, ScheduleAttr schedule);
/// Steps whose row sums are in shared memory at once, a power of two.
unsigned getExchangeBuffers(ScheduleAttr schedule);
/// True if a block adds the column sums of its row groups behind the ring's
/// slots, so that no warp waits for the others before it writes its own: with
/// `ahead`, and where they fit whatever chip the slots fit. (H200, f32
/// LayerNorm: 0.1 to 0.3 us less than in the slots.)
bool areSumsBehindRing(const Problem &problem, ScheduleAttr schedule);
/// Where that is in shared memory, else in the ring's slots once these are
/// read; of tiles its values of everything, behind a line for what the block
/// knows of the launch.
unsigned getSumsOffset(const Problem &problem, ScheduleAttr schedule);
/// With shifts=2, where the row groups' column sums of their first shift are,
/// behind all that is used while they wait there, and then the row groups'
/// shifts, 8 bytes each.
unsigned getFirstSumsOffset(const Problem &problem, ScheduleAttr schedule);
unsigned getShiftsOffset(const Problem &problem, ScheduleAttr schedule);

/// True if a kernel can be generated; else `error` says what was found, what
/// is possible.
bool isLegalSchedule(const Problem &problem, ScheduleAttr schedule,
                     const TargetInfo &target, std::string &error);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_SCHEDULE_SCHEDULE_H
