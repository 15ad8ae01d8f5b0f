//===- Error.cpp - Errors that know their exit code -----------------------===//
//
// One place decides which exit code an error has, those of the device included.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runtime/Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mlir::norm_fusion::runner;
using mlir::norm_fusion::runtime::DeviceError;
using mlir::norm_fusion::runtime::ErrorKind;

char RunnerError::ID = 0;

std::error_code RunnerError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error mlir::norm_fusion::runner::makeError(ExitCode code,
                                           const Twine &message) {
  return make_error<RunnerError>(code, message.str());
}

Error mlir::norm_fusion::runner::withCode(ExitCode code, Error error) {
  if (!error)
    return error;
  return handleErrors(
      std::move(error),
      [](std::unique_ptr<RunnerError> e) -> Error { return Error(std::move(e)); },
      [](std::unique_ptr<DeviceError> e) -> Error { return Error(std::move(e)); },
      [&](const ErrorInfoBase &e) -> Error { return makeError(code, e.message()); });
}

ExitCode mlir::norm_fusion::runner::reportError(Error error, raw_ostream &os) {
  ExitCode code = ExitCode::compileFailed;
  std::string text;
  handleAllErrors(
      std::move(error),
      [&](const RunnerError &e) {
        code = e.getCode();
        text = e.message();
      },
      [&](const DeviceError &e) {
        code = e.getKind() == ErrorKind::noDevice ? ExitCode::noDevice
                                                  : ExitCode::kernelFailed;
        text = e.message();
      },
      [&](const ErrorInfoBase &e) { text = e.message(); });
  // One line, whatever the message was made of.
  SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  os << "norm-fusion-runner: error: " << join(lines, "; ") << "\n";
  return code;
}
