//===- Legality.cpp - Which schedules are possible ------------------------===//
//
// Each structure and option has its conditions; the first that doesn't hold is
// the error.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;

/// What a warp holds of a row must be one piece of memory, in 16-byte units.
static bool isLegalBulkCopy(const Problem &problem, ScheduleAttr schedule,
                            const TargetInfo &target, std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = "copy=bulk " + text;
    return false;
  };
  if (!target.hasBulkCopy)
    return refuse("needs sm_90");
  if (schedule.getStructure() != Structure::ring)
    return refuse(llvm::formatv("with structure={0}, expected ring",
                                stringifyStructure(schedule.getStructure())));
  if (problem.innerColumns != problem.columns)
    return refuse(llvm::formatv("with {0} of {1} columns in one piece of "
                                "memory, expected one column dimension",
                                problem.innerColumns, problem.columns));
  for (unsigned bytes : problem.elementBytes)
    if (bytes * schedule.getVector() % 16 != 0)
      return refuse(llvm::formatv("with vector={0}, which has {1} bytes, "
                                  "expected a multiple of 16",
                                  schedule.getVector(),
                                  bytes * schedule.getVector()));
  return true;
}

/// What a warp holds in a step must be one piece of memory, in 8-byte units.
static bool isLegalRowsCopy(const Problem &problem, ScheduleAttr schedule,
                            std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = "copy=rows " + text;
    return false;
  };
  if (schedule.getStructure() != Structure::small || schedule.getTile() != 0)
    return refuse(llvm::formatv("with structure={0} tile={1}, expected small "
                                "and 0",
                                stringifyStructure(schedule.getStructure()),
                                schedule.getTile()));
  if (schedule.getFrame() > 1)
    return refuse(
        llvm::formatv("with frame={0}, expected 0 or 1", schedule.getFrame()));
  // Steps, and all rows of a lane, begin alike.
  if (unsigned period = getShiftPeriod(problem, schedule);
      isFramed(problem, schedule) && schedule.getRowsAWarp() % period != 0)
    return refuse(llvm::formatv("with lanes={0}, {1} rows side by side, of "
                                "which every {2} begin at the same column of a "
                                "vector of {3}, expected a multiple",
                                schedule.getLanes(), schedule.getRowsAWarp(),
                                period, schedule.getVector()));
  if (problem.innerColumns != problem.columns || !problem.linearRows ||
      problem.segmented)
    return refuse("needs one column dimension, arrays in the order of the op's "
                  "dimensions, and reductions over all rows");
  for (unsigned bytes : problem.elementBytes)
    if (int64_t step = bytes * problem.columns * schedule.getRowsAStep();
        step % 8 != 0)
      return refuse(llvm::formatv("with rows of {0} bytes, {1} to a warp, "
                                  "expected a multiple of 8 bytes",
                                  bytes * problem.columns,
                                  schedule.getRowsAStep()));
  return true;
}

/// Between two steps there is one exchange to be ahead of.
static bool isLegalAhead(const Problem &problem, ScheduleAttr schedule,
                         std::string &error) {
  auto refuse = [&](const std::string &text) {
    error = llvm::formatv("ahead={0} {1}", schedule.getAhead(), text);
    return false;
  };
  if (schedule.getStructure() != Structure::ring ||
      schedule.getCopy() == Copy::load)
    return refuse(llvm::formatv("with structure={0} copy={1}, expected a ring "
                                "of asynchronous copies",
                                stringifyStructure(schedule.getStructure()),
                                stringifyCopy(schedule.getCopy())));
  if (schedule.getRows() != 1 || schedule.getTile() != 0 ||
      schedule.getPace() != 0)
    return refuse(llvm::formatv("with rows={0} tile={1} pace={2}, expected "
                                "rows=1 tile=0 pace=0",
                                schedule.getRows(), schedule.getTile(),
                                schedule.getPace()));
  if (schedule.getCluster() * schedule.getWarps() == 1)
    return refuse("with one warp a row, expected several that exchange sums");
  // What doesn't come through slots can't be read again: a result may lie over
  // it by then.
  if (!problem.linearRows)
    return refuse("needs arrays in the order of the op's dimensions");
  if (problem.exchanges != 1)
    return refuse(llvm::formatv("with {0} exchanges of row sums a row, "
                                "expected one",
                                problem.exchanges));
  return true;
}

