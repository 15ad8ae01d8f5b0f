//===- Tune.cpp - Looks for faster schedules on a device ------------------===//
//
// The search is the schedule library's; here is what it measures with. The
// module is fused once; a candidate is a copy in which the ops of one problem
// class have its schedule, compiled, checked and timed like any module.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Tune.h"
#include "norm_fusion/Runner/Benchmark.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Execute.h"
#include "norm_fusion/Runner/Options.h"
#include "norm_fusion/Runtime/OutputFile.h"
#include "norm_fusion/Schedule/Tuning.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
using runtime::Tensor;

/// Runs of a candidate whose bits are compared.
static constexpr unsigned checkedRuns = 3;

namespace {
class Tuner {
public:
  explicit Tuner(const TuneRequest &request) : request(request) {}
  Expected<std::vector<TuningReport>> run();

private:
  using Ops = SmallVector<MixedReductionOp>;
  Expected<TuningReport> tuneClass(Ops &ops);
  Expected<Trial> measure(Ops &ops, ScheduleAttr schedule);
  Expected<std::string> findFault(Program &program);
  int64_t getRows() const;

  const TuneRequest &request;
  OwningOpRef<ModuleOp> fused;
};
} // namespace

static Expected<TuningDatabase> readIfThere(StringRef path,
                                            MLIRContext *context) {
  if (!llvm::sys::fs::exists(path))
    return TuningDatabase();
  Expected<TuningDatabase> database = TuningDatabase::read(path, context);
  if (!database)
    return withCode(ExitCode::badInput, database.takeError());
  return database;
}

Error mlir::norm_fusion::runner::checkDatabases(MLIRContext &context,
                                                const RunnerOptions &options) {
  if (!options.tune.empty() && !options.emitBundle.empty())
    return makeError(ExitCode::badInput,
                     "--tune runs the module, --emit-bundle only compiles it; "
                     "tune first, then give --tuning=FILE");
  for (const std::string &path : {options.tuning, options.tune}) {
    if (path.empty() || (path == options.tune && !llvm::sys::fs::exists(path)))
      continue;
    Expected<TuningDatabase> database = TuningDatabase::read(path, &context);
    if (!database)
      return withCode(ExitCode::badInput, database.takeError());
  }
  return Error::success();
}

/// Reads again what is there: somebody else may have tuned meanwhile.
static Error mergeInto(StringRef path, const TuningEntry &entry,
                       MLIRContext *context) {
  Expected<TuningDatabase> database = readIfThere(path, context);
  if (!database)
    return database.takeError();
  database->add(entry);
  return withCode(ExitCode::badInput,
                  runtime::writeFile(path, [&](llvm::raw_ostream &os) {
                    os << llvm::formatv("{0:2}", database->toJSON()) << "\n";
                  }));
}

int64_t Tuner::getRows() const {
  size_t elements = 0;
  int64_t rows = 0;
  for (const Tensor &input : request.inputs)
    if (!input.getShape().empty() && input.getNumElements() > elements) {
      elements = input.getNumElements();
      rows = elements / input.getShape().back();
    }
  return rows;
}

Expected<std::vector<TuningReport>> Tuner::run() {
  ModuleOp source = request.source;
  MLIRContext *context = source.getContext();
  if (Expected<TuningDatabase> database =
          readIfThere(request.database, context);
      !database)
    return database.takeError();
  fused = OwningOpRef<ModuleOp>(source.clone());
  if (Error error = fuse(*fused, request.compile))
    return std::move(error);
  llvm::MapVector<StringRef, Ops> classes;
  llvm::StringSet<> keys;
  fused->walk([&](MixedReductionOp op) {
    op.removeFewRowsAttr(); // what is measured runs for any number of rows
    if (op.getScheduleAttr())
      classes[keys.insert(getKey(Problem::get(op))).first->first()].push_back(
          op);
  });
  if (classes.empty())
    return makeError(ExitCode::compileFailed,
                     "nothing to tune: no kernel is generated for " +
                         request.signature.name + "; --remarks=FILE says why");
  std::vector<TuningReport> reports;
  for (auto &[key, ops] : classes) {
    Expected<TuningReport> report = tuneClass(ops);
    if (!report)
      return report.takeError();
    TuningEntry entry;
    entry.problem = report->problem;
    entry.chip = request.compile.chip;
    entry.version = NORM_FUSION_VERSION;
    entry.schedule = report->schedule;
    entry.us = report->us;
    entry.untunedUs = report->untunedUs;
    entry.rows = getRows();
    entry.device = request.device.getProperties().name;
    if (Error error = mergeInto(request.database, entry, context))
      return std::move(error);
    reports.push_back(std::move(*report));
  }
  return reports;
}

