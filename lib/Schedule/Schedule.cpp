//===- Schedule.cpp - From a problem and a target to a schedule -----------===//
//
// The ring holds a row in registers: `warps` warps of 32 lanes own `chunks`
// vectors of `vector` columns each, and `slots` rows a row group are in flight
// through shared memory. The plain structure is the floor: any size, layout
// and alignment, each row read once a phase.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Schedule/Schedule.h"

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

/// Types that kernels can load, store and shuffle.
static bool isKernelType(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex())
    return true;
  if (!type.isSignlessInteger())
    return false;
  unsigned width = type.getIntOrFloatBitWidth();
  return width == 1 || width == 8 || width == 16 || width == 32 || width == 64;
}

Problem Problem::get(MixedReductionOp op) {
  Problem problem;
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
  problem.contiguousColumns = columnDims.size() == 1;
  unsigned inputs = op.getInputs().size();
  for (unsigned i = 0, e = op.getNumOperands(); i < e; ++i) {
    Type type = getElementTypeOrSelf(op.getOperand(i).getType());
    if (!isKernelType(type))
      problem.unsupported =
          llvm::formatv("operand #{0} has elements of {1}", i, type);
    AffineMap map = op.getInputMap(i);
    bool hasColumn = false, hasRow = false;
    for (AffineExpr expr : map.getResults())
      (op.isColumnDim(cast<AffineDimExpr>(expr).getPosition()) ? hasColumn
                                                               : hasRow) = true;
    if (hasRow && !hasColumn && i < inputs)
      problem.rowInputBytes.push_back(getBytes(type));
    if (!hasColumn && i >= inputs && map.getNumResults() + columnDims.size() !=
                                         op.getNumDims())
      problem.unsupported = llvm::formatv(
          "output #{0} varies over some row dimensions alone", i);
    if (!hasColumn)
      continue;
    auto last = cast<AffineDimExpr>(map.getResults().back());
    problem.contiguousColumns &= last.getPosition() == columnDims.front();
    if (hasRow && i < inputs)
      problem.elementBytes.push_back(getBytes(type));
  }
  for (Region *region : {&op.getBody(), &op.getCombine()})
    for (Operation &inner : region->getOps())
      for (Type type : inner.getResultTypes())
        if (!isKernelType(type))
          problem.unsupported =
              llvm::formatv("'{0}' computes {1}", inner.getName(), type);

  std::optional<llvm::SmallBitVector> kept;
  for (Operation &inner : *op.getBodyBlock()) {
    if (auto reduce = dyn_cast<RowReduceOp>(inner)) {
      ++problem.rowReductions;
      if (reduce.getOver() &&
          reduce.getOver()->size() != columnDims.size())
        problem.unsupported = "a row reduction over some column dimensions";
    }
    auto accumulate = dyn_cast<PartialAccumulateOp>(inner);
    if (!accumulate)
      continue;
    problem.accumulatorBytes.push_back(
        getBytes(accumulate.getOperand().getType()));
    llvm::SmallBitVector rows = op.getRowDims();
    if (accumulate.getOver())
      for (int64_t d : *accumulate.getOver())
        rows.reset(d);
    else
      rows.reset();
    if (kept && *kept != rows)
      problem.unsupported = "column reductions over different row dimensions";
    kept = rows;
    problem.segmented |= rows.any();
  }
  // A column output may vary over the kept rows and the columns alone.
  for (unsigned i = 0, e = op.getOutputs().size(); i < e; ++i) {
    if (!op.isColumnOutput(i))
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
      problem.unsupported = llvm::formatv(
          "output #{0} varies over other dimensions than the segments and "
          "columns of the reductions",
          i);
  }
  return problem;
}

unsigned Problem::bytesPerColumn() const {
  unsigned bytes = 0;
  for (unsigned b : elementBytes)
    bytes += b;
  return bytes;
}

/// Columns of a vector: 16 bytes of the narrowest type of two bytes or more.
static unsigned getVector(const Problem &problem) {
  unsigned narrowest = 8;
  for (unsigned bytes : problem.elementBytes)
    narrowest = std::min(narrowest, std::max(bytes, 2u));
  return problem.elementBytes.empty() ? 4 : 16 / narrowest;
}

