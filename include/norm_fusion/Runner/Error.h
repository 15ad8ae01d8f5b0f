//===- Error.h - Errors that know their exit code ---------------*- C++ -*-===//

#ifndef NORM_FUSION_RUNNER_ERROR_H
#define NORM_FUSION_RUNNER_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::norm_fusion::runner {

enum class ExitCode {
  success = 0,
  comparisonFailed = 1,
  badInput = 2,
  compileFailed = 3,
  noDevice = 4,
  kernelFailed = 5
};

class RunnerError : public llvm::ErrorInfo<RunnerError> {
public:
  static char ID;
  RunnerError(ExitCode code, std::string message)
      : code(code), text(std::move(message)) {}
  ExitCode getCode() const { return code; }
  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override;

private:
  ExitCode code;
  std::string text;
};

llvm::Error makeError(ExitCode code, const llvm::Twine &message);
/// The same error with an exit code, if it has none yet.
llvm::Error withCode(ExitCode code, llvm::Error error);
/// Prints the error as one line; `error` isn't success.
ExitCode reportError(llvm::Error error, llvm::raw_ostream &os);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_ERROR_H
