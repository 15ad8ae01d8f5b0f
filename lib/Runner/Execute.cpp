//===- Execute.cpp - Calling what was compiled ----------------------------===//
//
// The entry is called through MLIR's C interface: memrefs travel as pointers to
// descriptors {allocated, aligned, offset, sizes, strides}, results come back as
// one structure. A result may be an argument, another result or a constant, so
// nothing that comes back is ever freed: the arena owns what a call allocated.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Execute.h"
#include "norm_fusion/Runner/DiagnosticCollector.h"
#include "norm_fusion/Runner/HostRuntime.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runner;
using llvm::Error;
using llvm::Expected;
using runtime::Tensor;

//===----------------------------------------------------------------------===//
// Arena
//===----------------------------------------------------------------------===//

Arena::~Arena() {
  for (Block &block : blocks)
    if (device)
      device->deallocate(block.pointer);
    else
      std::free(block.pointer);
}

Expected<void *> Arena::allocate(size_t bytes) {
  bytes = std::max<size_t>(bytes, 1);
  if (next < blocks.size() && blocks[next].bytes == bytes)
    return blocks[next++].pointer;
  void *pointer = nullptr;
  // What the emulator holds is this machine's memory, too.
  if ((!device || device->isEmulator()) && !runtime::hasHostMemory(bytes))
    return makeError(ExitCode::kernelFailed,
                     "out of memory: " + Twine(bytes) +
                         " bytes are more than this machine has free; run a "
                         "smaller problem");
  if (device) {
    Expected<void *> allocated =
        device->allocate(bytes, hostVisible);
    if (!allocated)
      return allocated;
    pointer = *allocated;
  } else {
    if (posix_memalign(&pointer, 256, bytes))
      return makeError(ExitCode::kernelFailed,
                       "no memory for " + Twine(bytes) +
                           " bytes; run a smaller problem");
  }
  // What nobody writes must be seen: all ones is a NaN in every float type.
  if (!device || device->isEmulator())
    std::memset(pointer, 0xff, bytes);
  blocks.insert(blocks.begin() + next, Block{pointer, bytes});
  ++next;
  return pointer;
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

Program::~Program() {
  if (device && stream) {
    runtime::releaseWorkspaces(*device, stream);
    device->destroyStream(stream);
  }
}

Error Program::attach(const Signature &entry, runtime::Device *to) {
  signature = entry;
  device = to;
  if (!device)
    return Error::success();
  Expected<runtime::StreamHandle> created = device->createStream();
  if (!created)
    return created.takeError();
  stream = *created;
  return Error::success();
}

namespace {
/// Host code that was compiled in this process.
class JitProgram final : public Program {
public:
  Error compile(ModuleOp module, const Signature &signature,
                runtime::Device *device, bool hostVisible);

private:
  Expected<std::vector<PlacedResult>>
  callEntry(ArrayRef<PlacedArgument> arguments, Arena &arena,
            bool capturing) override;

  std::unique_ptr<ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
};
} // namespace

/// The first function that is called and that neither the module, the runtime
/// nor the process has; empty if there is none. The JIT would write that to
/// stderr itself.
static StringRef
findMissingFunction(ModuleOp module,
                    llvm::function_ref<bool(StringRef)> isRuntimes) {
  llvm::sys::DynamicLibrary::LoadLibraryPermanently(nullptr);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (StringRef name = function.getName();
        function.isExternal() && !name.starts_with("llvm.") &&
        !isRuntimes(name) &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(name.str()) &&
        !function.symbolKnownUseEmpty(module))
      return name;
  return {};
}

Error JitProgram::compile(ModuleOp module, const Signature &signature,
                          runtime::Device *device, bool hostVisible) {
  if (Error error = attach(signature, device))
    return error;
  this->hostVisible = hostVisible;
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return withCode(ExitCode::compileFailed, builder.takeError());
  auto machine = builder->createTargetMachine();
  if (!machine)
    return withCode(ExitCode::compileFailed, machine.takeError());
  // Known before the module is translated: constant sizes are folded by then.
  module->setAttr(
      LLVM::LLVMDialect::getDataLayoutAttrName(),
      StringAttr::get(
          module.getContext(),
          (*machine)->createDataLayout().getStringRepresentation()));
  auto optimize = makeOptimizingTransformer(1, 0, machine->get());
  ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Less;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  DiagnosticCollector diagnostics(module.getContext());
  auto created = ExecutionEngine::create(module, options, std::move(*machine));
  if (!created)
    return diagnostics.takeError(ExitCode::compileFailed,
                                 llvm::toString(created.takeError()));
  engine = std::move(*created);
  StringRef missing;
  engine->registerSymbols([&](llvm::orc::MangleAndInterner mangle) {
    llvm::orc::SymbolMap symbols = getRuntimeSymbols(mangle);
    missing = findMissingFunction(
        module, [&](StringRef name) { return symbols.contains(mangle(name)); });
    return symbols;
  });
  if (!missing.empty())
    return makeError(ExitCode::compileFailed,
                     "'" + missing + "' is used and has no body, expected one");

  // Tells the runtime where the images are.
  if (Error error = runHostCode(device, stream, nullptr,
                                [&] { engine->initialize(); }))
    return error;
  auto found = engine->lookupPacked("_mlir_ciface_" + signature.name);
  if (!found)
    return withCode(ExitCode::compileFailed, found.takeError());
  entry = *found;
  return Error::success();
}

Expected<std::unique_ptr<Program>>
Program::create(ModuleOp module, Signature signature, runtime::Device *device,
                bool hostVisible) {
  auto program = std::make_unique<JitProgram>();
  if (Error error = program->compile(module, signature, device, hostVisible))
    return std::move(error);
  return std::unique_ptr<Program>(std::move(program));
}

/// Words of a descriptor of `rank` dimensions.
static size_t getDescriptorWords(size_t rank) { return 3 + 2 * rank; }

static PlacedResult readDescriptor(const int64_t *words, const ValueType &type) {
  PlacedResult result;
  size_t rank = type.shape.size();
  char *aligned;
  std::memcpy(&aligned, words + 1, sizeof(aligned));
  result.pointer = aligned + words[2] * int64_t(getByteSize(type.type));
  result.shape.assign(words + 3, words + 3 + rank);
  result.strides.assign(words + 3 + rank, words + 3 + 2 * rank);
  return result;
}

Expected<std::vector<PlacedResult>>
Program::call(ArrayRef<PlacedArgument> arguments, Arena &arena,
              bool capturing) {
  Expected<std::vector<PlacedResult>> outputs =
      callEntry(arguments, arena, capturing);
  if (!outputs)
    return outputs;
  for (unsigned i : signature.buffers) {
    PlacedResult buffer;
    buffer.pointer = arguments[i].pointer;
    buffer.shape = arguments[i].shape;
    buffer.strides = llvm::to_vector<4>(computeStrides(buffer.shape));
    outputs->push_back(std::move(buffer));
  }
  return outputs;
}

Expected<std::vector<PlacedResult>>
JitProgram::callEntry(ArrayRef<PlacedArgument> arguments, Arena &arena,
                      bool capturing) {
  // Results: one value, or a structure of them, after C's rules.
  std::vector<size_t> offsets;
  size_t size = 0;
  for (const ValueType &type : signature.results) {
    size_t alignment = type.isScalar ? getByteSize(type.type) : 8;
    size = llvm::alignTo(size, alignment);
    offsets.push_back(size);
    size += type.isScalar ? getByteSize(type.type)
                          : 8 * getDescriptorWords(type.shape.size());
  }
  std::vector<int64_t> structure(size / 8 + 1);
  void *structurePointer = structure.data();

  // Descriptors of the arguments, and pointers to pointers to them.
  std::vector<std::vector<int64_t>> descriptors(arguments.size());
  std::vector<void *> pointers(arguments.size());
  std::vector<void *> packed;
  bool returnsScalar =
      signature.results.size() == 1 && signature.results[0].isScalar;
  if (!signature.results.empty() && !returnsScalar)
    packed.push_back(&structurePointer);
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (signature.arguments[i].isScalar) {
      packed.push_back(argument.pointer);
      continue;
    }
    size_t rank = argument.shape.size();
    std::vector<int64_t> &words = descriptors[i];
    words.resize(getDescriptorWords(rank));
    std::memcpy(&words[0], &argument.pointer, sizeof(void *));
    std::memcpy(&words[1], &argument.pointer, sizeof(void *));
    llvm::copy(argument.shape, words.begin() + 3);
    llvm::copy(computeStrides(argument.shape), words.begin() + 3 + rank);
    pointers[i] = words.data();
    packed.push_back(&pointers[i]);
  }
  if (returnsScalar)
    packed.push_back(structurePointer);

  double before = getKernelLookupMs();
  if (Error error = runHostCode(device, stream, &arena,
                                [&] { entry(packed.data()); }, capturing))
    return std::move(error);
  loadMs += getKernelLookupMs() - before;

  std::vector<PlacedResult> results;
  const char *bytes = reinterpret_cast<const char *>(structure.data());
  for (auto [type, offset] : llvm::zip(signature.results, offsets)) {
    if (type.isScalar) {
      PlacedResult result;
      std::memcpy(result.scalar.data(), bytes + offset, getByteSize(type.type));
      results.push_back(result);
      continue;
    }
    results.push_back(readDescriptor(
        reinterpret_cast<const int64_t *>(bytes + offset), type));
  }
  return results;
}

