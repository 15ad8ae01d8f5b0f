//===- CudaPool.cpp - Memory of a CUDA device -----------------------------===//
//
// Small sizes are rounded to a power of two and large ones to 2 MiB, so that
// sizes that are nearly the same share what was freed.
//
//===----------------------------------------------------------------------===//

#include "CudaPool.h"

#include "norm_fusion/Runtime/Device.h"
#include <algorithm>

using namespace mlir::norm_fusion::runtime;

static size_t roundUp(size_t bytes) {
  constexpr size_t large = size_t(2) << 20;
  if (bytes > large)
    return (bytes + large - 1) / large * large;
  size_t size = 512;
  while (size < bytes)
    size *= 2;
  return size;
}

llvm::Expected<void *> CudaPool::allocate(size_t bytes, bool hostVisible) {
  size_t size = std::max(roundUp(bytes), bytes); // it may wrap
  std::lock_guard lock(mutex);
  Spare &spare = hostVisible ? spareHost : spareDevice;
  if (auto found = spare.find(size);
      found != spare.end() && !found->second.empty()) {
    void *pointer = found->second.pop_back_val();
    live[pointer] = {size, hostVisible};
    return pointer;
  }
  void *pointer = nullptr;
  cuda::Result result = take(size, hostVisible, pointer);
  if (result == cuda::outOfMemory) {
    releaseSpare();
    result = take(size, hostVisible, pointer);
  }
  if (result)
    return driver.makeError(result, "can't allocate " + llvm::Twine(bytes) +
                                        " bytes on the device");
  live[pointer] = {size, hostVisible};
  return pointer;
}

void CudaPool::deallocate(void *pointer) {
  std::lock_guard lock(mutex);
  auto entry = live.find(pointer);
  if (entry == live.end())
    return;
  auto [size, hostVisible] = entry->second;
  live.erase(entry);
  (hostVisible ? spareHost : spareDevice)[size].push_back(pointer);
}

void CudaPool::clear() {
  std::lock_guard lock(mutex);
  for (auto &[pointer, block] : live)
    give(pointer);
  live.clear();
  releaseSpare();
}

cuda::Result CudaPool::take(size_t size, bool hostVisible, void *&pointer) {
  cuda::Pointer address = 0;
  cuda::Result result =
      hostVisible
          ? driver.memoryAllocateManaged(&address, size, cuda::attachGlobal)
          : driver.memoryAllocate(&address, size);
  pointer = reinterpret_cast<void *>(address);
  // Kernels use it more than the host does. Only a hint: it may fail.
  if (hostVisible && result == cuda::success)
    driver.memoryAdvise(address, size, cuda::preferredLocation, number);
  return result;
}

void CudaPool::give(void *pointer) {
  driver.memoryFree(reinterpret_cast<cuda::Pointer>(pointer));
}

void CudaPool::releaseSpare() {
  for (bool hostVisible : {false, true}) {
    Spare &spare = hostVisible ? spareHost : spareDevice;
    for (auto &[size, pointers] : spare)
      for (void *pointer : pointers)
        give(pointer);
    spare.clear();
  }
}
