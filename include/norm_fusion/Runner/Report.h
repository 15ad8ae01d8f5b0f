//===- Report.h - What a run found out --------------------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_REPORT_H
#define NORM_FUSION_RUNNER_REPORT_H

#include "norm_fusion/Runner/Compare.h"
#include "norm_fusion/Runner/Compile.h"

namespace mlir::norm_fusion::runner {

struct OutputReport {
  unsigned index;
  std::string shape; ///< "4x8xf32"
  runtime::ElementType type;
  SmallVector<int64_t, 4> sizes;
  std::optional<unsigned> argument; ///< the buffer; none: a result
  std::string reference; ///< "expected", "f64", or empty: not compared
  Comparison comparison;
};

struct BenchmarkReport {
  double medianUs, minUs, p95Us;
  size_t bytes;
  double triadUs;
  unsigned launches; ///< of the graph that was timed
  unsigned inputSets;
  double getGBPerSecond() const { return bytes / medianUs * 1e-3; }
};

/// What was found for one problem class; times of a call of the whole module.
struct TuningReport {
  std::string problem, schedule;
  double us, untunedUs;
  unsigned trials;
};

struct Report {
  std::string entry, device, chip;
  unsigned fused = 0;
  double totalMs = 0, ptxMs = 0, ptxasMs = 0;
  std::vector<KernelRecord> kernels;
  unsigned plainLaunches = 0; ///< of kernels of what isn't fused
  std::vector<SpillRecord> spills;
  std::vector<OutputReport> outputs;
  std::optional<bool> bitwise;
  std::optional<BenchmarkReport> benchmark;
  std::vector<TuningReport> tuning;

  llvm::json::Value toJSON() const;
  /// For people.
  void print(llvm::raw_ostream &os) const;
};

/// One line about the worst element of a comparison that failed.
std::string describeFailure(const OutputReport &output,
                            const runtime::Tensor &got,
                            const runtime::Tensor &want);

/// Writes to a temporary name and renames.
llvm::Error writeReport(StringRef path, const Report &report);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_REPORT_H
