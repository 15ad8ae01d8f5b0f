//===- EmulatorABI.h - What emulated kernels and the emulator share -------===//
//
// A kernel compiled for the emulator is a host object file that calls
// `nf_emu_*` functions. This file holds the numbers that both sides must agree
// on; the compiler side is lib/Target/Emulator, the other lib/Runtime/Emulator.
//
// Of a kernel `k` the object file defines
//   void k(void **arguments)   arguments[i] points to the i-th argument
//   uint32_t k.info[]          a KernelRecord, then the arguments' sizes
// and of the module
//   ModuleRecord nf_emu_module the address ranges of its global variables
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_TARGET_EMULATOR_EMULATORABI_H
#define NORM_FUSION_TARGET_EMULATOR_EMULATORABI_H

#include <cstdint>

namespace mlir::norm_fusion::emulator {

/// Changes with anything in this file.
constexpr uint32_t abiVersion = 1;

/// Of the arrays of a thread's own.
constexpr uint32_t maxLocalBytes = 32 * 1024;

/// Special registers, read with `uint32_t nf_emu_register(uint32_t)`.
enum class Register : uint32_t {
  tidX,
  tidY,
  tidZ,
  ntidX,
  ntidY,
  ntidZ,
  ctaidX,
  ctaidY,
  ctaidZ,
  nctaidX,
  nctaidY,
  nctaidZ,
  clusteridX,
  clusteridY,
  clusteridZ,
  nclusteridX,
  nclusteridY,
  nclusteridZ,
  clusterCtaidX,
  clusterCtaidY,
  clusterCtaidZ,
  clusterNctaidX,
  clusterNctaidY,
  clusterNctaidZ,
  clusterCtarank,
  clusterNctarank,
  laneid,
  warpid,
  nwarpid,
  warpsize,
  smid,
  nsmid,
  gridid,
  lanemaskEq,
  lanemaskLe,
  lanemaskLt,
  lanemaskGe,
  lanemaskGt,
  totalSmemSize,
  dynamicSmemSize,
  aggrSmemSize,
};

enum class AccessKind : uint32_t { read, write, update };
/// Volatile counts as relaxed at system scope, as in PTX.
enum class Ordering : uint32_t {
  plain,
  volatile_,
  relaxed,
  acquire,
  release,
  acquireRelease,
  sequential
};
enum class Scope : uint32_t { block, cluster, device, system };
/// The address space that an access claims to be in.
enum class Space : uint32_t {
  generic = 0,
  global = 1,
  shared = 3,
  cluster = 7
};

/// One access, packed into the last argument of nf_emu_access().
struct AccessInfo {
  AccessKind kind = AccessKind::read;
  Ordering ordering = Ordering::plain;
  Scope scope = Scope::system;
  Space space = Space::generic;
  uint32_t alignment = 1; ///< bytes, a power of two
  constexpr uint32_t pack() const {
    uint32_t shift = 0;
    while ((1u << shift) < alignment)
      ++shift;
    return uint32_t(kind) | uint32_t(ordering) << 4 | uint32_t(scope) << 8 |
           uint32_t(space) << 12 | shift << 16;
  }
  static constexpr AccessInfo unpack(uint32_t bits) {
    return {AccessKind(bits & 15), Ordering(bits >> 4 & 15),
            Scope(bits >> 8 & 15), Space(bits >> 12 & 15),
            1u << (bits >> 16 & 31)};
  }
};

enum class ShuffleKind : uint32_t { up, down, butterfly, index };
enum class VoteKind : uint32_t { any, all, uniform, ballot };
enum class ReduceKind : uint32_t {
  add,
  and_,
  or_,
  xor_,
  min,
  max,
  umin,
  umax,
  fmin,
  fmax,
  fminNaN,
  fmaxNaN,
  fminAbs,
  fmaxAbs,
  fminAbsNaN,
  fmaxAbsNaN
};
enum class BarrierKind : uint32_t {
  sync,
  arrive,
  reduceAnd,
  reduceOr,
  reducePopc
};

/// mbarrier.arrive in its forms.
enum ArriveFlags : uint32_t {
  arriveDrop = 1,
  arriveRelaxed = 2,
  arriveClusterScope = 4,
};

struct KernelRecord {
  uint32_t version;
  uint32_t staticShared;  ///< bytes that the kernel's own variables take
  uint32_t dynamicShared; ///< where dynamic shared memory starts
  uint32_t maxThreads;    ///< 0: not given
  uint32_t requiredThreads[3];
  uint32_t cluster[3]; ///< 0: not given
  uint32_t arguments;  ///< how many; their sizes in bytes follow
};

struct GlobalRecord {
  const void *address;
  uint64_t size;
};
struct ModuleRecord {
  uint64_t globals;
  GlobalRecord records[1];
};

} // namespace mlir::norm_fusion::emulator

#endif // NORM_FUSION_TARGET_EMULATOR_EMULATORABI_H