Error Program::copyToMemory(void *memory, const void *data, size_t bytes) {
  if (device)
    return device->copy(memory, data, bytes, stream);
  std::memcpy(memory, data, bytes);
  return Error::success();
}

Error Program::restore(ArrayRef<Tensor> arguments,
                       ArrayRef<PlacedArgument> placed) {
  for (unsigned i : signature.written)
    if (Error error = copyToMemory(placed[i].pointer, arguments[i].getData(),
                                   arguments[i].getNumBytes()))
      return error;
  return Error::success();
}

Expected<std::vector<PlacedArgument>>
Program::place(ArrayRef<Tensor> arguments, Arena &arena) {
  std::vector<PlacedArgument> placed;
  for (auto [tensor, type] : llvm::zip(arguments, signature.arguments)) {
    PlacedArgument argument;
    argument.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    argument.pointer = const_cast<char *>(tensor.getData());
    if (!type.isScalar) {
      size_t bytes = tensor.getNumBytes();
      // On a GPU memory ends with a whole piece of 16 bytes: compute-sanitizer
      // takes an asynchronous copy of less, of a row's end, for one of 16.
      static const char zeros[16] = {};
      bool pads = device && !device->isEmulator();
      size_t padding = pads ? llvm::alignTo(bytes, 16) - bytes : 0;
      Expected<void *> memory = arena.allocate(bytes + padding);
      if (!memory)
        return memory.takeError();
      if (Error error = copyToMemory(*memory, tensor.getData(), bytes))
        return std::move(error);
      if (padding)
        if (Error error = device->copy(static_cast<char *>(*memory) + bytes,
                                       zeros, padding, stream))
          return std::move(error);
      argument.pointer = *memory;
    }
    placed.push_back(argument);
  }
  if (device)
    if (Error error = device->synchronize(stream))
      return std::move(error);
  return placed;
}

