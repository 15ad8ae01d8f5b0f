//===- Races.h - Happens-before race detection ------------------*- C++ -*-===//
//
// Vector clocks for the emulator. Each thread counts its releases; a SyncClock
// is what a barrier, mbarrier or memory location passes on. An access is a race
// if another thread's access to the same byte, one of them a write and not both
// atomic, isn't ordered before it by a chain of releases and acquires.
//
// Clocks are shared: a thread knows its own block's threads through one vector,
// other blocks' through a list of such vectors, and a barrier makes one vector
// for all. Accesses are remembered four to eight bytes, newest first, so a race
// may go unreported, but what is reported is one.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_RUNTIME_EMULATOR_RACES_H
#define NORM_FUSION_LIB_RUNTIME_EMULATOR_RACES_H

#include "norm_fusion/Target/Emulator/EmulatorABI.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace mlir::norm_fusion::runtime::emu {
using namespace emulator;

struct Fiber;

/// Times of one block's threads. Never changed once shared.
using BlockTimes = std::shared_ptr<const std::vector<uint32_t>>;
/// Times of all blocks that are known, sorted by block.
using GridTimes =
    std::shared_ptr<const std::vector<std::pair<uint32_t, BlockTimes>>>;

/// What is known of all threads at some point.
struct Clock {
  GridTimes blocks;
  bool empty() const { return !blocks; }
};

/// What a thread knows: its own block apart, for it changes most.
struct ThreadClock {
  uint32_t now = 1;
  BlockTimes own;
  GridTimes others;
  Clock released; ///< at the last release fence
  Scope releasedScope = Scope::block;
  Clock observed; ///< by relaxed loads, until an acquire fence
};

/// A clock at a place of synchronisation.
struct SyncClock {
  Clock clock;
  uint32_t block = 0; ///< of the last release
  const void *cluster = nullptr;
  Scope scope = Scope::block; ///< as far as it reaches
};

class RaceDetector {
public:
  explicit RaceDetector(bool enabled);
  ~RaceDetector();
  /// Forgets all; a launch begins.
  void begin(uint64_t threadsPerBlock, uint64_t blocks);
  /// Forgets shared memory: other blocks use it now.
  void beginWave();
  bool isEnabled() const { return enabled && active; }

  void startThread(Fiber &fiber);
  /// A barrier: each of `fibers` is ordered after all of them, and `extra`.
  void join(llvm::ArrayRef<Fiber *> fibers, const SyncClock &extra = {});
  void release(Fiber &fiber, SyncClock &clock, Scope scope);
  /// A relaxed arrival, which passes on what the last fence of at least `scope`
  /// released.
  void releaseFenced(Fiber &fiber, SyncClock &clock, Scope scope);
  void acquire(Fiber &fiber, const SyncClock &clock);
  /// What `from` passes on, `into` passes on too.
  void merge(SyncClock &into, const SyncClock &from);
  void fence(Fiber &fiber, Ordering ordering, Scope scope);
  /// An access, checked and remembered. Gives false and fills `message` if it
  /// is a race.
  bool access(Fiber &fiber, uintptr_t address, uint64_t bytes, AccessInfo info,
              std::string &message);

private:
  struct Page;
  Page &getPage(uintptr_t address);
  bool isOrdered(const Fiber &fiber, uint32_t thread, uint32_t time) const;
  Clock snapshot(const Fiber &fiber) const;
  void learn(Fiber &fiber, const Clock &clock, bool ownOnly);
  static GridTimes merge(const GridTimes &a, const GridTimes &b);
  static BlockTimes merge(const BlockTimes &a, const BlockTimes &b);
  void synchronize(Fiber &fiber, uintptr_t address, AccessInfo info);

  bool enabled, active = false;
  uint64_t threadsPerBlock = 0;
  uintptr_t lastBase = 0;
  Page *lastPage = nullptr;
  llvm::DenseMap<uintptr_t, std::unique_ptr<Page>> pages, sharedPages;
  llvm::DenseMap<uintptr_t, SyncClock> locations, sharedLocations;
};

} // namespace mlir::norm_fusion::runtime::emu

#endif // NORM_FUSION_LIB_RUNTIME_EMULATOR_RACES_H