unsigned norm_fusion::getSharedMemoryBytes(const Problem &problem,
                                           ScheduleAttr schedule) {
  unsigned warps = schedule.getWarps(), groups = schedule.getRowGroups();
  unsigned accumulator = 4;
  for (unsigned bytes : problem.accumulatorBytes)
    accumulator = std::max(accumulator, bytes);
  // Row sums of two steps, 8 bytes a warp and reduction.
  unsigned exchange =
      2 * groups * warps * std::max(problem.rowReductions, 1u) * 8;
  // The combine adds the sums of all warps for 32 columns.
  unsigned combine = warps * groups * 32 *
                     std::max<unsigned>(problem.accumulatorBytes.size(), 1) * 8;
  unsigned reused = combine;
  if (schedule.getStructure() == Structure::ring) {
    unsigned columns = warps * schedule.getChunks() * 32 * schedule.getVector();
    unsigned rowInputs = 0;
    for (unsigned bytes : problem.rowInputBytes)
      rowInputs += bytes >= 4 ? 32 * bytes : 0;
    unsigned ring = groups * (schedule.getSlots() + 1) *
                    (columns * problem.bytesPerColumn() + warps * rowInputs);
    unsigned sums = 0;
    for (unsigned bytes : problem.accumulatorBytes)
      sums += groups > 1 ? groups * columns * std::max(bytes, 4u) : 0;
    reused = std::max({reused, ring, sums});
  }
  return llvm::alignTo(exchange, 16) + llvm::alignTo(reused, 16);
}

/// 32-bit registers that a thread needs, estimated: accumulators, packed
/// inputs, and the values of one chunk in f32.
static unsigned estimateRegisters(const Problem &problem,
                                  ScheduleAttr schedule) {
  unsigned lane = schedule.getChunks() * schedule.getVector();
  unsigned bytes = 0;
  for (unsigned b : problem.accumulatorBytes)
    bytes += std::max(b, 4u);
  return llvm::divideCeil(lane * (bytes + problem.bytesPerColumn() + 2), 4) +
         2 * lane + 32;
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
  if (structure != Structure::ring && structure != Structure::plain)
    return refuse(llvm::formatv("structure={0} isn't available, expected ring "
                                "or plain",
                                stringifyStructure(structure)));
  if (schedule.getCombine() == Combine::tags)
    return refuse("combine=tags isn't available, expected grid or kernel");
  if (schedule.getCluster() != 1)
    return refuse(llvm::formatv("cluster={0} isn't available, expected 1",
                                schedule.getCluster()));
  if (schedule.getPace() != 0)
    return refuse(llvm::formatv("pace={0} isn't available, expected 0",
                                schedule.getPace()));
  if (structure == Structure::ring) {
    if (ShapedType::isDynamic(problem.columns))
      return refuse("structure=ring needs a static number of columns");
    if (!problem.contiguousColumns)
      return refuse("structure=ring needs columns that are contiguous in "
                    "every operand");
    unsigned vector = schedule.getVector();
    if (!llvm::isPowerOf2_32(vector) || problem.columns % vector)
      return refuse(llvm::formatv("vector={0} doesn't divide the {1} columns",
                                  vector, problem.columns));
    for (unsigned bytes : problem.elementBytes) {
      unsigned size = bytes * vector;
      if (size < 4 || (size > 16 && size % 16))
        return refuse(llvm::formatv("vector={0} makes copies of {1} bytes, "
                                    "expected 4, 8 or a multiple of 16",
                                    vector, size));
    }
    unsigned columns = schedule.getWarps() * schedule.getChunks() * 32 * vector;
    if (columns < problem.columns)
      return refuse(llvm::formatv("warps={0} chunks={1} vector={2} hold {3} "
                                  "columns, the problem has {4}",
                                  schedule.getWarps(), schedule.getChunks(),
                                  vector, columns, problem.columns));
    if (schedule.getCopy() == Copy::bulk)
      return refuse("copy=bulk isn't available, expected cp-async or load");
    if (schedule.getCopy() == Copy::cp_async && !target.hasAsyncCopy)
      return refuse("copy=cp-async needs sm_80");
    if (schedule.getWarps() > 1 && schedule.getRowGroups() > 15)
      return refuse(llvm::formatv("row-groups={0} needs as many barriers, a "
                                  "block has 15 beside its own",
                                  schedule.getRowGroups()));
  } else {
    if (schedule.getRowGroups() != 1)
      return refuse(llvm::formatv("row-groups={0} with structure=plain, "
                                  "expected 1",
                                  schedule.getRowGroups()));
    if (schedule.getVector() != 1)
      return refuse(llvm::formatv("vector={0} with structure=plain, expected 1",
                                  schedule.getVector()));
  }
  unsigned shared = getSharedMemoryBytes(problem, schedule);
  if (shared > target.sharedMemoryBytes)
    return refuse(llvm::formatv("needs {0} bytes of shared memory a block, the "
                                "target has {1}",
                                shared, target.sharedMemoryBytes));
  return true;
}

