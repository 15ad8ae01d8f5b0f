//===- fuse.cpp - Any module through norm-fusion-fuse -----------*- C++ -*-===//
//
// A libFuzzer target. An input is a module, as text or bytecode. What parses
// and verifies must go through the pipeline: no crash, no failed pass and,
// since the pass manager verifies after each pass, no invalid IR. Remarks are
// printed too, into nothing.
//
// Upstream's parser, bytecode reader, verifiers, folders and passes have
// crashes of their own. Whose a crash is, the stack says: upstream is in shared
// libraries, and everything of ours in this program. A crash without a frame of
// ours above the fuzzer's is upstream's: the input is given up and counted, and
// the next one gets a new context; so with an input that takes for ever there.
// So with what the sanitizer finds in upstream's calls. Anything else ends the
// run, with the input.
//
// The counts are printed at the end and every now and then, for runs that don't
// get there. Only what a mutation made counts, no seed:
//   inputs: N text, N bytecode, N parsed, N with groups, N upstream crashes
//
//===----------------------------------------------------------------------===//

#include "harness.h"

#include "norm_fusion/Dialect/NormFusion/IR/NormFusion.h"
#include "norm_fusion/InitAll.h"
#include "norm_fusion/Pipelines/Pipelines.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ErrorHandling.h"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <dlfcn.h>
#include <execinfo.h>
#include <sanitizer/asan_interface.h>
#include <sys/time.h>
#include <utility>

using namespace mlir;

//===----------------------------------------------------------------------===//
// Whose crash it is
//===----------------------------------------------------------------------===//

static sigjmp_buf giveUp;
/// Where the stack of the input under work begins; null between inputs.
static void *volatile inputFrame = nullptr;
static constexpr int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL,
                                  SIGFPE,  SIGTRAP, SIGPROF};
/// Processor time that an input may take: the bytecode reader takes for ever
/// where attributes hold each other.
static constexpr int inputSeconds = 3;
/// What an input may allocate in all: the reader believes any count.
static constexpr size_t inputBytes = size_t(256) << 20;
static size_t allocated = 0;
/// The mutator is at work, not the pipeline.
static bool isMutating = false;
static struct sigaction previous[64];

/// The code that runs an input and what is called on a crash are in sections of
/// their own, to be told from the rest on a stack.
extern "C" const char __start_run_input, __stop_run_input, __start_on_crash,
    __stop_on_crash;
#define ON_CRASH __attribute__((noinline, section("on_crash")))

/// True if a frame of this program is above those that run an input.
ON_CRASH static bool isOurs() {
  if (isMutating)
    return false;
  Dl_info self, info;
  dladdr(&__start_run_input, &self);
  void *frames[512];
  int count = backtrace(frames, std::size(frames));
  auto isIn = [](void *frame, const char &start, const char &stop) {
    return frame >= &start && frame <= &stop;
  };
  int first = 0;
  for (int i = 0; i < count; ++i)
    if (isIn(frames[i], __start_on_crash, __stop_on_crash))
      first = i + 1;
  for (void *frame : ArrayRef(frames, count).drop_front(first))
    if (dladdr(frame, &info) != 0 && info.dli_fbase == self.dli_fbase)
      return !isIn(frame, __start_run_input, __stop_run_input);
  return false;
}

static struct Counts {
  uint64_t text = 0, bytecode = 0, parsed = 0, formed = 0, upstream = 0;

  void print() const {
    fprintf(stderr,
            "inputs: %lu text, %lu bytecode, %lu parsed, %lu with groups, %lu "
            "upstream crashes\n",
            text, bytecode, parsed, formed, upstream);
  }
} counts;

/// Of the input under work.
static struct {
  bool parsed = false, formed = false, crashed = false;
} input;

static void setTimer(int seconds) {
  itimerval value = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &value, nullptr);
}

ON_CRASH static void handleSignal(int signal, siginfo_t *information,
                                  void *context) {
  if (inputFrame && !isOurs())
    siglongjmp(giveUp, 1);
  counts.print();
  if (inputFrame)
    fprintf(stderr, "ERROR: a crash of ours\n");
  if (signal == SIGPROF) {
    fprintf(stderr, "ERROR: more than %d s\n", inputSeconds);
    inputFrame = nullptr;
    __builtin_trap();
  }
  struct sigaction &old = previous[signal];
  if (old.sa_flags & SA_SIGINFO)
    return old.sa_sigaction(signal, information, context);
  sigaction(signal, &old, nullptr);
  raise(signal);
}

/// The sanitizer's end of a report, in a call like free(); it goes on after it.
/// Bad accesses of our code, which is instrumented, end the program anyway.
ON_CRASH static void handleReport(const char *) {
  if (inputFrame && !isOurs()) {
    input.crashed = true;
    return;
  }
  counts.print();
  abort();
}

