//===- Copies.cpp - Asynchronous copies and mbarriers ---------------------===//
//
// A copy's destination is poisoned when it is issued. When its bytes move is
// not the kernel's to know: in order seed 0 when somebody waits for it or
// nobody can go on, with a seed at once, at some switch, or then.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cstring>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void Machine::markInFlight(const AsyncCopy &copy, bool on) {
  auto mark = [&](uintptr_t address, std::vector<uint8_t> Block::*map) {
    Block *block = findShared(address);
    if (!block)
      return;
    uint64_t first = address - uintptr_t(block->shared);
    for (uint64_t word = first / 4; word < (first + copy.bytes + 3) / 4; ++word)
      (block->*map)[word] += on ? 1 : -1;
  };
  if (copy.kind == AsyncCopy::arrive)
    return;
  mark(uintptr_t(copy.target), &Block::writing);
  if (copy.source != copy.data)
    mark(uintptr_t(copy.source), &Block::reading);
}

void Machine::issue(AsyncCopy copy) {
  Fiber &fiber = self();
  copy.issuer = &fiber;
  races.release(fiber, copy.clock, Scope::cluster);
  // What the thread itself stored there comes first.
  weak.settle(fiber, uintptr_t(copy.target), copy.bytes);
  if (copy.source)
    weak.settle(fiber, uintptr_t(copy.source), copy.used);
  bool isBulk = copy.kind == AsyncCopy::bulk;
  if (copy.kind != AsyncCopy::arrive) {
    // Copies to global memory show their bytes late too, but not as poison:
    // nobody may look there.
    if (findShared(uintptr_t(copy.target)))
      memset(copy.target, 0xff, copy.bytes);
    markInFlight(copy, true);
  }
  uint32_t when = isSeeded() ? random(3) : 2;
  copy.later = when == 1;
  AsyncCopy *stored;
  if (isBulk) {
    bulk.push_back(copy);
    stored = &bulk.back();
  } else {
    fiber.copies.push_back(copy);
    arrivesPending += copy.kind == AsyncCopy::arrive;
    laterPending += copy.kind == AsyncCopy::thread && copy.later;
    stored = &fiber.copies.back();
  }
  if (copy.source == nullptr && copy.kind != AsyncCopy::arrive)
    stored->source = stored->data;
  if (when == 0 && copy.kind != AsyncCopy::arrive)
    perform(*stored);
}

void Machine::perform(AsyncCopy &copy) {
  if (copy.performed)
    return;
  copy.performed = true;
  arrivesPending -= copy.kind == AsyncCopy::arrive;
  laterPending -= copy.kind == AsyncCopy::thread && copy.later;
  madeProgress();
  if (copy.kind == AsyncCopy::arrive) {
    MBarrier *barrier = lookUpMBarrier(copy.barrier);
    if (!barrier)
      return;
    races.merge(barrier->arriving, copy.clock);
    --barrier->pending;
    completePhase(*barrier);
    return;
  }
  const uint8_t *source = copy.source ? copy.source : copy.data;
  memcpy(copy.target, source, copy.used);
  memset(copy.target + copy.used, 0, copy.bytes - copy.used);
  if (copy.kind != AsyncCopy::bulk)
    return;
  if (copy.barrier) {
    markInFlight(copy, false);
    if (MBarrier *barrier = lookUpMBarrier(copy.barrier)) {
      barrier->transactions -= copy.bytes;
      races.merge(barrier->arriving, copy.clock);
      completePhase(*barrier);
    }
    bulk.remove_if([&](const AsyncCopy &other) { return &other == &copy; });
  }
}

void Machine::finishThreadCopies(Fiber &fiber, uint32_t groups, bool all) {
  // The oldest come first; a group is finished when all in it are.
  uint32_t last = fiber.copyGroup - std::min(groups, fiber.copyGroup);
  size_t kept = 0;
  for (AsyncCopy &copy : fiber.copies) {
    if (all || copy.group < last) {
      perform(copy);
      markInFlight(copy, false);
      if (copy.kind == AsyncCopy::thread && races.isEnabled()) {
        std::string message;
        AccessInfo info;
        info.kind = AccessKind::write;
        if (!races.access(fiber, uintptr_t(copy.target), copy.bytes, info,
                          message))
          trap("race: " + keep(std::move(message)) + " " +
               describe(uintptr_t(copy.target)) + ", by an asynchronous copy");
      }
    } else {
      fiber.copies[kept++] = copy;
    }
  }
  fiber.copies.truncate(kept);
}

void Machine::finishBulkCopies(Fiber &fiber, uint32_t groups) {
  uint32_t last = fiber.bulkGroup - std::min(groups, fiber.bulkGroup);
  for (auto copy = bulk.begin(); copy != bulk.end();) {
    auto next = std::next(copy);
    if (copy->issuer == &fiber && !copy->barrier && copy->group < last) {
      perform(*copy);
      markInFlight(*copy, false);
      bulk.erase(copy);
    }
    copy = next;
  }
}

