//===- Races.cpp - Happens-before race detection --------------------------===//
//
// Vector clocks, and the accesses that were seen of each eight bytes.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;

namespace {
/// One access, in 64 bits; all zero for none.
struct Seen {
  uint64_t thread : 26;
  uint64_t time : 26;
  uint64_t bytes : 8;
  uint64_t write : 1;
  uint64_t atomic : 1;
  uint64_t used : 1;
};
constexpr unsigned slots = 4;
constexpr uint64_t pageBytes = 4096;
constexpr uintptr_t sharedEnd = uintptr_t(1) << 32;
} // namespace

struct RaceDetector::Page {
  Seen cells[pageBytes / 8][slots] = {};
};

RaceDetector::RaceDetector(bool enabled) : enabled(enabled) {}
RaceDetector::~RaceDetector() = default;

void RaceDetector::begin(uint64_t threadsPerBlock, uint64_t blocks) {
  this->threadsPerBlock = threadsPerBlock;
  active = enabled && threadsPerBlock * blocks < (1u << 26);
  pages.clear();
  locations.clear();
  sharedPages.clear();
  sharedLocations.clear();
  lastPage = nullptr;
}

void RaceDetector::beginWave() {
  sharedPages.clear();
  sharedLocations.clear();
  lastPage = nullptr;
}

