//===- norm-fusion-runner.cpp - Compile and run norms ---------------------===//
//
// Runs a module of linalg IR, or a bundle, on a GPU or on the emulator, and
// says whether the results are right.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Run.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir::norm_fusion::runner;

static int runTool(int argc, char **argv) {
  llvm::Expected<RunnerOptions> options =
      parseRunnerOptions(llvm::ArrayRef<const char *>(argv + 1, argc - 1));
  if (!options)
    return int(reportError(options.takeError(), llvm::errs()));
  if (options->help) {
    printHelp(llvm::outs());
    return 0;
  }
  if (options->version) {
    llvm::outs() << "norm-fusion-runner " NORM_FUSION_VERSION "\n";
    return 0;
  }
  if (llvm::Error error = run(*options))
    return int(reportError(std::move(error), llvm::errs()));
  return 0;
}

int main(int argc, char **argv) {
  int code = runTool(argc, argv);
  // Exit code 1 is a comparison's.
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error()) {
    llvm::outs().clear_error();
    ExitCode failed = reportError(
        makeError(ExitCode::badInput,
                  "the standard output can't be written: " + error.message()),
        llvm::errs());
    return code ? code : int(failed);
  }
  return code;
}
