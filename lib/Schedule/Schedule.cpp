//===- Schedule.cpp - From a problem and a target to a schedule -----------===//
//
// The ring holds a row in registers: `warps` warps of 32 lanes in each of
// `cluster` blocks own `chunks` vectors of `vector` columns each, and `slots`
// rows a row group are in flight through shared memory. Rows of a few vectors
// share a warp (small). The plain structure is the floor: any size, layout and
// alignment, each row read once a phase.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

static unsigned getBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Of one byte; kernels convert them and move them, nothing else.
static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type, Float8E8M0FNUType>(type);
}

static bool convertsOrMoves(Operation *op) {
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op)) {
    auto mode = rounding.getRoundingModeAttr();
    return isa<arith::TruncFOp, arith::ScalingTruncFOp>(op) &&
           (!mode || mode.getValue() == arith::RoundingMode::to_nearest_even);
  }
  return isa<arith::ExtFOp, arith::ScalingExtFOp, arith::BitcastOp,
             arith::SelectOp, arith::ConstantOp, YieldOp>(op);
}

/// Types that kernels can load, store and shuffle.
static bool isKernelType(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex() || isFloat8(type))
    return true;
  if (!type.isSignlessInteger())
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

/// True if a column result needs a reduction of everything.
static bool
mixesTotals(MixedReductionOp op,
            const llvm::DenseMap<Value, llvm::SmallBitVector> &levels) {
  Block *combine = op.getCombineBlock();
  unsigned inputs = op.getInputs().size();
  SmallVector<Value> worklist;
  for (Value value : combine->getTerminator()->getOperands())
    if (levels.lookup(value).any())
      worklist.push_back(value);
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getArgNumber() >= inputs && levels.lookup(argument).none())
        return true;
      continue;
    }
    llvm::append_range(worklist, value.getDefiningOp()->getOperands());
  }
  return false;
}

static constexpr StringLiteral kKernelTypes =
    "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E8M0FNU, index, i1, i8, i16, i32 "
    "or i64";

