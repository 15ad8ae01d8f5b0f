//===- CudaPool.h - Memory of a CUDA device ---------------------*- C++ -*-===//
//
// Device memory by size: what is freed waits for its next use, so that
// allocating works while a stream is captured. What the host sees too is
// managed memory: it may touch it when no kernel runs.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_RUNTIME_CUDAPOOL_H
#define NORM_FUSION_LIB_RUNTIME_CUDAPOOL_H

#include "CudaDriver.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <mutex>

namespace mlir::norm_fusion::runtime {

/// Safe from several threads; the context must be current.
class CudaPool {
public:
  CudaPool(const cuda::Driver &driver, cuda::DeviceNumber number)
      : driver(driver), number(number) {}

  llvm::Expected<void *> allocate(size_t bytes, bool hostVisible);
  void deallocate(void *pointer);
  /// Gives everything back to the driver.
  void clear();

private:
  cuda::Result take(size_t size, bool hostVisible, void *&pointer);
  void give(void *pointer);
  void releaseSpare();

  using Spare = llvm::DenseMap<size_t, llvm::SmallVector<void *>>;
  const cuda::Driver &driver;
  cuda::DeviceNumber number;
  std::mutex mutex;
  llvm::DenseMap<void *, std::pair<size_t, bool>> live;
  Spare spareDevice, spareHost;
};

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_LIB_RUNTIME_CUDAPOOL_H
