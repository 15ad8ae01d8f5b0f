//===- DiagnosticCollector.h - Diagnostics as an error ----------*- C++ -*-===//
//
// MLIR writes what is wrong to stderr; the runner says it in one line, with an
// exit code.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_DIAGNOSTICCOLLECTOR_H
#define NORM_FUSION_RUNNER_DIAGNOSTICCOLLECTOR_H

#include "norm_fusion/Runner/Error.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace mlir::norm_fusion::runner {

/// Keeps the first error that is emitted while it lives.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
              text.empty())
            text = format(diagnostic);
          return success();
        }) {}
  llvm::Error takeError(ExitCode code, StringRef what) {
    return makeError(code, text.empty() ? what.str() : text);
  }

private:
  static std::string format(Diagnostic &diagnostic) {
    std::string text;
    if (auto loc = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      text = (loc.getFilename().getValue() + ":" + Twine(loc.getLine()) + ":" +
              Twine(loc.getColumn()) + ": ")
                 .str();
    return text + diagnostic.str();
  }
  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_DIAGNOSTICCOLLECTOR_H
