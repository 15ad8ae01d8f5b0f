//===- Run.cpp - What norm-fusion-runner does -----------------------------===//
//
// The order of a run: read everything that can be wrong about the input,
// compile, run, compare (Check.cpp), write. The report is written whatever the
// comparisons say.
//
//===----------------------------------------------------------------------===//

#include "RunImpl.h"

#include "norm_fusion/Runner/Assemble.h"
#include "norm_fusion/Runner/Benchmark.h"
#include "norm_fusion/Runner/Inputs.h"
#include "norm_fusion/Runner/Repeat.h"
#include "norm_fusion/Runner/Tune.h"
#include "norm_fusion/Runtime/Npy.h"
#include "norm_fusion/Runtime/OutputFile.h"
#include "norm_fusion/Schedule/JSON.h"
#include "norm_fusion/Schedule/Tuning.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
using runtime::Tensor;

static Error checkChip(StringRef chip) {
  return TargetInfo::get(chip)
             ? Error::success()
             : makeError(ExitCode::badInput, "unknown chip '" + chip +
                                                 "', expected " +
                                                 TargetInfo::chips);
}

Error Run::openDevice() {
  StringRef name = options.device;
  bool emulate = name == "emulator" ||
                 (name == "auto" && runtime::countCudaDevices() == 0);
  int ordinal = 0;
  if (name.consume_front("cuda:"))
    name.getAsInteger(10, ordinal);
  double seconds;
  if (const char *text = getenv("NORM_FUSION_KERNEL_TIMEOUT"))
    if (StringRef(text).getAsDouble(seconds) || !(seconds > 0))
      return makeError(ExitCode::badInput,
                       "NORM_FUSION_KERNEL_TIMEOUT=" + Twine(text) +
                           ": expected a number of seconds, more than 0");
  Expected<runtime::EmulatorOptions> emulator =
      runtime::EmulatorOptions::parse(options.emulator);
  if (!emulator)
    return withCode(ExitCode::badInput, emulator.takeError());
  Expected<std::unique_ptr<runtime::Device>> opened =
      emulate ? runtime::createEmulatorDevice(*emulator)
              : runtime::createCudaDevice(ordinal);
  if (!opened)
    return opened.takeError();
  device = std::move(*opened);
  report.device = device->getProperties().name;
  report.chip = device->isEmulator() ? "sm_90a" : device->getProperties().chip;
  if (!options.chip.empty())
    report.chip = options.chip;
  if (!bundle.chip.empty())
    report.chip = bundle.chip;
  return checkChip(report.chip);
}

/// Before anything is computed for them.
Error Run::checkOutputs() {
  std::vector<std::string> paths = options.outputs;
  for (const std::string &path : {options.json, options.remarks, options.tune})
    if (!path.empty())
      paths.push_back(path);
  std::vector<std::string> sources = options.expected;
  llvm::append_range(sources, options.inputs);
  sources.push_back(options.file);
  sources.push_back(options.file + "/manifest.json");
  sources.push_back(options.tuning);
  // Of the bundle that is written, and of the one that is run.
  SmallVector<SmallString<128>, 2> folders;
  for (const std::string &path : {options.emitBundle, options.file})
    if (llvm::sys::fs::is_directory(path))
      llvm::sys::fs::real_path(path, folders.emplace_back());
  if (!options.emitBundle.empty())
    if (Error error = checkBundleFolder(options.emitBundle))
      return error;
  llvm::StringSet<> files, read;
  for (const std::string &path : sources) {
    if (llvm::sys::fs::is_regular_file(path))
      read.insert(runtime::getRealFile(path));
    if (Error error = checkNoDevice(path))
      return withCode(ExitCode::badInput, std::move(error));
  }
  for (const std::string &path : paths) {
    if (Error error = runtime::checkWritable(path))
      return withCode(ExitCode::badInput, std::move(error));
    // The same file may have several names.
    std::string file = runtime::getRealFile(path);
    // A database may be what is looked further from, too.
    bool isMerged =
        path == options.tune && file == runtime::getRealFile(options.tuning);
    if (read.contains(file) && !isMerged)
      return makeError(ExitCode::badInput,
                       "'" + path + "' is read, and can't be an output, too");
    StringRef name = llvm::sys::path::filename(file);
    if (llvm::is_contained(folders, llvm::sys::path::parent_path(file)) &&
        isBundleFile(name))
      return makeError(ExitCode::badInput,
                       "'" + path + "' is where the bundle's own " + name +
                           " may be; give another file");
    if (!file.empty() && !files.insert(file).second)
      return makeError(ExitCode::badInput,
                       "'" + path + "' is given for two outputs");
  }
  return Error::success();
}

