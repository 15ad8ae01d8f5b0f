//===- Tune.h - Looks for faster schedules on a device ----------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_TUNE_H
#define NORM_FUSION_RUNNER_TUNE_H

#include "norm_fusion/Runner/Compare.h"
#include "norm_fusion/Runner/Compile.h"
#include "norm_fusion/Runner/Report.h"
#include "norm_fusion/Runtime/Device.h"

namespace mlir::norm_fusion::runner {

/// What is tuned, and with what.
struct TuneRequest {
  ModuleOp source; ///< not changed
  const Signature &signature;
  const CompileOptions &compile; ///< what the search begins with
  runtime::Device &device;
  ArrayRef<runtime::Tensor> inputs;
  ArrayRef<runtime::Tensor> results; ///< of the untuned module
  /// What a result may be off from the exact one.
  llvm::function_ref<Tolerance(const runtime::Tensor &)> getTolerance;
  std::string database; ///< file to merge into
  /// Asked before every trial of another schedule.
  llvm::function_ref<bool()> mayGoOn;
  /// Told every trial.
  llvm::function_ref<void(StringRef)> say;
};

/// Searches for every problem class of the module in turn, and merges what it
/// finds into the database, also where the untuned schedule is the best. Each
/// candidate runs several times with the inputs: its results must be the same
/// bits every time, and those of the untuned module or as near to them as two
/// right ones can be.
llvm::Expected<std::vector<TuningReport>> tune(const TuneRequest &request);

/// Fails where --tuning or --tune name a file that isn't a database, and where
/// --tune can't be done at all: before anything is compiled.
llvm::Error checkDatabases(MLIRContext &context, const RunnerOptions &options);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_TUNE_H
