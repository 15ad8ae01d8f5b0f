//===- Options.cpp - The runner's command line ----------------------------===//
//
// Not llvm::cl: the runner links all of LLVM, whose own options would be
// accepted too, and a wrong one must give our exit code and one line.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Options.h"
#include "norm_fusion/Runner/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <functional>

using namespace llvm;
using namespace mlir::norm_fusion::runner;

namespace {
struct OptionInfo {
  StringLiteral name;
  StringLiteral value; ///< empty: a flag
  StringLiteral help;
  /// Stores the value; false if it isn't one.
  bool (*store)(RunnerOptions &, StringRef);
};

template <std::string RunnerOptions::*field>
bool storeText(RunnerOptions &options, StringRef value) {
  options.*field = value.str();
  return !value.empty();
}
template <std::string RunnerOptions::*field>
bool storeAnyText(RunnerOptions &options, StringRef value) {
  options.*field = value.str();
  return true;
}
template <std::vector<std::string> RunnerOptions::*field>
bool addText(RunnerOptions &options, StringRef value) {
  (options.*field).push_back(value.str());
  return !value.empty();
}
template <bool RunnerOptions::*field>
bool setFlag(RunnerOptions &options, StringRef) {
  return options.*field = true;
}
template <std::optional<double> RunnerOptions::*field>
bool storeTolerance(RunnerOptions &options, StringRef value) {
  double number;
  if (value.getAsDouble(number) || !std::isfinite(number) || number < 0)
    return false;
  options.*field = number;
  return true;
}
bool storeSeconds(RunnerOptions &options, StringRef value) {
  return !value.getAsDouble(options.tuneSeconds) &&
         std::isfinite(options.tuneSeconds) && options.tuneSeconds >= 0;
}
bool storeBandwidth(RunnerOptions &options, StringRef value) {
  unsigned number;
  if (value.getAsInteger(10, number) || number == 0)
    return false;
  options.memoryBandwidth = number;
  return true;
}
bool storeSeed(RunnerOptions &options, StringRef value) {
  return !value.getAsInteger(10, options.seed);
}
bool storeRepeat(RunnerOptions &options, StringRef value) {
  return !value.getAsInteger(10, options.repeat) && options.repeat > 0;
}
bool storePlain(RunnerOptions &options, StringRef value) {
  options.plain = value.str();
  return value == "auto" || value == "host" || value == "device";
}
bool storeDims(RunnerOptions &options, StringRef value) {
  SmallVector<StringRef> sizes;
  value.split(sizes, 'x');
  options.dims.clear();
  for (StringRef size : sizes) {
    int64_t number;
    if (size.getAsInteger(10, number) || number < 0)
      return false;
    options.dims.push_back(number);
  }
  return true;
}

using O = RunnerOptions;
constexpr OptionInfo infos[] = {
    {"entry", "NAME", "function to run; default: the only public one",
     storeText<&O::entry>},
    {"form-options", "\"K=V\"", "passed on to norm-fusion-form",
     storeAnyText<&O::formOptions>},
    {"device", "auto|cuda|cuda:N|emulator", "where kernels run",
     storeText<&O::device>},
    {"chip", "NAME", "compile for; default: the device's own, or sm_90a",
     storeText<&O::chip>},
    {"memory-bandwidth", "GB/S",
     "schedule for; default: the device's own, or the usual of the chip",
     storeBandwidth},
    {"schedule", "\"K=V K=V\"", "override schedule fields",
     storeAnyText<&O::schedule>},
    {"batch-invariant", "", "the same bits of column results on all devices",
     setFlag<&O::batchInvariant>},
    {"tuning", "FILE", "take schedules from a database of tuned ones",
     storeText<&O::tuning>},
    {"tune", "FILE",
     "look for faster schedules on this GPU and merge them into a database",
     storeText<&O::tune>},
    {"tune-seconds", "SECONDS", "try nothing more after so long; default: 300",
     storeSeconds},
    {"emulator", "\"K=V K=V\"",
     "sms=, shared-memory=, memory=, max-cluster=, order-seed=, races=, weak=",
     storeAnyText<&O::emulator>},
    {"plain", "auto|host|device",
     "what runs what isn't fused; auto: the host beside the emulator",
     storePlain},
    {"input", "VALUE",
     "FILE.npy, SHAPExTYPE (random) or SHAPExTYPE=NUMBER; repeat in order",
     addText<&O::inputs>},
    {"seed", "N", "of the random inputs", storeSeed},
    {"dims", "NxN", "sizes of the arguments' dynamic dimensions, in order",
     storeDims},
    {"expected", "FILE.npy", "compare a result with it; repeat in order",
     addText<&O::expected>},
    {"check", "", "compare with the module run in f64, unfused",
     setFlag<&O::check>},
    {"rtol", "NUMBER", "relative tolerance of comparisons",
     storeTolerance<&O::rtol>},
    {"atol", "NUMBER", "absolute tolerance of comparisons",
     storeTolerance<&O::atol>},
    {"output", "FILE.npy", "write a result; repeat in order",
     addText<&O::outputs>},
    {"repeat", "N", "run N times", storeRepeat},
    {"bitwise", "", "results must be the same bits in every run",
     setFlag<&O::bitwise>},
    {"benchmark", "", "time it", setFlag<&O::benchmark>},
    {"json", "FILE", "write the report", storeText<&O::json>},
    {"emit-bundle", "DIR", "compile only, into a folder",
     storeText<&O::emitBundle>},
    {"remarks", "FILE", "write the compiler's remarks as YAML",
     storeText<&O::remarks>},
    {"verify-each", "", "verify the module behind each pass",
     setFlag<&O::verifyEach>},
    {"help", "", "print this", setFlag<&O::help>},
    {"version", "", "print the version", setFlag<&O::version>},
};
} // namespace