Error Run::execute() {
  if (Error error = checkOutputs())
    return error;
  if (isBundle(options.file))
    return executeBundle();
  if (Error error = readCompileOptions(options, compile))
    return error;
  context = createContext();
  if (Error error = checkDatabases(*context, options))
    return error;
  if (!options.emitBundle.empty())
    return emitBundle();
  if (Error error = openDevice())
    return error;
  if (!options.tune.empty() && device->isEmulator())
    return makeError(ExitCode::badInput,
                     "--tune measures times, which the emulator doesn't have; "
                     "use --device=cuda on a machine with a GPU");
  Expected<OwningOpRef<ModuleOp>> module = parseModule(*context, options.file);
  if (!module)
    return module.takeError();
  source = std::move(*module);
  Expected<Signature> entry = findEntry(*source, options.entry);
  if (!entry)
    return entry.takeError();
  signature = *entry;
  if (Error error = prepare())
    return error;
  reductionLength = getReductionLength(*source, getLargestSize());
  rounded = roundsToIntegers(*source);

  compile.chip = report.chip;
  const runtime::DeviceProperties &properties = device->getProperties();
  if (!options.memoryBandwidth && report.chip == properties.chip)
    compile.memoryBandwidth = properties.memoryBandwidth;
  compile.emulator = device->isEmulator();
  compile.plainOnDevice = options.plain == "auto" ? !device->isEmulator()
                                                  : options.plain == "device";
  if (Error error = compileAndRun())
    return error;
  return reportRun();
}

/// The source by compileFused() or compileKernels(); remarks of this time
/// alone.
Expected<CompiledModule> Run::compileSource(decltype(compileFused) &compileIt) {
  progress.say("compiling");
  if (options.remarks.empty())
    return compileIt(OwningOpRef<ModuleOp>(source->clone()), compile);
  std::string remarks;
  startRemarks(*context, remarks);
  Expected<CompiledModule> compiled =
      compileIt(OwningOpRef<ModuleOp>(source->clone()), compile);
  finishRemarks(*context);
  Error error = runtime::writeFile(
      options.remarks, [&](llvm::raw_ostream &os) { os << remarks; });
  if (compiled && error)
    return withCode(ExitCode::badInput, std::move(error));
  consumeError(std::move(error)); // the compiler's comes first
  return compiled;
}

/// Again while chosen schedules spill: what a compiler made of a kernel is
/// known when the device has it.
Error Run::compileAndRun() {
  Expected<CompiledModule> compiled = compileSource(compileFused);
  if (!compiled)
    return compiled.takeError();
  reportCompiled(*compiled);
  plainKernels = std::move(compiled->plainKernels);
  hostTouchesMemory = compiled->hostTouchesMemory;
  Expected<std::unique_ptr<Program>> created =
      Program::create(*compiled->module, signature, device.get(),
                      compiled->hostTouchesMemory);
  if (!created)
    return created.takeError();
  program = std::move(*created);
  if (Error error = runRepeatedly())
    return error;
  if (!device->isEmulator())
    report.ptxasMs += program->getLoadMs();
  if (!findSpills(*compiled))
    return Error::success();
  program.reset();
  report.plainLaunches = 0;
  failure.clear();
  return compileAndRun();
}

