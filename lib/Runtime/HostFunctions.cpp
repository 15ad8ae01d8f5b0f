//===- HostFunctions.cpp - What JIT-compiled host code calls --------------===//
//
// Upstream's gpu-to-llvm turns host code that uses a GPU into calls of mgpu*
// functions. Here they act on the device and stream of the HostContext that is
// current on the calling thread, so the same host code runs on a GPU and on the
// emulator. The first error stays in the context; later calls do nothing.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Workspace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <vector>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using llvm::Error;
using llvm::Expected;

//===----------------------------------------------------------------------===//
// HostContext
//===----------------------------------------------------------------------===//

static thread_local HostContext *currentContext = nullptr;

HostContext::HostContext(Device &device, StreamHandle stream)
    : device(device), stream(stream), error(Error::success()),
      previous(currentContext) {
  currentContext = this;
}

HostContext::~HostContext() {
  currentContext = previous;
  llvm::consumeError(std::move(error));
  for (void *pointer : allocations)
    device.deallocate(pointer);
}

HostContext *HostContext::getCurrent() { return currentContext; }

void HostContext::setError(Error fresh) {
  if (hasError())
    llvm::consumeError(std::move(fresh));
  else
    error = std::move(fresh);
}

bool HostContext::hasError() {
  // Asking an Error also marks it as checked; it must stay unchecked.
  return bool(error);
}

Error HostContext::takeError() {
  Error taken = std::move(error);
  error = Error::success();
  return taken;
}

/// The context to act in; null if there is none or it has failed.
static HostContext *getContext() {
  HostContext *context = HostContext::getCurrent();
  return context && !context->hasError() ? context : nullptr;
}

static void check(HostContext &context, Error error) {
  if (error)
    context.setError(std::move(error));
}
template <typename T>
static T check(HostContext &context, Expected<T> value) {
  if (value)
    return *value;
  context.setError(value.takeError());
  return T();
}

