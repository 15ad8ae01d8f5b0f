//===- Report.cpp - What a run found out ----------------------------------===//
//
// The report as JSON, whose keys other people's scripts read, and as text. JSON
// has no infinity: an error that isn't finite is null there. Nor has it bytes
// that aren't UTF-8, as names of the IR may.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Report.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runtime/OutputFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
namespace json = llvm::json;

static json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

static std::string getName(const OutputReport &output) {
  std::string name = "result " + std::to_string(output.index);
  if (output.argument)
    name += " (argument " + std::to_string(*output.argument) + ")";
  return name;
}

static json::Value toJSON(const OutputReport &output) {
  json::Object object;
  object["index"] = output.index;
  object["argument"] =
      output.argument ? json::Value(*output.argument) : json::Value(nullptr);
  object["shape"] = json::Array(ArrayRef<int64_t>(output.sizes));
  object["dtype"] = runtime::getName(output.type).str();
  bool compared = !output.reference.empty();
  const Comparison &c = output.comparison;
  object["max_abs_error"] = compared ? number(c.maxAbsError) : nullptr;
  object["max_rel_error"] = compared ? number(c.maxRelError) : nullptr;
  object["rtol"] = compared ? number(c.tolerance.rtol) : nullptr;
  object["atol"] = compared ? number(c.tolerance.atol) : nullptr;
  object["reference"] =
      compared ? json::Value(output.reference) : json::Value(nullptr);
  object["passed"] =
      compared ? json::Value(c.passed()) : json::Value(nullptr);
  return object;
}

json::Value Report::toJSON() const {
  json::Array kernelValues, outputValues;
  for (const KernelRecord &kernel : kernels) {
    json::Object object(kernel.fields);
    object["name"] = json::fixUTF8(kernel.name);
    kernelValues.push_back(std::move(object));
  }
  for (const OutputReport &output : outputs)
    outputValues.push_back(::toJSON(output));
  json::Value benchmarkValue = nullptr;
  if (benchmark)
    benchmarkValue = json::Object{
        {"median_us", number(benchmark->medianUs)},
        {"min_us", number(benchmark->minUs)},
        {"p95_us", number(benchmark->p95Us)},
        {"bytes", static_cast<int64_t>(benchmark->bytes)},
        {"gb_per_s", number(benchmark->getGBPerSecond())},
        {"triad_us", number(benchmark->triadUs)}};
  json::Array tuningValues;
  for (const TuningReport &tuned : tuning)
    tuningValues.push_back(json::Object{{"problem", tuned.problem},
                                        {"schedule", tuned.schedule},
                                        {"us", number(tuned.us)},
                                        {"untuned_us", number(tuned.untunedUs)},
                                        {"trials", tuned.trials}});
  json::Array spillValues;
  for (const SpillRecord &spill : spills)
    spillValues.push_back(json::Object{
        {"schedule", spill.schedule},
        {"bytes", spill.bytes},
        {"instead", spill.instead.empty() ? json::Value(nullptr)
                                          : json::Value(spill.instead)}});
  return json::Object{
      {"version", NORM_FUSION_VERSION},
      {"entry", json::fixUTF8(entry)},
      {"device", device},
      {"chip", chip},
      {"fused", fused},
      {"compile_ms",
       json::Object{{"total", totalMs}, {"ptx", ptxMs}, {"ptxas", ptxasMs}}},
      {"kernels", std::move(kernelValues)},
      {"plain_launches", plainLaunches},
      {"spills", std::move(spillValues)},
      {"outputs", std::move(outputValues)},
      {"bitwise", bitwise ? json::Value(*bitwise) : json::Value(nullptr)},
      {"benchmark", std::move(benchmarkValue)},
      {"tuning", std::move(tuningValues)}};
}

void Report::print(llvm::raw_ostream &os) const {
  os << entry << " on " << device << " (" << chip << "): " << fused
     << (fused == 1 ? " group" : " groups") << " fused, compiled in "
     << llvm::format("%.0f ms", totalMs);
  if (plainLaunches)
    os << ", " << plainLaunches << " plain launches";
  os << "\n";
  for (const SpillRecord &spill : spills)
    os << "  " << spill.schedule << " spills " << spill.bytes
       << " bytes a thread: "
       << (spill.instead.empty() ? "kept" : spill.instead + " instead") << "\n";
  for (const OutputReport &output : outputs) {
    os << "  " << getName(output) << " " << output.shape;
    if (!output.reference.empty()) {
      const Comparison &c = output.comparison;
      os << ": " << (c.passed() ? "passed" : "FAILED") << " against "
         << output.reference
         << llvm::format(", max error %.3g (relative %.3g), rtol %.3g, "
                         "atol %.3g",
                         c.maxAbsError, c.maxRelError, c.tolerance.rtol,
                         c.tolerance.atol);
    }
    os << "\n";
  }
  if (bitwise)
    os << "  bitwise: " << (*bitwise ? "the same" : "DIFFERENT") << "\n";
  if (benchmark) {
    os << llvm::format("  time: median %.2f us, min %.2f us, p95 %.2f us\n",
                       benchmark->medianUs, benchmark->minUs,
                       benchmark->p95Us)
       << "  bytes: " << benchmark->bytes
       << llvm::format(", %.1f GB/s\n", benchmark->getGBPerSecond())
       << llvm::format("  triad: %.2f us, %.2f x of triad\n",
                       benchmark->triadUs,
                       benchmark->medianUs / benchmark->triadUs);
  }
  for (const TuningReport &tuned : tuning)
    os << llvm::format("  tuned: %.2f us, untuned %.2f us, %u trials: ",
                       tuned.us, tuned.untunedUs, tuned.trials)
       << tuned.schedule << "\n";
}

std::string
mlir::norm_fusion::runner::describeFailure(const OutputReport &output,
                                           const runtime::Tensor &got,
                                           const runtime::Tensor &want) {
  const Comparison &c = output.comparison;
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<int64_t> position;
  size_t rest = c.worst;
  for (int64_t size : llvm::reverse(output.sizes)) {
    position.push_back(rest % size);
    rest /= size;
  }
  os << getName(output) << ": " << c.failures << " of " << got.getNumElements()
     << " elements are beyond the tolerance ("
     << llvm::format("rtol %.3g, atol %.3g", c.tolerance.rtol, c.tolerance.atol)
     << "); at [";
  llvm::interleave(llvm::reverse(position), os, ",");
  os << "] found " << llvm::format("%.9g", got.getFloat(c.worst))
     << ", expected " << llvm::format("%.9g", want.getFloat(c.worst)) << " ("
     << output.reference << ")";
  return text;
}

llvm::Error mlir::norm_fusion::runner::writeReport(StringRef path,
                                                   const Report &report) {
  return withCode(ExitCode::badInput,
                  runtime::writeFile(path, [&](llvm::raw_ostream &os) {
                    os << llvm::formatv("{0:2}", report.toJSON()) << "\n";
                  }));
}
