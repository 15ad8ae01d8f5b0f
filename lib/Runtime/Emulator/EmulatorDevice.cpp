//===- EmulatorDevice.cpp - The emulator as a device ----------------------===//
//
// Links images with LLVM's JIT, keeps device memory and streams, and hands
// launches to the machine. A launch runs to its end before it returns, so
// streams only tell captures apart.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/TargetSelect.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <sys/mman.h>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;
using llvm::Error;
using llvm::Expected;

namespace {

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

/// Every allocation has its own pages with untouchable ones around it. Freed
/// addresses aren't used again for long, so that late accesses are seen.
class Memory {
public:
  explicit Memory(size_t capacity) : capacity(capacity) {}
  ~Memory() {
    for (auto &[address, block] : live)
      munmap(block.mapping, block.mapped);
    for (const Allocation &block : freed)
      munmap(block.mapping, block.mapped);
  }

  Expected<void *> allocate(size_t bytes) {
    constexpr size_t page = 4096;
    auto fail = [&](const llvm::Twine &why) {
      return makeError(ErrorKind::outOfMemory,
                       "out of device memory: " + llvm::Twine(bytes) +
                           " bytes were asked for, " + why);
    };
    std::lock_guard lock(mutex);
    if (bytes > capacity - used)
      return fail(llvm::Twine(used) + " of the emulator's " +
                  llvm::Twine(capacity) +
                  " are in use; run a smaller problem or set memory= of "
                  "--emulator");
    size_t mapped =
        (std::max<size_t>(bytes, 1) + page - 1) / page * page + 2 * page;
    void *mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
      return fail("this machine has no room for them; run a smaller problem");
    char *start = static_cast<char *>(mapping);
    mprotect(start, page, PROT_NONE);
    mprotect(start + mapped - page, page, PROT_NONE);
    char *address = start + page;
    // Huge sparse buffers stay untouched; they hold zeros.
    if (bytes <= poisonLimit)
      memset(address, 0xff, bytes);
    used += bytes;
    live[uintptr_t(address)] = {mapping, mapped, bytes};
    return address;
  }

  void deallocate(void *pointer) {
    std::lock_guard lock(mutex);
    auto entry = live.find(uintptr_t(pointer));
    if (entry == live.end())
      return;
    Allocation block = entry->second;
    live.erase(entry);
    used -= block.bytes;
    madvise(block.mapping, block.mapped, MADV_DONTNEED);
    mprotect(block.mapping, block.mapped, PROT_NONE);
    freed.push_back(block);
    if (freed.size() > 4096) {
      munmap(freed.front().mapping, freed.front().mapped);
      freed.pop_front();
    }
  }

  std::vector<Range> getRanges() {
    std::lock_guard lock(mutex);
    std::vector<Range> ranges;
    for (auto &[address, block] : live)
      ranges.push_back({address, address + block.bytes});
    return ranges;
  }

private:
  struct Allocation {
    void *mapping;
    size_t mapped, bytes;
  };
  static constexpr size_t poisonLimit = size_t(256) << 20;
  const size_t capacity;
  std::mutex mutex;
  size_t used = 0;
  std::map<uintptr_t, Allocation> live;
  std::deque<Allocation> freed;
};

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

struct Image {
  llvm::orc::JITDylib *library = nullptr;
  std::vector<Range> variables;
  llvm::StringMap<std::unique_ptr<Kernel>> kernels;
};

/// What a captured stream does, to do again.
struct Graph {
  std::vector<std::function<Error()>> nodes;
};
struct Stream {
  std::mutex mutex;
  std::unique_ptr<Graph> capture;
};
struct Event {
  std::atomic<std::chrono::steady_clock::time_point> time;
};

class EmulatorDevice final : public Device {
public:
  EmulatorDevice(const EmulatorOptions &options,
                 std::unique_ptr<llvm::orc::LLJIT> jit)
      : machine(options), memory(options.memory),
        spillThreads(options.spillThreads), jit(std::move(jit)) {
    properties.name = "emulator";
    properties.chip = "sm_90a";
    properties.multiprocessors = options.sms;
    properties.sharedMemoryPerBlock = options.sharedMemory;
    properties.l2Bytes = size_t(50) << 20;
    properties.globalBytes = options.memory;
    properties.maxClusterSize = options.maxCluster;
  }

  ~EmulatorDevice() override { releaseWorkspaces(*this); }

  const DeviceProperties &getProperties() const override { return properties; }
  bool isEmulator() const override { return true; }

  Expected<ModuleHandle> loadModule(llvm::ArrayRef<char> data) override;
  Expected<KernelHandle> getKernel(ModuleHandle module,
                                   llvm::StringRef name) override;

