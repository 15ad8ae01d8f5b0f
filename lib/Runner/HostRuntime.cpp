//===- HostRuntime.cpp - What compiled host code calls --------------------===//
//
// Compiled host code has no way to return an error: a failed assertion or
// allocation leaves it by longjmp. That is safe because such code owns nothing:
// its memory is the arena's, and it has no destructors.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/HostRuntime.h"
#include "norm_fusion/Runner/Error.h"

#include <csetjmp>
#include <cstring>

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
  add("norm_fusion_assertion_failed", failAssertion);
  add("_mlir_memref_to_llvm_alloc", allocate);
  add("_mlir_memref_to_llvm_aligned_alloc", allocateAligned);
  add("_mlir_memref_to_llvm_free", deallocate);
  add("mgpuMemAlloc", allocateOnDevice);
  add("mgpuMemFree", deallocateOnDevice);
  add("mgpuStreamSynchronize", synchronize);
  add("memrefCopy", copyMemRef);
  return symbols;
}

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
  if (!setjmp(call.out))
    code();
  currentCall = call.previous;
  if (context) {
    Error error = context->takeError();
    if (!call.error && error)
      return error;
    llvm::consumeError(std::move(error));
  }
  return std::move(call.error);
}
