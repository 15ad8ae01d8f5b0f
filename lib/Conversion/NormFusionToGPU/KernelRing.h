//===- KernelRing.h - Rows that come through a ring of slots ----*- C++ -*-===//
//
// What KernelRing.cpp and KernelRingAhead.cpp (the walk over the rows),
// KernelRingCopies.cpp and KernelRingRows.cpp (from global memory to slots to
// registers), KernelRingFrames.cpp and KernelRingShifts.cpp (rows that begin
// anywhere) share.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELRING_H
#define NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELRING_H

#include "KernelEmitter.h"

namespace mlir::norm_fusion {

/// One item's rows of a row group: `mine` steps of `rowsAStep` rows, from
/// `first` on every `stride`-th; or, in tiles, those of `share`.
struct KernelEmitter::Ring {
  unsigned slots; ///< steps that are copied ahead; the ring has one more
  unsigned units; ///< rows of a lane in a step
  unsigned rowsAStep;
  /// A step has several rows, `stride` apart.
  bool takesTurns() const { return rowsAStep == 1 && units > 1; }
  bool takesTiles() const { return bool(share.steps); }
  /// Row `u` of a step that exists may be behind the last one; its first row
  /// isn't.
  bool mayBeBehind(unsigned u) const {
    return rowOfLane || u > 0 || takesTiles();
  }
  bool async, shifted, exact;
  bool bulk; ///< a lane copies for its warp
  bool together; ///< a warp's rows are copied and stored as one piece
  /// Framed rows' ends, a step ahead, past the slots, or with their vectors.
  bool loadsEnds, copiesEnds;

  Value lane, laneOfRow; ///< of the rows side by side in a warp
  Value rowOfLane;       ///< i32, null if a warp has one row
  RowPart part;
  /// The lane's columns: its vectors, one a chunk, and where rows are framed
  /// its element of the row's ends.
  SmallVector<ColumnView> views;
  /// With copiesEnds: the column in the block before which vectors of the
  /// array's last row are copied, and the place of the lane's element of the
  /// ends among what the warp holds of a row. i32.
  Value lastCopyEnd, placeOfEnd;
  Value firstColumn, allExist;   ///< of the warp's part

  SmallVector<Stream> streams;
  /// Inputs of the row level, loaded a step ahead or copied.
  SmallVector<BlockArgument> rowInputs, copiedRowInputs;
  /// Read once, and step by step past the slots.
  SmallVector<unsigned> columnInputs, loadedInputs;
  unsigned slotBytes = 0; ///< of a warp
  Value base;             ///< i32, of the warp's slots in shared memory
  /// i32, the same of copied row inputs, [slot][unit][row of the warp][input],
  /// 8 bytes each.
  Value rowInputBase;
  /// Of bulk copies: the first of the warp's vectors that exists, and how many
  /// do, i32.
  Value firstVector, numVectors;

  /// Of frames: the column of the lane's first vector from its frame's start
  /// on, and in the block, and the columns that the block owns, i32; and its
  /// first one, i64.
  Value ofFrame, firstOfLane, extent, firstOfBlock;
  /// Of the rows at hand, i32.
  Value shift;
  /// With shifts=2: the steps of the first shift, and the row that step 0 would
  /// have if all were of the second, i32; else null.
  Value firstSteps, secondRow;

  // Rows and steps are 32-bit: see kMostRingRows.
  Value steps; ///< of all row groups
  /// `any`: i1, mine > 0. startRing() counts `mine`; it's null before.
  Value first, stride, mine, any;
  Value firstRow;                 ///< of the block's first row group, i64
  TileShare share; ///< where rows come in tiles; else its values are null
  Value end;       ///< row groups whose first step is before this one have rows
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELRING_H
