//===- Repeat.cpp - The same call again and again -------------------------===//
//
// The first call's results stay; every other call writes to a second place,
// which is filled with a pattern before, so that what a kernel doesn't write
// isn't taken for what it wrote a call ago. On a GPU a kernel compares the two.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Repeat.h"
#include "norm_fusion/Runner/Error.h"

#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;

static constexpr unsigned threads = 256;
static constexpr unsigned blocksAMultiprocessor = 8;
static constexpr uint32_t pattern = 0xA5A5A5A5;

/// Sets the word `flag` where one of `n` words of `a` and `b` differs.
static constexpr StringLiteral differs = R"(
    gpu.func @differs(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %flag: !llvm.ptr<1>, %n: i64) kernel {
      %one = arith.constant 1 : i32
      %tid = gpu.thread_id x
      %bid = gpu.block_id x
      %block = gpu.block_dim x
      %blocks = gpu.grid_dim x
      %base = arith.muli %bid, %block : index
      %first = arith.addi %base, %tid : index
      %step = arith.muli %blocks, %block : index
      %from = arith.index_cast %first : index to i64
      %by = arith.index_cast %step : index to i64
      scf.for %i = %from to %n step %by : i64 {
        %pa = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
        %pb = llvm.getelementptr %b[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i32
        %va = llvm.load %pa : !llvm.ptr<1> -> i32
        %vb = llvm.load %pb : !llvm.ptr<1> -> i32
        %differ = arith.cmpi ne, %va, %vb : i32
        scf.if %differ {
          llvm.store %one, %flag : i32, !llvm.ptr<1>
        }
      }
      gpu.return
    })";

namespace {
/// Compares results where they are.
class Comparer {
public:
  Comparer(Program &program, runtime::Device &device, Arena &arena)
      : program(program), device(device), arena(arena) {}

  Error prepare(StringRef chip) {
    if (device.isEmulator())
      return Error::success();
    Expected<std::string> image =
        compileDeviceModule(differs, chip, /*emulator=*/false);
    if (!image)
      return image.takeError();
    // PTX is passed with its terminating zero.
    Expected<runtime::ModuleHandle> module =
        device.loadModule(ArrayRef<char>(image->c_str(), image->size() + 1));
    if (!module)
      return module.takeError();
    Expected<runtime::KernelHandle> found =
        device.getKernel(*module, "differs");
    if (!found)
      return found.takeError();
    kernel = *found;
    Expected<void *> memory = arena.allocate(sizeof(uint32_t));
    if (!memory)
      return memory.takeError();
    flag = *memory;
    return Error::success();
  }

  /// Whether a result lies in a row from a word on, `bytes` in all: what the
  /// kernel and fills know, but for the last bytes that are no word. Other
  /// results are copied to be compared.
  static bool isWords(const PlacedResult &result, size_t elementBytes,
                      size_t &bytes) {
    if (!result.pointer)
      return false;
    int64_t elements = 1;
    for (size_t d = result.shape.size(); d-- > 0;) {
      if (result.shape[d] != 1 && result.strides[d] != elements)
        return false;
      elements *= result.shape[d];
    }
    bytes = elements * elementBytes;
    return reinterpret_cast<uintptr_t>(result.pointer) % sizeof(uint32_t) == 0;
  }

  /// Results that are arguments stay: the next call reads them.
  Error overwrite(const PlacedResult &result, size_t elementBytes,
                  ArrayRef<PlacedArgument> placed,
                  ArrayRef<runtime::Tensor> arguments) {
    size_t bytes;
    if (!isWords(result, elementBytes, bytes) || bytes == 0)
      return Error::success();
    for (auto [argument, tensor] : llvm::zip(placed, arguments)) {
      auto *begin = static_cast<char *>(argument.pointer);
      auto *first = static_cast<char *>(result.pointer);
      if (first >= begin && first < begin + tensor.getNumBytes())
        return Error::success();
    }
    runtime::StreamHandle stream = program.getStream();
    size_t rest = bytes % sizeof(uint32_t);
    if (rest != 0)
      if (Error error =
              device.copy(static_cast<char *>(result.pointer) + bytes - rest,
                          &pattern, rest, stream))
        return error;
    if (bytes == rest)
      return Error::success();
    return device.fill32(result.pointer, pattern, bytes / sizeof(uint32_t),
                         stream);
  }