bool Machine::performOne(bool onlyLater) {
  auto isDue = [&](const AsyncCopy &copy) {
    return !copy.performed && (!onlyLater || copy.later);
  };
  for (AsyncCopy &copy : bulk)
    if (isDue(copy)) {
      perform(copy);
      return true;
    }
  if (onlyLater) {
    // Any will do; looking at all threads would cost more than it tells.
    for (unsigned tries = 0; laterPending && tries < 8; ++tries) {
      Block &block = blocks[random(blocks.size())];
      for (AsyncCopy &copy : block.fibers[random(threads)].copies)
        if (copy.kind == AsyncCopy::thread && isDue(copy)) {
          perform(copy);
          return true;
        }
    }
    return false;
  }
  if (!arrivesPending)
    return false;
  // A thread's own copies are only waited for by others through an mbarrier.
  for (Block &block : blocks)
    for (Fiber &fiber : block.fibers) {
      for (size_t i = 0; i < fiber.copies.size(); ++i) {
        if (fiber.copies[i].kind != AsyncCopy::arrive)
          continue;
        // All before it, then itself.
        for (size_t j = 0; j <= i; ++j) {
          perform(fiber.copies[j]);
          markInFlight(fiber.copies[j], false);
        }
        fiber.copies.erase(fiber.copies.begin(), fiber.copies.begin() + i + 1);
        return true;
      }
    }
  return false;
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

MBarrier &Machine::findMBarrier(uintptr_t address, const char *what) {
  Block *block = findShared(address);
  if (!block)
    trap(llvm::Twine(what) + ": an mbarrier that isn't in shared memory");
  if (running && block->cluster != running->block->cluster)
    trap(llvm::Twine(what) + ": an mbarrier of another cluster");
  auto entry = block->mbarriers.find(address);
  if (entry == block->mbarriers.end())
    trap(llvm::Twine(what) + ": no mbarrier was initialised at " +
         describe(address));
  if (running) {
    // The barrier's word, so that a use without an order after the
    // initialisation is a race.
    AccessInfo info;
    info.kind = AccessKind::update;
    info.ordering = Ordering::relaxed;
    info.scope = Scope::cluster;
    info.alignment = 8;
    access(address, 8, info);
    if (block != running->block && !entry->second.fenced)
      trap(llvm::Twine(what) + ": no fence.mbarrier_init came after the "
                               "initialisation of another block's mbarrier");
  }
  return entry->second;
}

void Machine::fenceMBarrierInit() {
  races.fence(self(), Ordering::release, Scope::cluster);
  for (auto &[address, barrier] : self().block->mbarriers)
    barrier.fenced |= barrier.initialiser == &self();
}

MBarrier *Machine::lookUpMBarrier(uintptr_t address) {
  if (Block *block = findShared(address)) {
    auto entry = block->mbarriers.find(address);
    if (entry != block->mbarriers.end())
      return &entry->second;
  }
  if (failure.empty())
    failure = "kernel " + kernel->name +
              ": an asynchronous copy ends at an mbarrier that is gone, " +
              describe(address).str();
  return nullptr;
}

void Machine::mbarrierInit(uintptr_t address, uint32_t count) {
  AccessInfo info;
  info.kind = AccessKind::write;
  info.alignment = 8;
  access(address, 8, info);
  if (findShared(address) != self().block)
    trap("mbarrier.init: not in the block's own shared memory");
  if (count == 0 || count >= 1u << 20)
    trap("mbarrier.init: a count of " + llvm::Twine(count));
  MBarrier &barrier = self().block->mbarriers[address];
  barrier = MBarrier();
  barrier.expected = barrier.pending = count;
  barrier.initialiser = &self();
}

void Machine::mbarrierInval(uintptr_t address) {
  MBarrier &barrier = findMBarrier(address, "mbarrier.inval");
  if (!barrier.waiting.empty())
    trap("mbarrier.inval: threads wait for it");
  findShared(address)->mbarriers.erase(address);
}

void Machine::completePhase(MBarrier &barrier) {
  if (barrier.pending || barrier.transactions)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.completed = barrier.arriving;
  barrier.arriving = SyncClock();
  for (Fiber *waiting : barrier.waiting)
    wake(*waiting);
  barrier.waiting.clear();
  madeProgress();
}

uint64_t Machine::mbarrierArrive(uintptr_t address, uint32_t count,
                                 uint32_t bytes, uint32_t flags) {
  MBarrier &barrier = findMBarrier(address, "mbarrier.arrive");
  uint64_t token = barrier.phase;
  if (count > barrier.pending)
    trap("mbarrier.arrive: " + llvm::Twine(count) + " arrivals, " +
         llvm::Twine(barrier.pending) + " are expected in this phase");
  barrier.transactions += bytes;
  barrier.pending -= count;
  if (flags & arriveDrop)
    barrier.expected -= count;
  // Another block's mbarrier orders in the cluster only if it is told to.
  bool near = findShared(address) == self().block;
  if (!(flags & arriveRelaxed) && (near || flags & arriveClusterScope))
    races.release(self(), barrier.arriving,
                  flags & arriveClusterScope ? Scope::cluster : Scope::block);
  completePhase(barrier);
  return token;
}

void Machine::mbarrierTransactions(uintptr_t address, int64_t change) {
  MBarrier &barrier = findMBarrier(address, "mbarrier.expect_tx");
  barrier.transactions += change;
  if (change < 0)
    completePhase(barrier);
}

uint32_t Machine::mbarrierWait(uintptr_t address, uint64_t phase, bool parity,
                               bool blocking) {
  MBarrier *barrier = &findMBarrier(address, "mbarrier.try_wait");
  if (findShared(address) != self().block)
    trap("mbarrier.try_wait: an mbarrier of another block");
  auto done = [&] {
    return parity ? (barrier->phase & 1) != (phase & 1)
                  : barrier->phase != phase;
  };
  if (!done()) {
    if (!blocking) {
      yield();
    } else {
      barrier->waiting.push_back(&self());
      block(Wait::mbarrier, address, phase);
    }
    barrier = &findMBarrier(address, "mbarrier.try_wait");
  }
  if (!done())
    return 0;
  races.acquire(self(), barrier->completed);
  return 1;
}
