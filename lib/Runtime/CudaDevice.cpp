//===- CudaDevice.cpp - A GPU through the CUDA driver ---------------------===//
//
// Device on top of libcuda.so.1: the primary context of one GPU. Modules are
// kept by content, memory comes from a pool (CudaPool.h), and waiting for a
// stream gives up on a kernel that hangs.
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"
#include "CudaPool.h"
#include "norm_fusion/Runtime/Device.h"
#include "norm_fusion/Runtime/Image.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

namespace {

struct Image;

struct Kernel {
  std::string name;
  Image *image;
  cuda::Function function;
  KernelInfo info;
  /// As PTX says; the driver reads as many arguments, given or not.
  std::optional<size_t> parameters;
  unsigned dynamicShared = 48 * 1024; ///< what it may use so far
  bool largeClusters = false;
};

struct Image {
  cuda::Module module = nullptr;
  std::string bytes;
  llvm::StringMap<std::unique_ptr<Kernel>> kernels;
};

class CudaDevice final : public Device {
public:
  CudaDevice(const cuda::Driver &driver, cuda::DeviceNumber number,
             cuda::Context context, DeviceProperties properties)
      : driver(driver), number(number), context(context),
        properties(std::move(properties)), pool(driver, number) {}

  ~CudaDevice() override {
    enter();
    releaseWorkspaces(*this);
    // After a failure the context is of no use and waiting may never end.
    if (!hung) {
      pool.clear();
      for (auto &entry : images)
        driver.moduleUnload(entry.second->module);
      driver.primaryContextRelease(number);
    }
  }

  const DeviceProperties &getProperties() const override { return properties; }
  bool isEmulator() const override { return false; }

  Expected<ModuleHandle> loadModule(llvm::ArrayRef<char> image) override;
  Expected<KernelHandle> getKernel(ModuleHandle module,
                                   llvm::StringRef name) override;
  Expected<KernelInfo> getKernelInfo(KernelHandle kernel) override {
    return static_cast<Kernel *>(kernel)->info;
  }
  Expected<unsigned> getMaxActiveClusters(KernelHandle kernel,
                                          const LaunchConfig &config) override;

  Expected<void *> allocate(size_t bytes, bool hostVisible) override {
    enter();
    return pool.allocate(bytes, hostVisible);
  }
  void deallocate(void *pointer) override { pool.deallocate(pointer); }

  Error copy(void *target, const void *source, size_t bytes,
             StreamHandle stream) override {
    enter();
    if (!bytes)
      return Error::success();
    return check(driver.memoryCopy(reinterpret_cast<cuda::Pointer>(target),
                                   reinterpret_cast<cuda::Pointer>(source),
                                   bytes, get(stream)),
                 "copy");
  }
  Error fill32(void *target, uint32_t value, size_t count,
               StreamHandle stream) override {
    enter();
    if (!count)
      return Error::success();
    return check(driver.memorySet32(reinterpret_cast<cuda::Pointer>(target),
                                    value, count, get(stream)),
                 "fill");
  }

  Expected<StreamHandle> createStream() override {
    enter();
    cuda::Stream stream;
    if (auto result = driver.streamCreate(&stream, cuda::streamNonBlocking))
      return driver.makeError(result, "can't create a stream");
    return stream;
  }
  void destroyStream(StreamHandle stream) override {
    enter();
    driver.streamDestroy(get(stream));
  }
  Error synchronize(StreamHandle stream) override;

  Error launch(KernelHandle kernel, const LaunchConfig &config,
               llvm::ArrayRef<void *> arguments, StreamHandle stream) override;

  Expected<EventHandle> createEvent() override {
    enter();
    cuda::Event event;
    if (auto result = driver.eventCreate(&event, 0))
      return driver.makeError(result, "can't create an event");
    return event;
  }
  void destroyEvent(EventHandle event) override {
    enter();
    driver.eventDestroy(static_cast<cuda::Event>(event));
  }
  Error recordEvent(EventHandle event, StreamHandle stream) override {
    enter();
    return check(
        driver.eventRecord(static_cast<cuda::Event>(event), get(stream)),
        "event");
  }
  Expected<double> elapsedMicroseconds(EventHandle start,
                                       EventHandle stop) override {
    enter();
    float milliseconds = 0;
    if (auto result = driver.eventElapsedTime(&milliseconds,
                                              static_cast<cuda::Event>(start),
                                              static_cast<cuda::Event>(stop)))
      return driver.makeError(result, "can't time events");
    return milliseconds * 1000.0;
  }