Problem Problem::get(MixedReductionOp op) {
  Problem problem;
  auto refuse = [&](const std::string &found, StringRef needed) {
    problem.unsupported = found;
    problem.needed = needed.str();
  };
  SmallVector<int64_t> sizes = op.getStaticDimSizes();
  problem.columns = 1;
  SmallVector<unsigned> columnDims;
  for (unsigned d = 0; d < op.getNumDims(); ++d) {
    if (!op.isColumnDim(d))
      continue;
    columnDims.push_back(d);
    problem.columns = ShapedType::isDynamic(problem.columns) ||
                              ShapedType::isDynamic(sizes[d])
                          ? ShapedType::kDynamic
                          : problem.columns * sizes[d];
  }
  problem.innerColumns = sizes[columnDims.back()];
  // Vectors must not cross from one block of columns to the next.
  problem.contiguousColumns =
      columnDims.size() == 1 || !ShapedType::isDynamic(problem.innerColumns);
  unsigned inputs = op.getInputs().size();
  for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i) {
    Type type = getElementTypeOrSelf(op.getOperand(i).getType());
    if (!isKernelType(type))
      refuse(llvm::formatv("operand #{0} has elements of {1}", i, type),
             kKernelTypes);
    AffineMap map = op.getInputMap(i);
    bool hasColumn = false, hasRow = false;
    for (AffineExpr expr : map.getResults())
      (op.isColumnDim(cast<AffineDimExpr>(expr).getPosition()) ? hasColumn
                                                               : hasRow) = true;
    if (!hasColumn && i >= inputs && map.getNumResults() != 0 &&
        map.getNumResults() + columnDims.size() != op.getNumDims())
      refuse(
          llvm::formatv("output #{0} varies over some row dimensions alone", i),
          "outputs over all row dimensions, or over columns");
    if (!hasColumn)
      continue;
    // Outputs in another order are written element by element.
    auto last = cast<AffineDimExpr>(map.getResults().back());
    if (i < inputs && map.isFunctionOfDim(columnDims.back()))
      problem.contiguousColumns &= last.getPosition() == columnDims.back();
    if (i >= inputs)
      problem.narrowOutputs |= hasRow && getBytes(type) == 1;
    else if (hasRow)
      problem.elementBytes.push_back(getBytes(type));
    else
      problem.columnInputBytes += getBytes(type);
  }
  for (Region *region : {&op.getBody(), &op.getCombine()})
    for (Operation &inner : region->getOps()) {
      SmallVector<Type> types(inner.getResultTypes());
      for (Type type : types)
        if (!isKernelType(type))
          refuse(llvm::formatv("'{0}' computes {1}", inner.getName(), type),
                 kKernelTypes);
      llvm::append_range(types, inner.getOperandTypes());
      if (auto narrow = llvm::find_if(types, isFloat8);
          narrow != types.end() && !convertsOrMoves(&inner))
        refuse(
            llvm::formatv("'{0}' computes with {1}", inner.getName(), *narrow),
            "8-bit floats that are converted (to nearest even), selected and "
            "moved alone");
    }

  std::optional<llvm::SmallBitVector> kept;
  llvm::DenseMap<Value, llvm::SmallBitVector> levels;
  op.inferLevels(levels);
  llvm::DenseMap<Value, unsigned> exchangesBefore;
  for (Operation &inner : *op.getBodyBlock()) {
    unsigned exchanges = 0;
    for (Value operand : inner.getOperands())
      exchanges = std::max(exchanges, exchangesBefore.lookup(operand));
    // What only a reduction of everything needs isn't exchanged.
    bool isExchanged = isa<RowReduceOp>(inner) &&
                       !llvm::all_of(inner.getUsers(), [](Operation *user) {
                         return isa<PartialAccumulateOp>(user);
                       });
    for (Value result : inner.getResults())
      exchangesBefore[result] = exchanges + isExchanged;
    problem.exchanges = std::max(problem.exchanges, exchanges + isExchanged);
    if (isa<ColumnReduceOp>(inner))
      refuse("column reductions that aren't split",
             "norm-fusion-partial-accumulate before");
    if (auto reduce = dyn_cast<RowReduceOp>(inner)) {
      ++problem.rowReductions;
      if (!reduce.getOver() || reduce.getOver()->size() == columnDims.size())
        continue;
      // Of the last column dimensions, one block of columns after the other.
      SmallVector<int64_t> over(*reduce.getOver());
      llvm::sort(over);
      int64_t block = 1;
      for (auto [d, dim] :
           llvm::zip(over, ArrayRef(columnDims).take_back(over.size())))
        block = d != dim || block == 0 || ShapedType::isDynamic(sizes[d])
                    ? 0
                    : block * sizes[d];
      problem.blockColumns.push_back(block);
      llvm::SmallBitVector missing = op.getColumnDims();
      missing.reset(levels[reduce.getOperand()]);
      if (missing.any())
        refuse("a row reduction of what is the same for blocks of columns",
               "row reductions of what varies over all columns");
    }
    auto accumulate = dyn_cast<PartialAccumulateOp>(inner);
    if (!accumulate)
      continue;
    if (!levels[accumulate.getOperand()].anyCommon(op.getColumnDims())) {
      problem.scalarBytes.push_back(
          getBytes(accumulate.getOperand().getType()));
      problem.taggable &= problem.scalarBytes.back() <= 4;
      if (accumulate.getOver())
        refuse("a reduction of rows over some row dimensions",
               "reductions of row values over all row dimensions");
      continue;
    }
    problem.accumulatorBytes.push_back(
        getBytes(accumulate.getOperand().getType()));
    llvm::SmallBitVector rows = op.getRowDims();
    if (accumulate.getOver())
      for (int64_t d : ArrayRef<int64_t>(*accumulate.getOver()))
        rows.reset(d);
    else
      rows.reset();
    if (kept && *kept != rows)
      refuse("column reductions over different row dimensions",
             "column reductions over the same row dimensions");
    kept = rows;
    problem.segmented |= rows.any();
    problem.taggable &= accumulate.getOperand().getType().isF32() &&
                        (accumulate.getCombiner() == Combiner::add ||
                         accumulate.getCombiner() == Combiner::mul);
  }
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i)
    if (isTiledOutput(op, i))
      problem.tiledBytes.push_back(
          getBytes(getElementTypeOrSelf(op.getOutputs()[i].getType())));
  // A column output may vary over the kept rows and the columns alone.
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i) {
    if (!op.isColumnOutput(i) || op.getOutputMap(i).getNumResults() == 0)
      continue;
    llvm::SmallBitVector extra(op.getNumDims());
    for (AffineExpr expr : op.getOutputMap(i).getResults())
      if (unsigned d = cast<AffineDimExpr>(expr).getPosition();
          !op.isColumnDim(d))
        extra.set(d);
    if (kept)
      extra.reset(*kept);
    if (extra.any() || op.getOutputMap(i).getNumResults() <
                           columnDims.size() + (kept ? kept->count() : 0))
      refuse(llvm::formatv("output #{0} varies over other dimensions than the "
                           "segments and columns of the reductions",
                           i),
             "column outputs over exactly these");
  }
  if (op.isSplit() && mixesTotals(op, levels))
    refuse("a column result that needs a reduction of everything",
           "results of everything that no column result needs");
  return problem;
}