  Expected<KernelInfo> getKernelInfo(KernelHandle handle) override {
    const Kernel &kernel = *static_cast<Kernel *>(handle);
    KernelInfo info;
    info.sharedMemoryBytes = kernel.record->staticShared;
    info.maxThreads =
        kernel.record->maxThreads ? kernel.record->maxThreads : 1024;
    // It has no registers to run out of.
    if (spillThreads && info.maxThreads > spillThreads)
      info.spillBytes = 64;
    info.cooperative = kernel.cooperative;
    info.programmaticDependent = kernel.dependent;
    return info;
  }

  Expected<unsigned> getMaxActiveClusters(KernelHandle handle,
                                          const LaunchConfig &config) override {
    uint64_t size = config.cluster.count();
    if (size == 0 || size > properties.maxClusterSize)
      return 0;
    return machine.getBlocksPerSM(static_cast<Kernel *>(handle), config) *
           properties.multiprocessors / size;
  }

  Expected<void *> allocate(size_t bytes, bool hostVisible) override {
    return memory.allocate(bytes);
  }
  void deallocate(void *pointer) override {
    // Not under a running launch's feet.
    std::lock_guard lock(launchMutex);
    memory.deallocate(pointer);
  }

  Error copy(void *target, const void *source, size_t bytes,
             StreamHandle stream) override {
    return enqueue(stream, [=] {
      if (bytes)
        memmove(target, source, bytes);
      return Error::success();
    });
  }
  Error fill32(void *target, uint32_t value, size_t count,
               StreamHandle stream) override {
    return enqueue(stream, [=] {
      std::fill_n(static_cast<uint32_t *>(target), count, value);
      return Error::success();
    });
  }

  Expected<StreamHandle> createStream() override { return new Stream(); }
  void destroyStream(StreamHandle stream) override {
    delete static_cast<Stream *>(stream);
  }
  Error synchronize(StreamHandle) override { return Error::success(); }

  Error launch(KernelHandle handle, const LaunchConfig &config,
               llvm::ArrayRef<void *> arguments, StreamHandle stream) override;

  Expected<EventHandle> createEvent() override { return new Event(); }
  void destroyEvent(EventHandle event) override {
    delete static_cast<Event *>(event);
  }
  Error recordEvent(EventHandle event, StreamHandle stream) override {
    return enqueue(stream, [event] {
      static_cast<Event *>(event)->time = std::chrono::steady_clock::now();
      return Error::success();
    });
  }
  Expected<double> elapsedMicroseconds(EventHandle start,
                                       EventHandle stop) override {
    return std::chrono::duration<double, std::micro>(
               static_cast<Event *>(stop)->time.load() -
               static_cast<Event *>(start)->time.load())
        .count();
  }

  Error beginCapture(StreamHandle handle) override {
    auto &stream = *static_cast<Stream *>(handle);
    std::lock_guard lock(stream.mutex);
    stream.capture = std::make_unique<Graph>();
    return Error::success();
  }
  bool isCapturing(StreamHandle handle) override {
    if (!handle)
      return false;
    auto &stream = *static_cast<Stream *>(handle);
    std::lock_guard lock(stream.mutex);
    return stream.capture != nullptr;
  }
  Expected<GraphHandle> endCapture(StreamHandle handle) override {
    auto &stream = *static_cast<Stream *>(handle);
    std::lock_guard lock(stream.mutex);
    auto graph = std::move(stream.capture);
    if (!graph)
      return makeError(ErrorKind::other, "the stream isn't being captured");
    return graph.release();
  }
  Error launchGraph(GraphHandle graph, StreamHandle stream) override {
    for (auto &node : static_cast<Graph *>(graph)->nodes)
      if (Error error = enqueue(stream, node))
        return error;
    return Error::success();
  }
  void destroyGraph(GraphHandle graph) override {
    delete static_cast<Graph *>(graph);
  }

private:
  /// Does it, or writes it down where the stream is captured.
  Error enqueue(StreamHandle handle, std::function<Error()> what) {
    if (auto *stream = static_cast<Stream *>(handle)) {
      std::lock_guard lock(stream->mutex);
      if (stream->capture) {
        stream->capture->nodes.push_back(std::move(what));
        return Error::success();
      }
    }
    return what();
  }

  Machine machine;
  DeviceProperties properties;
  Memory memory;
  const unsigned spillThreads;
  std::mutex launchMutex;
  std::mutex imageMutex;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  llvm::StringMap<std::unique_ptr<Image>> images;
};

} // namespace

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