/// What was compiled, perhaps not for the first time: kernels of the last time,
/// times of all.
void Run::reportCompiled(CompiledModule &compiled) {
  report.fused = compiled.fused;
  report.totalMs += compiled.totalMs;
  report.ptxMs += compiled.ptxMs;
  report.kernels = std::move(compiled.kernels);
}

/// Notes the schedules that spill. True if compiling again helps: nobody asked
/// for these schedules, and they weren't measured.
bool Run::findSpills(const CompiledModule &compiled) {
  bool areGiven = !options.schedule.empty() || !options.tuning.empty() ||
                  options.batchInvariant;
  source->walk(
      [&](MixedReductionOp op) { areGiven |= !!op.getScheduleAttr(); });
  report.spills = compiled.spills;
  bool found = false;
  for (const KernelRecord &kernel : report.kernels) {
    unsigned bytes = kernel.fields.getInteger("spill_bytes").value_or(0);
    if (!bytes || kernel.schedule.empty())
      continue;
    if (areGiven || bytes <= kToleratedSpillBytes ||
        !compiled.shrinkable.contains(kernel.schedule)) {
      report.spills.push_back({kernel.schedule, bytes, /*instead=*/""});
      continue;
    }
    compile.spilling[kernel.schedule] = bytes;
    found = true;
  }
  return found;
}

int64_t Run::getLargestSize() const {
  int64_t largest = 1;
  for (const Tensor &input : inputs)
    for (int64_t size : input.getShape())
      largest = std::max(largest, size);
  return largest;
}

/// Everything about the command line that depends on the signature alone.
Error Run::prepare() {
  report.entry = signature.name;
  size_t outputs = signature.getOutputs().size();
  if (options.outputs.size() > outputs || options.expected.size() > outputs)
    return makeError(ExitCode::badInput,
                     "more --output or --expected files than the " +
                         Twine(outputs) + " results of " + signature.name +
                         (signature.buffers.empty()
                              ? ""
                              : ", with the buffers that it writes to"));
  Expected<std::vector<Tensor>> made = makeInputs(options, signature);
  if (!made)
    return made.takeError();
  inputs = std::move(*made);
  for (auto [type, path] :
       llvm::zip(signature.getOutputs(), options.expected)) {
    SmallVector<runtime::ElementType, 2> types = {type.type};
    if (isFloat(type.type) && type.type != runtime::ElementType::f64)
      types.push_back(runtime::ElementType::f64);
    Expected<Tensor> want = runtime::readNpy(path, types);
    if (!want)
      return withCode(ExitCode::badInput, want.takeError());
    expected.push_back(std::move(*want));
  }
  return Error::success();
}

Error Run::reportRun() {
  if (Error error = compareWithFiles())
    return error;
  if (options.benchmark)
    if (Error error = timeIt())
      return error;
  if (options.check)
    if (Error error = compareWithReference())
      return error;
  if (!options.tune.empty())
    if (Error error = tuneIt())
      return error;
  for (unsigned i = 0; i < results.size(); ++i)
    if (llvm::none_of(report.outputs,
                      [&](const OutputReport &o) { return o.index == i; }))
      report.outputs.push_back(describe(i));
  llvm::stable_sort(report.outputs,
                    [](const OutputReport &a, const OutputReport &b) {
                      return a.index < b.index;
                    });
  if (Error error = writeOutputs())
    return error;
  report.print(llvm::outs());
  if (!options.json.empty())
    if (Error error = writeReport(options.json, report))
      return error;
  return getVerdict();
}