unsigned Problem::bytesPerColumn() const {
  unsigned bytes = 0;
  for (unsigned b : elementBytes)
    bytes += b;
  return bytes;
}

/// Columns of 16 bytes of the narrowest type of two bytes or more.
static unsigned getFullVector(const Problem &problem) {
  unsigned narrowest = 8;
  for (unsigned bytes : problem.elementBytes)
    narrowest = std::min(narrowest, std::max(bytes, 2u));
  return problem.elementBytes.empty() ? 4 : 16 / narrowest;
}

unsigned norm_fusion::getVector(const Problem &problem) {
  unsigned vector = getFullVector(problem);
  while (vector > 1 && !ShapedType::isDynamic(problem.innerColumns) &&
         problem.innerColumns % vector)
    vector /= 2;
  return vector;
}

int64_t norm_fusion::getVectors(const Problem &problem, unsigned vector) {
  return std::max<int64_t>(
      llvm::divideCeil(problem.columns, int64_t(vector)), 1);
}

unsigned norm_fusion::getExchangeBarrierBytes(ScheduleAttr schedule) {
  return schedule.getCluster() * schedule.getWarps() == 1
             ? 0
             : llvm::alignTo(2 * 8 * schedule.getRowGroups(), 16);
}

unsigned norm_fusion::getPartBytes(const Problem &problem,
                                   ScheduleAttr schedule) {
  // The rows of a tile are exchanged together.
  unsigned rows =
      schedule.getStructure() == Structure::tile ? schedule.getRows() : 1;
  unsigned bytes = std::max(problem.rowReductions * rows, 1u) * 8;
  return llvm::alignTo(bytes, bytes > 8 ? 16 : 8);
}

unsigned norm_fusion::getExchangeBytes(const Problem &problem,
                                       ScheduleAttr schedule) {
  // Row sums of two steps. What follows begins with a line: asynchronous copies
  // to addresses that aren't multiples of 32 bytes take 15% longer.
  return llvm::alignTo(getExchangeBarrierBytes(schedule) +
                           2 * schedule.getRowGroups() * schedule.getWarps() *
                               schedule.getCluster() * getPartBytes(problem, schedule),
                       128);
}

bool norm_fusion::isShifted(const Problem &problem, ScheduleAttr schedule) {
  return schedule.getCopy() == Copy::cp_async &&
         llvm::any_of(problem.elementBytes, [&](unsigned bytes) {
           return bytes < 4 && bytes * schedule.getVector() <= 4;
         });
}

unsigned norm_fusion::getShiftedBytes(unsigned bytes) {
  return llvm::alignTo(bytes + 16, 128);
}

unsigned norm_fusion::getSharedMemoryBytes(const Problem &problem,
                                           ScheduleAttr schedule) {
  unsigned warps = schedule.getWarps(), groups = schedule.getRowGroups();
  // The combine adds the sums of all warps for up to 4 x 32 columns.
  unsigned combine = warps * groups * 4 * 32 *
                     std::max<unsigned>(problem.accumulatorBytes.size(), 1) * 8;
  combine = std::max<unsigned>(combine,
                               warps * groups * 8 * problem.scalarBytes.size());
  unsigned reused = combine;
  if (schedule.getStructure() == Structure::rows)
    return getExchangeBytes(problem, schedule);
  if (schedule.getStructure() == Structure::tile) {
    unsigned bytes = 0;
    for (unsigned b : problem.tiledBytes)
      bytes += b;
    return getExchangeBytes(problem, schedule) +
           getTileRows(schedule) * schedule.getBlockColumns() * bytes;
  }
  if (schedule.getStructure() != Structure::plain) {
    unsigned columns = schedule.getBlockColumns();
    // What lanes hold of a step, beyond the last column too.
    unsigned held = groups * warps * 32 * schedule.getChunks() *
                    schedule.getVector() * schedule.getRows();
    unsigned step = held * problem.bytesPerColumn();
    if (isShifted(problem, schedule)) {
      step = 0;
      for (unsigned bytes : problem.elementBytes)
        step += groups * warps *
                getShiftedBytes(schedule.getChunks() * 32 *
                                schedule.getVector() * bytes);
    }
    unsigned ring = (schedule.getSlots() + 1) * step;
    unsigned sums = 0;
    for (unsigned bytes : problem.accumulatorBytes)
      sums += groups > 1 ? groups * columns * std::max(bytes, 4u) : 0;
    reused = std::max({reused, ring, sums});
  }
  return getExchangeBytes(problem, schedule) + llvm::alignTo(reused, 16);
}

