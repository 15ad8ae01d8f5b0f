//===- HostRuntime.cpp - What compiled host code calls --------------------===//
//
// Compiled host code has no way to return an error: a failed assertion or
// allocation leaves it by longjmp. That is safe because such code owns nothing:
// its memory is the arena's, and it has no destructors.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/HostRuntime.h"
#include "norm_fusion/Runner/Error.h"
#include "norm_fusion/Runner/Stopwatch.h"
#include "norm_fusion/Runtime/HalfConversions.h"

#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;

namespace {
/// The call that is under way on this thread.
struct CurrentCall {
  Arena *arena;
  bool capturing;
  std::jmp_buf out;
  Error error = Error::success();
  CurrentCall *previous;
};
thread_local CurrentCall *currentCall = nullptr;

/// What the host's processor can't divide is a signal, whose handler may do no
/// more than leave; the value that setjmp returns.
constexpr int kDivided = 2;
/// What was done about that signal before; for threads that make no call it is
/// done still.
struct sigaction beforeDivision;
void leaveDivision(int signal) {
  if (currentCall)
    std::longjmp(currentCall->out, kDivided);
  sigaction(signal, &beforeDivision, nullptr);
  std::raise(signal);
}

/// Once, and for good: calls of several threads overlap.
void handleDivisions() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction divided = {};
    divided.sa_handler = leaveDivision;
    divided.sa_flags = SA_NODEFER; // unblocked, for the handler never returns
    sigaction(SIGFPE, &divided, &beforeDivision);
  });
}

[[noreturn]] void leave(Error error) {
  currentCall->error = std::move(error);
  std::longjmp(currentCall->out, 1);
}

void failAssertion(const char *message) {
  leave(makeError(ExitCode::badInput,
                  "the module asserts: " + Twine(message) +
                      "; check the sizes of the inputs"));
}

void *allocate(size_t bytes) {
  llvm::Expected<void *> pointer = currentCall->arena->allocate(bytes);
  if (!pointer)
    leave(pointer.takeError());
  return *pointer;
}
void *allocateAligned(size_t, size_t bytes) { return allocate(bytes); }
void deallocate(void *) {} // The arena frees it.

/// Device memory is the arena's too: a graph that was captured must find it.
void *allocateOnDevice(uint64_t bytes, void *, bool) { return allocate(bytes); }
void deallocateOnDevice(void *, void *) {}

/// A stream that is captured runs nothing that could be waited for.
void synchronize(void *) {
  runtime::HostContext *context = runtime::HostContext::getCurrent();
  if (!context || currentCall->capturing || context->hasError())
    return;
  if (Error error = context->getDevice().synchronize(context->getStream()))
    leave(std::move(error));
}

//===----------------------------------------------------------------------===//
// Launches, written down on their way to the device
//===----------------------------------------------------------------------===//

thread_local LaunchRecorder *currentRecorder = nullptr;
thread_local uint64_t workspaceBytes = 0;
thread_local double lookupMs = 0;
/// Names of kernels that compiled code on this thread looked up, which it does
/// before each launch.
thread_local llvm::DenseMap<void *, std::string> kernelNames;

/// The device's own version of a host function.
template <typename Function> Function *getOriginal(llvm::StringRef name) {
  for (auto [candidate, address] : runtime::getHostSymbols())
    if (candidate == name)
      return reinterpret_cast<Function *>(address);
  llvm_unreachable("no such host function");
}

void record(void *kernel, const runtime::LaunchConfig &config) {
  if (currentRecorder)
    currentRecorder->add(
        {kernelNames.lookup(kernel), kernel, config, workspaceBytes});
  workspaceBytes = 0;
}

void *getFunction(void *module, const char *name) {
  static auto *original =
      getOriginal<void *(void *, const char *)>("mgpuModuleGetFunction");
  Stopwatch lookup;
  void *kernel = original(module, name);
  lookupMs += lookup.getMs();
  if (kernel)
    kernelNames[kernel] = name;
  return kernel;
}

void *getWorkspace(int64_t bytes, int64_t kernel) {
  static auto *original =
      getOriginal<void *(int64_t, int64_t)>("norm_fusion_workspace");
  workspaceBytes += bytes;
  return original(bytes, kernel);
}

void launch(void *kernel, intptr_t gridX, intptr_t gridY, intptr_t gridZ,
            intptr_t blockX, intptr_t blockY, intptr_t blockZ, int32_t shared,
            void *stream, void **parameters, void **extra, size_t count) {
  static auto *original = getOriginal<decltype(launch)>("mgpuLaunchKernel");
  runtime::LaunchConfig config;
  config.grid = {unsigned(gridX), unsigned(gridY), unsigned(gridZ)};
  config.block = {unsigned(blockX), unsigned(blockY), unsigned(blockZ)};
  config.dynamicSharedMemory = shared;
  record(kernel, config);
  original(kernel, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream,
           parameters, extra, count);
}

