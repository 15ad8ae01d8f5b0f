//===- Device.h - One interface to a GPU and to the emulator ----*- C++ -*-===//
//
// What the runner and the host code that upstream lowers need of a device:
// modules, memory, streams, launches, events, graphs. Two implementations: the
// CUDA driver, opened with dlopen, and the emulator. Nothing here needs MLIR.
// All sizes are bytes; all calls are safe from several threads.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNTIME_DEVICE_H
#define NORM_FUSION_RUNTIME_DEVICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::norm_fusion::runtime {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// How a kernel is launched.
struct LaunchConfig {
  Dim3 grid;    ///< in blocks
  Dim3 block;   ///< in threads
  Dim3 cluster; ///< in blocks
  unsigned dynamicSharedMemory = 0;
  /// All blocks must be resident at once.
  bool cooperative = false;
  /// May start while the launch before it in the stream still runs.
  bool programmaticDependent = false;
  /// False: as many arguments come as the kernel takes, whatever their count says.
  bool countsArguments = true;
};

struct DeviceProperties {
  std::string name; ///< for people
  std::string chip; ///< as NVVM spells it: "sm_90a"
  unsigned multiprocessors = 0;
  size_t sharedMemoryPerBlock = 0;
  size_t l2Bytes = 0;
  size_t globalBytes = 0;
  unsigned memoryBandwidth = 0; ///< in GB/s; 0: unknown
  unsigned maxClusterSize = 1; ///< in blocks
  int driverVersion = 0;       ///< 13000 is 13.0; 0 for the emulator
};

/// What the compiled kernel needs, as the device reports it.
struct KernelInfo {
  unsigned registers = 0;
  unsigned spillBytes = 0; ///< of registers in local memory, a thread
  unsigned sharedMemoryBytes = 0;
  unsigned maxThreads = 0;
  /// The module has a global `<kernel>_cooperative`: every launch of the kernel
  /// is a cooperative one.
  bool cooperative = false;
  /// The module has a global `<kernel>_dependent`: the kernel waits for the
  /// launch before it by itself (griddepcontrol.wait).
  bool programmaticDependent = false;
};

/// Opaque handles; owned by the device.
using ModuleHandle = void *;
using KernelHandle = void *;
using StreamHandle = void *;
using EventHandle = void *;
using GraphHandle = void *;

class Device {
public:
  virtual ~Device() = default;
  virtual const DeviceProperties &getProperties() const = 0;
  virtual bool isEmulator() const = 0;

  /// Loads a cubin, PTX, fatbin or emulator image. An image that was loaded
  /// before gives the same handle.
  virtual llvm::Expected<ModuleHandle> loadModule(llvm::ArrayRef<char> image) = 0;
  virtual llvm::Expected<KernelHandle> getKernel(ModuleHandle module,
                                                 llvm::StringRef name) = 0;
  virtual llvm::Expected<KernelInfo> getKernelInfo(KernelHandle kernel) = 0;
  /// Largest number of clusters of `config` that are resident at once. Without
  /// a kernel: of one that needs no more than `config` says.
  virtual llvm::Expected<unsigned>
  getMaxActiveClusters(KernelHandle kernel, const LaunchConfig &config) = 0;

  /// `hostVisible` memory can be read and written by the host too.
  virtual llvm::Expected<void *> allocate(size_t bytes, bool hostVisible) = 0;
  virtual void deallocate(void *pointer) = 0;
  /// Copies between any two of host and device memory.
  virtual llvm::Error copy(void *target, const void *source, size_t bytes,
                           StreamHandle stream) = 0;
  virtual llvm::Error fill32(void *target, uint32_t value, size_t count,
                             StreamHandle stream) = 0;

  virtual llvm::Expected<StreamHandle> createStream() = 0;
  virtual void destroyStream(StreamHandle stream) = 0;
  /// Fails with what went wrong in the stream's kernels.
  virtual llvm::Error synchronize(StreamHandle stream) = 0;

  /// `arguments[i]` points to the i-th kernel argument.
  virtual llvm::Error launch(KernelHandle kernel, const LaunchConfig &config,
                             llvm::ArrayRef<void *> arguments,
                             StreamHandle stream) = 0;

  virtual llvm::Expected<EventHandle> createEvent() = 0;
  virtual void destroyEvent(EventHandle event) = 0;
  virtual llvm::Error recordEvent(EventHandle event, StreamHandle stream) = 0;
  virtual llvm::Expected<double> elapsedMicroseconds(EventHandle start,
                                                     EventHandle stop) = 0;

