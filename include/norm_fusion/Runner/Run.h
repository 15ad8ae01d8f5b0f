//===- Run.h - What norm-fusion-runner does ---------------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_RUN_H
#define NORM_FUSION_RUNNER_RUN_H

#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Options.h"

namespace mlir::norm_fusion::runner {

/// Compiles, runs, compares, reports. A failed comparison is an error too.
llvm::Error run(const RunnerOptions &options);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_RUN_H