Expected<ModuleHandle> EmulatorDevice::loadModule(llvm::ArrayRef<char> data) {
  auto fail = [](const llvm::Twine &what) {
    return makeError(ErrorKind::other,
                     "the emulator can't load this image: " + what +
                         "; compile with target=emulator");
  };
  if (data.size() < 64 || memcmp(data.data(), "\177ELF", 4))
    return fail("it isn't an ELF object");
  if (uint16_t type = uint8_t(data[18]) | uint8_t(data[19]) << 8; type == 190)
    return fail("it is a cubin");
  llvm::StringRef bytes(data.data(), data.size());
  std::string key = hashImage(data);

  std::lock_guard lock(imageMutex);
  std::unique_ptr<Image> &image = images[key];
  if (image)
    return image.get();
  auto fresh = std::make_unique<Image>();
  auto library = jit->createJITDylib("image." + key);
  if (!library)
    return library.takeError();
  fresh->library = &*library;
  // The same image again must find the same error, not this library.
  auto remove = llvm::make_scope_exit([&] {
    llvm::consumeError(
        jit->getExecutionSession().removeJITDylib(*fresh->library));
  });
  llvm::orc::SymbolMap symbols;
  for (auto [name, address] : getKernelSymbols())
    symbols[jit->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  if (Error error = library->define(llvm::orc::absoluteSymbols(symbols)))
    return error;
  if (Error error = jit->addObjectFile(
          *library, llvm::MemoryBuffer::getMemBufferCopy(bytes, key)))
    return fail(llvm::toString(std::move(error)));
  auto record = jit->lookup(*library, "nf_emu_module");
  if (!record)
    return fail(llvm::toString(record.takeError()));
  auto *module = record->toPtr<const ModuleRecord *>();
  for (uint64_t i = 0; i < module->globals; ++i) {
    uintptr_t begin = uintptr_t(module->records[i].address);
    fresh->variables.push_back({begin, begin + module->records[i].size});
  }
  remove.release();
  image = std::move(fresh);
  return image.get();
}

Expected<KernelHandle> EmulatorDevice::getKernel(ModuleHandle handle,
                                                 llvm::StringRef name) {
  Image &image = *static_cast<Image *>(handle);
  std::lock_guard lock(imageMutex);
  std::unique_ptr<Kernel> &kernel = image.kernels[name];
  if (kernel)
    return kernel.get();
  auto info = jit->lookup(*image.library, (name + ".info").str());
  if (!info) {
    llvm::consumeError(info.takeError());
    return makeError(ErrorKind::other,
                     "the module has no kernel '" + name + "'");
  }
  auto entry = jit->lookup(*image.library, name);
  if (!entry)
    return entry.takeError();
  auto fresh = std::make_unique<Kernel>();
  fresh->name = name.str();
  fresh->record = info->toPtr<const KernelRecord *>();
  if (fresh->record->version != abiVersion)
    return makeError(ErrorKind::other, "kernel '" + name +
                                           "' was compiled for another version "
                                           "of the emulator");
  fresh->entry = entry->toPtr<void (*)(void **)>();
  fresh->argumentBytes =
      llvm::ArrayRef(reinterpret_cast<const uint32_t *>(fresh->record + 1),
                     fresh->record->arguments);
  fresh->variables = image.variables;
  auto hasFlag = [&](const char *suffix) {
    auto flag = jit->lookup(*image.library, (name + suffix).str());
    if (!flag) {
      llvm::consumeError(flag.takeError());
      return false;
    }
    // A kernel may have that name, too.
    return llvm::any_of(image.variables, [&](const Range &variable) {
      return variable.begin == flag->getValue();
    });
  };
  fresh->cooperative = hasFlag("_cooperative");
  fresh->dependent = hasFlag("_dependent");
  kernel = std::move(fresh);
  return kernel.get();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Error EmulatorDevice::launch(KernelHandle handle, const LaunchConfig &config,
                             llvm::ArrayRef<void *> arguments,
                             StreamHandle stream) {
  const Kernel &kernel = *static_cast<Kernel *>(handle);
  if (Error error = checkArgumentCount(
          config, kernel.name, kernel.argumentBytes.size(), arguments.size()))
    return error;
  // The values are taken now, as the driver does.
  std::vector<std::vector<char>> values;
  for (auto [i, bytes] : llvm::enumerate(kernel.argumentBytes)) {
    const char *from = static_cast<const char *>(arguments.data()[i]);
    values.emplace_back(from, from + bytes);
  }
  return enqueue(stream, [this, &kernel, config, values]() mutable -> Error {
    std::vector<void *> pointers;
    for (std::vector<char> &value : values)
      pointers.push_back(value.data());
    std::lock_guard lock(launchMutex);
    return machine.run(kernel, config, pointers.data(), memory.getRanges());
  });
}

Expected<std::unique_ptr<Device>>
runtime::createEmulatorDevice(const EmulatorOptions &options) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  return std::make_unique<EmulatorDevice>(options, std::move(*jit));
}