  /// Between these, launches of `stream` are recorded and not run.
  virtual llvm::Error beginCapture(StreamHandle stream) = 0;
  virtual bool isCapturing(StreamHandle stream) = 0;
  virtual llvm::Expected<GraphHandle> endCapture(StreamHandle stream) = 0;
  virtual llvm::Error launchGraph(GraphHandle graph, StreamHandle stream) = 0;
  virtual void destroyGraph(GraphHandle graph) = 0;
};

/// Error classes that the tools turn into exit codes.
enum class ErrorKind {
  noDevice,     ///< no driver, no such device, driver too old
  outOfMemory,  ///< of the device
  kernelFailed, ///< trapped, illegal access, hung
  other
};
class DeviceError : public llvm::ErrorInfo<DeviceError> {
public:
  static char ID;
  DeviceError(ErrorKind kind, std::string message)
      : kind(kind), text(std::move(message)) {}
  ErrorKind getKind() const { return kind; }
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  ErrorKind kind;
  std::string text;
};

llvm::Error makeError(ErrorKind kind, const llvm::Twine &message);

/// An error if `config` counts its arguments and there aren't as many as
/// `kernel` takes.
llvm::Error checkArgumentCount(const LaunchConfig &config,
                               llvm::StringRef kernel, size_t taken,
                               size_t given);

/// Seconds after which a kernel counts as hung: NORM_FUSION_KERNEL_TIMEOUT, or
/// `byDefault` if that isn't set to a positive number.
double getKernelTimeout(double byDefault);
/// What is said of a kernel that took longer.
std::string describeHang(double seconds);

/// The key under which a device keeps what it made of an image.
std::string hashImage(llvm::ArrayRef<char> image);

/// Opens the driver (libcuda.so.1) and the device `ordinal`.
llvm::Expected<std::unique_ptr<Device>> createCudaDevice(int ordinal);
/// Number of CUDA devices; 0 where there is no driver.
unsigned countCudaDevices();

/// The virtual device of the emulator.
struct EmulatorOptions {
  unsigned sms = 16;
  size_t sharedMemory = 227 * 1024; ///< bytes a block
  unsigned maxCluster = 16;          ///< blocks
  uint64_t orderSeed = 0;           ///< 0: threads run in order
  bool races = true;                ///< report accesses without ordering
  uint64_t weak = 0; ///< seed of when others see a store; 0: at once
  size_t memory = size_t(64) << 30; ///< bytes of the device
  /// Kernels for blocks of more threads are said to spill; 0: none are.
  unsigned spillThreads = 0;
  /// Parses "sms=8 shared-memory=65536 max-cluster=4 order-seed=1 races=0
  /// weak=1 spill-threads=256".
  static llvm::Expected<EmulatorOptions> parse(llvm::StringRef text);
};
llvm::Expected<std::unique_ptr<Device>>
createEmulatorDevice(const EmulatorOptions &options);

//===----------------------------------------------------------------------===//
// What JIT-compiled host code calls
//===----------------------------------------------------------------------===//

/// Clusters of `cluster` blocks of `threads` threads that `device` runs at once
/// with one block a multiprocessor; 0 if it has no such clusters or can't say.
unsigned getMaxActiveClusters(Device &device, unsigned cluster,
                              unsigned threads);

/// The device, stream and first error of host code that runs on this thread.
/// While an error is set, the mgpu* functions do nothing.
class HostContext {
public:
  HostContext(Device &device, StreamHandle stream);
  ~HostContext();
  /// The context that this thread's host code uses.
  static HostContext *getCurrent();
  Device &getDevice() { return device; }
  StreamHandle getStream() { return stream; }
  void setError(llvm::Error error);
  bool hasError();
  llvm::Error takeError();
  /// Memory that host code allocated and didn't free; the caller frees what it
  /// has taken over with Device::deallocate and leaves the rest to this.
  std::vector<void *> &getAllocations() { return allocations; }

private:
  Device &device;
  StreamHandle stream;
  llvm::Error error;
  std::vector<void *> allocations;
  HostContext *previous;
};

/// Names and addresses of the mgpu* functions of upstream's gpu-to-llvm and of
///   index norm_fusion_multiprocessor_count()
///   index norm_fusion_max_active_clusters(index cluster, index threads):
///     with one block a multiprocessor
///   index norm_fusion_workspace(index bytes, index kernel): zeroed once,
///     private to the kernel's number and the stream
/// to register with the JIT.
std::vector<std::pair<llvm::StringRef, void *>> getHostSymbols();

/// Frees the workspaces of a stream of `device`, or of all. Call before the
/// stream, or the device, goes.
void releaseWorkspaces(Device &device,
                       std::optional<StreamHandle> stream = std::nullopt);

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_DEVICE_H
