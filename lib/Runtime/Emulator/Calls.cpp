//===- Calls.cpp - The functions that emulated kernels call ---------------===//
//
// `nf_emu_*`, as lib/Target/Emulator emits calls of them, and what else an
// object file needs: the C library's mathematics, and conversions to half and
// bfloat16 that libgcc lacks.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "norm_fusion/Runtime/HalfConversions.h"

#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cmath>
#include <cstring>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;

static Machine &machine() { return Machine::get(); }

//===----------------------------------------------------------------------===//
// Registers, memory
//===----------------------------------------------------------------------===//

static uint32_t nf_emu_register(uint32_t which) {
  Machine &m = machine();
  const Fiber &fiber = m.self();
  const Block &block = *fiber.block;
  const LaunchConfig &config = m.config;
  auto at = [&](const Dim3 &dim, uint32_t axis) {
    return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
  };
  Register reg = Register(which);
  auto axis = [&](Register first) { return which - uint32_t(first); };
  if (reg <= Register::tidZ)
    return fiber.tid[axis(Register::tidX)];
  if (reg <= Register::ntidZ)
    return at(config.block, axis(Register::ntidX));
  if (reg <= Register::ctaidZ)
    return block.id[axis(Register::ctaidX)];
  if (reg <= Register::nctaidZ)
    return at(config.grid, axis(Register::nctaidX));
  if (reg <= Register::clusteridZ)
    return block.cluster->id[axis(Register::clusteridX)];
  if (reg <= Register::nclusteridZ)
    return at(config.grid, axis(Register::nclusteridX)) /
           at(config.cluster, axis(Register::nclusteridX));
  if (reg <= Register::clusterCtaidZ)
    return block.id[axis(Register::clusterCtaidX)] %
           at(config.cluster, axis(Register::clusterCtaidX));
  if (reg <= Register::clusterNctaidZ)
    return at(config.cluster, axis(Register::clusterNctaidX));
  switch (reg) {
  case Register::clusterCtarank:
    return block.rank;
  case Register::clusterNctarank:
    return block.cluster->blocks.size();
  case Register::laneid:
    return fiber.lane;
  case Register::warpid:
    return fiber.warp->index;
  case Register::nwarpid:
    return block.warps.size();
  case Register::warpsize:
    return 32;
  case Register::smid:
    return block.linear % m.options.sms;
  case Register::nsmid:
    return m.options.sms;
  case Register::gridid:
    return m.launchNumber;
  case Register::lanemaskEq:
    return 1u << fiber.lane;
  case Register::lanemaskLe:
    return ~0u >> (31 - fiber.lane);
  case Register::lanemaskLt:
    return (1u << fiber.lane) - 1;
  case Register::lanemaskGe:
    return ~0u << fiber.lane;
  case Register::lanemaskGt:
    return ~0u << fiber.lane << 1;
  case Register::totalSmemSize:
    return m.sharedBytes;
  case Register::dynamicSmemSize:
    return m.config.dynamicSharedMemory;
  case Register::aggrSmemSize:
    return m.sharedBytes;
  default:
    m.trap("unknown special register");
  }
}

static uint64_t nf_emu_clock() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
static void *nf_emu_shared() { return machine().self().block->shared; }