/// 32-bit registers that a thread needs, estimated: accumulators, packed inputs,
/// the values of up to three chunks in f32, masks, and addresses of single
/// elements. Compared with what ptxas 13.0 needs without spills for sm_90a.
static unsigned estimateRegisters(const Problem &problem,
                                  ScheduleAttr schedule) {
  unsigned lane = schedule.getChunks() * schedule.getVector();
  unsigned accumulators = 0;
  for (unsigned b : problem.accumulatorBytes)
    accumulators += std::max(b, 4u);
  bool exact =
      problem.columns == int64_t(schedule.getCluster()) *
                             int64_t(schedule.getBlockColumns());
  bool shifted = isShifted(problem, schedule);
  unsigned values =
      shifted ? 2 * lane + 8
              : 2 * schedule.getVector() * std::min(schedule.getChunks(), 3u);
  return llvm::divideCeil(lane *
                              (accumulators + 2 +
                               problem.bytesPerColumn() * schedule.getRows()),
                          4) +
         values + 32 + (exact ? 0 : 16) +
         (schedule.getCluster() == 1 && schedule.getWarps() > 4 ? 12 : 0);
}

/// Registers of a thread: a multiprocessor's four parts take whole warps, and a
/// warp takes registers by eight a thread.
static unsigned getRegisterBudget(const TargetInfo &target,
                                  ScheduleAttr schedule) {
  unsigned warpsAPart = llvm::divideCeil(schedule.getThreads() / 32, 4);
  return std::min(target.maxRegisters,
                  target.registers / 4 / 32 / warpsAPart / 8 * 8);
}

