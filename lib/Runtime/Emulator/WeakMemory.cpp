//===- WeakMemory.cpp - Stores that others see late -----------------------===//
//
// A thread's view is what everybody sees with the pending stores of its
// cluster, its block and itself on top, in this order. Entering and leaving a
// view exchanges each store's bytes with memory's; a store lands by not being
// taken out again, or while nobody runs by being written.
//
// A store may land before an older one, but not if they overlap: then the older
// one lands with it.
//
//===----------------------------------------------------------------------===//

#include "WeakMemory.h"
#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <cstring>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;

/// Stores that a thread, and a block or a cluster can hold back. More land at
/// random: stores of a loop must not bury those at its end.
static constexpr size_t fiberLimit = 64, blockLimit = 256;

template <typename Word>
static void exchangeWord(PendingStore &store) {
  Word memory, other;
  memcpy(&memory, store.target, sizeof(Word));
  memcpy(&other, store.other, sizeof(Word));
  memcpy(store.target, &other, sizeof(Word));
  memcpy(store.other, &memory, sizeof(Word));
}
/// Most of a run's time goes here: no calls for what kernels store.
static void exchange(PendingStore &store) {
  switch (store.bytes) {
  case 2:
    return exchangeWord<uint16_t>(store);
  case 4:
    return exchangeWord<uint32_t>(store);
  case 8:
    return exchangeWord<uint64_t>(store);
  default:
    std::swap_ranges(store.target, store.target + store.bytes, store.other);
  }
}

static void show(StoreList &list) {
  for (PendingStore &store : list)
    exchange(store);
}
static void hide(StoreList &list) {
  for (PendingStore &store : llvm::reverse(list))
    exchange(store);
}

/// The lists of a view, the uppermost first.
static std::array<StoreList *, 3> getLists(Fiber &fiber) {
  return {&fiber.stores, &fiber.block->stores, &fiber.block->cluster->stores};
}

namespace {
/// Byte ranges that grow while older and older stores are looked at.
class Footprint {
public:
  Footprint(uintptr_t address, uint64_t bytes) { add(address, bytes); }
  void add(uintptr_t address, uint64_t bytes) {
    ranges.push_back({address, address + bytes});
  }
  bool overlaps(const PendingStore &store) const {
    uintptr_t begin = uintptr_t(store.target), end = begin + store.bytes;
    return llvm::any_of(ranges, [&](const Range &range) {
      return begin < range.end && range.begin < end;
    });
  }

private:
  llvm::SmallVector<Range, 4> ranges;
};
} // namespace

void WeakMemory::settle(Fiber &fiber, uintptr_t address, uint64_t bytes) {
  if (!isEnabled())
    return;
  Footprint footprint(address, bytes);
  for (StoreList *list : getLists(fiber))
    for (size_t i = list->size(); i-- > 0;)
      if (PendingStore &store = (*list)[i]; footprint.overlaps(store)) {
        footprint.add(uintptr_t(store.target), store.bytes);
        list->erase(list->begin() + i);
      }
}

/// Makes room in a list of the running fiber's view.
void WeakMemory::hold(StoreList &list, size_t limit, Fiber &fiber) {
  while (list.size() > limit) {
    PendingStore store = list[random(list.size())];
    settle(fiber, uintptr_t(store.target), store.bytes);
  }
}

void WeakMemory::write(Fiber &fiber, uintptr_t address, uint64_t bytes) {
  if (!isEnabled() || address - uintptr_t(fiber.stack) < stackBytes)
    return;
  // A whole range lands at once, with what is below it.
  if (bytes > 4 * fiberLimit)
    return settle(fiber, address, bytes);
  uint64_t word = bytes > 8 ? 4 : bytes;
  for (uint64_t done = 0; done < bytes; done += word) {
    PendingStore store;
    store.target = reinterpret_cast<uint8_t *>(address + done);
    store.bytes = std::min(word, bytes - done);
    // One over the other: nobody need see the first. Between two stores without
    // an order kernel code may not even do it.
    if (llvm::any_of(fiber.stores, [&](const PendingStore &other) {
          return other.target == store.target && other.bytes == store.bytes;
        }))
      continue;
    memcpy(store.other, store.target, store.bytes);
    fiber.stores.push_back(store);
  }
  hold(fiber.stores, fiberLimit, fiber);
}