Error Run::emitBundle() {
  compile.emulator = options.device == "emulator";
  if (!options.chip.empty())
    compile.chip = options.chip;
  if (Error error = checkChip(compile.chip))
    return error;
  std::string text;
  Expected<OwningOpRef<ModuleOp>> module =
      parseModule(*context, options.file, &text);
  if (!module)
    return module.takeError();
  Expected<Signature> entry = findEntry(**module, options.entry);
  if (!entry)
    return entry.takeError();
  source = std::move(*module);
  for (bool isDone = false; !isDone;) {
    Expected<CompiledModule> compiled = compileSource(compileKernels);
    if (!compiled)
      return compiled.takeError();
    if (!compile.emulator)
      report.ptxasMs += assembleKernels(*compiled, compile.chip);
    reportCompiled(*compiled);
    isDone = !findSpills(*compiled);
    if (isDone)
      if (Error error =
              writeBundle(options.emitBundle, *compiled, *entry, compile, text))
        return error;
  }
  if (options.json.empty())
    return Error::success();
  // What there is to say without a device.
  report.entry = entry->name;
  report.chip = compile.chip;
  return writeReport(options.json, report);
}

Error Run::executeBundle() {
  if (options.check || !options.emitBundle.empty() ||
      !options.schedule.empty() || options.batchInvariant ||
      options.memoryBandwidth || !options.tuning.empty() ||
      !options.tune.empty() || !options.remarks.empty() ||
      !options.formOptions.empty() || options.plain != "auto")
    return makeError(
        ExitCode::badInput,
        "a bundle is compiled already: --check, --schedule, "
        "--batch-invariant, --memory-bandwidth, --tuning, --tune, "
        "--remarks, --form-options, --plain and --emit-bundle need "
        "the module; compare with --expected");
  Expected<Bundle> read = readBundle(options.file);
  if (!read)
    return read.takeError();
  bundle = std::move(*read);
  if (!options.entry.empty() && options.entry != bundle.signature.name)
    return makeError(ExitCode::badInput, "no function '" + options.entry +
                                             "'; the bundle has: " +
                                             bundle.signature.name);
  if (!options.chip.empty() && options.chip != bundle.chip)
    return makeError(ExitCode::badInput, "--chip=" + options.chip +
                                             ": the bundle is compiled for " +
                                             bundle.chip +
                                             "; emit one for that chip");
  signature = bundle.signature;
  if (Error error = openDevice())
    return error;
  if (Error error = prepare())
    return error;
  reductionLength = getLargestSize();
  rounded = true;
  report.fused = bundle.fused;
  for (const llvm::json::Value &entry : *bundle.manifest.getArray("kernels"))
    if (const llvm::json::Object *fields = entry.getAsObject()) {
      KernelRecord kernel;
      kernel.name = fields->getString("name").value_or("").str();
      for (StringRef key :
           {"rows", "columns", "row_reductions", "column_reductions"})
        if (auto number = fields->getInteger(key))
          kernel.fields[key] = *number;
      kernel.fields["schedule"] =
          parseFields(fields->getString("schedule").value_or(""));
      report.kernels.push_back(std::move(kernel));
    }
  Expected<std::unique_ptr<Program>> loaded = loadBundle(bundle, *device);
  if (!loaded)
    return loaded.takeError();
  program = std::move(*loaded);
  if (Error error = runRepeatedly())
    return error;
  return reportRun();
}

Error Run::runRepeatedly() {
  std::optional<LaunchRecorder> recorder;
  Expected<RepeatedCalls> calls = callRepeatedly(
      *program, *device, inputs, options.repeat, options.bitwise, report.chip,
      [&](unsigned i) {
        if (i == 0)
          recorder.emplace();
        if (options.repeat == 1)
          progress.say("running");
        else
          progress.say(
              ("run " + Twine(i + 1) + " of " + Twine(options.repeat)).str());
      },
      [&] {
        std::vector<LaunchRecord> launches(recorder->getLaunches().begin(),
                                           recorder->getLaunches().end());
        recorder.reset();
        return describeLaunches(launches);
      });
  if (!calls)
    return calls.takeError();
  results = std::move(calls->results);
  if (!options.bitwise)
    return Error::success();
  report.bitwise = !calls->difference;
  if (calls->difference)
    failure = ("result " + Twine(calls->difference->result) + " of run " +
               Twine(calls->difference->call + 1) +
               " differs from the first run's; expected the same bits")
                  .str();
  return Error::success();
}