static void nf_emu_access(void *address, uint64_t bytes, uint32_t info) {
  Machine &m = machine();
  AccessInfo unpacked = AccessInfo::unpack(info);
  m.access(uintptr_t(address), bytes, unpacked);
  m.publish(uintptr_t(address), bytes, unpacked);
}
static void nf_emu_atomic_access(void *address, uint64_t bytes, uint32_t info) {
  Machine &m = machine();
  AccessInfo unpacked = AccessInfo::unpack(info);
  m.poll(uintptr_t(address), unpacked);
  m.access(uintptr_t(address), bytes, unpacked);
  m.publish(uintptr_t(address), bytes, unpacked);
}
static void nf_emu_masked_access(void *address, uint64_t bytes, uint64_t mask,
                                 uint32_t info) {
  AccessInfo unpacked = AccessInfo::unpack(info);
  uint32_t whole = unpacked.alignment;
  unpacked.alignment = std::min<uint32_t>(whole, bytes);
  for (uintptr_t lane = uintptr_t(address); mask; mask >>= 1, lane += bytes)
    if (mask & 1) {
      machine().access(lane, bytes, unpacked);
      machine().publish(lane, bytes, unpacked);
    }
}
static void nf_emu_fence(uint32_t ordering, uint32_t scope) {
  Machine &m = machine();
  m.races.fence(m.self(), Ordering(ordering), Scope(scope));
  if (Ordering(ordering) != Ordering::acquire)
    m.weak.release(m.self(), Scope(scope));
}
static void nf_emu_fence_proxy() {}
static void nf_emu_fence_mbarrier_init() { machine().fenceMBarrierInit(); }
static void nf_emu_turn() { machine().countWork(); }
static void nf_emu_division(uint32_t wrong) {
  if (wrong)
    machine().trap("integer division by zero, or whose result doesn't fit");
}
static void nf_emu_trap() { machine().trap("trap instruction"); }
static void nf_emu_assertfail(const char *message, const char *file,
                              uint32_t line, const char *, uint64_t) {
  machine().trap("assertion failed: " + llvm::Twine(message) + " (" + file +
                 ":" + llvm::Twine(line) + ")");
}
static uint32_t nf_emu_isspacep(void *address, uint32_t space) {
  Machine &m = machine();
  Block *block = m.findShared(uintptr_t(address));
  switch (Space(space)) {
  case Space::shared:
    return block == m.self().block;
  case Space::cluster:
    return block && block->cluster == m.self().block->cluster;
  default:
    return m.isGlobal(uintptr_t(address), 1);
  }
}
static void *nf_emu_mapa(void *address, uint32_t rank) {
  Machine &m = machine();
  Block *block = m.findShared(uintptr_t(address));
  Cluster &cluster = *m.self().block->cluster;
  if (!block || block->cluster != &cluster)
    m.trap("mapa: the address isn't in the cluster's shared memory");
  if (rank >= cluster.blocks.size())
    m.trap("mapa: block " + llvm::Twine(rank) + " of a cluster of " +
           llvm::Twine(cluster.blocks.size()));
  return cluster.blocks[rank]->shared +
         (static_cast<uint8_t *>(address) - block->shared);
}
static uint32_t nf_emu_getctarank(void *address) {
  Block *block = machine().findShared(uintptr_t(address));
  if (!block)
    machine().trap("getctarank: the address isn't in shared memory");
  return block->rank;
}

//===----------------------------------------------------------------------===//
// Synchronisation
//===----------------------------------------------------------------------===//