bool norm_fusion::isLegalSchedule(const Problem &problem, ScheduleAttr schedule,
                                  const TargetInfo &target,
                                  std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = text;
    return false;
  };
  if (!problem.unsupported.empty())
    return refuse("no kernel: " + problem.unsupported);
  Structure structure = schedule.getStructure();
  bool isSmall = structure == Structure::small;
  bool isTile = structure == Structure::tile;
  bool isRows = isTile || structure == Structure::rows;
  if (structure != Structure::ring && !isSmall && !isRows &&
      structure != Structure::plain)
    return refuse(llvm::formatv("structure={0} isn't available, expected ring, "
                                "small, rows, tile or plain",
                                stringifyStructure(structure)));
  if (schedule.getCombine() == Combine::tags) {
    if (structure == Structure::plain || isRows)
      return refuse(llvm::formatv("combine=tags with structure={0}, expected "
                                  "grid or kernel",
                                  stringifyStructure(structure)));
    if (problem.segmented)
      return refuse("combine=tags with segmented column reductions, expected "
                    "grid or kernel");
    if (!problem.taggable)
      return refuse("combine=tags needs accumulators that are sums or products "
                    "in f32, expected grid or kernel");
  }
  unsigned cluster = schedule.getCluster();
  if (cluster > 1) {
    if (structure != Structure::ring && !isTile)
      return refuse(llvm::formatv("cluster={0} with structure={1}, expected 1",
                                  cluster, stringifyStructure(structure)));
    if (cluster > target.maxCluster)
      return refuse(llvm::formatv("cluster={0}, the target has clusters of up "
                                  "to {1} blocks",
                                  cluster, target.maxCluster));
  }
  if (!isSmall &&
      (schedule.getLanes() != 32 || (schedule.getRows() != 1 && !isTile)))
    return refuse(llvm::formatv(
        "lanes={0} rows={1} with structure={2}, expected 32 and 1",
        schedule.getLanes(), schedule.getRows(),
        stringifyStructure(structure)));
  if (isSmall && schedule.getWarps() != 1)
    return refuse(llvm::formatv("warps={0} with structure=small, expected 1",
                                schedule.getWarps()));
  if (unsigned rows = schedule.getRowsAStep();
      rows > 32 || !llvm::isPowerOf2_32(rows))
    return refuse(llvm::formatv("lanes={0} rows={1} make {2} rows a step, "
                                "expected a power of two up to 32",
                                schedule.getLanes(), schedule.getRows(), rows));
  if (schedule.getPace() != 0 &&
      (structure == Structure::plain || schedule.getCombine() != Combine::tags))
    return refuse(llvm::formatv("pace={0} needs structure=ring or small and "
                                "combine=tags, where all blocks run at once",
                                schedule.getPace()));
  if (structure != Structure::plain) {
    std::string name = stringifyStructure(structure).str();
    if (ShapedType::isDynamic(problem.columns))
      return refuse("structure=" + name + " needs a static number of columns");
    // Lanes without columns read column 0.
    if (problem.columns == 0)
      return refuse("structure=" + name +
                    " with 0 columns, expected structure=plain");
    if (!problem.contiguousColumns)
      return refuse("structure=" + name +
                    " needs columns that are contiguous in every input");
    unsigned vector = schedule.getVector();
    bool shifted = isShifted(problem, schedule);
    if (!llvm::isPowerOf2_32(vector) ||
        (problem.innerColumns % vector && !shifted))
      return refuse(llvm::formatv("vector={0} doesn't divide the {1} columns",
                                  vector, problem.innerColumns));
    if (shifted && (isSmall || problem.innerColumns != problem.columns))
      return refuse(llvm::formatv(
          "structure={0} vector={1} makes copies of up to 4 bytes: these need "
          "structure=ring and one column dimension",
          name, vector));
    // A block of columns is held by neighbouring lanes, in one chunk.
    for (int64_t block : problem.blockColumns)
      if (block == 0 || block % vector ||
          !llvm::isPowerOf2_64(block / vector) ||
          block / vector > schedule.getLanes())
        return refuse(llvm::formatv(
            "structure={0} vector={1} lanes={2} with a reduction of {3} "
            "columns, expected vector x a power of two up to lanes",
            name, vector, schedule.getLanes(),
            block ? std::to_string(block) : "other than neighbouring"));
    for (unsigned bytes : problem.elementBytes) {
      unsigned size = bytes * vector;
      if ((!shifted && size < 4) || (size > 16 && size % 16))
        return refuse(llvm::formatv("vector={0} makes copies of {1} bytes, "
                                    "expected 4, 8 or a multiple of 16",
                                    vector, size));
    }
    unsigned columns = cluster * schedule.getBlockColumns();
    if (columns < problem.columns)
      return refuse(llvm::formatv(
          "cluster={0} warps={1} chunks={2} lanes={3} vector={4} hold {5} "
          "columns, the problem has {6}",
          cluster, schedule.getWarps(), schedule.getChunks(),
          schedule.getLanes(), vector, columns, problem.columns));
    if (schedule.getCopy() == Copy::bulk)
      return refuse("copy=bulk isn't available, expected cp-async or load");
    if (schedule.getCopy() == Copy::cp_async && !target.hasAsyncCopy)
      return refuse("copy=cp-async needs sm_80");
  } else {
    if (schedule.getRowGroups() != 1)
      return refuse(llvm::formatv("row-groups={0} with structure=plain, "
                                  "expected 1",
                                  schedule.getRowGroups()));
    if (schedule.getVector() != 1)
      return refuse(llvm::formatv("vector={0} with structure=plain, expected 1",
                                  schedule.getVector()));
  }
  if (isRows && !isLegalRows(problem, schedule, target, error))
    return false;
  unsigned shared = getSharedMemoryBytes(problem, schedule);
  if (shared > target.sharedMemoryBytes)
    return refuse(llvm::formatv("needs {0} bytes of shared memory a block, the "
                                "target has {1}",
                                shared, target.sharedMemoryBytes));
  return true;
}

static ScheduleAttr makePlain(MLIRContext *context) {
  std::string ignored;
  return parseSchedule(context, "structure=plain warps=8", ScheduleAttr(),
                       ignored);
}

/// A warp's rows side by side: the lanes a row, fewest idle, then most lanes,
/// but at least `fewest` vectors a lane where a row has several.
static void chooseLanes(int64_t vectors, unsigned fewest, unsigned &lanes,
                        unsigned &chunks) {
  int64_t best = std::numeric_limits<int64_t>::max();
  for (unsigned candidate : {32u, 16u, 8u, 4u, 2u, 1u}) {
    int64_t needed = llvm::divideCeil(vectors, int64_t(candidate));
    int64_t idle = needed * candidate - vectors;
    if (needed < fewest && candidate > 1)
      continue;
    // A lane's share of the idle ones, in parts of the row.
    if (needed <= 3 && idle * 8 < best) {
      best = idle * 8;
      lanes = candidate;
      chunks = needed;
    }
  }
}