static ScheduleAttr makePlain(MLIRContext *context) {
  return ScheduleAttr::get(context, Structure::plain, /*cluster=*/1,
                           /*warps=*/8, /*rowGroups=*/1, /*slots=*/1,
                           /*chunks=*/1, /*vector=*/1, Copy::load,
                           Combine::grid, /*pace=*/0, /*grid=*/0);
}

ScheduleAttr norm_fusion::chooseSchedule(MLIRContext *context,
                                         const Problem &problem,
                                         const TargetInfo &target,
                                         std::string &reason) {
  if (!problem.unsupported.empty()) {
    reason = problem.unsupported;
    return {};
  }
  unsigned vector = getVector(problem);
  std::string why;
  ScheduleAttr fallback;
  // Two vectors a lane keep accumulators and rows within the registers of 12
  // to 16 warps; wider rows need more of both.
  for (unsigned chunks : {2u, 3u, 4u}) {
    if (ShapedType::isDynamic(problem.columns)) {
      why = "the number of columns is dynamic";
      break;
    }
    int64_t vectors = llvm::divideCeil(problem.columns, int64_t(32) * vector);
    unsigned lane = std::min<int64_t>(chunks, std::max<int64_t>(vectors, 1));
    int64_t warps = llvm::divideCeil(std::max<int64_t>(vectors, 1), lane);
    if (warps > 16) {
      why = "a row doesn't fit the registers of a block";
      continue;
    }
    unsigned groups = std::max<int64_t>(
        1, std::min<int64_t>(llvm::divideCeil(12, warps), 16 / warps));
    // What a row takes in the ring: lanes beyond the last column have slots too.
    unsigned rowBytes = warps * lane * 32 * vector * problem.bytesPerColumn();
    unsigned slots = std::clamp<unsigned>(
        target.bytesInFlight / std::max(1u, groups * rowBytes), 1, 3);
    Copy copy = target.hasAsyncCopy ? Copy::cp_async : Copy::load;
    ScheduleAttr schedule;
    do {
      schedule = ScheduleAttr::get(context, Structure::ring, 1, warps, groups,
                                   slots, lane, vector, copy, Combine::grid, 0,
                                   0);
      if (isLegalSchedule(problem, schedule, target, why))
        break;
      schedule = {};
      if (slots > 1)
        --slots;
      else
        --groups;
    } while (groups > 0);
    if (!schedule)
      continue;
    unsigned registers = estimateRegisters(problem, schedule);
    unsigned budget = std::min(target.maxRegisters,
                               target.registers / schedule.getThreads());
    if (registers > budget) {
      why = llvm::formatv("about {0} registers a thread are needed, {1} are "
                          "there",
                          registers, budget);
      // Some spilled registers still cost less than reading a row twice.
      if (!fallback)
        fallback = schedule;
      continue;
    }
    reason = llvm::formatv("{0} columns of {1} bytes in registers, {2} bytes "
                           "in flight, about {3} of {4} registers",
                           problem.columns, problem.bytesPerColumn(),
                           slots * groups * rowBytes, registers, budget);
    return schedule;
  }
  if (fallback) {
    reason = "spills, because " + why;
    return fallback;
  }
  reason = "plain, because " + why;
  return makePlain(context);
}