static uint32_t nf_emu_barrier(uint32_t kind, uint32_t id, uint32_t count,
                               uint32_t predicate) {
  Machine &m = machine();
  m.weak.release(m.self(), Scope::block);
  return m.barrier(BarrierKind(kind), id, count, predicate);
}
// The operation's number is the order of the names in Sync.cpp.
static uint64_t nf_emu_shuffle(uint32_t kind, uint32_t mask, uint32_t value,
                               uint32_t offset, uint32_t clamp) {
  return machine().collective(kind << 8 | 0, mask, value, offset, clamp);
}
static uint32_t nf_emu_vote(uint32_t kind, uint32_t mask, uint32_t predicate) {
  return machine().collective(kind << 8 | 1, mask, predicate, 0, 0);
}
static uint32_t nf_emu_reduce(uint32_t kind, uint32_t mask, uint32_t value) {
  return machine().collective(kind << 8 | 2, mask, value, 0, 0);
}
static uint64_t nf_emu_match(uint32_t all, uint32_t mask, uint64_t value) {
  return machine().collective(all << 8 | 3, mask, value, 0, 0);
}
static void nf_emu_warp_sync(uint32_t mask) {
  Machine &m = machine();
  m.weak.release(m.self(), Scope::block);
  m.collective(4, mask, 0, 0, 0);
}
static uint64_t nf_emu_elect(uint32_t mask) {
  return machine().collective(5, mask, 0, 0, 0);
}
static void nf_emu_ldmatrix(void *row, void *target, uint32_t matrices,
                            uint32_t transposed) {
  Machine &m = machine();
  if (~m.self().warp->exists & llvm::maskTrailingOnes<uint32_t>(matrices * 8))
    m.trap("ldmatrix: rows of lanes that the block doesn't have");
  if (m.self().lane < matrices * 8) {
    AccessInfo info;
    info.space = Space::shared;
    info.alignment = 16;
    m.access(uintptr_t(row), 16, info);
  }
  m.collective(transposed << 16 | matrices << 8 | 6, ~0u, uintptr_t(row),
               uint32_t(uintptr_t(target)), uintptr_t(target) >> 32);
}
static uint32_t nf_emu_activemask() {
  // Which lanes run together isn't defined; one alone always is.
  return 1u << machine().self().lane;
}
static void nf_emu_cluster_arrive(uint32_t relaxed) {
  Machine &m = machine();
  if (!relaxed)
    m.weak.release(m.self(), Scope::cluster);
  m.clusterArrive(relaxed);
}
static void nf_emu_cluster_wait() { machine().clusterWait(); }
/// Caches aren't modelled: only a look at where it is.
static void nf_emu_prefetch(const void *address) {
  if (!machine().isGlobal(uintptr_t(address), 1))
    machine().trap("out of bounds: prefetches " +
                   machine().describe(uintptr_t(address)));
}
static void nf_emu_griddep_wait() { machine().self().dependencyWaited = true; }
static void nf_emu_griddep_launch() {}
static void nf_emu_nanosleep(uint32_t) { machine().yield(); }
static void nf_emu_exit() {
  Machine &m = machine();
  m.fiberExited(m.self());
  m.leave();
}

