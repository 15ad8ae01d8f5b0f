//===- Benchmark.cpp - How long does it take? -----------------------------===//
//
// Calls are timed as they would run in a training step: from a CUDA graph, one
// after the other, over inputs that the L2 cache no longer holds. Several sets
// of inputs and results, together beyond four times the cache, take turns.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Benchmark.h"
#include "norm_fusion/Runner/Error.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
using runtime::Tensor;

static constexpr unsigned minCalls = 24;
static constexpr unsigned maxSets = 4096; // of calls that move 50 KB
static constexpr unsigned samplesPerBatch = 10;
static constexpr unsigned maxBatches = 30;

static double getPercentile(std::vector<double> samples, double fraction) {
  llvm::sort(samples);
  return samples[std::min(samples.size() - 1,
                          static_cast<size_t>(fraction * samples.size()))];
}

Expected<Timing> mlir::norm_fusion::runner::timeGraph(
    runtime::Device &device, runtime::StreamHandle stream, unsigned calls,
    llvm::function_ref<Error(unsigned)> record) {
  if (Error error = device.beginCapture(stream))
    return std::move(error);
  Error recorded = Error::success();
  for (unsigned i = 0; i < calls && !recorded; ++i)
    recorded = record(i);
  // Ends the capture even where recording failed.
  Expected<runtime::GraphHandle> graph = device.endCapture(stream);
  if (recorded) {
    if (graph)
      device.destroyGraph(*graph);
    else
      llvm::consumeError(graph.takeError());
    return std::move(recorded);
  }
  if (!graph)
    return graph.takeError();
  auto destroyGraph = llvm::make_scope_exit([&] { device.destroyGraph(*graph); });
  Expected<runtime::EventHandle> start = device.createEvent();
  if (!start)
    return start.takeError();
  auto destroyStart = llvm::make_scope_exit([&] { device.destroyEvent(*start); });
  Expected<runtime::EventHandle> stop = device.createEvent();
  if (!stop)
    return stop.takeError();
  auto destroyStop = llvm::make_scope_exit([&] { device.destroyEvent(*stop); });

  auto sample = [&]() -> Expected<double> {
    if (Error error = device.recordEvent(*start, stream))
      return std::move(error);
    if (Error error = device.launchGraph(*graph, stream))
      return std::move(error);
    if (Error error = device.recordEvent(*stop, stream))
      return std::move(error);
    if (Error error = device.synchronize(stream))
      return std::move(error);
    Expected<double> elapsed = device.elapsedMicroseconds(*start, *stop);
    if (!elapsed)
      return elapsed;
    return *elapsed / calls;
  };
  unsigned batches = device.isEmulator() ? 1 : maxBatches;
  for (unsigned i = 0; i < (device.isEmulator() ? 1 : 3); ++i)
    if (Expected<double> warmUp = sample(); !warmUp)
      return warmUp.takeError();
  std::vector<double> samples;
  double previous = 0;
  for (unsigned batch = 0; batch < batches; ++batch) {
    for (unsigned i = 0; i < samplesPerBatch; ++i) {
      Expected<double> time = sample();
      if (!time)
        return time.takeError();
      samples.push_back(*time);
    }
    double median = getPercentile(samples, 0.5);
    if (batch >= 2 && std::fabs(median - previous) <= 0.002 * median)
      break;
    previous = median;
  }
  return Timing{getPercentile(samples, 0.5), getPercentile(samples, 0),
                getPercentile(samples, 0.95)};
}

Expected<BenchmarkReport> mlir::norm_fusion::runner::timeProgram(
    Program &program, runtime::Device &device, ArrayRef<Tensor> inputs,
    ArrayRef<Tensor> results) {
  BenchmarkReport report = {};
  for (auto [tensor, type] :
       llvm::zip(inputs, program.getSignature().arguments))
    report.bytes += type.isScalar ? 0 : tensor.getNumBytes();
  for (auto [tensor, type] : llvm::zip(results, program.getSignature().results))
    report.bytes += type.isScalar ? 0 : tensor.getNumBytes();
  const runtime::DeviceProperties &properties = device.getProperties();
  size_t bytes = std::max<size_t>(report.bytes, 1);
  size_t sets = llvm::divideCeil(4 * properties.l2Bytes, bytes) + 1;
  size_t fitting = properties.globalBytes / 3 / bytes;
  if (device.isEmulator())
    sets = 2;
  else if (fitting < 2)
    return makeError(ExitCode::kernelFailed,
                     "two sets of " + Twine(bytes) + " bytes don't fit the "
                     "device; time a smaller problem");
  else
    sets = std::min<size_t>({sets, fitting, maxSets});
  report.inputSets = std::max<size_t>(sets, 2);
  report.launches = llvm::alignTo(device.isEmulator() ? 2 : minCalls,
                                  report.inputSets);

  // The first call of every set allocates what the captured ones use again.
  std::vector<std::unique_ptr<Arena>> arenas;
  std::vector<std::vector<PlacedArgument>> placed;
  std::vector<size_t> marks;
  for (unsigned i = 0; i < report.inputSets; ++i) {
    arenas.push_back(program.createArena());
    Expected<std::vector<PlacedArgument>> arguments =
        program.place(inputs, *arenas.back());
    if (!arguments)
      return arguments.takeError();
    placed.push_back(std::move(*arguments));
    marks.push_back(arenas.back()->getMark());
    auto called = program.call(placed.back(), *arenas.back());
    if (!called)
      return called.takeError();
  }
  if (Error error = device.synchronize(program.getStream()))
    return std::move(error);

  Expected<Timing> timing = timeGraph(
      device, program.getStream(), report.launches, [&](unsigned i) -> Error {
        unsigned set = i % report.inputSets;
        arenas[set]->rewind(marks[set]);
        auto called =
            program.call(placed[set], *arenas[set], /*capturing=*/true);
        return called ? Error::success() : called.takeError();
      });
  if (!timing)
    return timing.takeError();
  arenas.clear();
  report.medianUs = timing->medianUs;
  report.minUs = timing->minUs;
  report.p95Us = timing->p95Us;
  return report;
}

Expected<BenchmarkReport>
mlir::norm_fusion::runner::benchmark(Program &program, runtime::Device &device,
                                     ArrayRef<Tensor> inputs,
                                     ArrayRef<Tensor> results, StringRef chip) {
  Expected<BenchmarkReport> report =
      timeProgram(program, device, inputs, results);
  if (!report)
    return report;
  Expected<double> triad =
      timeTriad(device, program.getStream(), chip, report->bytes,
                report->inputSets, report->launches);
  if (!triad)
    return triad.takeError();
  report->triadUs = *triad;
  return report;
}