  Error beginCapture(StreamHandle stream) override {
    enter();
    return check(driver.streamBeginCapture(get(stream), cuda::captureRelaxed),
                 "can't begin a capture");
  }
  bool isCapturing(StreamHandle stream) override {
    enter();
    int state = 0;
    return driver.streamIsCapturing(get(stream), &state) == cuda::success &&
           state == cuda::captureActive;
  }
  Expected<GraphHandle> endCapture(StreamHandle stream) override {
    enter();
    cuda::Graph graph = nullptr;
    if (auto result = driver.streamEndCapture(get(stream), &graph))
      return driver.makeError(result, "can't end a capture");
    cuda::GraphExec executable = nullptr;
    auto result = driver.graphInstantiate(&executable, graph, 0);
    driver.graphDestroy(graph);
    if (result)
      return driver.makeError(result, "can't instantiate a graph");
    return executable;
  }
  Error launchGraph(GraphHandle graph, StreamHandle stream) override {
    enter();
    return check(
        driver.graphLaunch(static_cast<cuda::GraphExec>(graph), get(stream)),
        "can't launch a graph");
  }
  void destroyGraph(GraphHandle graph) override {
    enter();
    driver.graphExecDestroy(static_cast<cuda::GraphExec>(graph));
  }

  /// The context is current per thread; every call may come from another one.
  void enter() { driver.contextSetCurrent(context); }

private:
  static cuda::Stream get(StreamHandle stream) {
    return static_cast<cuda::Stream>(stream);
  }
  Error check(cuda::Result result, const Twine &what) {
    if (result == cuda::success)
      return Error::success();
    return driver.makeError(result, what);
  }
  /// Allows the kernel what `config` needs beyond the defaults.
  Error prepare(Kernel &kernel, const LaunchConfig &config);
  Expected<Kernel *> getProbe();
  static llvm::SmallVector<cuda::LaunchAttribute, 3>
  getAttributes(const LaunchConfig &config);
  static cuda::LaunchConfig
  getConfig(const LaunchConfig &config, StreamHandle stream,
            llvm::MutableArrayRef<cuda::LaunchAttribute> attributes);

  const cuda::Driver &driver;
  cuda::DeviceNumber number;
  cuda::Context context;
  DeviceProperties properties;
  CudaPool pool;
  std::mutex mutex; ///< of images and kernels
  llvm::StringMap<std::unique_ptr<Image>> images;
  const double timeout = getKernelTimeout(60);
  std::atomic<bool> hung = false; ///< threads wait for streams of their own
};

} // namespace

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