static void nf_emu_mbarrier_init(void *barrier, uint32_t count) {
  machine().mbarrierInit(uintptr_t(barrier), count);
}
static void nf_emu_mbarrier_inval(void *barrier) {
  machine().mbarrierInval(uintptr_t(barrier));
}
static uint64_t nf_emu_mbarrier_arrive(void *barrier, uint32_t count,
                                       uint32_t bytes, uint32_t flags) {
  Machine &m = machine();
  if (!(flags & arriveRelaxed))
    m.weak.release(m.self(),
                   flags & arriveClusterScope ? Scope::cluster : Scope::block);
  return m.mbarrierArrive(uintptr_t(barrier), count, bytes, flags);
}
static void nf_emu_mbarrier_expect_tx(void *barrier, uint32_t bytes) {
  machine().mbarrierTransactions(uintptr_t(barrier), bytes);
}
static void nf_emu_mbarrier_complete_tx(void *barrier, uint32_t bytes) {
  machine().mbarrierTransactions(uintptr_t(barrier), -int64_t(bytes));
}
static uint32_t nf_emu_mbarrier_wait(void *barrier, uint64_t phase,
                                     uint32_t parity, uint32_t blocking) {
  return machine().mbarrierWait(uintptr_t(barrier), phase, parity, blocking);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// Checks both ends of a copy as the issuing thread's accesses.
static void checkCopy(void *target, const void *source, uint32_t bytes,
                      uint32_t used, uint32_t alignment, Space targetSpace,
                      Space sourceSpace) {
  AccessInfo info;
  info.alignment = alignment;
  info.space = sourceSpace;
  machine().access(uintptr_t(source), used, info);
  info.kind = AccessKind::write;
  info.space = targetSpace;
  machine().access(uintptr_t(target), bytes, info);
}

static void nf_emu_cp_async(void *target, const void *source, uint32_t bytes,
                            uint32_t used) {
  Machine &m = machine();
  if (bytes != 4 && bytes != 8 && bytes != 16)
    m.trap("cp.async of " + llvm::Twine(bytes) + " bytes");
  if (used > bytes)
    m.trap("cp.async: a source of " + llvm::Twine(used) + " bytes for " +
           llvm::Twine(bytes));
  checkCopy(target, source, bytes, used, bytes, Space::shared, Space::global);
  AsyncCopy copy;
  copy.kind = AsyncCopy::thread;
  copy.target = static_cast<uint8_t *>(target);
  copy.source = static_cast<const uint8_t *>(source);
  copy.bytes = bytes;
  copy.used = used;
  copy.group = m.self().copyGroup;
  m.issue(copy);
}
static void nf_emu_cp_async_commit() { ++machine().self().copyGroup; }
static void nf_emu_cp_async_wait(uint32_t groups) {
  machine().finishThreadCopies(machine().self(), groups, /*all=*/false);
}
static void nf_emu_cp_async_wait_all() {
  machine().finishThreadCopies(machine().self(), 0, /*all=*/true);
}
static void nf_emu_cp_async_mbarrier_arrive(void *barrier, uint32_t counts) {
  Machine &m = machine();
  MBarrier &found =
      m.findMBarrier(uintptr_t(barrier), "cp.async.mbarrier.arrive");
  if (counts)
    ++found.pending;
  AsyncCopy copy;
  copy.kind = AsyncCopy::arrive;
  copy.barrier = uintptr_t(barrier);
  copy.group = m.self().copyGroup;
  m.issue(copy);
}

static void checkBulk(uint32_t bytes) {
  if (bytes % 16 || bytes == 0)
    machine().trap("a bulk copy of " + llvm::Twine(bytes) +
                   " bytes; a multiple of 16 is needed");
}
static void nf_emu_bulk_to_shared(void *target, void *barrier,
                                  const void *source, uint32_t bytes,
                                  uint32_t ranks) {
  Machine &m = machine();
  checkBulk(bytes);
  auto one = [&](void *to, void *tell) {
    checkCopy(to, source, bytes, bytes, 16, Space::cluster, Space::generic);
    m.findMBarrier(uintptr_t(tell), "cp.async.bulk");
    AsyncCopy copy;
    copy.kind = AsyncCopy::bulk;
    copy.target = static_cast<uint8_t *>(to);
    copy.source = static_cast<const uint8_t *>(source);
    copy.bytes = copy.used = bytes;
    copy.barrier = uintptr_t(tell);
    m.issue(copy);
  };
  if (!ranks)
    return one(target, barrier);
  for (uint32_t rank = 0; ranks; ++rank, ranks >>= 1)
    if (ranks & 1)
      one(nf_emu_mapa(target, rank), nf_emu_mapa(barrier, rank));
}
static void nf_emu_bulk_to_global(void *target, const void *source,
                                  uint32_t bytes) {
  Machine &m = machine();
  checkBulk(bytes);
  checkCopy(target, source, bytes, bytes, 16, Space::global, Space::shared);
  AsyncCopy copy;
  copy.kind = AsyncCopy::bulk;
  copy.target = static_cast<uint8_t *>(target);
  copy.source = static_cast<const uint8_t *>(source);
  copy.bytes = copy.used = bytes;
  copy.group = m.self().bulkGroup;
  m.issue(copy);
}
static void nf_emu_bulk_commit() { ++machine().self().bulkGroup; }
static void nf_emu_bulk_wait(uint32_t groups) {
  machine().finishBulkCopies(machine().self(), groups);
}
static void nf_emu_st_async(void *target, const void *data, uint32_t bytes,
                            void *barrier) {
  Machine &m = machine();
  AccessInfo info;
  info.kind = AccessKind::write;
  info.alignment = bytes;
  info.space = Space::cluster;
  m.access(uintptr_t(target), bytes, info);
  Block *where = m.findShared(uintptr_t(target));
  if (where != m.findShared(uintptr_t(barrier)))
    m.trap("st.async: the mbarrier isn't in the block of the destination");
  m.findMBarrier(uintptr_t(barrier), "st.async");
  AsyncCopy copy;
  copy.kind = AsyncCopy::bulk;
  copy.target = static_cast<uint8_t *>(target);
  memcpy(copy.data, data, bytes);
  copy.bytes = copy.used = bytes;
  copy.barrier = uintptr_t(barrier);
  m.issue(copy);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static uint32_t nf_emu_prmt(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = a | uint64_t(b) << 32;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t pick = selector >> 4 * i & 15;
    uint32_t byte = both >> 8 * (pick & 7) & 255;
    if (pick & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}
static uint32_t nf_emu_to_fp8x2(float high, float low, uint32_t e5m2,
                                uint32_t relu) {
  return uint32_t(convertToFloat8(high, e5m2, relu)) << 8 |
         convertToFloat8(low, e5m2, relu);
}
static float nf_emu_rsqrtf(float x) { return 1.0f / std::sqrt(x); }
static double nf_emu_rsqrt(double x) { return 1.0 / std::sqrt(x); }
static float nf_emu_powif(float x, int32_t n) { return std::pow(x, float(n)); }
static double nf_emu_powi(double x, int32_t n) { return std::pow(x, n); }
static int32_t nf_emu_abs(int32_t x) { return x < 0 ? 0 - uint32_t(x) : x; }
static int64_t nf_emu_llabs(int64_t x) { return x < 0 ? 0 - uint64_t(x) : x; }
static int32_t nf_emu_isnanf(float x) { return std::isnan(x); }
static int32_t nf_emu_isnand(double x) { return std::isnan(x); }
static int32_t nf_emu_isinff(float x) { return std::isinf(x); }
static int32_t nf_emu_isinfd(double x) { return std::isinf(x); }
static int32_t nf_emu_finitef(float x) { return std::isfinite(x); }
static int32_t nf_emu_isfinited(double x) { return std::isfinite(x); }
static float nf_emu_exp10f(float x) { return std::pow(10.0f, x); }
static double nf_emu_exp10(double x) { return std::pow(10.0, x); }

std::vector<std::pair<llvm::StringRef, void *>> emu::getKernelSymbols() {
  std::vector<std::pair<llvm::StringRef, void *>> symbols;
#define ADD(name) symbols.push_back({#name, reinterpret_cast<void *>(&name)});
  ADD(nf_emu_register)
  ADD(nf_emu_clock) ADD(nf_emu_shared) ADD(nf_emu_access) ADD(nf_emu_atomic_access) ADD(
      nf_emu_masked_access) ADD(nf_emu_fence) ADD(nf_emu_fence_proxy) ADD(nf_emu_fence_mbarrier_init) ADD(nf_emu_trap) ADD(nf_emu_assertfail)
      ADD(nf_emu_isspacep) ADD(nf_emu_mapa) ADD(nf_emu_getctarank) ADD(nf_emu_barrier) ADD(
          nf_emu_shuffle) ADD(nf_emu_vote) ADD(nf_emu_reduce) ADD(nf_emu_match) ADD(nf_emu_warp_sync)
          ADD(nf_emu_elect) ADD(nf_emu_ldmatrix) ADD(nf_emu_activemask) ADD(nf_emu_cluster_arrive) ADD(
              nf_emu_cluster_wait) ADD(nf_emu_prefetch) ADD(nf_emu_griddep_wait) ADD(nf_emu_griddep_launch) ADD(nf_emu_nanosleep) ADD(nf_emu_turn) ADD(nf_emu_division)
              ADD(nf_emu_exit) ADD(nf_emu_mbarrier_init) ADD(nf_emu_mbarrier_inval) ADD(
                  nf_emu_mbarrier_arrive) ADD(nf_emu_mbarrier_expect_tx) ADD(nf_emu_mbarrier_complete_tx)
                  ADD(nf_emu_mbarrier_wait) ADD(nf_emu_cp_async) ADD(nf_emu_cp_async_commit) ADD(
                      nf_emu_cp_async_wait) ADD(nf_emu_cp_async_wait_all) ADD(nf_emu_cp_async_mbarrier_arrive)
                      ADD(nf_emu_bulk_to_shared) ADD(nf_emu_bulk_to_global) ADD(nf_emu_bulk_commit) ADD(
                          nf_emu_bulk_wait) ADD(nf_emu_st_async) ADD(nf_emu_prmt) ADD(nf_emu_to_fp8x2)
                          ADD(nf_emu_rsqrtf) ADD(nf_emu_rsqrt) ADD(nf_emu_powif) ADD(
                              nf_emu_powi) ADD(nf_emu_abs) ADD(nf_emu_llabs)
                              ADD(nf_emu_isnanf) ADD(nf_emu_isnand) ADD(
                                  nf_emu_isinff) ADD(nf_emu_isinfd) ADD(nf_emu_finitef)
                                  ADD(nf_emu_isfinited) ADD(nf_emu_exp10f) ADD(
                                      nf_emu_exp10) ADD(memcpy) ADD(memmove) ADD(memset)
#undef ADD
#define ONE(name)                                                              \
  symbols.push_back(                                                           \
      {#name "f", reinterpret_cast<void *>(static_cast<float (*)(float)>(      \
                      [](float x) -> float { return std::name(x); }))});       \
  symbols.push_back(                                                           \
      {#name, reinterpret_cast<void *>(static_cast<double (*)(double)>(        \
                  [](double x) -> double { return std::name(x); }))});
