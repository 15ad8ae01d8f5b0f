//===- WeakMemory.h - Stores that others see late ---------------*- C++ -*-===//
//
// A store reaches other threads when the machine likes, in any order, unless
// something orders it. Here it stays with its thread until chance or an order
// moves it on: a release at block scope (a barrier is one) hands the thread's
// stores to its block, one at cluster scope those of both to the cluster, one
// at device scope all of them to everybody. What the block was given by other
// threads moves on too: releases are cumulative.
//
// Kernel code stores for itself, so memory always holds what the running thread
// sees: what others must not see yet is taken out when they run. Words of a
// vector are stores of their own. Loads are never early: an acquire that is
// missing is for the race detector to find.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_LIB_RUNTIME_EMULATOR_WEAKMEMORY_H
#define NORM_FUSION_LIB_RUNTIME_EMULATOR_WEAKMEMORY_H

#include "norm_fusion/Target/Emulator/EmulatorABI.h"
#include "llvm/ADT/SmallVector.h"
#include <deque>
#include <random>

namespace mlir::norm_fusion::runtime::emu {
using namespace emulator;

struct Block;
struct Cluster;
struct Fiber;

struct PendingStore {
  uint8_t *target = nullptr;
  uint32_t bytes = 0; ///< at most 8
  /// What isn't in memory: while the store is hidden what it stores, else what
  /// was there before it.
  uint8_t other[8];
};
/// Oldest first.
using StoreList = llvm::SmallVector<PendingStore, 0>;

class WeakMemory {
public:
  /// `seed` 0: every store is seen at once, and all of this does nothing.
  explicit WeakMemory(uint64_t seed) : seed(seed) {}
  bool isEnabled() const { return seed != 0; }
  void begin(uint64_t launch) {
    engine.seed(seed * 0x9e3779b97f4a7c15 + launch);
  }

  /// `fiber` stores there next.
  void write(Fiber &fiber, uintptr_t address, uint64_t bytes);
  /// `fiber` must find there what everybody finds, and others what it stored:
  /// before it updates the place, or a copy uses it.
  void settle(Fiber &fiber, uintptr_t address, uint64_t bytes);
  void release(Fiber &fiber, Scope scope);

  /// `fiber` runs next.
  void enter(Fiber &fiber);
  /// No thread runs: memory holds what everybody sees.
  void leave();
  /// Lets everybody see a store or two of somebody's.
  void landSome(std::deque<Block> &blocks);
  /// About half of all; false if there are none. For threads that wait.
  bool landMany(std::deque<Block> &blocks, std::deque<Cluster> &clusters);
  /// All; the wave ends.
  void landAll(std::deque<Block> &blocks, std::deque<Cluster> &clusters);

private:
  uint32_t random(uint32_t below) { return engine() % below; }
  void hold(StoreList &list, size_t limit, Fiber &fiber);

  uint64_t seed;
  std::mt19937_64 engine;
  Fiber *viewer = nullptr; ///< whose view is in memory
};

} // namespace mlir::norm_fusion::runtime::emu

#endif // NORM_FUSION_LIB_RUNTIME_EMULATOR_WEAKMEMORY_H