void WeakMemory::release(Fiber &fiber, Scope scope) {
  if (!isEnabled())
    return;
  auto move = [](StoreList &from, StoreList &to) {
    to.append(from.begin(), from.end());
    from.clear();
  };
  Block &block = *fiber.block;
  Cluster &cluster = *block.cluster;
  move(fiber.stores, block.stores);
  if (scope == Scope::block)
    return hold(block.stores, blockLimit, fiber);
  move(block.stores, cluster.stores);
  if (scope == Scope::cluster)
    return hold(cluster.stores, blockLimit, fiber);
  cluster.stores.clear();
}

void WeakMemory::enter(Fiber &fiber) {
  if (!isEnabled() || viewer == &fiber)
    return;
  Block *from = viewer ? viewer->block : nullptr;
  if (viewer)
    hide(viewer->stores);
  if (from != fiber.block) {
    if (from)
      hide(from->stores);
    if (!from || from->cluster != fiber.block->cluster) {
      if (from)
        hide(from->cluster->stores);
      show(fiber.block->cluster->stores);
    }
    show(fiber.block->stores);
  }
  show(fiber.stores);
  viewer = &fiber;
}

void WeakMemory::leave() {
  if (!viewer)
    return;
  for (StoreList *list : getLists(*viewer))
    hide(*list);
  viewer = nullptr;
}

/// Writes a hidden store to memory, and before it the older ones below it that
/// it overlaps. `below`: lists that are older than `list`, the uppermost first.
static void land(StoreList &list, size_t index,
                 llvm::ArrayRef<StoreList *> below) {
  Footprint footprint(uintptr_t(list[index].target), list[index].bytes);
  llvm::SmallVector<PendingStore, 4> landing;
  auto take = [&](StoreList &from, size_t end) {
    for (size_t i = end; i-- > 0;)
      if (footprint.overlaps(from[i])) {
        footprint.add(uintptr_t(from[i].target), from[i].bytes);
        landing.push_back(from[i]);
        from.erase(from.begin() + i);
      }
  };
  take(list, index + 1);
  for (StoreList *older : below)
    take(*older, older->size());
  for (const PendingStore &store : llvm::reverse(landing))
    memcpy(store.target, store.other, store.bytes);
}

void WeakMemory::landSome(std::deque<Block> &blocks) {
  if (!isEnabled() || random(4))
    return;
  leave();
  Block &block = blocks[random(blocks.size())];
  Fiber &fiber = block.fibers[random(block.fibers.size())];
  std::array<StoreList *, 3> lists = getLists(fiber);
  uint32_t which = random(3);
  StoreList &list = *lists[which];
  if (!list.empty())
    land(list, random(list.size()),
         llvm::ArrayRef(lists).drop_front(which + 1));
}

bool WeakMemory::landMany(std::deque<Block> &blocks,
                          std::deque<Cluster> &clusters) {
  if (!isEnabled())
    return false;
  leave();
  bool any = false;
  auto landHalf = [&](StoreList &list, llvm::ArrayRef<StoreList *> below) {
    any |= !list.empty();
    size_t count = (list.size() + 1) / 2;
    for (; count && !list.empty(); --count)
      land(list, random(list.size()), below);
  };
  for (Cluster &cluster : clusters)
    landHalf(cluster.stores, {});
  for (Block &block : blocks) {
    landHalf(block.stores, {&block.cluster->stores});
    for (Fiber &fiber : block.fibers)
      landHalf(fiber.stores, {&block.stores, &block.cluster->stores});
  }
  return any;
}

void WeakMemory::landAll(std::deque<Block> &blocks,
                         std::deque<Cluster> &clusters) {
  if (!isEnabled())
    return;
  leave();
  auto landList = [](StoreList &list) {
    for (const PendingStore &store : list)
      memcpy(store.target, store.other, store.bytes);
    list.clear();
  };
  for (Cluster &cluster : clusters)
    landList(cluster.stores);
  for (Block &block : blocks) {
    landList(block.stores);
    for (Fiber &fiber : block.fibers)
      landList(fiber.stores);
  }
}