/// The first option that asks for a run; empty if none does. (What a run takes,
/// sizes or a seed, may stand there: scripts give both commands the same.)
static StringRef findOptionOfRun(const RunnerOptions &options) {
  const RunnerOptions usual;
  const std::pair<StringRef, bool> given[] = {
      {"check", options.check},
      {"expected", !options.expected.empty()},
      {"output", !options.outputs.empty()},
      {"benchmark", options.benchmark},
      {"repeat", options.repeat != usual.repeat},
      {"bitwise", options.bitwise},
  };
  for (auto [name, isGiven] : given)
    if (isGiven)
      return name;
  return {};
}

Expected<RunnerOptions>
mlir::norm_fusion::runner::parseRunnerOptions(ArrayRef<const char *> arguments) {
  RunnerOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.starts_with("-") || argument == "-") {
      if (!options.file.empty())
        return makeError(ExitCode::badInput, "two files, '" + options.file +
                                                 "' and '" + argument +
                                                 "'; give one");
      options.file = argument.str();
      continue;
    }
    auto [name, value] = argument.ltrim('-').split('=');
    const OptionInfo *info =
        find_if(infos, [name = name](const OptionInfo &candidate) {
          return candidate.name == name;
        });
    if (info == std::end(infos) || !argument.starts_with("--")) {
      unsigned best = 3;
      StringRef closest;
      for (const OptionInfo &candidate : infos)
        if (unsigned d = name.edit_distance(candidate.name, true, best); d < best)
          best = d, closest = candidate.name;
      return makeError(ExitCode::badInput,
                       "unknown option '" + argument + "'" +
                           (closest.empty() ? "; see --help"
                                            : "; did you mean --" + closest.str() +
                                                  "?"));
    }
    bool hasValue = argument.contains('=');
    if (info->value.empty() && hasValue)
      return makeError(ExitCode::badInput,
                       "--" + name + " takes no value, found '" + value + "'");
    if (!info->value.empty() && !hasValue)
      return makeError(ExitCode::badInput, "--" + name +
                                               " needs a value: --" + name +
                                               "=" + info->value);
    if (!info->store(options, value))
      return makeError(ExitCode::badInput, "--" + name + "=" + value +
                                               ": expected " + info->value);
  }
  if (options.help || options.version)
    return options;
  if (options.file.empty())
    return makeError(ExitCode::badInput,
                     "no file; give a module of linalg IR or a bundle");
  StringRef ordinal = options.device;
  int number;
  if (options.device != "auto" && options.device != "cuda" &&
      options.device != "emulator" &&
      !(ordinal.consume_front("cuda:") && !ordinal.getAsInteger(10, number) &&
        number >= 0))
    return makeError(ExitCode::badInput,
                     "--device=" + options.device +
                         ": expected auto, cuda, cuda:N or emulator");
  if (!options.inputs.empty() && !options.dims.empty())
    return makeError(ExitCode::badInput,
                     "--dims gives sizes to random inputs, --input gives "
                     "whole inputs; use one of them");
  // What would be said of a run must not be silent, as if all were well.
  if (StringRef name = findOptionOfRun(options);
      !name.empty() && !options.emitBundle.empty())
    return makeError(ExitCode::badInput,
                     "--emit-bundle compiles only: --" + name +
                         (name == "check"
                              ? " needs the module; give it without "
                                "--emit-bundle"
                              : " needs a run; run the bundle with it"));
  if (options.bitwise && options.repeat < 2)
    options.repeat = 2;
  return options;
}

void mlir::norm_fusion::runner::printHelp(raw_ostream &os) {
  os << "usage: norm-fusion-runner FILE [options]\n\n"
        "Compiles a module of linalg IR and runs it, or runs a bundle.\n\n";
  for (const OptionInfo &info : infos) {
    std::string option = "--" + info.name.str();
    if (!info.value.empty())
      option += "=" + info.value.str();
    os << "  " << option;
    if (option.size() > 24)
      os << "\n" << std::string(28, ' ');
    else
      os << std::string(26 - option.size(), ' ');
    os << info.help << "\n";
  }
  os << "\nexit: 0 all well, 1 a comparison failed, 2 bad usage or input, 3 it "
        "doesn't compile,\n      4 no such device or driver too old, 5 the "
        "kernel failed or hung\n";
}
