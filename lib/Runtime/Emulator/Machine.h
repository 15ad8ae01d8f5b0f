//===- Machine.h - The emulator's virtual device ----------------*- C++ -*-===//
//
// One launch at a time: threads are fibers of the calling OS thread, grouped in
// warps, blocks and clusters, and run by a scheduler that switches only where a
// thread waits or polls. Kernel code reaches the machine through the nf_emu_*
// functions (Calls.cpp). What a kernel does wrong is a trap: the launch ends
// with a message, the machine stays usable.
//
// Code that runs on a fiber must hold nothing that needs a destructor when it
// switches or traps: an abandoned fiber is never resumed.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_RUNTIME_EMULATOR_MACHINE_H
#define NORM_FUSION_LIB_RUNTIME_EMULATOR_MACHINE_H

#include "Races.h"
#include "WeakMemory.h"
#include "norm_fusion/Runtime/Device.h"
#include "norm_fusion/Target/Emulator/EmulatorABI.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <boost/context/detail/fcontext.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <random>

namespace mlir::norm_fusion::runtime::emu {
using namespace emulator;

struct Block;
struct Cluster;
struct Warp;

/// A copy that was issued and isn't known to be complete.
struct AsyncCopy {
  enum Kind { thread, bulk, arrive } kind = thread;
  Fiber *issuer = nullptr;
  uint8_t *target = nullptr;
  const uint8_t *source = nullptr;
  uint32_t bytes = 0; ///< of the target
  uint32_t used = 0;  ///< of the source; the rest is zeros
  uint8_t data[16];   ///< the source of st.async
  uint32_t group = 0;
  uintptr_t barrier = 0; ///< mbarrier to tell; 0: none
  bool counts = false;   ///< arrive: adds to the pending count first
  bool later = false;    ///< may be performed at any switch
  bool performed = false;
  SyncClock clock; ///< of the issuer
};

/// What a fiber waits for.
enum class Wait { nothing, barrier, warp, mbarrier, cluster };

struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  char *stack = nullptr;
  Block *block = nullptr;
  Warp *warp = nullptr;
  uint32_t index = 0; ///< in the block
  uint32_t lane = 0;
  uint32_t tid[3] = {0, 0, 0};
  bool done = false;
  Wait wait = Wait::nothing;
  uint64_t waitFor = 0;   ///< number of the barrier, mask, address
  uint64_t waitPhase = 0; ///< of an mbarrier
  uint64_t result = 0;    ///< what a collective gives this thread
  llvm::SmallVector<AsyncCopy, 0> copies;
  uint32_t copyGroup = 0, bulkGroup = 0;
  bool clusterArrived = false;
  uint64_t clusterPhase = 0;
  bool dependencyWaited = false; ///< for the launch before
  uintptr_t polled[8] = {};
  uint32_t polls = 0;
  ThreadClock clock;
  StoreList stores; ///< that only this thread sees
};

/// A warp-wide operation that not all of its lanes have reached.
struct Collective {
  uint32_t mask = 0, arrived = 0;
  uint32_t operation = 0; ///< which function, and its kind
  uint64_t values[32];
  uint32_t extra[32][2];
};

struct Warp {
  Block *block = nullptr;
  uint32_t index = 0;
  Fiber *lanes[32] = {};
  uint32_t exited = 0, exists = 0;
  std::list<Collective> open;
};

struct NamedBarrier {
  uint32_t expected = 0, arrived = 0;
  uint32_t all = 1, any = 0, count = 0;
  llvm::SmallVector<Fiber *, 0> waiting;
  SyncClock clock;
};

struct MBarrier {
  uint32_t expected = 0, pending = 0;
  int64_t transactions = 0;
  uint64_t phase = 0; ///< completed ones
  Fiber *initialiser = nullptr;
  bool fenced = false; ///< other blocks may know of the initialisation
  llvm::SmallVector<Fiber *, 0> waiting;
  SyncClock arriving, completed;
};

struct Block {
  uint32_t id[3] = {0, 0, 0};
  uint32_t linear = 0;
  uint32_t rank = 0; ///< in the cluster
  Cluster *cluster = nullptr;
  uint8_t *shared = nullptr;
  uint32_t sharedBytes = 0;
  std::deque<Fiber> fibers;
  std::deque<Warp> warps;
  uint32_t live = 0;
  NamedBarrier barriers[16];
  std::map<uintptr_t, MBarrier> mbarriers;
  /// A bit for each four bytes that a copy in flight writes, or reads.
  std::vector<uint8_t> writing, reading;
  StoreList stores; ///< that only this block sees
};

struct Cluster {
  uint32_t id[3] = {0, 0, 0};
  std::vector<Block *> blocks;
  uint32_t arrived = 0, exited = 0, threads = 0;
  uint64_t phase = 0;
  llvm::SmallVector<Fiber *, 0> waiting;
  SyncClock arriving, completed;
  StoreList stores; ///< that only this cluster sees
};

/// A range of device memory.
struct Range {
  uintptr_t begin, end;
};

/// A kernel as an image holds it.
struct Kernel {
  std::string name;
  void (*entry)(void **) = nullptr;
  const KernelRecord *record = nullptr;
  llvm::ArrayRef<uint32_t> argumentBytes;
  llvm::ArrayRef<Range> variables; ///< of its module
  bool cooperative = false;
  bool dependent = false; ///< waits for the launch before it by itself
};

class Machine {
public:
  explicit Machine(const EmulatorOptions &options);
  ~Machine();

  llvm::Error run(const Kernel &kernel, const LaunchConfig &config,
                  void **arguments, std::vector<Range> allocations);
  /// Blocks of `config` that one SM holds; 0 if none fits.
  uint32_t getBlocksPerSM(const Kernel *kernel, const LaunchConfig &config);
  llvm::Error checkConfig(const Kernel &kernel, const LaunchConfig &config);

