//===- KernelPrefetch.cpp - What the first step reads, before its time ----===//
//
// A launch that begins before the one in front of it has ended may not read
// memory yet (griddepcontrol.wait), but may ask for what its first step reads
// to be brought to the L2 cache, which all that is written goes through: when
// it may read, the first bytes are on their way. The blocks share out what all
// of them need, which lies in one piece: the rows of a step are neighbours.
// Nothing hangs on what comes of it. (CUDA C++ Programming Guide 13.0,
// "Programmatic Dependent Launch and Synchronization"; PTX ISA 9.0,
// "prefetch".)
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// Bytes that a prefetch brings.
static constexpr int64_t kLineBytes = 128;

/// Bytes of rows that a block asks for, of all inputs, at most half of a step:
/// more delay the copies that follow. (H200, us, none, 4, 6, 8, 12 and 16 KiB:
/// bf16 RMSNorm 4096x256 4.12, 3.87, 3.80, 3.73, 3.73, 3.73, 512x4096 5.93,
/// 5.74, 5.74, 5.73, 5.74, 5.74; f32 LayerNorm 512x4096 9.0, 8.78, 8.76, 8.70,
/// 8.70, 8.68, 128x16384 9.68, 9.37, 9.35, 9.29, 9.27, 9.22. H100, of all of a
/// step's 28 KiB: bf16 LayerNorm 4096x256 5.2 -> 5.3, half of it 4.8.)
static constexpr int64_t kRowBytes = 8 << 10;

/// Bytes that a block asks for of a row-level input, of this step and later
/// ones, and at least of what all rows read. (H200, row inputs of one step
/// alone, f32 LayerNorm, us: 256x8192 9.15 -> 9.32, 128x16384 9.23 -> 9.40.)
static constexpr int64_t kFewBytes = 512;

/// Blocks that ask, about.
static constexpr int64_t kBlocks = 128;

/// The lines of input `i` that a block asks for, one a thread; 0 if the first
/// step's aren't known. The elements of `elements` inputs are asked for.
int64_t KernelEmitter::countPrefetches(unsigned i, unsigned elements) {
  auto type = dyn_cast<ShapedType>(op.getInputs()[i].getType());
  if (!type)
    return 0;
  // Rows first, in order; then columns, of a known number.
  int64_t bytes = getBytes(type.getElementType());
  SmallVector<unsigned> rowDims;
  for (auto [r, expr] : llvm::enumerate(op.getInputMap(i).getResults())) {
    unsigned d = cast<AffineDimExpr>(expr).getPosition();
    bool isRow = reducedRowDims.test(d);
    if (isRow ? rowDims.size() != r : type.isDynamicDim(r))
      return 0;
    if (isRow)
      rowDims.push_back(d);
    else
      bytes *= type.getDimSize(r);
  }
  if (rowDims.empty())
    return llvm::divideCeil(std::max(bytes / kBlocks, kFewBytes), kLineBytes);
  if (!llvm::equal(rowDims, reducedRowDims.set_bits()))
    return 0;
  // Blocks of few rows share these, with their row-level inputs.
  bool isRing = norm_fusion::isRing(schedule.getStructure());
  if (!hasColumns(op.getBodyBlock()->getArgument(i)))
    return isRing ? kFewBytes / kLineBytes : 1;
  int64_t ofStep = bytes * getStepRows(schedule) /
                   (isRing ? schedule.getCluster() : kBlocks);
  return std::min(ofStep / 2, kRowBytes / elements) / kLineBytes;
}

/// Threads ask for the block's part of what the first step reads. (Bulk
/// prefetches, which one thread asks for, are as fast, but their uniform
/// registers make kernels that have no register left spill.)
void KernelEmitter::prefetchFirstStep() {
  // The rows of tiles, and of segments, aren't neighbours.
  if ((!isRing(schedule.getStructure()) &&
       schedule.getStructure() != Structure::columns) ||
      segmentDims.any() || schedule.getTile() != 0)
    return;
  auto inputs = llvm::make_filter_range(
      op.getBodyBlock()->getArguments(),
      [](BlockArgument argument) { return !argument.use_empty(); });
  unsigned elements = llvm::count_if(inputs, [&](BlockArgument argument) {
    return hasRows(argument) && hasColumns(argument);
  });
  SmallVector<std::pair<unsigned, int64_t>> linesOfInputs;
  int64_t most = 0;
  for (BlockArgument argument : inputs) {
    unsigned i = argument.getArgNumber();
    int64_t lines = std::min<int64_t>(countPrefetches(i, elements), threads);
    if (lines != 0)
      linesOfInputs.push_back({i, lines});
    most = std::max(most, lines);
  }
  auto isBelow = [&](Value value, Value bound) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value, bound);
  };
  Value thread = readAgain("tid.x"), block;
  auto emit = [&](unsigned i, int64_t lines) {
    Value end = i64(getBytes(getElementTypeOrSelf(op.getInputs()[i])));
    for (AffineExpr expr : op.getInputMap(i).getResults())
      end = mul(end, arguments.dims[cast<AffineDimExpr>(expr).getPosition()]);
    Value line = add(mul(block, i32(lines)), thread);
    Value first = mul(toI64(line), i64(kLineBytes));
    Value asks = isBelow(first, end);
    if (lines < most)
      asks = both(asks, isBelow(thread, i32(lines)));
    guarded(asks, [&] {
      NVVM::PrefetchOp::create(
          b,
          NVVM::PrefetchCacheLevelAttr::get(b.getContext(),
                                            NVVM::PrefetchCacheLevel::L2),
          /*evictPriority=*/nullptr, byteAddress(arguments.operands[i], first),
          /*predicate=*/Value(), /*tensormap=*/UnitAttr());
    });
  };
  guarded(isBelow(thread, i32(most)), [&] {
    block = readAgain("ctaid.x");
    for (auto [i, lines] : linesOfInputs)
      emit(i, lines);
  });
}
