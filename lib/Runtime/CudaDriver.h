//===- CudaDriver.h - The part of the CUDA driver that we call --*- C++ -*-===//
//
// Types, numbers and functions of libcuda.so.1, declared here so that nothing
// of CUDA is needed to build, and looked up when the first device is opened.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_RUNTIME_CUDADRIVER_H
#define NORM_FUSION_LIB_RUNTIME_CUDADRIVER_H

#include "llvm/Support/Error.h"
#include <cstddef>
#include <cstdint>

namespace mlir::norm_fusion::runtime::cuda {

using Result = int;
using DeviceNumber = int;
using Pointer = uint64_t;
using Context = struct ContextImpl *;
using Module = struct ModuleImpl *;
using Function = struct FunctionImpl *;
using Stream = struct StreamImpl *;
using Event = struct EventImpl *;
using Graph = struct GraphImpl *;
using GraphExec = struct GraphExecImpl *;

enum : Result {
  success = 0,
  outOfMemory = 2,
  noDevice = 100,
  invalidDevice = 101,
  noBinaryForGPU = 209,
  invalidPtx = 218,
  unsupportedPtx = 222,
  notReady = 600,
  illegalAddress = 700,
  outOfResources = 701,
  launchTimeout = 702,
  assertFailed = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidProgramCounter = 718,
  launchFailed = 719,
  cooperativeTooLarge = 720,
};

enum DeviceAttribute : int {
  multiprocessorCount = 16,
  memoryClockRate = 36,
  memoryBusWidth = 37,
  l2CacheSize = 38,
  computeMajor = 75,
  computeMinor = 76,
  sharedMemoryOptin = 97,
  clusterLaunch = 120,
};

enum FunctionAttribute : int {
  maxThreadsPerBlock = 0,
  sharedSizeBytes = 1,
  localSizeBytes = 3,
  registerCount = 4,
  maxDynamicSharedBytes = 8,
  nonPortableClusterSize = 14,
};

enum MemoryAdvice : int { preferredLocation = 3 };
enum JitOption : int { errorLogBuffer = 5, errorLogBufferBytes = 6 };
enum : unsigned {
  attachGlobal = 1,
  streamNonBlocking = 1,
  captureRelaxed = 2, // allocations don't end it
  captureActive = 1,
};

enum LaunchAttributeId : int {
  cooperative = 2,
  clusterDimension = 4,
  programmaticStreamSerialization = 6,
};
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int number;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);
struct LaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchConfig) == 56);

/// Every function that we need: result type, name in the library, our name and
/// arguments.
#define NORM_FUSION_CUDA_FUNCTIONS(F)                                          \
  F(cuInit, init, (unsigned))                                                  \
  F(cuDriverGetVersion, driverGetVersion, (int *))                             \
  F(cuGetErrorName, getErrorName, (Result, const char **))                     \
  F(cuGetErrorString, getErrorString, (Result, const char **))                 \
  F(cuDeviceGetCount, deviceGetCount, (int *))                                 \
  F(cuDeviceGet, deviceGet, (DeviceNumber *, int))                             \
  F(cuDeviceGetName, deviceGetName, (char *, int, DeviceNumber))               \
  F(cuDeviceTotalMem_v2, deviceTotalMem, (size_t *, DeviceNumber))             \
  F(cuDeviceGetAttribute, deviceGetAttribute, (int *, int, DeviceNumber))      \
  F(cuDevicePrimaryCtxRetain, primaryContextRetain, (Context *, DeviceNumber)) \
  F(cuDevicePrimaryCtxRelease_v2, primaryContextRelease, (DeviceNumber))       \
  F(cuCtxSetCurrent, contextSetCurrent, (Context))                             \
  F(cuModuleLoadDataEx, moduleLoadData,                                        \
    (Module *, const void *, unsigned, int *, void **))                        \
  F(cuModuleUnload, moduleUnload, (Module))                                    \
  F(cuModuleGetFunction, moduleGetFunction,                                    \
    (Function *, Module, const char *))                                        \
  F(cuModuleGetGlobal_v2, moduleGetGlobal,                                     \
    (Pointer *, size_t *, Module, const char *))                               \
  F(cuFuncGetAttribute, functionGetAttribute, (int *, int, Function))          \
  F(cuFuncSetAttribute, functionSetAttribute, (Function, int, int))            \
  F(cuLaunchKernelEx, launchKernel,                                            \
    (const cuda::LaunchConfig *, Function, void **, void **))                  \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, occupancyBlocks,              \
    (int *, Function, int, size_t))                                            \
  F(cuOccupancyMaxActiveClusters, occupancyClusters,                           \
    (int *, Function, const cuda::LaunchConfig *))                             \
  F(cuMemAlloc_v2, memoryAllocate, (Pointer *, size_t))                        \
  F(cuMemFree_v2, memoryFree, (Pointer))                                       \
  F(cuMemAllocManaged, memoryAllocateManaged, (Pointer *, size_t, unsigned))   \
  F(cuMemAdvise, memoryAdvise, (Pointer, size_t, int, DeviceNumber))           \
  F(cuMemcpyAsync, memoryCopy, (Pointer, Pointer, size_t, Stream))             \
  F(cuMemsetD32Async, memorySet32, (Pointer, unsigned, size_t, Stream))        \
  F(cuStreamCreate, streamCreate, (Stream *, unsigned))                        \
  F(cuStreamDestroy_v2, streamDestroy, (Stream))                               \
  F(cuStreamQuery, streamQuery, (Stream))                                      \
  F(cuStreamSynchronize, streamSynchronize, (Stream))                          \
  F(cuStreamIsCapturing, streamIsCapturing, (Stream, int *))                   \
  F(cuStreamBeginCapture_v2, streamBeginCapture, (Stream, int))                \
  F(cuStreamEndCapture, streamEndCapture, (Stream, Graph *))                   \
  F(cuEventCreate, eventCreate, (Event *, unsigned))                           \
  F(cuEventDestroy_v2, eventDestroy, (Event))                                  \
  F(cuEventRecord, eventRecord, (Event, Stream))                               \
  F(cuEventElapsedTime, eventElapsedTime, (float *, Event, Event))             \
  F(cuGraphInstantiateWithFlags, graphInstantiate,                             \
    (GraphExec *, Graph, unsigned long long))                                  \
  F(cuGraphLaunch, graphLaunch, (GraphExec, Stream))                           \
  F(cuGraphDestroy, graphDestroy, (Graph))                                     \
  F(cuGraphExecDestroy, graphExecDestroy, (GraphExec))

/// The library's functions, once it is open.
struct Driver {
#define F(symbol, name, arguments) Result(*name) arguments = nullptr;
  NORM_FUSION_CUDA_FUNCTIONS(F)
#undef F
  int version = 0;

  /// Opens the library once a process; fails if there is none, if it is too
  /// old or if it finds no device.
  static llvm::Expected<const Driver *> get();
  /// `what` failed with `result`.
  llvm::Error makeError(Result result, const llvm::Twine &what) const;
};

} // namespace mlir::norm_fusion::runtime::cuda

#endif // NORM_FUSION_LIB_RUNTIME_CUDADRIVER_H
