//===- Tuning.h - Schedules that were measured ------------------*- C++ -*-===//
//
// A tuning database is a JSON file of schedules that were found to be the
// fastest, by problem class, chip and version of norm-fusion. It is read by the
// schedule pass and written by `norm-fusion-runner --tune`, which looks for
// them with search(): steps to the best legal neighbour until none is faster.
//
//   {"schema": 1, "entries": [{
//      "problem": "columns=4096 elements=2,2 ...", "chip": "sm_90a",
//      "version": "0.1.0", "schedule": "structure=ring ...",
//      "us": 51.9, "untuned_us": 53.5, "rows": 8192, "device": "NVIDIA H200"}]}
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_SCHEDULE_TUNING_H
#define NORM_FUSION_SCHEDULE_TUNING_H

#include "norm_fusion/Schedule/Schedule.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mlir::norm_fusion {

/// Problems with the same key are one class: they have the same schedules.
/// Every field of Problem is part of it, but why there is no kernel, and
/// mayBeFramed, which isn't the op's: a schedule that it refuses isn't taken.
/// The number of rows isn't.
std::string getKey(const Problem &problem);

struct TuningEntry {
  std::string problem; ///< getKey()
  std::string chip, version;
  std::string schedule; ///< as the attribute prints it
  /// The same, of an entry of this version that was read from a file.
  ScheduleAttr parsed = {};
  // For people:
  double us = 0, untunedUs = 0; ///< a call of the whole module
  int64_t rows = 0;             ///< of the largest input that was tuned with
  std::string device;
};

class TuningDatabase {
public:
  /// Reads a file. An error names the file and the place in it. The schedules
  /// of this version's entries are parsed.
  static llvm::Expected<TuningDatabase> read(StringRef path,
                                             MLIRContext *context);
  /// The same of a text, but for the schedules; `name` is what errors call it.
  static llvm::Expected<TuningDatabase> parse(StringRef text, StringRef name);

  /// The entry for a problem; the last one counts. Null if there is none: then
  /// `ignored` says which other chips and versions there are, if any.
  const TuningEntry *lookUp(const Problem &problem, StringRef chip,
                            std::string &ignored) const;
  /// Takes the place of an entry for the same problem, chip and version.
  void add(TuningEntry entry);
  llvm::json::Value toJSON() const;
  ArrayRef<TuningEntry> getEntries() const { return entries; }

private:
  std::vector<TuningEntry> entries;
};

/// Legal schedules that differ from `from` in one decision. What follows from a
/// decision goes with it: more blocks a cluster leave a block fewer warps a
/// row.
SmallVector<ScheduleAttr> getNeighbours(const Problem &problem,
                                        ScheduleAttr from,
                                        const TargetInfo &target);

/// Bytes a thread that may be spilled: two registers cost less than a smaller
/// schedule. (H200, LayerNorm of 129 bf16 columns: 55 us with 8 bytes, 60 with
/// fewer warps; of f32, 57 with 16 bytes, 53 with fewer warps.)
inline constexpr unsigned kToleratedSpillBytes = 8;

/// What to take in place of a schedule that was thought to have the registers
/// but spills: fewer row groups, so that a thread has more, else fewer rows or
/// vectors a thread. Null where nothing is smaller, or `from` was chosen
/// because what doesn't spill is worse.
ScheduleAttr getSmallerSchedule(const Problem &problem, ScheduleAttr from,
                                const TargetInfo &target);

/// What was found out about a schedule.
struct Trial {
  ScheduleAttr schedule;
  double us = 0;
  std::string rejected; ///< why it can't be taken, however fast; else empty
};

struct SearchResult {
  ScheduleAttr best;
  double us = 0;      ///< of `best`, measured once more
  double startUs = 0; ///< of where the search began, beside it
  unsigned trials = 0;
};

/// Looks for a faster schedule than `start`, which is measured first and must
/// not be rejected. `mayGoOn` is asked before every further measurement; an
/// error of `measure` ends the search. In the end start and best are measured
/// once more: what isn't faster twice isn't better.
llvm::Expected<SearchResult>
search(const Problem &problem, const TargetInfo &target, ScheduleAttr start,
       llvm::function_ref<llvm::Expected<Trial>(ScheduleAttr)> measure,
       llvm::function_ref<bool()> mayGoOn);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_SCHEDULE_TUNING_H