Expected<TuningReport> Tuner::tuneClass(Ops &ops) {
  Problem problem = Problem::get(ops.front());
  std::optional<TargetInfo> target =
      TargetInfo::get(request.compile.chip, request.compile.memoryBandwidth);
  ScheduleAttr start = ops.front().getScheduleAttr();
  request.say(("tuning " + getKey(problem)));
  Expected<SearchResult> found = search(
      problem, *target, start,
      [&](ScheduleAttr schedule) -> Expected<Trial> {
        Expected<Trial> trial = measure(ops, schedule);
        if (trial)
          request.say(trial->rejected.empty()
                          ? llvm::formatv("{0,10:f2} us  {1}", trial->us,
                                          schedule.getText())
                                .str()
                          : llvm::formatv("  rejected  {0}: {1}",
                                          schedule.getText(), trial->rejected)
                                .str());
        return trial;
      },
      request.mayGoOn);
  if (!found)
    return withCode(ExitCode::kernelFailed, found.takeError());
  // What comes next is measured beside this.
  for (MixedReductionOp op : ops)
    op.setScheduleAttr(found->best);
  return TuningReport{getKey(problem), found->best.getText(), found->us,
                      found->startUs, found->trials};
}

Expected<Trial> Tuner::measure(Ops &ops, ScheduleAttr schedule) {
  Trial trial;
  trial.schedule = schedule;
  auto reject = [&](Error error) -> Expected<Trial> {
    trial.rejected = llvm::toString(std::move(error));
    return trial;
  };
  ScheduleAttr before = ops.front().getScheduleAttr();
  for (MixedReductionOp op : ops)
    op.setScheduleAttr(schedule);
  OwningOpRef<ModuleOp> candidate(fused->clone());
  for (MixedReductionOp op : ops)
    op.setScheduleAttr(before);
  // The ops have their schedules.
  CompileOptions options = request.compile;
  options.schedule.clear();
  options.tuning.clear();
  options.spilling.clear();
  Expected<CompiledModule> compiled =
      compileFused(std::move(candidate), options);
  if (!compiled)
    return reject(compiled.takeError());
  Expected<std::unique_ptr<Program>> program =
      Program::create(*compiled->module, request.signature, &request.device,
                      compiled->hostTouchesMemory);
  if (!program)
    return reject(program.takeError());
  Expected<std::string> fault = findFault(**program);
  Expected<BenchmarkReport> timed = [&]() -> Expected<BenchmarkReport> {
    if (!fault)
      return fault.takeError();
    if (!fault->empty())
      return makeError(ExitCode::comparisonFailed, *fault);
    return timeProgram(**program, request.device, request.inputs,
                       request.results);
  }();
  if (timed) {
    trial.us = timed->medianUs;
    return trial;
  }
  // A launch that is refused spoils nothing; a kernel that fails takes the
  // device with it.
  std::string text = llvm::toString(timed.takeError());
  if (Error error = request.device.synchronize((*program)->getStream())) {
    llvm::consumeError(std::move(error));
    return makeError(ExitCode::kernelFailed,
                     "schedule '" + schedule.getText() + "': " + text);
  }
  trial.rejected = text;
  return trial;
}

/// What is wrong with the results; empty if nothing is.
Expected<std::string> Tuner::findFault(Program &program) {
  std::vector<Tensor> first;
  for (unsigned run = 0; run < checkedRuns; ++run) {
    Expected<std::vector<Tensor>> got = program.run(request.inputs);
    if (!got)
      return got.takeError();
    if (run == 0) {
      first = std::move(*got);
      continue;
    }
    for (auto [i, tensor] : llvm::enumerate(*got))
      if (!tensor.isBitwiseEqual(first[i]))
        return llvm::formatv("result {0} isn't the same bits every time", i)
            .str();
  }
  for (auto [i, tensor] : llvm::enumerate(first)) {
    const Tensor &want = request.results[i];
    if (tensor.isBitwiseEqual(want))
      continue;
    // Both may be off from the exact result.
    Tolerance tolerance = request.getTolerance(want);
    tolerance.rtol *= 2;
    tolerance.atol *= 2;
    Comparison comparison = compare(tensor, want, tolerance);
    if (!comparison.passed())
      return llvm::formatv("result {0} is off from the untuned one by {1}", i,
                           comparison.maxAbsError)
          .str();
  }
  return std::string();
}

Expected<std::vector<TuningReport>>
mlir::norm_fusion::runner::tune(const TuneRequest &request) {
  return Tuner(request).run();
}
