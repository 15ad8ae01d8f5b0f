//===- Memory.cpp - The one place that every access passes ----------------===//
//
// Checks an access of a kernel: alignment, bounds, address space, copies in
// flight, races. Also decides where a thread that polls lets others run.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;

static const char *getVerb(AccessKind kind) {
  switch (kind) {
  case AccessKind::read:
    return "reads";
  case AccessKind::write:
    return "writes";
  case AccessKind::update:
    return "updates";
  }
  llvm_unreachable("unknown kind");
}

void Machine::poisonShared(Block &block) { memset(block.shared, 0xff, window); }

Block *Machine::findShared(uintptr_t address) {
  uintptr_t offset = address - uintptr_t(arena);
  if (offset >= arenaBytes)
    return nullptr;
  size_t index = offset / window;
  return index < blocks.size() ? &blocks[index] : nullptr;
}

bool Machine::isGlobal(uintptr_t address, uint64_t bytes) {
  if (address >= lastRange.begin && address < lastRange.end &&
      bytes <= lastRange.end - address)
    return true;
  auto next = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](uintptr_t value, const Range &range) { return value < range.begin; });
  if (next == ranges.begin())
    return false;
  const Range &range = *std::prev(next);
  if (address >= range.end || bytes > range.end - address)
    return false;
  lastRange = range;
  return true;
}

llvm::StringRef Machine::describe(uintptr_t address) {
  if (Block *block = findShared(address))
    return keep(llvm::formatv("shared memory of block ({0},{1},{2}) + {3}",
                              block->id[0], block->id[1], block->id[2],
                              address - uintptr_t(block->shared)));
  auto next = std::upper_bound(
      ranges.begin(), ranges.end(), address,
      [](uintptr_t value, const Range &range) { return value < range.begin; });
  std::string text = "0x" + llvm::utohexstr(address, /*LowerCase=*/true);
  if (next != ranges.begin()) {
    const Range &range = *std::prev(next);
    uint64_t offset = address - range.begin, size = range.end - range.begin;
    if (offset < size)
      return keep(
          llvm::formatv("byte {0} of a buffer of {1} bytes", offset, size));
    if (offset - size < (1 << 20))
      return keep(llvm::formatv("{0}, {1} bytes behind a buffer of {2} bytes",
                                text, offset - size, size));
  }
  if (next != ranges.end() && next->begin - address < (1 << 20))
    return keep(llvm::formatv("{0}, {1} bytes before a buffer of {2} bytes",
                              text, next->begin - address,
                              next->end - next->begin));
  return keep(text + ", no live buffer");
}

void Machine::access(uintptr_t address, uint64_t bytes, AccessInfo info) {
  countWork();
  if (bytes == 0)
    return;
  Fiber &fiber = self();
  const char *verb = getVerb(info.kind);
  if (address & (info.alignment - 1))
    trap(llvm::Twine("misaligned access: ") + verb + " " + llvm::Twine(bytes) +
         " bytes at " + describe(address) + ", an alignment of " +
         llvm::Twine(info.alignment) + " is needed");
  if (address - uintptr_t(arena) < arenaBytes) {
    Block *block = findShared(address);
    if (!block)
      trap(llvm::Twine("out of bounds: ") + verb +
           " shared memory that no block has");
    uint64_t offset = address - uintptr_t(block->shared);
    if (offset >= block->sharedBytes || bytes > block->sharedBytes - offset)
      trap(llvm::Twine("out of bounds: ") + verb + " " + llvm::Twine(bytes) +
           " bytes at shared memory + " + llvm::Twine(offset) +
           ", the block has " + llvm::Twine(block->sharedBytes) + " bytes");
    if (info.space == Space::global)
      trap(llvm::Twine("wrong address space: a global access ") + verb + " " +
           describe(address));
    if (block != fiber.block) {
      if (block->cluster != fiber.block->cluster || info.space == Space::shared)
        trap(llvm::Twine("out of bounds: ") + verb + " " + describe(address) +
             (info.space == Space::shared ? ", another block"
                                          : ", a block of another cluster"));
      if (!block->live)
        trap(llvm::Twine("use after exit: ") + verb + " " + describe(address) +
             ", whose threads have all exited");
    }
    bool writes = info.kind != AccessKind::read;
    for (uint64_t word = offset / 4; word <= (offset + bytes - 1) / 4; ++word) {
      if (block->writing[word])
        trap(llvm::Twine("race: ") + verb + " " + describe(address) +
             " while an asynchronous copy to it is in flight");
      if (writes && block->reading[word])
        trap(llvm::Twine("race: ") + verb + " " + describe(address) +
             " while an asynchronous copy from it is in flight");
    }
  } else if (address - uintptr_t(fiber.stack) < stackBytes) {
    return; // the thread's own
  } else {
    if (!isGlobal(address, bytes)) {
      trap(llvm::Twine("out of bounds: ") + verb + " " + llvm::Twine(bytes) +
           " bytes at " + describe(address));
    }
    if (info.space == Space::shared || info.space == Space::cluster)
      trap(llvm::Twine("wrong address space: a shared access ") + verb + " " +
           describe(address));
    if (config.programmaticDependent && !fiber.dependencyWaited)
      trap(llvm::Twine("race: ") + verb + " " + describe(address) +
           " before griddepcontrol.wait: the launch before may still run");
  }
  if (races.isEnabled()) {
    std::string message;
    if (!races.access(fiber, address, bytes, info, message))
      trap("race: " + keep(std::move(message)) + " " + describe(address));
  }
  if (info.kind == AccessKind::write)
    madeProgress();
}

void Machine::publish(uintptr_t address, uint64_t bytes, AccessInfo info) {
  if (info.kind == AccessKind::read || !weak.isEnabled())
    return;
  Fiber &fiber = self();
  if (info.ordering == Ordering::release ||
      info.ordering == Ordering::acquireRelease ||
      info.ordering == Ordering::sequential)
    weak.release(fiber, info.scope);
  if (info.kind == AccessKind::update)
    weak.settle(fiber, address, bytes);
  else
    weak.write(fiber, address, bytes);
}

void Machine::poll(uintptr_t address, AccessInfo info) {
  Fiber &fiber = self();
  if (info.kind == AccessKind::write)
    return;
  if (info.kind == AccessKind::update)
    sawUpdates = true;
  // Reading the same again means waiting for somebody; so may reading on and
  // on, and with a seed anything goes.
  bool again = llvm::is_contained(fiber.polled, address);
  fiber.polled[fiber.polls++ % 8] = address;
  if (again || fiber.polls % 64 == 0 || (isSeeded() && random(4) == 0))
    yield();
}
