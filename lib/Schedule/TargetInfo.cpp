//===- TargetInfo.cpp - The table of chips --------------------------------===//
//
// Sources: CUDA C++ Programming Guide 13.0, "Compute Capabilities"; PTX ISA on
// parameters (more of them since 8.1); GB/s from clock and bus of an H200's
// memory (3201 MHz, 6144 lines), else from data sheets (A100 of 80 GB, RTX
// A6000, B200, RTX 5090); bytes in flight measured with ring kernels on an H200
// (32 to 48 KiB is best, deeper rings delay the first row), taken over for the
// others in proportion to their bandwidth a multiprocessor.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Schedule/TargetInfo.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir::norm_fusion;

/// Parts of one chip that differ less in their memory's bandwidth than one in
/// so many parts of it are the same to a schedule.
static constexpr unsigned kSameBandwidth = 10;

std::optional<TargetInfo> TargetInfo::get(llvm::StringRef chip,
                                          unsigned memoryBandwidth) {
  // clang-format off
  //                        SMs  smem        regs   max  GB/s  in flight  param cl async bulk
  const TargetInfo sm80 = {108, 163 * 1024, 65536, 255, 2039, 32 * 1024, 4352, 1, true, false, "+ptx80"};
  const TargetInfo sm86 = {84, 99 * 1024, 65536, 255, 768, 24 * 1024, 4352, 1, true, false, "+ptx80"};
  const TargetInfo sm90 = {132, 227 * 1024, 65536, 255, 4917, 64 * 1024, 32764, 16, true, true, "+ptx81"};
  const TargetInfo sm100 = {148, 227 * 1024, 65536, 255, 8000, 96 * 1024, 32764, 16, true, true, "+ptx88"};
  const TargetInfo sm120 = {188, 99 * 1024, 65536, 255, 1792, 32 * 1024, 32764, 8, true, true, "+ptx90"};
  // clang-format on
  auto target = llvm::StringSwitch<std::optional<TargetInfo>>(chip)
                    .Case("sm_80", sm80)
                    .Cases({"sm_86", "sm_89"}, sm86)
                    .Cases({"sm_90", "sm_90a"}, sm90)
                    .Cases({"sm_100", "sm_100a", "sm_103", "sm_103a"}, sm100)
                    .Cases({"sm_120", "sm_120a"}, sm120)
                    .Default(std::nullopt);
  if (!target || memoryBandwidth == 0)
    return target;
  unsigned usual = target->memoryBandwidth;
  if (llvm::AbsoluteDifference<uint64_t>(memoryBandwidth, usual) *
          kSameBandwidth <=
      usual)
    return target;
  // Little's law: a multiprocessor's share of the bandwidth, times a latency
  // that is the same.
  target->bytesInFlight = std::clamp<uint64_t>(
      uint64_t(target->bytesInFlight) * memoryBandwidth / usual, 16 * 1024,
      target->sharedMemoryBytes);
  return target;
}

unsigned TargetInfo::getClusters(unsigned size) const {
  // Multiprocessors of an H200's 132 that clusters of 1 to 8 blocks run on (its
  // GPCs differ in size), and those of 16.
  constexpr unsigned all = 132, large = 112;
  constexpr unsigned busy[] = {132, 132, 117, 120, 110, 102, 105, 120};
  unsigned share = size <= std::size(busy) ? busy[size - 1] : large;
  return multiprocessors * share / all / size;
}