/// Copies `from`, in which dimension d is `strides[d]` elements apart, to `to`
/// in C order.
static void gather(char *&to, const char *from, ArrayRef<int64_t> shape,
                   ArrayRef<int64_t> strides, size_t elementBytes) {
  if (shape.empty()) {
    std::memcpy(to, from, elementBytes);
    to += elementBytes;
    return;
  }
  for (int64_t i = 0; i < shape.front(); ++i)
    gather(to, from + i * strides.front() * int64_t(elementBytes),
           shape.drop_front(), strides.drop_front(), elementBytes);
}

Expected<Tensor> Program::fetch(const PlacedResult &result,
                                const ValueType &type) {
  Expected<Tensor> tensor = Tensor::create(type.type, result.shape);
  // A size that can't be is the inputs'.
  if (!tensor)
    return withCode(getByteCount(type.type, result.shape)
                        ? ExitCode::kernelFailed
                        : ExitCode::badInput,
                    tensor.takeError());
  size_t elementBytes = getByteSize(type.type);
  if (type.isScalar) {
    std::memcpy(tensor->getData(), result.scalar.data(), elementBytes);
    return tensor;
  }
  if (tensor->getNumElements() == 0)
    return tensor;
  bool contiguous = true;
  int64_t stride = 1, span = 1;
  for (size_t d = result.shape.size(); d-- > 0;) {
    contiguous &= result.shape[d] == 1 || result.strides[d] == stride;
    stride *= result.shape[d];
    if (result.strides[d] < 0)
      return makeError(ExitCode::compileFailed, "a result runs backwards");
    span += (result.shape[d] - 1) * result.strides[d];
  }
  const char *source = static_cast<const char *>(result.pointer);
  std::vector<char> copy;
  if (device && !device->isEmulator()) {
    char *target = tensor->getData();
    if (!contiguous) {
      copy.resize(span * elementBytes);
      target = copy.data();
    }
    if (Error error =
            device->copy(target, source, span * elementBytes, stream))
      return std::move(error);
    if (Error error = device->synchronize(stream))
      return std::move(error);
    if (contiguous)
      return tensor;
    source = copy.data();
  }
  char *target = tensor->getData();
  if (contiguous)
    std::memcpy(target, source, tensor->getNumBytes());
  else
    gather(target, source, result.shape, result.strides, elementBytes);
  return tensor;
}

Expected<std::vector<Tensor>> Program::run(ArrayRef<Tensor> arguments) {
  Arena arena(device, hostVisible);
  Expected<std::vector<PlacedArgument>> placed = place(arguments, arena);
  if (!placed)
    return placed.takeError();
  Expected<std::vector<PlacedResult>> results = call(*placed, arena);
  if (!results)
    return results.takeError();
  std::vector<Tensor> tensors;
  for (auto [result, type] : llvm::zip(*results, signature.getOutputs())) {
    Expected<Tensor> tensor = fetch(result, type);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return std::move(tensors);
}