/// Blocks and warps that share a row of `vectors` vectors: as few blocks as
/// leave at most `most` warps of each, or what fits.
static bool chooseWarps(int64_t vectors, unsigned chunks, unsigned most,
                        const TargetInfo &target, unsigned &cluster,
                        unsigned &warps) {
  for (cluster = 1; cluster <= target.maxCluster; cluster *= 2) {
    int64_t needed = llvm::divideCeil(vectors, int64_t(32) * chunks * cluster);
    bool isLast = cluster * 2 > target.maxCluster;
    if (needed <= (isLast ? 16 : most)) {
      warps = needed;
      return true;
    }
  }
  return false;
}

/// Blocks of a cluster that every device with clusters runs (CUDA C++
/// Programming Guide 13.0, "Thread Block Clusters").
static constexpr unsigned kPortableCluster = 8;

/// Vectors of a row that the blocks of structure=rows, several on a
/// multiprocessor, exchange twice as fast as a ring does.
static constexpr int64_t kRowOfBlocks = 512;

/// Clusters of this size leave no multiprocessor without a block: larger ones
/// do where a cluster's multiprocessors (a GPC's) aren't a multiple of it.
static constexpr unsigned kFullCluster = 2;

/// Steps that a row group of a cluster may be ahead of the others' average.
/// One is too tight for LayerNorm's steps, four lets RMSNorm's drift (H200,
/// 32768x4096 and 65536x8192 bf16, docs/performance.md).
static constexpr unsigned kPace = 2;

/// Registers that the estimate may be over a thread's budget where the next
/// choice leaves less than 12 warps, or more than an eighth of them idle: a few
/// spilled values cost less.
static constexpr unsigned kRegisterSlack = 8;

/// Row groups of `warps` warps: their steps overlap.
static unsigned getRowGroups(unsigned warps) {
  return std::max<unsigned>(
      1, std::min<unsigned>(llvm::divideCeil(12, warps), 16 / warps));
}

/// Rows of some hundred columns of which whole vectors leave an eighth of the
/// lanes idle, and 3 or 5 half vectors a lane few: 640 or 1152 16-bit columns,
/// say.
static ScheduleAttr chooseHalfVectors(MLIRContext *context,
                                      const Problem &problem,
                                      const TargetInfo &target, unsigned vector,
                                      Combine combine) {
  if (vector != 8 || !target.hasAsyncCopy || problem.accumulatorBytes.empty())
    return {};
  int64_t columns = problem.columns, part = 2 * 32 * vector;
  int64_t held = llvm::divideCeil(columns, part) * part;
  unsigned lanes, vectors;
  if (columns <= 96 * vector) {
    chooseLanes(columns / vector, 1, lanes, vectors);
    held = lanes * vectors * vector;
  }
  if (held * 8 < columns * 9)
    return {};
  for (unsigned chunks : {3u, 5u}) {
    int64_t width = chunks * 32 * vector / 2;
    unsigned warps = llvm::divideCeil(columns, width);
    if (warps > 6 || warps * width * 16 > columns * 17)
      continue;
    std::string ignored;
    auto schedule = ScheduleAttr::get(
        context, Structure::ring, /*cluster=*/1, warps,
        /*rowGroups=*/(chunks == 3 ? 16 : 12) / warps, /*slots=*/2, chunks,
        vector / 2, Copy::cp_async, combine, /*pace=*/0, /*grid=*/0,
        /*lanes=*/32, /*rows=*/1);
    if (isLegalSchedule(problem, schedule, target, ignored) &&
        estimateRegisters(problem, schedule) <=
            getRegisterBudget(target, schedule))
      return schedule;
  }
  return {};
}

