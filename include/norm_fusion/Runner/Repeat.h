//===- Repeat.h - The same call again and again -----------------*- C++ -*-===//
//
// Are a call's results the same bits every time? Arguments stay where they are,
// results are overwritten between the calls and compared where they are: a
// thousand calls of a gigabyte of results take seconds.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_REPEAT_H
#define NORM_FUSION_RUNNER_REPEAT_H

#include "norm_fusion/Runner/Execute.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::norm_fusion::runner {

/// The first call whose results weren't those of the first one.
struct Difference {
  unsigned call, result; ///< both from 0
};

struct RepeatedCalls {
  std::vector<runtime::Tensor> results; ///< of the first call
  std::optional<Difference> difference; ///< unless `compare` was false
};

/// Calls `program` `calls` times with `arguments`; `before(i)` runs before call
/// i, `afterFirst` once the first one is done. `chip` is what a kernel that
/// compares is compiled for.
llvm::Expected<RepeatedCalls>
callRepeatedly(Program &program, runtime::Device &device,
               ArrayRef<runtime::Tensor> arguments, unsigned calls,
               bool compare, StringRef chip,
               llvm::function_ref<void(unsigned)> before,
               llvm::function_ref<llvm::Error()> afterFirst);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_REPEAT_H