  Expected<bool> areEqual(const PlacedResult &a, const PlacedResult &b,
                          const ValueType &type,
                          const runtime::Tensor &tensorOfA) {
    size_t bytes;
    runtime::StreamHandle stream = program.getStream();
    size_t elementBytes = runtime::getByteSize(tensorOfA.getElementType());
    // An argument that is written to holds what the last call left there.
    if (a.pointer == b.pointer || device.isEmulator() ||
        !isWords(a, elementBytes, bytes) || !isWords(b, elementBytes, bytes)) {
      Expected<runtime::Tensor> tensorOfB = program.fetch(b, type);
      if (!tensorOfB)
        return tensorOfB.takeError();
      return tensorOfA.isBitwiseEqual(*tensorOfB);
    }
    if (a.shape != b.shape)
      return false;
    if (bytes == 0)
      return true;
    size_t rest = bytes % sizeof(uint32_t);
    uint32_t restOfA = 0, restOfB = 0;
    auto copyRest = [&](uint32_t &to, const PlacedResult &from) {
      return device.copy(&to,
                         static_cast<const char *>(from.pointer) + bytes - rest,
                         rest, stream);
    };
    if (rest != 0) {
      if (Error error = copyRest(restOfA, a))
        return std::move(error);
      if (Error error = copyRest(restOfB, b))
        return std::move(error);
    }
    int64_t words = bytes / sizeof(uint32_t);
    if (Error error = device.fill32(flag, 0, 1, stream))
      return std::move(error);
    runtime::LaunchConfig launch;
    launch.grid.x = std::min<uint64_t>(
        std::max<uint64_t>(llvm::divideCeil(words, threads), 1),
        blocksAMultiprocessor * device.getProperties().multiprocessors);
    launch.block.x = threads;
    void *pointerOfA = a.pointer, *pointerOfB = b.pointer;
    void *arguments[] = {&pointerOfA, &pointerOfB, &flag, &words};
    if (Error error = device.launch(kernel, launch, arguments, stream))
      return std::move(error);
    uint32_t differ = 0;
    if (Error error = device.copy(&differ, flag, sizeof(differ), stream))
      return std::move(error);
    if (Error error = device.synchronize(stream))
      return std::move(error);
    return differ == 0 && restOfA == restOfB;
  }

private:
  Program &program;
  runtime::Device &device;
  Arena &arena;
  runtime::KernelHandle kernel = nullptr;
  void *flag = nullptr;
};
} // namespace

Expected<RepeatedCalls> mlir::norm_fusion::runner::callRepeatedly(
    Program &program, runtime::Device &device,
    ArrayRef<runtime::Tensor> arguments, unsigned calls, bool compare,
    StringRef chip, llvm::function_ref<void(unsigned)> before,
    llvm::function_ref<Error()> afterFirst) {
  RepeatedCalls repeated;
  std::unique_ptr<Arena> arena = program.createArena();
  Comparer comparer(program, device, *arena);
  Expected<std::vector<PlacedArgument>> placed =
      program.place(arguments, *arena);
  if (!placed)
    return placed.takeError();
  before(0);
  Expected<std::vector<PlacedResult>> first = program.call(*placed, *arena);
  if (!first)
    return first.takeError();
  std::vector<ValueType> types = program.getSignature().getOutputs();
  for (auto [result, type] : llvm::zip(*first, types)) {
    Expected<runtime::Tensor> tensor = program.fetch(result, type);
    if (!tensor)
      return tensor.takeError();
    repeated.results.push_back(std::move(*tensor));
  }
  if (Error error = afterFirst())
    return std::move(error);
  if (compare && calls > 1)
    if (Error error = comparer.prepare(chip))
      return std::move(error);
  size_t mark = arena->getMark();
  std::vector<PlacedResult> last;
  for (unsigned i = 1; i < calls; ++i) {
    before(i);
    for (auto [result, tensor] : llvm::zip(last, repeated.results))
      if (compare)
        if (Error error = comparer.overwrite(
                result, runtime::getByteSize(tensor.getElementType()), *placed,
                arguments))
          return std::move(error);
    if (Error error = program.restore(arguments, *placed))
      return std::move(error);
    arena->rewind(mark);
    Expected<std::vector<PlacedResult>> called = program.call(*placed, *arena);
    if (!called)
      return called.takeError();
    if (Error error = device.synchronize(program.getStream()))
      return std::move(error);
    last = std::move(*called);
    for (unsigned k = 0; compare && k < last.size() && !repeated.difference;
         ++k) {
      Expected<bool> equal = comparer.areEqual((*first)[k], last[k], types[k],
                                               repeated.results[k]);
      if (!equal)
        return equal.takeError();
      if (!*equal)
        repeated.difference = {i, k};
    }
  }
  return std::move(repeated);
}