Expected<ModuleHandle> CudaDevice::loadModule(llvm::ArrayRef<char> data) {
  enter();
  llvm::StringRef bytes(data.data(), data.size());
  std::string key = hashImage(data);
  std::lock_guard lock(mutex);
  std::unique_ptr<Image> &image = images[key];
  if (image)
    return image.get();
  // PTX is a text and must end in a zero byte.
  std::string copy = bytes.str();
  char log[4096] = "";
  int options[] = {cuda::errorLogBuffer, cuda::errorLogBufferBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  auto fresh = std::make_unique<Image>();
  if (auto result = driver.moduleLoadData(&fresh->module, copy.c_str(), 2,
                                          options, values)) {
    // A PTX error has several lines; errors of ours have one.
    std::string text = log;
    for (char &c : text)
      if (c == '\n')
        c = ' ';
    images.erase(key);
    return driver.makeError(result, "can't load the module for " +
                                        properties.chip +
                                        (text.empty() ? "" : ": " + text));
  }
  fresh->bytes = std::move(copy);
  image = std::move(fresh);
  return image.get();
}

Expected<KernelHandle> CudaDevice::getKernel(ModuleHandle handle,
                                             llvm::StringRef name) {
  enter();
  Image &image = *static_cast<Image *>(handle);
  std::lock_guard lock(mutex);
  if (auto found = image.kernels.find(name); found != image.kernels.end())
    return found->second.get();
  auto kernel = std::make_unique<Kernel>();
  kernel->name = name.str();
  kernel->image = &image;
  kernel->parameters = countParameters(image.bytes, name);
  if (auto result = driver.moduleGetFunction(&kernel->function, image.module,
                                             kernel->name.c_str()))
    return driver.makeError(result, "the module has no kernel '" + name + "'");
  auto read = [&](int attribute, unsigned &into) {
    int value = 0;
    cuda::Result result =
        driver.functionGetAttribute(&value, attribute, kernel->function);
    into = value;
    return result;
  };
  KernelInfo &info = kernel->info;
  unsigned localBytes;
  for (auto result : {read(cuda::registerCount, info.registers),
                      read(cuda::localSizeBytes, localBytes),
                      read(cuda::sharedSizeBytes, info.sharedMemoryBytes),
                      read(cuda::maxThreadsPerBlock, info.maxThreads)})
    if (result)
      return driver.makeError(result, "can't ask about kernel '" + name + "'");
  size_t declared = countLocalBytes(image.bytes, name);
  info.spillBytes = localBytes > declared ? localBytes - declared : 0;
  info.cooperative = hasGlobal(image.bytes, kernel->name + "_cooperative");
  info.programmaticDependent =
      hasGlobal(image.bytes, kernel->name + "_dependent");
  return (image.kernels[name] = std::move(kernel)).get();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Error CudaDevice::prepare(Kernel &kernel, const LaunchConfig &config) {
  std::lock_guard lock(mutex);
  size_t shared =
      size_t(config.dynamicSharedMemory) + kernel.info.sharedMemoryBytes;
  if (shared > properties.sharedMemoryPerBlock)
    return makeError(
        ErrorKind::kernelFailed,
        "can't launch kernel " + kernel.name + ": " + std::to_string(shared) +
            " bytes of shared memory a block; the device has " +
            std::to_string(properties.sharedMemoryPerBlock));
  if (config.dynamicSharedMemory > kernel.dynamicShared) {
    if (auto result = driver.functionSetAttribute(kernel.function,
                                                  cuda::maxDynamicSharedBytes,
                                                  config.dynamicSharedMemory))
      return driver.makeError(result, "kernel " + kernel.name + " can't use " +
                                          Twine(config.dynamicSharedMemory) +
                                          " bytes of shared memory");
    kernel.dynamicShared = config.dynamicSharedMemory;
  }
  if (config.cluster.count() > 8 && !kernel.largeClusters) {
    if (auto result = driver.functionSetAttribute(
            kernel.function, cuda::nonPortableClusterSize, 1))
      return driver.makeError(result, "kernel " + kernel.name +
                                          " can't use clusters of " +
                                          Twine(config.cluster.count()));
    kernel.largeClusters = true;
  }
  return Error::success();
}

llvm::SmallVector<cuda::LaunchAttribute, 3>
CudaDevice::getAttributes(const LaunchConfig &config) {
  llvm::SmallVector<cuda::LaunchAttribute, 3> attributes;
  auto add = [&](cuda::LaunchAttributeId id) -> cuda::LaunchAttribute & {
    cuda::LaunchAttribute &attribute = attributes.emplace_back();
    memset(&attribute, 0, sizeof(attribute));
    attribute.id = id;
    return attribute;
  };
  if (config.cluster.count() > 1)
    add(cuda::clusterDimension).value.cluster = {
        config.cluster.x, config.cluster.y, config.cluster.z};
  if (config.cooperative)
    add(cuda::cooperative).value.number = 1;
  if (config.programmaticDependent)
    add(cuda::programmaticStreamSerialization).value.number = 1;
  return attributes;
}

cuda::LaunchConfig
CudaDevice::getConfig(const LaunchConfig &config, StreamHandle stream,
                      llvm::MutableArrayRef<cuda::LaunchAttribute> attributes) {
  cuda::LaunchConfig result = {};
  result.gridX = config.grid.x;
  result.gridY = config.grid.y;
  result.gridZ = config.grid.z;
  result.blockX = config.block.x;
  result.blockY = config.block.y;
  result.blockZ = config.block.z;
  result.sharedBytes = config.dynamicSharedMemory;
  result.stream = get(stream);
  result.attributes = attributes.data();
  result.attributeCount = attributes.size();
  return result;
}

Error CudaDevice::launch(KernelHandle handle, const LaunchConfig &config,
                         llvm::ArrayRef<void *> arguments,
                         StreamHandle stream) {
  enter();
  Kernel &kernel = *static_cast<Kernel *>(handle);
  if (kernel.parameters)
    if (Error error = checkArgumentCount(config, kernel.name,
                                         *kernel.parameters, arguments.size()))
      return error;
  if (Error error = prepare(kernel, config))
    return error;
  auto attributes = getAttributes(config);
  cuda::LaunchConfig driverConfig = getConfig(config, stream, attributes);
  return check(driver.launchKernel(&driverConfig, kernel.function,
                                   const_cast<void **>(arguments.data()),
                                   nullptr),
               "can't launch kernel " + kernel.name);
}

Expected<Kernel *> CudaDevice::getProbe() {
  bool clusters = properties.maxClusterSize > 1;
  std::string text = clusters ? ".version 7.8\n.target sm_90\n"
                              : ".version 7.0\n.target sm_80\n";
  text += ".address_size 64\n.visible .entry norm_fusion_probe() { ret; }\n";
  auto module = loadModule(llvm::ArrayRef(text.data(), text.size()));
  if (!module)
    return module.takeError();
  auto kernel = getKernel(*module, "norm_fusion_probe");
  if (!kernel)
    return kernel.takeError();
  return static_cast<Kernel *>(*kernel);
}

Expected<unsigned> CudaDevice::getMaxActiveClusters(KernelHandle handle,
                                                    const LaunchConfig &given) {
  enter();
  LaunchConfig config = given;
  unsigned size = config.cluster.count();
  if (size == 0 || size > properties.maxClusterSize)
    return 0;
  Kernel *kernel = static_cast<Kernel *>(handle);
  if (!kernel) {
    auto probe = getProbe();
    if (!probe)
      return probe.takeError();
    kernel = *probe;
  }
  if (Error error = prepare(*kernel, config))
    return error;
  int count = 0;
  cuda::Result result;
  if (size == 1) {
    result =
        driver.occupancyBlocks(&count, kernel->function, config.block.count(),
                               config.dynamicSharedMemory);
    count *= properties.multiprocessors;
  } else {
    // Asked for a grid of one cluster; the answer doesn't depend on the grid.
    config.grid = config.cluster;
    config.cooperative = config.programmaticDependent = false;
    auto attributes = getAttributes(config);
    cuda::LaunchConfig driverConfig = getConfig(config, nullptr, attributes);
    result = driver.occupancyClusters(&count, kernel->function, &driverConfig);
  }
  if (result)
    return driver.makeError(result, "can't ask how many clusters fit");
  return count;
}

Error CudaDevice::synchronize(StreamHandle stream) {
  enter();
  // Waiting for a stream that is being captured would spoil the capture.
  if (isCapturing(stream))
    return Error::success();
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  while (true) {
    cuda::Result result = driver.streamQuery(get(stream));
    if (result == cuda::success)
      return Error::success();
    if (result != cuda::notReady)
      return driver.makeError(result, "a kernel failed");
    double waited = std::chrono::duration<double>(Clock::now() - start).count();
    if (waited > timeout) {
      hung = true;
      return makeError(
          ErrorKind::kernelFailed,
          "kernel " + describeHang(timeout));
    }
    // Short kernels are polled for, long ones slept for.
    if (waited > 0.002)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

unsigned runtime::countCudaDevices() {
  auto driver = cuda::Driver::get();
  if (!driver) {
    llvm::consumeError(driver.takeError());
    return 0;
  }
  int count = 0;
  return (*driver)->deviceGetCount(&count) == cuda::success ? count : 0;
}

Expected<std::unique_ptr<Device>> runtime::createCudaDevice(int ordinal) {
  auto opened = cuda::Driver::get();
  if (!opened)
    return opened.takeError();
  const cuda::Driver &driver = **opened;
  int count = 0;
  if (auto result = driver.deviceGetCount(&count))
    return driver.makeError(result, "can't count the devices");
  if (ordinal < 0 || ordinal >= count)
    return makeError(
        ErrorKind::noDevice, "no CUDA device " + std::to_string(ordinal) +
                                 ": there are " + std::to_string(count) +
                                 "; use --device=emulator");
  cuda::DeviceNumber number;
  if (auto result = driver.deviceGet(&number, ordinal))
    return driver.makeError(result, "can't open device " + Twine(ordinal));
  cuda::Context context;
  if (auto result = driver.primaryContextRetain(&context, number))
    return driver.makeError(result, "can't open device " + Twine(ordinal));
  driver.contextSetCurrent(context);

  auto get = [&](int attribute) {
    int value = 0;
    driver.deviceGetAttribute(&value, attribute, number);
    return unsigned(value);
  };
  DeviceProperties properties;
  char name[256] = "";
  driver.deviceGetName(name, sizeof(name), number);
  properties.name = name;
  unsigned major = get(cuda::computeMajor), minor = get(cuda::computeMinor);
  // From Hopper on, the arch-specific features are what we compile with.
  properties.chip = "sm_" + std::to_string(major) + std::to_string(minor) +
                    (major == 9 || major == 10 ? "a" : "");
  properties.multiprocessors = get(cuda::multiprocessorCount);
  properties.sharedMemoryPerBlock = get(cuda::sharedMemoryOptin);
  properties.l2Bytes = get(cuda::l2CacheSize);
  // Two transfers a clock (kHz) on each line of the bus; 0 where the driver
  // doesn't say.
  properties.memoryBandwidth = uint64_t(2) * get(cuda::memoryClockRate) *
                               (get(cuda::memoryBusWidth) / 8) / 1000000;
  driver.deviceTotalMem(&properties.globalBytes, number);
  // Data-center chips take 16 with leave, others 8 at most.
  properties.maxClusterSize = !get(cuda::clusterLaunch)   ? 1
                              : major == 9 || major == 10 ? 16
                                                          : 8;
  properties.driverVersion = driver.version;
  return std::make_unique<CudaDevice>(driver, number, context,
                                      std::move(properties));
}