#define TWO(name)                                                              \
  symbols.push_back(                                                           \
      {#name "f",                                                              \
       reinterpret_cast<void *>(static_cast<float (*)(float, float)>(          \
           [](float x, float y) -> float { return std::name(x, y); }))});      \
  symbols.push_back(                                                           \
      {#name,                                                                  \
       reinterpret_cast<void *>(static_cast<double (*)(double, double)>(       \
           [](double x, double y) -> double { return std::name(x, y); }))});
                                      ONE(exp) ONE(exp2) ONE(expm1) ONE(log) ONE(log2) ONE(
                                          log10) ONE(log1p) ONE(sin) ONE(cos)
                                          ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(
                                              sinh) ONE(cosh) ONE(tanh)
                                              ONE(asinh) ONE(acosh) ONE(atanh) ONE(
                                                  sqrt) ONE(cbrt) ONE(erf)
                                                  ONE(erfc) ONE(floor) ONE(ceil) ONE(
                                                      trunc) ONE(round) ONE(rint) ONE(nearbyint)
                                                      ONE(fabs) ONE(tgamma) ONE(lgamma) ONE(
                                                          logb) TWO(atan2)
                                                          TWO(pow) TWO(fmin) TWO(
                                                              fmax) TWO(fmod) TWO(copysign)
                                                              TWO(remainder) TWO(
                                                                  hypot) TWO(fdim)
#undef ONE
#undef TWO
                                                                  symbols.push_back(
                                                                      {"fmaf",
                                                                       reinterpret_cast<
                                                                           void
                                                                               *>(
                                                                           static_cast<float (
                                                                                   *)(
                                                                               float,
                                                                               float,
                                                                               float)>(
                                                                               [](float
                                                                                      x,
                                                                                  float
                                                                                      y,
                                                                                  float
                                                                                      z) {
                                                                                 return std::fma(
                                                                                     x,
                                                                                     y,
                                                                                     z);
                                                                               }))});
  symbols.push_back(
      {"fma",
       reinterpret_cast<void *>(static_cast<double (*)(double, double, double)>(
           [](double x, double y, double z) { return std::fma(x, y, z); }))});
  auto conversions = getHalfConversionSymbols();
  symbols.insert(symbols.end(), conversions.begin(), conversions.end());
  return symbols;
}