  // What the fibers call; `self()` is the one that runs.
  static Machine &get();
  Fiber &self() { return *running; }
  [[noreturn]] void trap(const llvm::Twine &what);
  void yield();
  void preempt();
  void block(Wait wait, uint64_t waitFor, uint64_t phase = 0);
  void wake(Fiber &fiber);
  /// Never comes back: the running fiber is done.
  [[noreturn]] void leave();
  /// A text for trap(): what the fiber would hold is never freed.
  llvm::StringRef keep(std::string text) {
    return texts.emplace_back(std::move(text));
  }
  void madeProgress() { idleTurns = 0; }
  /// Called for every access and every turn of a loop without one: traps a
  /// kernel that never ends.
  void countWork() {
    if (++work % 65536 == 0)
      preempt();
  }

  // Memory.cpp
  void access(uintptr_t address, uint64_t bytes, AccessInfo info);
  /// What the access that comes next shows to others.
  void publish(uintptr_t address, uint64_t bytes, AccessInfo info);
  void poll(uintptr_t address, AccessInfo info);
  /// The block whose shared memory holds `address`; null if none does.
  Block *findShared(uintptr_t address);
  bool isGlobal(uintptr_t address, uint64_t bytes);
  llvm::StringRef describe(uintptr_t address);
  void poisonShared(Block &block);

  // Sync.cpp
  uint32_t barrier(BarrierKind kind, uint32_t id, uint32_t count,
                   uint32_t predicate);
  uint64_t collective(uint32_t operation, uint32_t mask, uint64_t value,
                      uint32_t extra0, uint32_t extra1);
  void clusterArrive(bool relaxed);
  void clusterWait();
  void fiberExited(Fiber &fiber);
  std::string describeDeadlock();

  // MBarriers.cpp
  MBarrier &findMBarrier(uintptr_t address, const char *what);
  /// For copies that land; fails the launch if the mbarrier is gone.
  MBarrier *lookUpMBarrier(uintptr_t address);
  void fenceMBarrierInit();
  void mbarrierInit(uintptr_t address, uint32_t count);
  void mbarrierInval(uintptr_t address);
  uint64_t mbarrierArrive(uintptr_t address, uint32_t count, uint32_t bytes,
                          uint32_t flags);
  void mbarrierTransactions(uintptr_t address, int64_t change);
  uint32_t mbarrierWait(uintptr_t address, uint64_t phase, bool parity,
                        bool blocking);
  void completePhase(MBarrier &barrier);

  // Copies.cpp
  void issue(AsyncCopy copy);
  void perform(AsyncCopy &copy);
  /// Waits for all but the last `groups` groups; `all`: also what isn't in one.
  void finishThreadCopies(Fiber &fiber, uint32_t groups, bool all);
  void finishBulkCopies(Fiber &fiber, uint32_t groups);
  /// Performs one copy that is due; false if there is none.
  bool performOne(bool onlyLater);
  void markInFlight(const AsyncCopy &copy, bool on);

  uint32_t random(uint32_t below) { return engine() % below; }
  bool isSeeded() const { return options.orderSeed != 0; }

  EmulatorOptions options;
  RaceDetector races;
  WeakMemory weak;
  const Kernel *kernel = nullptr;
  LaunchConfig config;
  uint32_t threads = 0; ///< a block
  uint32_t sharedBytes = 0;
  uint64_t launchNumber = 0;
  /// bulk copies and asynchronous stores in flight
  std::list<AsyncCopy> bulk;
  /// Of the threads' own copies: those that somebody else waits for, and those
  /// that may be performed at any switch.
  uint64_t arrivesPending = 0, laterPending = 0;

private:
  llvm::Error runWave(llvm::ArrayRef<uint32_t> clusters);
  void createCluster(uint32_t index, uint32_t slot);
  void startFiber(Fiber &fiber);
  void schedule();
  void resume(Fiber &fiber);
  void switchToScheduler(bool forGood = false);
  void checkTime();
  static void fiberMain(boost::context::detail::transfer_t transfer);
  char *takeStack();

  std::mt19937_64 engine;
  void **arguments = nullptr;
  std::vector<Range> ranges;
  Range lastRange = {0, 0};
  std::vector<char *> stacks;
  std::vector<std::pair<void *, size_t>> stackMappings;
  uint8_t *arena = nullptr;
  size_t arenaBytes = 0, window = 0;
  std::deque<Block> blocks;
  std::deque<Cluster> clusters;
  std::deque<Fiber *> ready;
  Fiber *running = nullptr;
  boost::context::detail::fcontext_t scheduler = nullptr;
  uint64_t live = 0;
  uint64_t idleTurns = 0; ///< switches since something changed
  uint64_t work = 0;
  /// Seconds that a launch may take; emulating a large one takes long.
  const double timeout = getKernelTimeout(3600);
  std::chrono::steady_clock::time_point deadline;
  bool sawUpdates = false;
  std::string failure;
  std::deque<std::string> texts; ///< of keep(), in this launch
};

/// Addresses of the functions that kernels call.
std::vector<std::pair<llvm::StringRef, void *>> getKernelSymbols();

constexpr size_t stackBytes = 2 * maxLocalBytes;
constexpr uint32_t threadsPerSM = 2048;
constexpr uint32_t blocksPerSM = 32;
constexpr uint32_t sharedReserved = 1024; ///< of each block, for the system

} // namespace mlir::norm_fusion::runtime::emu

#endif // NORM_FUSION_LIB_RUNTIME_EMULATOR_MACHINE_H
