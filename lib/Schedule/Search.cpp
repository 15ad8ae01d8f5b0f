//===- Search.cpp - A faster schedule by measurement ----------------------===//
//
// Steps from a schedule to the fastest of its neighbours while that is faster.
// The model that chose the first one is good: what it misses is near. So is
// what to take where it misses that a schedule spills.
//
//===----------------------------------------------------------------------===//

#include "Structures.h"
#include "norm_fusion/Schedule/Tuning.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using llvm::Expected;

/// Times that are nearer than this are the same.
static constexpr double noise = 0.005;

namespace {
/// A schedule whose fields can be set.
struct Fields {
  explicit Fields(ScheduleAttr s)
      : context(s.getContext()), structure(s.getStructure()), copy(s.getCopy()),
        combine(s.getCombine()), cluster(s.getCluster()), warps(s.getWarps()),
        rowGroups(s.getRowGroups()), slots(s.getSlots()), chunks(s.getChunks()),
        vector(s.getVector()), pace(s.getPace()), grid(s.getGrid()),
        lanes(s.getLanes()), rows(s.getRows()), frame(s.getFrame()),
        tile(s.getTile()), ahead(s.getAhead()), shifts(s.getShifts()),
        copiesRowInputs(s.getCopiesRowInputs()), copiesEnds(s.getCopiesEnds()) {
  }
  /// Null if a field is out of its range.
  ScheduleAttr get() const {
    if (!cluster || !warps || !rowGroups || !slots || !chunks || !vector ||
        !lanes || !rows || slots > 16 || chunks > 16 || rows > 16 ||
        lanes > 32 || warps * rowGroups > 32)
      return {};
    bool streams = isRing(structure);
    return ScheduleAttr::get(
        context, structure, cluster, warps, rowGroups, slots, chunks, vector,
        copy, combine, pace, grid, lanes, rows, frame,
        copiesRowInputs && streams && copiesByLanes(copy), streams ? tile : 0,
        structure == Structure::ring ? ahead : 0,
        copiesEnds && streams && copy == Copy::cp_async,
        structure == Structure::ring ? shifts : 1);
  }
  /// Warps a row, or chunks where lanes share rows, for all columns; more than
  /// get() takes where these are too many.
  void fit(int64_t columns) {
    int64_t part = int64_t(lanes) * vector;
    bool isSmall = structure == Structure::small;
    if (!isSmall)
      part *= int64_t(cluster) * chunks;
    (isSmall ? chunks : warps) = std::clamp<int64_t>(
        llvm::divideCeil(columns, part), /*lo=*/1, /*hi=*/1024);
  }

  MLIRContext *context;
  Structure structure;
  Copy copy;
  Combine combine;
  unsigned cluster, warps, rowGroups, slots, chunks, vector, pace, grid, lanes,
      rows, frame, tile, ahead, shifts;
  bool copiesRowInputs, copiesEnds;
};
} // namespace

SmallVector<ScheduleAttr> norm_fusion::getNeighbours(const Problem &problem,
                                                     ScheduleAttr from,
                                                     const TargetInfo &target) {
  llvm::SmallSetVector<ScheduleAttr, 32> found;
  auto add = [&](const Fields &fields) {
    ScheduleAttr schedule = fields.get();
    if (schedule && schedule != from && isLegal(problem, schedule, target))
      found.insert(schedule);
  };
  bool isStatic = !ShapedType::isDynamic(problem.columns);
  // `change` decides how a row is shared; the block's row groups stay, or
  // become those that keep its number of warps.
  auto share = [&](llvm::function_ref<void(Fields &)> change) {
    Fields fields(from);
    change(fields);
    if (!isStatic || !fields.cluster || !fields.chunks || !fields.vector ||
        !fields.lanes)
      return;
    ScheduleAttr shared = fields.get();
    if (from.getStructure() != Structure::plain)
      fields.fit(shared ? getHeldColumns(problem, shared) : problem.columns);
    add(fields);
    unsigned warps = from.getWarps() * from.getRowGroups();
    fields.rowGroups = std::max(1u, warps / std::max(fields.warps, 1u));
    add(fields);
  };
  auto set = [&](auto Fields::*field, auto value) {
    Fields fields(from);
    fields.*field = value;
    add(fields);
  };

  share([](Fields &f) { f.cluster *= 2; });
  share([](Fields &f) { f.cluster /= 2; });
  if (from.getStructure() != Structure::small) {
    share([](Fields &f) { ++f.chunks; });
    share([](Fields &f) { --f.chunks; });
  }
  share([](Fields &f) { f.vector *= 2, f.chunks = (f.chunks + 1) / 2; });
  share([](Fields &f) { f.vector /= 2, f.chunks *= 2; });
  share([](Fields &f) { f.lanes *= 2; });
  share([](Fields &f) { f.lanes /= 2; });
  // Wraps below zero, which get() refuses or isn't legal.
  for (unsigned step : {1u, 2u, -1u, -2u})
    set(&Fields::rowGroups, from.getRowGroups() + step);
  for (unsigned step : {1u, -1u})
    set(&Fields::slots, from.getSlots() + step);
  set(&Fields::rows, from.getRows() * 2);
  set(&Fields::rows, from.getRows() / 2);
  for (unsigned frame : {0u, 1u, 2u, 4u, 8u})
    set(&Fields::frame, frame);
  for (unsigned tile : {0u, from.getTile() * 2, from.getTile() / 2, 32u}) {
    Fields fields(from);
    fields.tile = tile;
    if (tile != 0)
      fields.pace = 0;
    add(fields);
  }
  set(&Fields::ahead, 1 - from.getAhead());
  Fields shifts(from);
  shifts.shifts = 3 - from.getShifts();
  if (shifts.shifts == 2) { // what that needs
    shifts.copiesEnds = haveEnds(problem, from);
    shifts.ahead = shifts.pace = 0;
  }
  add(shifts);
  set(&Fields::copiesRowInputs, !from.getCopiesRowInputs());
  set(&Fields::copiesEnds, !from.getCopiesEnds());
  for (unsigned pace : {0u, 1u, 2u, 4u, 8u})
    set(&Fields::pace, pace);
  if (from.getStructure() == Structure::plain) {
    for (unsigned warps : {from.getWarps() * 2, from.getWarps() / 2})
      set(&Fields::warps, warps);
    set(&Fields::lanes, isAcross(from) ? 32 : 1);
  }
  for (Copy copy : {Copy::cp_async, Copy::bulk, Copy::rows, Copy::load}) {
    set(&Fields::copy, copy);
    // Rows that begin anywhere take fewer vectors as one piece.
    if (copy != from.getCopy() &&
        (copy == Copy::rows || from.getCopy() == Copy::rows))
      share([&](Fields &fields) { fields.copy = copy; });
  }
  for (Combine combine : {Combine::tags, Combine::grid, Combine::kernel}) {
    Fields fields(from);
    fields.combine = combine;
    if (combine != Combine::tags)
      fields.pace = 0;
    add(fields);
  }
  for (Structure structure :
       {Structure::ring, Structure::small, Structure::columns, Structure::rows,
        Structure::tile, Structure::plain}) {
    if (structure == from.getStructure())
      continue;
    std::string ignored;
    if (ScheduleAttr usual = getDefaultSchedule(from.getContext(), problem,
                                                target, structure, ignored))
      if (usual.getStructure() == structure)
        add(Fields(usual));
    set(&Fields::structure, structure);
  }
  return found.takeVector();
}