/// Rows in a ring: of one or more warps each, or several to a warp.
static ScheduleAttr chooseRing(MLIRContext *context, const Problem &problem,
                               const TargetInfo &target, std::string &reason) {
  unsigned vector = getVector(problem);
  bool tags = problem.taggable && !problem.segmented;
  Combine combine = tags ? Combine::tags : Combine::grid;
  Copy copy = target.hasAsyncCopy ? Copy::cp_async : Copy::load;
  // Copies of 4 bytes are many: where elements are narrower, a warp's part of a
  // row is shifted instead, and read by words. A lane holds as many columns as
  // with full vectors.
  unsigned scale = getFullVector(problem) / vector;
  bool shifted =
      copy == Copy::cp_async && problem.innerColumns == problem.columns &&
      llvm::any_of(problem.elementBytes,
                   [&](unsigned bytes) { return bytes * vector < 8; }) &&
      llvm::any_of(problem.elementBytes,
                   [](unsigned bytes) { return bytes < 4; });
  if (shifted) {
    unsigned words = 4 / *llvm::min_element(problem.elementBytes);
    scale = getFullVector(problem) / words;
    vector = words;
  }
  int64_t vectors = getVectors(problem, vector);
  if (ScheduleAttr schedule =
          shifted ? ScheduleAttr()
                  : chooseHalfVectors(context, problem, target, vector, combine)) {
    reason = "half vectors leave fewer lanes idle";
    return schedule;
  }

  std::string why;
  ScheduleAttr fallback;
  // Two vectors a lane keep accumulators and rows within the registers of 12
  // to 16 warps; wider rows need more of both. Without accumulators a lane
  // holds more of a row rather than share it with other blocks.
  SmallVector<unsigned> order{2, 1, 3, 4};
  bool isLight = problem.accumulatorBytes.empty();
  if (isLight && vectors > 2 * 32 * 8)
    order = {4, 2, 1, 3};
  for (unsigned chunks : order) {
    unsigned lane = std::min<int64_t>(
        {int64_t(chunks * scale), int64_t(llvm::divideCeil(vectors, 32)), 16});
    Structure structure = Structure::ring;
    unsigned cluster = 1, warps = 1, lanes = 32, rows = 1, groups;
    if (vectors <= 96 && !shifted) {
      structure = Structure::small;
      if (chunks != order.front())
        break;
      // The shuffles of a row's sums are shared by few columns otherwise.
      unsigned fewest = vector < 8 && getFullVector(problem) == 8 ? 2 : 1;
      chooseLanes(vectors, fewest, lanes, chunks);
      // Halves of vectors where they leave a lane fewer columns.
      unsigned narrow = vector;
      if (chunks * vector > 16 && vector >= 8 && vectors <= 48) {
        narrow = vector / 2;
        chooseLanes(2 * vectors, fewest, lanes, chunks);
      }
      vector = narrow;
      // Elements that a lane holds at once: few, so that 16 warps have the
      // registers.
      unsigned held = 16;
      unsigned warpBytes =
          std::max(chunks * 32 * vector * problem.bytesPerColumn(), 1u);
      groups = std::clamp(target.bytesInFlight / warpBytes, 4u, 16u);
      rows = std::min(held / (chunks * vector),
                      target.bytesInFlight / (groups * warpBytes));
      rows = llvm::bit_floor(std::clamp(rows, 1u, lanes));
    } else {
      chunks = lane;
      // 12 warps a block where one block or two hold a row; else few blocks
      // with up to 16 warps each, where these have the registers; else more
      // blocks and fewer warps of a row, but no more blocks than any device
      // grants a cluster.
      bool fits = false;
      unsigned blocks, warpsOfBlock;
      SmallVector<unsigned> limits{8, 6, 4};
      // A second exchange of a row costs blocks that share it more than warps.
      if (isLight)
        limits.insert(limits.begin(), 16);
      else if (problem.exchanges < 2 &&
               chooseWarps(vectors, chunks, 6, target, blocks, warpsOfBlock) &&
               blocks <= kFullCluster)
        limits.erase(limits.begin());
      for (unsigned most : limits) {
        if (!chooseWarps(vectors, chunks, most, target, blocks, warpsOfBlock) ||
            (fits && blocks > kPortableCluster))
          break;
        fits = true;
        cluster = blocks;
        warps = warpsOfBlock;
        groups = getRowGroups(warps);
        auto schedule =
            ScheduleAttr::get(context, structure, cluster, warps, groups, 1,
                              chunks, vector, copy, combine, /*pace=*/0,
                              /*grid=*/0, lanes, rows);
        unsigned held = blocks * warpsOfBlock, next = held;
        if (chooseWarps(vectors, chunks, most - 2, target, blocks,
                        warpsOfBlock))
          next = blocks * warpsOfBlock;
        unsigned slack = next * 8 > held * 9 ? kRegisterSlack : 0;
        if (estimateRegisters(problem, schedule) <=
            getRegisterBudget(target, schedule) + slack)
          break;
      }
      if (!fits) {
        why = "a row doesn't fit the registers of a block or cluster";
        continue;
      }
    }
    // Fewer row groups leave more registers, but at least 8 warps.
    unsigned fewest = llvm::divideCeil(8, warps);
    for (; groups > 0; --groups) {
      if (fallback && groups < fewest)
        break;
      // What a step takes in the ring: idle lanes have slots too.
      unsigned stepBytes = groups * warps * chunks * 32 * vector * rows *
                           problem.bytesPerColumn();
      unsigned slots = std::clamp<unsigned>(
          target.bytesInFlight / std::max(1u, stepBytes),
          structure == Structure::ring ? 2 : 1, 3);
      ScheduleAttr schedule;
      for (; slots > 0 && !schedule; --slots) {
        schedule = ScheduleAttr::get(context, structure, cluster, warps, groups,
                                     slots, chunks, vector, copy, combine,
                                     /*pace=*/0, /*grid=*/0, lanes, rows);
        if (!isLegalSchedule(problem, schedule, target, why))
          schedule = {};
      }
      if (!schedule)
        continue;
      unsigned registers = estimateRegisters(problem, schedule);
      unsigned budget = getRegisterBudget(target, schedule);
      bool isTight = groups > 1 && (groups - 1) * warps < 12 &&
                     structure == Structure::ring;
      if (registers > budget + (isTight ? kRegisterSlack : 0)) {
        why = llvm::formatv("about {0} registers a thread are needed, {1} are "
                            "there",
                            registers, budget);
        // Some spilled registers still cost less than reading a row twice.
        if (!fallback)
          fallback = schedule;
        continue;
      }
      reason =
          llvm::formatv("{0} columns of {1} bytes in registers, {2} bytes "
                        "in flight, about {3} of {4} registers",
                        problem.columns, problem.bytesPerColumn(),
                        schedule.getSlots() * stepBytes, registers, budget);
      // Clusters drift apart; single blocks were slower with pacing, and 12
      // warps in clusters that leave multiprocessors idle.
      bool drifts =
          cluster > 1 && (cluster == kFullCluster || warps * groups > 12);
      if (!tags || !drifts || registers > budget)
        return schedule;
      return ScheduleAttr::get(context, structure, cluster, warps, groups,
                               schedule.getSlots(), chunks, vector, copy,
                               combine, kPace, /*grid=*/0, lanes, rows);
    }
  }
  if (fallback) {
    reason = "spills, because " + why;
    return fallback;
  }
  reason = "plain, because " + why;
  return makePlain(context);
}

