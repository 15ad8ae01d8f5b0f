//===- RunImpl.h - One run of norm-fusion-runner ----------------*- C++ -*-===//
//
// What a run knows and its steps: their order is in Run.cpp, the comparisons
// are in Check.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_RUNNER_RUNIMPL_H
#define NORM_FUSION_LIB_RUNNER_RUNIMPL_H

#include "norm_fusion/Runner/Bundle.h"
#include "norm_fusion/Runner/Compile.h"
#include "norm_fusion/Runner/Execute.h"
#include "norm_fusion/Runner/HostRuntime.h"
#include "norm_fusion/Runner/Report.h"
#include "norm_fusion/Runner/Run.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::norm_fusion::runner {

/// Says on a terminal what takes so long; silent elsewhere.
class Progress {
public:
  void say(StringRef what) {
    if (!enabled)
      return;
    llvm::errs() << "\r\033[K" << what;
    dirty = true;
  }
  ~Progress() {
    if (dirty)
      llvm::errs() << "\r\033[K";
  }

private:
  bool enabled = llvm::sys::Process::StandardErrIsDisplayed();
  bool dirty = false;
};

/// One run of the tool: the module, the device, and what was found out so far.
class Run {
public:
  explicit Run(const RunnerOptions &options) : options(options) {}
  llvm::Error execute();

private:
  llvm::Error checkOutputs();
  llvm::Error openDevice();
  llvm::Error prepare();
  llvm::Error executeBundle();
  llvm::Error emitBundle();
  llvm::Error compileAndRun();
  llvm::Expected<CompiledModule>
  compileSource(decltype(compileFused) &compileIt);
  void reportCompiled(CompiledModule &compiled);
  bool findSpills(const CompiledModule &compiled);
  llvm::Error reportRun();
  int64_t getLargestSize() const;
  llvm::Error runRepeatedly();
  llvm::Error describeLaunches(ArrayRef<LaunchRecord> launches);
  llvm::Error compareWithFiles();
  llvm::Error compareWithReference();
  llvm::Error writeOutputs();
  llvm::Error timeIt();
  llvm::Error checkTiming();
  llvm::Error tuneIt();
  llvm::Error getVerdict();
  OutputReport describe(unsigned index) const;
  OutputReport compareResult(unsigned index, StringRef reference,
                             const runtime::Tensor &want) const;
  void addComparison(OutputReport output, const runtime::Tensor &want);
  llvm::Expected<std::vector<runtime::Tensor>> runPlain(bool widen);
  llvm::Expected<std::vector<runtime::Tensor>> runPlain(bool widen,
                                                        bool onDevice);
  Tolerance getTolerance(runtime::ElementType type, double magnitude) const;

  const RunnerOptions &options;
  CompileOptions compile;
  Progress progress;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> source;
  Signature signature;
  std::unique_ptr<runtime::Device> device;
  std::vector<runtime::Tensor> inputs, expected, results;
  Bundle bundle;
  std::unique_ptr<Program> program;
  int64_t reductionLength = 1;
  bool rounded = false;
  Report report;
  llvm::StringSet<> plainKernels;
  bool hostTouchesMemory = false; ///< compiled host code
  std::string failure;            ///< the first failed comparison
};

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_LIB_RUNNER_RUNIMPL_H