RaceDetector::Page &RaceDetector::getPage(uintptr_t address) {
  uintptr_t base = address / pageBytes;
  if (lastPage && lastBase == base)
    return *lastPage;
  auto &page = (address < sharedEnd ? sharedPages : pages)[base];
  if (!page)
    page = std::make_unique<Page>();
  lastBase = base;
  lastPage = page.get();
  return *page;
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

BlockTimes RaceDetector::merge(const BlockTimes &a, const BlockTimes &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  bool aCovers = true, bCovers = true;
  for (auto [x, y] : llvm::zip_equal(*a, *b)) {
    aCovers &= x >= y;
    bCovers &= y >= x;
  }
  if (aCovers)
    return a;
  if (bCovers)
    return b;
  auto both = std::make_shared<std::vector<uint32_t>>(*a);
  for (auto [x, y] : llvm::zip_equal(*both, *b))
    x = std::max(x, y);
  return both;
}

GridTimes RaceDetector::merge(const GridTimes &a, const GridTimes &b) {
  if (!b || a == b)
    return a;
  if (!a)
    return b;
  auto both = std::make_shared<std::vector<std::pair<uint32_t, BlockTimes>>>();
  both->reserve(std::max(a->size(), b->size()));
  auto x = a->begin(), y = b->begin();
  while (x != a->end() || y != b->end()) {
    if (y == b->end() || (x != a->end() && x->first < y->first))
      both->push_back(*x++);
    else if (x == a->end() || y->first < x->first)
      both->push_back(*y++);
    else {
      both->push_back({x->first, merge(x->second, y->second)});
      ++x;
      ++y;
    }
  }
  return both;
}

static const std::pair<uint32_t, BlockTimes> *find(const GridTimes &times,
                                                   uint32_t block) {
  if (!times)
    return nullptr;
  auto entry = llvm::partition_point(
      *times, [&](const auto &one) { return one.first < block; });
  return entry != times->end() && entry->first == block ? &*entry : nullptr;
}

Clock RaceDetector::snapshot(const Fiber &fiber) const {
  const ThreadClock &clock = fiber.clock;
  auto own = clock.own
                 ? std::make_shared<std::vector<uint32_t>>(*clock.own)
                 : std::make_shared<std::vector<uint32_t>>(threadsPerBlock, 0);
  (*own)[fiber.index] = clock.now;
  auto list = std::make_shared<std::vector<std::pair<uint32_t, BlockTimes>>>();
  list->push_back({fiber.block->linear, own});
  return {merge(clock.others, list)};
}

void RaceDetector::learn(Fiber &fiber, const Clock &clock, bool ownOnly) {
  if (clock.empty())
    return;
  if (const auto *own = find(clock.blocks, fiber.block->linear))
    fiber.clock.own = merge(fiber.clock.own, own->second);
  if (!ownOnly)
    fiber.clock.others = merge(fiber.clock.others, clock.blocks);
}

void RaceDetector::startThread(Fiber &fiber) { fiber.clock = ThreadClock(); }

void RaceDetector::join(llvm::ArrayRef<Fiber *> fibers,
                        const SyncClock &extra) {
  if (!isEnabled() || fibers.empty())
    return;
  auto own = std::make_shared<std::vector<uint32_t>>(threadsPerBlock, 0);
  GridTimes others;
  BlockTimes last;
  GridTimes lastOthers;
  for (Fiber *fiber : fibers) {
    // Mostly all know the same, from the barrier before.
    const ThreadClock &clock = fiber->clock;
    if (clock.own && clock.own != last) {
      for (auto [x, y] : llvm::zip_equal(*own, *clock.own))
        x = std::max(x, y);
      last = clock.own;
    }
    if (clock.others && clock.others != lastOthers) {
      others = merge(others, clock.others);
      lastOthers = clock.others;
    }
  }
  for (Fiber *fiber : fibers)
    (*own)[fiber->index] = fiber->clock.now;
  BlockTimes shared = own;
  if (!extra.clock.empty()) {
    if (const auto *entry = find(extra.clock.blocks, fibers[0]->block->linear))
      shared = merge(shared, entry->second);
    others = merge(others, extra.clock.blocks);
  }
  for (Fiber *fiber : fibers) {
    fiber->clock.own = shared;
    fiber->clock.others = others;
    ++fiber->clock.now;
  }
}

void RaceDetector::release(Fiber &fiber, SyncClock &clock, Scope scope) {
  if (!isEnabled())
    return;
  // A place of rendezvous: what was released there before stays.
  clock.clock.blocks = merge(clock.clock.blocks, snapshot(fiber).blocks);
  clock.scope = scope;
  clock.block = fiber.block->linear;
  clock.cluster = fiber.block->cluster;
  ++fiber.clock.now;
}

void RaceDetector::releaseFenced(Fiber &fiber, SyncClock &clock, Scope scope) {
  if (isEnabled() && fiber.clock.releasedScope >= scope)
    clock.clock.blocks = merge(clock.clock.blocks, fiber.clock.released.blocks);
}

void RaceDetector::acquire(Fiber &fiber, const SyncClock &clock) {
  if (isEnabled())
    learn(fiber, clock.clock, /*ownOnly=*/false);
}

void RaceDetector::merge(SyncClock &into, const SyncClock &from) {
  if (isEnabled())
    into.clock.blocks = merge(into.clock.blocks, from.clock.blocks);
}

void RaceDetector::fence(Fiber &fiber, Ordering ordering, Scope scope) {
  if (!isEnabled())
    return;
  ThreadClock &clock = fiber.clock;
  if (ordering != Ordering::release) {
    learn(fiber, clock.observed, /*ownOnly=*/scope == Scope::block);
    if (scope != Scope::block)
      clock.observed = Clock();
  }
  if (ordering != Ordering::acquire) {
    clock.released = snapshot(fiber);
    clock.releasedScope = scope;
    ++clock.now;
  }
}

/// What an atomic access to a location orders.
void RaceDetector::synchronize(Fiber &fiber, uintptr_t address,
                               AccessInfo info) {
  auto &places = address < sharedEnd ? sharedLocations : locations;
  bool acquires = info.ordering == Ordering::acquire ||
                  info.ordering == Ordering::acquireRelease ||
                  info.ordering == Ordering::sequential;
  bool releases = info.ordering == Ordering::release ||
                  info.ordering == Ordering::acquireRelease ||
                  info.ordering == Ordering::sequential;
  if (info.kind != AccessKind::write) {
    auto place = places.find(address);
    if (place != places.end()) {
      const SyncClock &from = place->second;
      // Both sides' scopes must hold the other.
      Scope needed = from.block == fiber.block->linear      ? Scope::block
                     : from.cluster == fiber.block->cluster ? Scope::cluster
                                                            : Scope::device;
      if (from.scope >= needed && info.scope >= needed) {
        if (acquires)
          learn(fiber, from.clock, /*ownOnly=*/false);
        else
          fiber.clock.observed.blocks =
              merge(fiber.clock.observed.blocks, from.clock.blocks);
      }
    }
  }
  if (info.kind == AccessKind::read)
    return;
  Clock given;
  Scope scope = info.scope;
  if (releases) {
    given = snapshot(fiber);
    ++fiber.clock.now;
  } else {
    given = fiber.clock.released;
    scope = std::min(scope, fiber.clock.releasedScope);
  }
  if (given.empty()) {
    // A store that releases nothing ends what was released there; an update
    // carries it on.
    if (info.kind == AccessKind::write)
      places.erase(address);
    return;
  }
  SyncClock &place = places[address];
  if (info.kind == AccessKind::write || place.clock.empty()) {
    place.clock = given;
    place.scope = scope;
  } else {
    place.clock.blocks = merge(place.clock.blocks, given.blocks);
    place.scope = std::min(place.scope, scope);
  }
  place.block = fiber.block->linear;
  place.cluster = fiber.block->cluster;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

bool RaceDetector::isOrdered(const Fiber &fiber, uint32_t thread,
                             uint32_t time) const {
  uint32_t block = thread / threadsPerBlock, index = thread % threadsPerBlock;
  const ThreadClock &clock = fiber.clock;
  if (block == fiber.block->linear)
    return index == fiber.index || (clock.own && (*clock.own)[index] >= time);
  const auto *entry = find(clock.others, block);
  return entry && (*entry->second)[index] >= time;
}

bool RaceDetector::access(Fiber &fiber, uintptr_t address, uint64_t bytes,
                          AccessInfo info, std::string &message) {
  bool atomic = info.ordering != Ordering::plain;
  if (atomic)
    synchronize(fiber, address, info);
  Seen mine = {};
  mine.thread = fiber.block->linear * threadsPerBlock + fiber.index;
  mine.time = fiber.clock.now;
  mine.write = info.kind != AccessKind::read;
  mine.atomic = atomic;
  mine.used = 1;
  uintptr_t end = address + bytes;
  for (uintptr_t cell = address & ~uintptr_t(7); cell < end; cell += 8) {
    unsigned first = cell < address ? address - cell : 0;
    unsigned last = std::min<uintptr_t>(end - cell, 8);
    mine.bytes = (0xffu >> (8 - (last - first))) << first;
    Seen(&seen)[slots] = getPage(cell).cells[cell % pageBytes / 8];
    int target = -1;
    bool known = false;
    for (unsigned i = 0; i < slots; ++i) {
      Seen other = seen[i];
      if (!other.used) {
        if (target < 0)
          target = i;
        continue;
      }
      bool overlaps = other.bytes & mine.bytes;
      if (other.thread == mine.thread) {
        bool same = other.write == mine.write && other.atomic == mine.atomic;
        if (same && other.time == mine.time &&
            (other.bytes & mine.bytes) == mine.bytes)
          known = true;
        // The later access of a thread stands for the earlier one.
        else if ((other.bytes & ~mine.bytes) == 0 &&
                 other.write <= mine.write && other.atomic >= mine.atomic)
          target = i;
        continue;
      }
      if (!overlaps)
        continue;
      if (!(mine.write || other.write) || (mine.atomic && other.atomic)) {
        continue;
      }
      if (isOrdered(fiber, other.thread, other.time)) {
        if (mine.write && (other.bytes & ~mine.bytes) == 0)
          target = i;
        continue;
      }
      message = llvm::formatv(
          "block {0} thread {1} {2} and block {3} thread {4} {5} without "
          "ordering,",
          other.thread / threadsPerBlock, other.thread % threadsPerBlock,
          other.write ? "wrote" : "read", fiber.block->linear, fiber.index,
          info.kind == AccessKind::read    ? "reads"
          : info.kind == AccessKind::write ? "writes"
                                           : "updates");
      return false;
    }
    if (known)
      continue;
    if (target < 0) {
      // Forget the oldest read, or the oldest of all.
      target = slots - 1;
      for (int i = slots - 1; i >= 0; --i)
        if (!seen[i].write) {
          target = i;
          break;
        }
    }
    for (int i = target; i > 0; --i)
      seen[i] = seen[i - 1];
    seen[0] = mine;
  }
  return true;
}