/// Joins what the compiler said of the kernels with how they were launched.
Error Run::describeLaunches(ArrayRef<LaunchRecord> launches) {
  std::vector<KernelRecord> launched;
  auto toArray = [](runtime::Dim3 dim) {
    return llvm::json::Array{dim.x, dim.y, dim.z};
  };
  for (const LaunchRecord &launch : launches) {
    if (plainKernels.contains(launch.name)) {
      ++report.plainLaunches;
      continue;
    }
    KernelRecord kernel;
    kernel.name = launch.name;
    for (const KernelRecord &compiled : report.kernels)
      if (compiled.name == launch.name) {
        kernel.schedule = compiled.schedule;
        kernel.fields = compiled.fields;
      }
    Expected<runtime::KernelInfo> info = device->getKernelInfo(launch.kernel);
    if (!info)
      return info.takeError();
    kernel.fields["grid"] = toArray(launch.config.grid);
    kernel.fields["block"] = toArray(launch.config.block);
    kernel.fields["cluster"] = toArray(launch.config.cluster);
    kernel.fields["shared_memory_bytes"] =
        info->sharedMemoryBytes + launch.config.dynamicSharedMemory;
    kernel.fields["registers"] = info->registers;
    kernel.fields["spill_bytes"] = info->spillBytes;
    kernel.fields["workspace_bytes"] = launch.workspaceBytes;
    launched.push_back(std::move(kernel));
  }
  report.kernels = std::move(launched);
  return Error::success();
}

Error Run::writeOutputs() {
  for (auto [path, tensor] : llvm::zip(options.outputs, results))
    if (Error error = runtime::writeNpy(path, tensor))
      return withCode(ExitCode::badInput, std::move(error));
  return Error::success();
}

Error Run::checkTiming() {
  // A graph holds launches and copies: host code would run once, while it's
  // recorded, on values that aren't there yet.
  if (!device->isEmulator() && hostTouchesMemory)
    return makeError(ExitCode::compileFailed,
                     "host code reads or writes buffers between the kernels, "
                     "so calls can't be timed as a graph; --remarks=FILE says "
                     "what stays on the host");
  return Error::success();
}

Error Run::timeIt() {
  if (Error error = checkTiming())
    return error;
  progress.say("timing");
  Expected<BenchmarkReport> timed =
      benchmark(*program, *device, inputs, results, report.chip);
  if (!timed)
    return timed.takeError();
  report.benchmark = *timed;
  return Error::success();
}

Error Run::tuneIt() {
  if (Error error = checkTiming())
    return error;
  // Nothing is tuned to results that are wrong.
  if (!failure.empty())
    return Error::success();
  auto getTolerance = [&](const Tensor &result) {
    return this->getTolerance(result.getElementType(), getMagnitude(result));
  };
  // The clock ends some centuries from now.
  double seconds = std::min(options.tuneSeconds, 1e9);
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds));
  auto mayGoOn = [&] { return Clock::now() < deadline; };
  auto say = [](StringRef text) {
    llvm::outs() << text << "\n";
    llvm::outs().flush();
  };
  Expected<std::vector<TuningReport>> tuned =
      tune({*source, signature, compile, *device, inputs, results, getTolerance,
            options.tune, mayGoOn, say});
  if (!tuned)
    return tuned.takeError();
  report.tuning = std::move(*tuned);
  return Error::success();
}

Error Run::getVerdict() {
  if (failure.empty())
    return Error::success();
  return makeError(ExitCode::comparisonFailed, failure);
}

Error mlir::norm_fusion::runner::run(const RunnerOptions &options) {
  return Run(options).execute();
}
