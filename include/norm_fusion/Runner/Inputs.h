//===- Inputs.h - Arguments from the command line ---------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_INPUTS_H
#define NORM_FUSION_RUNNER_INPUTS_H

#include "norm_fusion/Runner/Compile.h"
#include "norm_fusion/Runner/Options.h"

namespace mlir::norm_fusion::runner {

/// One tensor an argument, from files, splats or random numbers.
llvm::Expected<std::vector<runtime::Tensor>>
makeInputs(const RunnerOptions &options, const Signature &signature);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_INPUTS_H
