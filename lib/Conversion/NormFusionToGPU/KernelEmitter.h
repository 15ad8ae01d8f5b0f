//===- KernelEmitter.h - Kernels from a mixed reduction's regions -*- C++ -*-===//
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
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::norm_fusion {

/// Bytes before the partial rows in a workspace: the grid barrier's word.
constexpr int64_t kWorkspaceHeaderBytes = 256;

/// How a value of `type` lies in memory: i1 as a byte, index as i64.
Type getMemoryType(Type type);

/// What a column of one item takes in the workspace, all accumulators, bytes.
int64_t getWorkspaceColumnBytes(MixedReductionOp op);

/// The arguments of a kernel, in order: a pointer (or scalar) an operand, an
/// i64 a dynamic dimension, the workspace, the number of splits (i64).
struct KernelArguments {
  SmallVector<Value> operands;
  SmallVector<Value> dims; ///< i64, constants where static
  Value workspace;
  Value splits;
};

/// A lane's view of the columns at one point of a kernel: `width` consecutive
/// columns from `column` on, and the values computed for them so far.
struct ColumnView {
  unsigned width = 1;
  Value column;                    ///< i64, linear over the column dimensions
  Value mask;                      ///< i1, null if all columns exist
  llvm::DenseMap<Value, Value> values; ///< of the region, at this view
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
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value toI64(Value i32Value);
  Value product(const llvm::SmallBitVector &dims);
  Value threadId(), blockId(), gridSize();

  //===--- Addresses ---===//
  /// Splits a linear index over `dims` (last fastest) into one a dimension.
  void delinearize(Value linear, const llvm::SmallBitVector &dims,
                   SmallVectorImpl<Value> &indices);
  /// Offset in elements that the known `indices` (null: not counted) have in
  /// operand `i`.
  Value offset(unsigned i, ArrayRef<Value> indices);
  Value address(unsigned i, Value elementOffset);
  Value byteAddress(Value base, Value byteOffset);
  Value loadGlobal(unsigned i, Value elementOffset, unsigned width);
  void storeGlobal(unsigned i, Value elementOffset, Value value);
  Value fromMemory(Value value, Type elementType);
  Value toMemory(Value value, Type elementType);
  Value sharedPointer(Value byteOffset);

  //===--- Values of the regions ---===//
  bool hasColumns(Value value);
  bool hasRows(Value value);
  unsigned phase(Value value);
  Value cloneOp(Operation *op, ValueRange operands, unsigned width);
  Value evaluate(Value value, ColumnView &view);
  Value evaluateRow(Value value);
  Value loadAt(unsigned input, ColumnView &view);
  /// Computes every row-level value of a phase up to `p`, so that nested
  /// regions only use them.
  void prepareRowValues(unsigned p);
  Value masked(Value value, ColumnView &view, Combiner combiner);
  /// Stores the outputs whose value is known first in phase `p`.
  void storeElementOutputs(unsigned p, ColumnView &view);
  void storeRowOutputs(unsigned p, Value isLeader);

  //===--- Exchange ---===//
  Value shuffleXor(Value value, unsigned distance);
  Value reduceVector(Value vector, Combiner combiner);
  Value reduceWarp(Value value, Combiner combiner);
  Value select(Value condition, Value a, Value b);
  void syncBlock();
  void syncRowGroup(Value rowGroup);
  void gridBarrier();
  /// Every lane of the row group gets the sums of all its warps.
  void exchangeRowSums(ArrayRef<RowReduceOp> wave,
                       SmallVectorImpl<Value> &sums, Value rowGroup,
                       Value warpOfRow, Value buffer,
                       llvm::function_ref<void()> meanwhile);

  //===--- Structures ---===//
  void emitItems(llvm::function_ref<void(Value item, Value firstRow)> emit);
  void emitRing(Value item, Value firstRow);
  bool mustRecompute();
  void emitPlain(Value item, Value firstRow);
  void writePartials(Value item, ArrayRef<Value> accumulators,
                     MutableArrayRef<ColumnView> views, Value rowGroup);
  Value partialAddress(unsigned accumulator, Value item, Value column);
  void emitTiles();
  void setRow(Value rowInSegment);

  ImplicitLocOpBuilder &b;
  MixedReductionOp op;
  ScheduleAttr schedule;
  KernelArguments arguments;
  Problem problem;
  StringAttr sharedMemory;

  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  llvm::DenseMap<Value, unsigned> phases;
  SmallVector<SmallVector<RowReduceOp>> waves;
  SmallVector<PartialAccumulateOp> accumulations;
  llvm::SmallBitVector columnDims, segmentDims, reducedRowDims;
  unsigned numInputs;

  Value rowCount, segmentCount, columnCount; ///< i64
  SmallVector<Value> segmentIndices, rowIndices;
  /// Values of the row at hand, and those that no row changes.
  llvm::DenseMap<Value, Value> rowValues, uniformValues;
  /// Inputs of the column level that the ring holds in registers.
  llvm::DenseMap<std::pair<unsigned, unsigned>, Value> columnInputs;
  unsigned threads;
  int64_t exchangeBytes;
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_LIB_CONVERSION_NORMFUSIONTOGPU_KERNELEMITTER_H