static StreamHandle pick(HostContext &context, StreamHandle stream) {
  return stream ? stream : context.getStream();
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

namespace {
/// An image of compiled code. Such code loads all it has when it starts, but of
/// a kernel's variants it launches one, and loading PTX compiles it: a device
/// gets an image when the first kernel of it is asked for.
struct Image {
  llvm::ArrayRef<char> data;
  std::mutex mutex;
  Device *device = nullptr;
  ModuleHandle module = nullptr; ///< on `device`
};
} // namespace

static void *mgpuModuleLoad(void *data, size_t size) {
  auto *image = new Image();
  image->data = llvm::ArrayRef(static_cast<const char *>(data), size);
  return image;
}

static void *mgpuModuleLoadJIT(void *data, int, size_t) {
  // PTX: a text that ends in a zero byte. Its length isn't passed by all
  // versions of the caller.
  return mgpuModuleLoad(data, strlen(static_cast<const char *>(data)) + 1);
}

/// What is loaded stays so: the device knows it by content.
static void mgpuModuleUnload(void *module) {
  delete static_cast<Image *>(module);
}

static void *mgpuModuleGetFunction(void *module, const char *name) {
  HostContext *context = getContext();
  if (!context || !module)
    return nullptr;
  Image &image = *static_cast<Image *>(module);
  Device &device = context->getDevice();
  std::lock_guard lock(image.mutex);
  if (image.device != &device) {
    image.module = check(*context, device.loadModule(image.data));
    if (!image.module)
      return nullptr;
    image.device = &device;
  }
  return check(*context, device.getKernel(image.module, name));
}

/// Sizes of a launch; an error of the context where they need more than 32
/// bits.
static Dim3 toDim3(intptr_t x, intptr_t y, intptr_t z) {
  HostContext *context = getContext();
  if (context &&
      !(llvm::isUInt<32>(x) && llvm::isUInt<32>(y) && llvm::isUInt<32>(z)))
    context->setError(makeError(ErrorKind::kernelFailed,
                                "a kernel is launched with a size of (" +
                                    llvm::Twine(x) + "," + llvm::Twine(y) +
                                    "," + llvm::Twine(z) +
                                    "), expected 32 bits each"));
  return {unsigned(x), unsigned(y), unsigned(z)};
}

static void launch(void *kernel, const LaunchConfig &given, void *stream,
                   void **parameters, size_t count) {
  HostContext *context = getContext();
  if (!context)
    return;
  if (!kernel)
    return context->setError(llvm::make_error<DeviceError>(
        ErrorKind::other, "a kernel is launched that wasn't loaded"));
  LaunchConfig config = given;
  // Nothing to do for an empty grid.
  if (!config.grid.x || !config.grid.y || !config.grid.z)
    return;
  Expected<KernelInfo> info = context->getDevice().getKernelInfo(kernel);
  if (!info)
    return context->setError(info.takeError());
  config.cooperative = info->cooperative;
  config.programmaticDependent = info->programmaticDependent;
  check(*context, context->getDevice().launch(
                      kernel, config, llvm::ArrayRef<void *>(parameters, count),
                      pick(*context, stream)));
}

static void mgpuLaunchKernel(void *kernel, intptr_t gridX, intptr_t gridY,
                             intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                             intptr_t blockZ, int32_t shared, void *stream,
                             void **parameters, void **, size_t count) {
  LaunchConfig config;
  config.grid = toDim3(gridX, gridY, gridZ);
  config.block = toDim3(blockX, blockY, blockZ);
  config.dynamicSharedMemory = shared;
  launch(kernel, config, stream, parameters, count);
}

static void mgpuLaunchClusterKernel(void *kernel, intptr_t clusterX,
                                    intptr_t clusterY, intptr_t clusterZ,
                                    intptr_t gridX, intptr_t gridY,
                                    intptr_t gridZ, intptr_t blockX,
                                    intptr_t blockY, intptr_t blockZ,
                                    int32_t shared, void *stream,
                                    void **parameters, void **, size_t) {
  LaunchConfig config;
  config.grid = toDim3(gridX, gridY, gridZ);
  config.block = toDim3(blockX, blockY, blockZ);
  config.cluster = toDim3(clusterX, clusterY, clusterZ);
  config.dynamicSharedMemory = shared;
  config.countsArguments = false; // upstream passes no count here
  launch(kernel, config, stream, parameters, 0);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

// Host code runs in the context's stream, so that its caller can capture and
// time it as a whole.
static void *mgpuStreamCreate() {
  HostContext *context = HostContext::getCurrent();
  return context ? context->getStream() : nullptr;
}
static void mgpuStreamDestroy(void *) {}
static void mgpuStreamSynchronize(void *stream) {
  if (HostContext *context = getContext())
    check(*context, context->getDevice().synchronize(pick(*context, stream)));
}
static void mgpuStreamWaitEvent(void *, void *) {}
static void *mgpuEventCreate() {
  HostContext *context = getContext();
  return context ? check(*context, context->getDevice().createEvent())
                 : nullptr;
}
static void mgpuEventDestroy(void *event) {
  if (HostContext *context = HostContext::getCurrent(); context && event)
    context->getDevice().destroyEvent(event);
}
static void mgpuEventSynchronize(void *) { mgpuStreamSynchronize(nullptr); }
static void mgpuEventRecord(void *event, void *stream) {
  if (HostContext *context = getContext())
    check(*context,
          context->getDevice().recordEvent(event, pick(*context, stream)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static void *mgpuMemAlloc(uint64_t bytes, void *, bool hostShared) {
  HostContext *context = getContext();
  if (!context)
    return nullptr;
  void *pointer =
      check(*context, context->getDevice().allocate(bytes, hostShared));
  if (pointer)
    context->getAllocations().push_back(pointer);
  return pointer;
}
static void mgpuMemFree(void *pointer, void *) {
  HostContext *context = HostContext::getCurrent();
  if (!context || !pointer)
    return;
  llvm::erase(context->getAllocations(), pointer);
  context->getDevice().deallocate(pointer);
}
static void mgpuMemcpy(void *target, void *source, size_t bytes, void *stream) {
  if (HostContext *context = getContext())
    check(*context, context->getDevice().copy(target, source, bytes,
                                              pick(*context, stream)));
}
static void mgpuMemset32(void *target, unsigned value, size_t count,
                         void *stream) {
  if (HostContext *context = getContext())
    check(*context, context->getDevice().fill32(target, value, count,
                                                pick(*context, stream)));
}
static void mgpuMemset16(void *target, unsigned short value, size_t count,
                         void *stream) {
  HostContext *context = getContext();
  if (!context || !count)
    return;
  // Whole words as such, an odd end as a copy.
  StreamHandle where = pick(*context, stream);
  uint32_t both = value | uint32_t(value) << 16;
  char *bytes = static_cast<char *>(target);
  // What is copied from must stay there until the copy is done.
  static const std::vector<uint16_t> values = [] {
    std::vector<uint16_t> all(1 << 16);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  if (uintptr_t(bytes) % 4) {
    check(*context, context->getDevice().copy(bytes, &values[value], 2, where));
    bytes += 2;
    --count;
  }
  check(*context, context->getDevice().fill32(bytes, both, count / 2, where));
  if (count % 2)
    check(*context, context->getDevice().copy(bytes + count / 2 * 4,
                                              &values[value], 2, where));
}
static void mgpuMemHostRegisterMemRef(int64_t, void *, int64_t) {}
static void mgpuMemHostUnregisterMemRef(int64_t, void *, int64_t) {}
static void mgpuSetDefaultDevice(int32_t) {}

//===----------------------------------------------------------------------===//
// Our own
//===----------------------------------------------------------------------===//

static int64_t norm_fusion_multiprocessor_count() {
  HostContext *context = HostContext::getCurrent();
  return context ? context->getDevice().getProperties().multiprocessors : 1;
}

static int64_t norm_fusion_max_active_clusters(int64_t cluster,
                                               int64_t threads) {
  HostContext *context = getContext();
  if (!context)
    return 1;
  return runtime::getMaxActiveClusters(context->getDevice(), cluster, threads);
}

unsigned runtime::getMaxActiveClusters(Device &device, unsigned cluster,
                                       unsigned threads) {
  LaunchConfig config;
  config.cluster.x = config.grid.x = cluster;
  config.block.x = threads;
  // A block that has all of the shared memory has a multiprocessor to itself.
  config.dynamicSharedMemory = device.getProperties().sharedMemoryPerBlock;
  Expected<unsigned> count = device.getMaxActiveClusters(nullptr, config);
  if (count)
    return *count;
  llvm::consumeError(count.takeError()); // the launches will say what is wrong
  return 0;
}

namespace {
/// Workspaces by device, stream and kernel; they live as long as the stream.
struct Workspaces {
  std::mutex mutex;
  std::map<std::tuple<Device *, StreamHandle, int64_t>, Workspace> entries;
};
} // namespace

static Workspaces &getWorkspaces() {
  static Workspaces *workspaces = new Workspaces();
  return *workspaces;
}

void runtime::releaseWorkspaces(Device &device,
                                std::optional<StreamHandle> stream) {
  Workspaces &workspaces = getWorkspaces();
  std::lock_guard lock(workspaces.mutex);
  for (auto entry = workspaces.entries.begin();
       entry != workspaces.entries.end();) {
    auto next = std::next(entry);
    auto [ofDevice, ofStream, kernel] = entry->first;
    if (ofDevice == &device && (!stream || ofStream == *stream)) {
      entry->second.release(device);
      workspaces.entries.erase(entry);
    }
    entry = next;
  }
}

static void *norm_fusion_workspace(int64_t bytes, int64_t kernel) {
  HostContext *context = getContext();
  if (!context)
    return nullptr;
  Device &device = context->getDevice();
  Workspaces &workspaces = getWorkspaces();
  std::lock_guard lock(workspaces.mutex);
  Workspace &workspace =
      workspaces.entries[{&device, context->getStream(), kernel}];
  return check(*context, workspace.get(device, context->getStream(), bytes));
}

std::vector<std::pair<llvm::StringRef, void *>> runtime::getHostSymbols() {
#define ENTRY(name)                                                            \
  {                                                                            \
    #name, reinterpret_cast<void *>(&name)                                     \
  }
  return {ENTRY(mgpuModuleLoad),
          ENTRY(mgpuModuleLoadJIT),
          ENTRY(mgpuModuleUnload),
          ENTRY(mgpuModuleGetFunction),
          ENTRY(mgpuLaunchKernel),
          ENTRY(mgpuLaunchClusterKernel),
          ENTRY(mgpuStreamCreate),
          ENTRY(mgpuStreamDestroy),
          ENTRY(mgpuStreamSynchronize),
          ENTRY(mgpuStreamWaitEvent),
          ENTRY(mgpuEventCreate),
          ENTRY(mgpuEventDestroy),
          ENTRY(mgpuEventSynchronize),
          ENTRY(mgpuEventRecord),
          ENTRY(mgpuMemAlloc),
          ENTRY(mgpuMemFree),
          ENTRY(mgpuMemcpy),
          ENTRY(mgpuMemset32),
          ENTRY(mgpuMemset16),
          ENTRY(mgpuMemHostRegisterMemRef),
          ENTRY(mgpuMemHostUnregisterMemRef),
          ENTRY(mgpuSetDefaultDevice),
          ENTRY(norm_fusion_multiprocessor_count),
          ENTRY(norm_fusion_max_active_clusters),
          ENTRY(norm_fusion_workspace)};
#undef ENTRY
}