ScheduleAttr norm_fusion::getSmallerSchedule(const Problem &problem,
                                             ScheduleAttr from,
                                             const TargetInfo &target) {
  auto get = [&](const Fields &fields) {
    ScheduleAttr schedule = fields.get();
    return schedule && isLegal(problem, schedule, target) ? schedule
                                                          : ScheduleAttr();
  };
  Structure structure = from.getStructure();
  unsigned budget = getRegisterBudget(target, from);
  if (isRing(structure)) {
    if (estimateRegisters(problem, from) > budget)
      return {};
    Fields fields(from);
    while (--fields.rowGroups > 0)
      if (ScheduleAttr smaller = get(fields);
          smaller && getRegisterBudget(target, smaller) > budget)
        return smaller;
  }
  // Less than a sector of each column is worse than some spilled registers
  // (H200, bf16_transposed 2048x16384 with half the rows: 171 us for 59).
  if (structure == Structure::tile && from.getSlots() == 1 &&
      from.getRows() > 1 &&
      *llvm::min_element(problem.tiledBytes) * getTileRows(from) / 2 < 32)
    return {};
  Fields fields(from);
  fields.rows /= 2;
  if (ScheduleAttr smaller = get(fields))
    return smaller;
  if (ShapedType::isDynamic(problem.columns) || structure == Structure::small ||
      structure == Structure::plain)
    return {};
  // The same columns by more warps, and no more of them a block.
  for (fields = Fields(from); --fields.chunks > 0;) {
    // A frame is held by all blocks together.
    fields.fit(isFramed(problem, from)
                   ? int64_t(from.getCluster()) * from.getBlockColumns()
                   : problem.columns);
    fields.rowGroups =
        std::max(from.getWarps() * from.getRowGroups() / fields.warps, 1u);
    if (ScheduleAttr smaller = get(fields))
      return smaller;
  }
  return {};
}

Expected<SearchResult>
norm_fusion::search(const Problem &problem, const TargetInfo &target,
                    ScheduleAttr start,
                    llvm::function_ref<Expected<Trial>(ScheduleAttr)> measure,
                    llvm::function_ref<bool()> mayGoOn) {
  SearchResult result;
  auto take = [&](ScheduleAttr schedule) -> Expected<Trial> {
    ++result.trials;
    return measure(schedule);
  };
  Expected<Trial> first = take(start);
  if (!first)
    return first.takeError();
  if (!first->rejected.empty())
    return llvm::createStringError("the untuned schedule is rejected: " +
                                   first->rejected);
  result.best = start;
  result.us = result.startUs = first->us;
  DenseSet<ScheduleAttr> seen = {start};
  bool improved = true;
  while (improved) {
    improved = false;
    ScheduleAttr fastest;
    double fastestUs = result.us * (1 - noise);
    for (ScheduleAttr neighbour : getNeighbours(problem, result.best, target)) {
      if (!seen.insert(neighbour).second)
        continue;
      if (!mayGoOn())
        break;
      Expected<Trial> trial = take(neighbour);
      if (!trial)
        return trial.takeError();
      if (trial->rejected.empty() && trial->us < fastestUs)
        fastest = neighbour, fastestUs = trial->us;
    }
    if (fastest) {
      result.best = fastest;
      result.us = fastestUs;
      improved = true;
    }
  }
  if (result.best == start)
    return result;
  Expected<Trial> again = take(start);
  if (!again)
    return again.takeError();
  Expected<Trial> best = take(result.best);
  if (!best)
    return best.takeError();
  if (!best->rejected.empty() || best->us >= again->us * (1 - noise)) {
    result.best = start;
    result.us = result.startUs;
    return result;
  }
  // The fastest of many is also the luckiest: the times are those of now.
  result.us = best->us;
  result.startUs = again->us;
  return result;
}