void launchCluster(void *kernel, intptr_t clusterX, intptr_t clusterY,
                   intptr_t clusterZ, intptr_t gridX, intptr_t gridY,
                   intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                   intptr_t blockZ, int32_t shared, void *stream,
                   void **parameters, void **extra, size_t count) {
  static auto *original =
      getOriginal<decltype(launchCluster)>("mgpuLaunchClusterKernel");
  runtime::LaunchConfig config;
  config.grid = {unsigned(gridX), unsigned(gridY), unsigned(gridZ)};
  config.block = {unsigned(blockX), unsigned(blockY), unsigned(blockZ)};
  config.cluster = {unsigned(clusterX), unsigned(clusterY), unsigned(clusterZ)};
  config.dynamicSharedMemory = shared;
  record(kernel, config);
  original(kernel, clusterX, clusterY, clusterZ, gridX, gridY, gridZ, blockX,
           blockY, blockZ, shared, stream, parameters, extra, count);
}

/// An unranked memref, as LLVM code passes it.
struct UnrankedMemRef {
  int64_t rank;
  int64_t *descriptor;
};

void copyRows(char *to, const int64_t *toStrides, const char *from,
              const int64_t *fromStrides, const int64_t *sizes, int64_t rank,
              int64_t bytes) {
  if (rank == 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    copyRows(to + i * toStrides[0] * bytes, toStrides + 1,
             from + i * fromStrides[0] * bytes, fromStrides + 1, sizes + 1,
             rank - 1, bytes);
}

void copyMemRef(int64_t bytes, UnrankedMemRef *from, UnrankedMemRef *to) {
  int64_t rank = from->rank;
  auto start = [&](int64_t *words) {
    char *aligned;
    std::memcpy(&aligned, words + 1, sizeof(aligned));
    return aligned + words[2] * bytes;
  };
  copyRows(start(to->descriptor), to->descriptor + 3 + rank,
           start(from->descriptor), from->descriptor + 3 + rank,
           from->descriptor + 3, rank, bytes);
}
} // namespace

llvm::orc::SymbolMap mlir::norm_fusion::runner::getRuntimeSymbols(
    llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
  auto add = [&](llvm::StringRef name, auto *function) {
    symbols[mangle(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                             llvm::JITSymbolFlags::Exported};
  };
  for (auto [name, address] : runtime::getHostSymbols())
    add(name, static_cast<char *>(address));
  for (auto [name, address] : runtime::getHalfConversionSymbols())
    add(name, static_cast<char *>(address));
  add("norm_fusion_assertion_failed", failAssertion);
  add("_mlir_memref_to_llvm_alloc", allocate);
  add("_mlir_memref_to_llvm_aligned_alloc", allocateAligned);
  add("_mlir_memref_to_llvm_free", deallocate);
  add("mgpuModuleGetFunction", getFunction);
  add("mgpuLaunchKernel", launch);
  add("mgpuLaunchClusterKernel", launchCluster);
  add("norm_fusion_workspace", getWorkspace);
  // Modules that come with launches have these as functions of their own, with
  // wrappers of the C interface: indices only, so the same.
  add("_mlir_ciface_norm_fusion_workspace", getWorkspace);
  add("_mlir_ciface_norm_fusion_multiprocessor_count",
      getOriginal<int64_t()>("norm_fusion_multiprocessor_count"));
  add("_mlir_ciface_norm_fusion_max_active_clusters",
      getOriginal<int64_t(int64_t, int64_t)>(
          "norm_fusion_max_active_clusters"));
  add("mgpuMemAlloc", allocateOnDevice);
  add("mgpuMemFree", deallocateOnDevice);
  add("mgpuStreamSynchronize", synchronize);
  add("memrefCopy", copyMemRef);
  return symbols;
}

double mlir::norm_fusion::runner::getKernelLookupMs() { return lookupMs; }

void mlir::norm_fusion::runner::recordLaunch(LaunchRecord record) {
  if (currentRecorder)
    currentRecorder->add(std::move(record));
}
LaunchRecorder::LaunchRecorder() { currentRecorder = this; }
LaunchRecorder::~LaunchRecorder() { currentRecorder = nullptr; }

Error mlir::norm_fusion::runner::runHostCode(runtime::Device *device,
                                             runtime::StreamHandle stream,
                                             Arena *arena,
                                             llvm::function_ref<void()> code,
                                             bool capturing) {
  CurrentCall call;
  call.arena = arena;
  call.capturing = capturing;
  call.previous = currentCall;
  std::optional<runtime::HostContext> context;
  if (device)
    context.emplace(*device, stream);
  currentCall = &call;
  handleDivisions();
  int reason = setjmp(call.out);
  if (reason == 0)
    code();
  else if (reason == kDivided)
    call.error = makeError(ExitCode::kernelFailed,
                           "host code divides an integer by zero, or the least "
                           "one by -1");
  currentCall = call.previous;
  if (context) {
    Error error = context->takeError();
    if (!call.error && error)
      return error;
    llvm::consumeError(std::move(error));
  }
  return std::move(call.error);
}
