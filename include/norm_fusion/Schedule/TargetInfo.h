//===- TargetInfo.h - What the schedule knows of a chip ---------*- C++ -*-===//
//
// The one place that knows chips. Numbers are per multiprocessor or per thread
// as the vendor documents them; nothing here is found at run time: the number
// of multiprocessors that a launch uses is asked of the device. What one chip's
// parts differ in enough to matter to a schedule, their memory, is an argument.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_SCHEDULE_TARGETINFO_H
#define NORM_FUSION_SCHEDULE_TARGETINFO_H

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mlir::norm_fusion {

struct TargetInfo {
  unsigned multiprocessors;   ///< of the usual part, to estimate with
  unsigned sharedMemoryBytes; ///< that one block can have
  unsigned registers;         ///< 32-bit registers a multiprocessor
  unsigned maxRegisters;      ///< that one thread can have
  unsigned memoryBandwidth;   ///< of the usual part, in GB/s
  unsigned bytesInFlight;     ///< a multiprocessor needs to keep memory busy
  unsigned parameterBytes;    ///< that one kernel can take
  unsigned maxCluster;        ///< blocks; 1 where there are no clusters
  bool hasAsyncCopy;          ///< cp.async (sm_80)
  bool hasBulkCopy;           ///< cp.async.bulk and mbarriers (sm_90)
  llvm::StringRef features;   ///< PTX version for NVVM, "+ptx80"

  /// Clusters of `size` blocks that the usual part runs at once, a block a
  /// multiprocessor.
  unsigned getClusters(unsigned size) const;

  /// What get() knows, for messages.
  static constexpr llvm::StringLiteral chips =
      "sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_103, sm_103a, "
      "sm_120 or sm_120a";

  /// Null for a chip that is none of these. `memoryBandwidth`, in
  /// GB/s, is that of another part than the usual one (0: the usual one): the
  /// bytes in flight are in proportion, unless it is within a tenth.
  static std::optional<TargetInfo> get(llvm::StringRef chip,
                                       unsigned memoryBandwidth = 0);
};

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_SCHEDULE_TARGETINFO_H