/// Rows come one by one, each copied by the lanes that hold it then.
static bool isLegalShifts(const Problem &problem, ScheduleAttr schedule,
                          std::string &error) {
  if (schedule.getStructure() == Structure::ring &&
      schedule.getCopy() == Copy::cp_async && isFramed(problem, schedule) &&
      schedule.getRows() == 1 && schedule.getTile() == 0 &&
      schedule.getAhead() == 0 && schedule.getPace() == 0 &&
      (schedule.getCopiesEnds() || !haveEnds(problem, schedule)))
    return true;
  error = llvm::formatv(
      "shifts={0} with structure={1} copy={2} frame={3} rows={4} tile={5} "
      "ahead={6} pace={7}, expected structure=ring copy=cp-async rows=1 tile=0 "
      "ahead=0 pace=0, frame= or a vector= that doesn't divide the columns, "
      "and ends=copy where it doesn't",
      schedule.getShifts(), stringifyStructure(schedule.getStructure()),
      stringifyCopy(schedule.getCopy()), schedule.getFrame(),
      schedule.getRows(), schedule.getTile(), schedule.getAhead(),
      schedule.getPace());
  return false;
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
  bool isColumns = structure == Structure::columns;
  if (schedule.getFrame() != 0 && (!isFramed(problem, schedule) ||
                                   !llvm::isPowerOf2_32(schedule.getFrame())))
    return refuse(llvm::formatv(
        "frame={0} with structure={1} copy={2} vector={3}, expected a power of "
        "two, in a ring of asynchronous copies of more than 4 bytes",
        schedule.getFrame(), stringifyStructure(structure),
        stringifyCopy(schedule.getCopy()), schedule.getVector()));
  if (schedule.getTile() != 0) {
    if (!isRing(structure))
      return refuse(llvm::formatv("tile={0} with structure={1}, expected ring "
                                  "or small",
                                  schedule.getTile(),
                                  stringifyStructure(structure)));
    if (schedule.getPace() != 0)
      return refuse(llvm::formatv("tile={0} with pace={1}, expected pace=0",
                                  schedule.getTile(), schedule.getPace()));
  }
  // Rings count rows in 32 bits, up to the steps that are copied ahead.
  uint64_t apart = uint64_t(schedule.getRowGroups()) * schedule.getRowsAWarp() *
                   schedule.getRows() * (schedule.getSlots() + 2);
  if (isRing(structure) && schedule.getGrid() * apart > kMostRingRows)
    return refuse(llvm::formatv(
        "grid={0} with row-groups={1} slots={2} lanes={3} rows={4}, expected "
        "at most {5}",
        schedule.getGrid(), schedule.getRowGroups(), schedule.getSlots(),
        schedule.getLanes(), schedule.getRows(), kMostRingRows / apart));
  if (schedule.getAhead() != 0 && !isLegalAhead(problem, schedule, error))
    return false;
  if (schedule.getShifts() != 1 && !isLegalShifts(problem, schedule, error))
    return false;
  if (schedule.getCombine() == Combine::tags) {
    if (structure == Structure::plain ||
        (isRows && problem.scalarBytes.empty()))
      return refuse(llvm::formatv("combine=tags with structure={0}, expected "
                                  "grid or kernel",
                                  stringifyStructure(structure)));
    if (problem.segmented)
      return refuse("combine=tags with segmented column reductions, expected "
                    "grid or kernel");
    if (!problem.taggable && !isColumns)
      return refuse("combine=tags needs accumulators that are sums or products "
                    "in f32, expected grid or kernel");
  }
  if (schedule.getCopiesRowInputs() &&
      (!copiesByLanes(schedule.getCopy()) ||
       (structure != Structure::ring && !isSmall)))
    return refuse(llvm::formatv(
        "row-inputs=copy with structure={0} copy={1}, expected ring or small "
        "and cp-async or rows",
        stringifyStructure(structure), stringifyCopy(schedule.getCopy())));
  if (schedule.getCopiesEnds() &&
      (schedule.getCopy() != Copy::cp_async || !haveEnds(problem, schedule)))
    return refuse(llvm::formatv(
        "ends=copy with structure={0} copy={1} vector={2}, expected ring or "
        "small, cp-async, and a vector of more than 4 bytes that doesn't divide"
        " the columns",
        stringifyStructure(structure), stringifyCopy(schedule.getCopy()),
        schedule.getVector()));
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
  if (!isSmall && schedule.getLanes() != 32 && !isAcross(schedule))
    return refuse(llvm::formatv("lanes={0} with structure={1}, expected 32{2}",
                                schedule.getLanes(),
                                stringifyStructure(structure),
                                structure == Structure::plain ? " or 1" : ""));
  if (schedule.getRows() != 1 &&
      (structure == Structure::plain || structure == Structure::rows))
    return refuse(llvm::formatv("rows={0} with structure={1}, expected 1",
                                schedule.getRows(),
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
      (!isRing(structure) || schedule.getCombine() != Combine::tags))
    return refuse(llvm::formatv("pace={0} needs structure=ring or small and "
                                "combine=tags, where all blocks run at once",
                                schedule.getPace()));
  if (schedule.getPace() != 0 && !problem.hasPartials())
    return refuse(llvm::formatv("pace={0} without column reductions, whose "
                                "workspace the steps are counted in",
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
    bool framed = isFramed(problem, schedule);
    if (!llvm::isPowerOf2_32(vector) ||
        (problem.innerColumns % vector && !shifted && !framed))
      return refuse(llvm::formatv("vector={0} doesn't divide the {1} columns",
                                  vector, problem.innerColumns));
    std::string why =
        problem.innerColumns % vector
            ? llvm::formatv("vector={0}, which doesn't divide the {1} columns",
                            vector, problem.innerColumns)
                  .str()
            : llvm::formatv("frame={0}", schedule.getFrame()).str();
    if (framed && !problem.mayBeFramed)
      return refuse(why + " where a row's results mustn't depend on where it "
                          "begins (batch-invariant)");
    if (framed && !canBeFramed(problem))
      return refuse(why + ": that needs one column dimension, arrays in the "
                          "order of the op's dimensions, and reductions over "
                          "all rows and over all columns");
    if (framed && 2 * vector > schedule.getLanes())
      return refuse(
          llvm::formatv("structure={0} lanes={1} with {2}, expected lanes of "
                        "twice the vector",
                        name, schedule.getLanes(), why));
    // All rows of a lane begin alike.
    if (unsigned period = getShiftPeriod(problem, schedule);
        framed && isSmall && schedule.getRows() != 1 &&
        schedule.getCopy() != Copy::rows &&
        schedule.getRowsAWarp() % period != 0)
      return refuse(llvm::formatv(
          "structure={0} lanes={1} rows={2} with {3}: every {4} rows begin at "
          "the same column of a frame of {5}, expected rows=1, or frame= that "
          "makes them {6} or a part of it",
          name, schedule.getLanes(), schedule.getRows(), why, period,
          getFrame(schedule), schedule.getRowsAWarp()));
    // Those that count the steps have rows, wherever others have.
    if (framed && schedule.getPace() != 0 && schedule.getRowGroups() == 1)
      return refuse(llvm::formatv("pace={0} row-groups=1 with {1}, expected "
                                  "row-groups=2 or more",
                                  schedule.getPace(), why));
    if (shifted && (isSmall || schedule.getRows() != 1 ||
                    problem.innerColumns != problem.columns))
      return refuse(llvm::formatv(
          "structure={0} vector={1} rows={2} makes copies of up to 4 bytes: "
          "these need structure=ring, rows=1 and one column dimension",
          name, vector, schedule.getRows()));
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
      if ((!shifted && !isColumns && size < 4) || (size > 16 && size % 16))
        return refuse(llvm::formatv("vector={0} makes copies of {1} bytes, "
                                    "expected 4, 8 or a multiple of 16",
                                    vector, size));
    }
    int64_t columns = cluster * getOwnedColumns(problem, schedule);
    if (columns < problem.columns && !isColumns)
      return refuse(llvm::formatv(
          "cluster={0} warps={1} chunks={2} lanes={3} vector={4} hold {5} "
          "columns, the problem has {6}",
          cluster, schedule.getWarps(), schedule.getChunks(),
          schedule.getLanes(), vector, columns, problem.columns));
    if (framed &&
        columns - getOwnedColumns(problem, schedule) >= problem.columns)
      return refuse(llvm::formatv("cluster={0} leaves a block without any of "
                                  "the {1} columns, expected fewer blocks",
                                  cluster, problem.columns));
    // A vector with the end of a block's part of a row reaches into the next
    // block's or row's, and not behind that. (The last row's last block copies
    // none.)
    int64_t last =
        problem.columns - (cluster - 1) * getOwnedColumns(problem, schedule);
    if (schedule.getCopiesEnds() && last < vector - 1)
      return refuse(llvm::formatv(
          "ends=copy with vector={0} cluster={1}, which leave a row's last "
          "block {2} of the {3} columns, expected {4} or more",
          vector, cluster, last, problem.columns, vector - 1));
    if (schedule.getCopy() == Copy::bulk &&
        !isLegalBulkCopy(problem, schedule, target, error))
      return false;
    if (schedule.getCopy() == Copy::rows &&
        !isLegalRowsCopy(problem, schedule, error))
      return false;
    if (copiesByLanes(schedule.getCopy()) && !target.hasAsyncCopy)
      return refuse(
          ("copy=" + stringifyCopy(schedule.getCopy()) + " needs sm_80").str());
  } else {
    if (schedule.getRowGroups() != 1)
      return refuse(llvm::formatv("row-groups={0} with structure=plain, "
                                  "expected 1",
                                  schedule.getRowGroups()));
    if (schedule.getVector() != 1)
      return refuse(llvm::formatv("vector={0} with structure=plain, expected 1",
                                  schedule.getVector()));
  }
  if (schedule.getTile() != 0 && !isLegalTile(problem, schedule, error))
    return false;
  if (isRows && !isLegalRows(problem, schedule, target, error))
    return false;
  if (isColumns && !isLegalColumns(problem, schedule, error))
    return false;
  unsigned shared = getSharedMemoryBytes(problem, schedule);
  if (shared > target.sharedMemoryBytes)
    return refuse(llvm::formatv("needs {0} bytes of shared memory a block, the "
                                "target has {1}",
                                shared, target.sharedMemoryBytes));
  return true;
}