ScheduleAttr norm_fusion::chooseSchedule(MLIRContext *context,
                                         const Problem &problem,
                                         const TargetInfo &target,
                                         std::string &reason) {
  if (!problem.unsupported.empty()) {
    reason = problem.unsupported;
    return {};
  }
  if (ShapedType::isDynamic(problem.columns)) {
    reason = "plain, because the number of columns is dynamic";
    return makePlain(context);
  }
  if (problem.columns == 0) {
    reason = "plain, because there are no columns";
    return makePlain(context);
  }
  unsigned vector = getVector(problem);
  std::string noRows;
  if (problem.accumulatorBytes.empty() && problem.scalarBytes.empty() &&
      !problem.tiledBytes.empty())
    if (ScheduleAttr tile = chooseTile(context, problem, target, noRows)) {
      reason = noRows;
      return tile;
    }
  // Of wide rows that are exchanged twice, the ring hides more of the waits.
  bool waits = problem.exchanges > 1 && problem.columns > kRowOfBlocks * vector;
  if (problem.accumulatorBytes.empty() && problem.scalarBytes.empty() &&
      problem.columns > 96 * vector && !waits)
    if (ScheduleAttr rows = chooseRows(context, problem, target, noRows)) {
      reason = noRows;
      return rows;
    }
  return chooseRing(context, problem, target, reason);
}

ScheduleAttr norm_fusion::getDefaultSchedule(MLIRContext *context,
                                             const Problem &problem,
                                             const TargetInfo &target,
                                             Structure structure,
                                             std::string &reason) {
  if (structure == Structure::plain)
    return makePlain(context);
  if (structure == Structure::rows && problem.contiguousColumns &&
      !ShapedType::isDynamic(problem.columns))
    return chooseRows(context, problem, target, reason);
  if (structure == Structure::tile && problem.contiguousColumns &&
      !ShapedType::isDynamic(problem.columns))
    return chooseTile(context, problem, target, reason);
  ScheduleAttr chosen = chooseSchedule(context, problem, target, reason);
  if (chosen && (chosen.getStructure() == Structure::rows ||
                 chosen.getStructure() == Structure::tile))
    chosen = chooseRing(context, problem, target, reason);
  return chosen;
}