/// LLVM's own way to give up: absurd sizes, out of memory.
ON_CRASH void handleFatalError(void *, const char *reason, bool) {
  if (inputFrame && !isOurs())
    siglongjmp(giveUp, 1);
  counts.print();
  fprintf(stderr, "fatal error: %s\n", reason);
  if (inputFrame)
    fprintf(stderr, "ERROR: a crash of ours\n");
  inputFrame = nullptr;
  __builtin_trap();
}

/// The sanitizer's own ends the program where it is asked for too much, as the
/// bytecode reader does.
__attribute__((section("on_crash"))) void *operator new(size_t size) {
  allocated = inputFrame ? allocated + size : 0;
  void *result = allocated < inputBytes ? malloc(size) : nullptr;
  if (!result)
    handleFatalError(nullptr, "too much memory", false);
  return result;
}

static void installHandlers() {
  llvm::install_fatal_error_handler(handleFatalError);
  llvm::install_bad_alloc_error_handler(handleFatalError);
  __asan_set_error_report_callback(handleReport);
  void *frames[1];
  backtrace(frames, 1); // Loads what it needs before a crash.
  for (int signal : signals) {
    struct sigaction action = {};
    action.sa_sigaction = handleSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(signal, &action, &previous[signal]);
  }
}

//===----------------------------------------------------------------------===//
// One input
//===----------------------------------------------------------------------===//

static std::unique_ptr<MLIRContext> context;
/// Made once a context: canonicalisation collects its patterns then.
static std::unique_ptr<PassManager> pipeline;

static std::unique_ptr<MLIRContext> createContext() {
  DialectRegistry registry;
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect,
                  linalg::LinalgDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect>();
  func::registerInlinerExtension(registry);
  norm_fusion::registerDialects(registry);
  auto context = std::make_unique<MLIRContext>(
      registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  remark::RemarkCategories all;
  all.all = all.passed = all.missed = all.analysis = all.failed = ".*";
  if (failed(remark::enableOptimizationRemarks(
          *context, /*streamer=*/nullptr,
          std::make_unique<remark::RemarkEmittingPolicyAll>(), all,
          /*printAsEmitRemarks=*/true)))
    __builtin_trap();
  return context;
}

static void startOver() {
  pipeline.reset();
  context = createContext();
  pipeline = std::make_unique<PassManager>(context.get(),
                                           ModuleOp::getOperationName());
  norm_fusion::buildFusePipeline(*pipeline, norm_fusion::FuseOptions());
}

__attribute__((noinline, section("run_input"))) static void
runInput(const uint8_t *data, size_t size) {
  std::string message;
  // What doesn't parse may not even print.
  bool runs = false;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    if (runs && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      message = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      StringRef(reinterpret_cast<const char *>(data), size),
      ParserConfig(context.get()));
  if (!module)
    return;
  input.parsed = runs = true;
  // A schedule in the input that isn't possible is the input's mistake.
  if (failed(pipeline->run(*module)) &&
      !StringRef(message).starts_with("schedule isn't possible")) {
    fprintf(stderr, "the pipeline failed: %s\n", message.c_str());
    inputFrame = nullptr;
    __builtin_trap();
  }
  module->walk([&](norm_fusion::MixedReductionOp) { input.formed = true; });
}

/// Calls `run`; false if it had to be given up.
static bool runGuarded(llvm::function_ref<void()> run) {
  if (sigsetjmp(giveUp, /*savesigs=*/1) != 0) {
    // What it left behind can't be trusted, not even to be freed.
    (void)pipeline.release();
    (void)context.release();
    inputFrame = nullptr;
    setTimer(0);
    return false;
  }
  inputFrame = __builtin_frame_address(0);
  setTimer(inputSeconds);
  run();
  inputFrame = nullptr;
  setTimer(0);
  return true;
}

MLIRContext &getContext() {
  if (!context)
    startOver();
  return *context;
}

bool runMutation(llvm::function_ref<void()> mutate) {
  isMutating = true;
  ScopedDiagnosticHandler handler(&getContext(),
                                  [](Diagnostic &) { return success(); });
  bool completed = runGuarded(mutate);
  isMutating = false;
  return completed;
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  atexit([] { counts.print(); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Attributes and types live as long as their context.
  static unsigned uses = 0;
  // Not sooner: libFuzzer's own handlers must be there.
  if (uses == 0)
    installHandlers();
  if (++uses % 512 == 0 || !context)
    startOver();
  if (uses % 4096 == 0)
    counts.print();
  input = {};
  if (!runGuarded([&] { runInput(data, size); }))
    input.crashed = true;
  if (std::exchange(isMutated, false)) {
    bool bytecode =
        isBytecode(StringRef(reinterpret_cast<const char *>(data), size));
    ++(bytecode ? counts.bytecode : counts.text);
    counts.parsed += input.parsed;
    counts.formed += input.formed;
    counts.upstream += input.crashed;
  }
  return input.parsed && !input.crashed ? 0 : -1;
}
