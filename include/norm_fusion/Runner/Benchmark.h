//===- Benchmark.h - How long does it take? ---------------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_BENCHMARK_H
#define NORM_FUSION_RUNNER_BENCHMARK_H

#include "norm_fusion/Runner/Execute.h"
#include "norm_fusion/Runner/Report.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::norm_fusion::runner {

/// Times calls of `program`; `triadUs` stays 0.
llvm::Expected<BenchmarkReport> timeProgram(Program &program,
                                            runtime::Device &device,
                                            ArrayRef<runtime::Tensor> inputs,
                                            ArrayRef<runtime::Tensor> results);

/// Times calls of `program` and a triad kernel of the same bytes.
llvm::Expected<BenchmarkReport> benchmark(Program &program,
                                          runtime::Device &device,
                                          ArrayRef<runtime::Tensor> inputs,
                                          ArrayRef<runtime::Tensor> results,
                                          StringRef chip);

struct Timing {
  double medianUs, minUs, p95Us; ///< of one call
};
/// Captures `calls` calls of `record(i)` into a graph and replays it until the
/// median is stable.
llvm::Expected<Timing>
timeGraph(runtime::Device &device, runtime::StreamHandle stream, unsigned calls,
          llvm::function_ref<llvm::Error(unsigned)> record);

/// The best of a few kernels that read two arrays and write one, `bytes` in
/// all; microseconds.
llvm::Expected<double> timeTriad(runtime::Device &device,
                                 runtime::StreamHandle stream, StringRef chip,
                                 size_t bytes, unsigned sets, unsigned calls);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_BENCHMARK_H
