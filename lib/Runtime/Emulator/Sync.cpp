//===- Sync.cpp - Barriers and warp-wide operations -----------------------===//
//
// Named barriers, operations in which the lanes of a mask take part together,
// the cluster barrier, and the report when everybody waits.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;

//===----------------------------------------------------------------------===//
// Named barriers
//===----------------------------------------------------------------------===//

uint32_t Machine::barrier(BarrierKind kind, uint32_t id, uint32_t count,
                          uint32_t predicate) {
  Fiber &fiber = self();
  Block &block = *fiber.block;
  if (id >= 16)
    trap("barrier " + llvm::Twine(id) + ": there are 16");
  if (count % 32)
    trap("barrier " + llvm::Twine(id) + ": a thread count of " +
         llvm::Twine(count) + " isn't a multiple of 32");
  uint32_t all = (threads + 31) / 32 * 32;
  if (count > all)
    trap("barrier " + llvm::Twine(id) + ": waits for " + llvm::Twine(count) +
         " threads, the block has " + llvm::Twine(threads));
  // Lanes that the last warp lacks don't arrive.
  uint32_t expected = count == 0 || count == all ? threads : count;
  NamedBarrier &barrier = block.barriers[id];
  if (barrier.arrived && barrier.expected != expected)
    trap("barrier " + llvm::Twine(id) + ": waits for " + llvm::Twine(expected) +
         " threads, others that wait at it for " +
         llvm::Twine(barrier.expected));
  if (!barrier.arrived) {
    barrier.all = 1;
    barrier.any = barrier.count = 0;
    barrier.clock = SyncClock();
  }
  barrier.expected = expected;
  ++barrier.arrived;
  barrier.all &= predicate != 0;
  barrier.any |= predicate != 0;
  barrier.count += predicate != 0;
  if (kind == BarrierKind::arrive)
    races.release(fiber, barrier.clock, Scope::block);
  else
    barrier.waiting.push_back(&fiber);
  if (barrier.arrived == expected) {
    races.join(barrier.waiting, barrier.clock);
    for (Fiber *waiting : barrier.waiting) {
      waiting->result = barrier.all | barrier.any << 1 | barrier.count << 2;
      if (waiting != &fiber || kind == BarrierKind::arrive || isSeeded())
        wake(*waiting);
    }
    madeProgress();
    barrier.waiting.clear();
    barrier.arrived = 0;
    // In order: the last to arrive goes on. With a seed, whoever.
    if (kind != BarrierKind::arrive && isSeeded())
      switchToScheduler();
  } else if (kind != BarrierKind::arrive) {
    this->block(Wait::barrier, id);
  }
  switch (kind) {
  case BarrierKind::reduceAnd:
    return fiber.result & 1;
  case BarrierKind::reduceOr:
    return fiber.result >> 1 & 1;
  case BarrierKind::reducePopc:
    return fiber.result >> 2;
  default:
    return 0;
  }
}

//===----------------------------------------------------------------------===//
// Warp-wide operations
//===----------------------------------------------------------------------===//

namespace {
/// The functions that a collective's `operation` names, below their kind.
enum : uint32_t {
  shuffleOp,
  voteOp,
  reduceOp,
  matchOp,
  syncOp,
  electOp,
  matrixOp
};
} // namespace

static uint64_t shuffle(const Collective &c, uint32_t lane, bool &bad) {
  uint32_t b = c.extra[lane][0], clamp = c.extra[lane][1];
  uint32_t segment = clamp >> 8 & 31, limit = clamp & 31;
  uint32_t maxLane = (lane & segment) | (limit & ~segment);
  uint32_t minLane = lane & segment;
  int32_t from = 0;
  bool valid = false;
  b &= 31;
  switch (ShuffleKind(c.operation >> 8)) {
  case ShuffleKind::up:
    from = int32_t(lane) - int32_t(b);
    valid = from >= int32_t(maxLane);
    break;
  case ShuffleKind::down:
    from = lane + b;
    valid = from <= int32_t(maxLane);
    break;
  case ShuffleKind::butterfly:
    from = lane ^ b;
    valid = from <= int32_t(maxLane);
    break;
  case ShuffleKind::index:
    from = minLane | (b & ~segment);
    valid = from <= int32_t(maxLane);
    break;
  }
  if (!valid)
    from = lane;
  bad = !(c.mask >> from & 1);
  return uint32_t(c.values[from]) | uint64_t(valid) << 32;
}

static uint32_t reduceFloat(ReduceKind kind, float a, float b) {
  bool isMin = kind == ReduceKind::fmin || kind == ReduceKind::fminNaN ||
               kind == ReduceKind::fminAbs || kind == ReduceKind::fminAbsNaN;
  bool abs = kind >= ReduceKind::fminAbs;
  bool nan = kind == ReduceKind::fminNaN || kind == ReduceKind::fmaxNaN ||
             kind == ReduceKind::fminAbsNaN || kind == ReduceKind::fmaxAbsNaN;
  if (abs) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  float result = isMin ? std::fmin(a, b) : std::fmax(a, b);
  if (nan && (std::isnan(a) || std::isnan(b)))
    return 0x7fffffff;
  return llvm::bit_cast<uint32_t>(result);
}

static uint32_t reduceWord(ReduceKind kind, uint32_t a, uint32_t b) {
  switch (kind) {
  case ReduceKind::add:
    return a + b;
  case ReduceKind::and_:
    return a & b;
  case ReduceKind::or_:
    return a | b;
  case ReduceKind::xor_:
    return a ^ b;
  case ReduceKind::min:
    return std::min(int32_t(a), int32_t(b));
  case ReduceKind::max:
    return std::max(int32_t(a), int32_t(b));
  case ReduceKind::umin:
    return std::min(a, b);
  case ReduceKind::umax:
    return std::max(a, b);
  default:
    return reduceFloat(kind, llvm::bit_cast<float>(a),
                       llvm::bit_cast<float>(b));
  }
}

/// Row `lane / 4` of each 8x8 matrix of 16-bit elements, of which a lane gets
/// two; the rows' addresses come from the lanes. The result is for one matrix.
static uint32_t matrixElement(const Collective &c, uint32_t lane,
                              uint32_t matrix, bool transposed) {
  auto element = [&](uint32_t row, uint32_t column) -> uint32_t {
    auto *address =
        reinterpret_cast<const uint16_t *>(c.values[matrix * 8 + row]);
    return address[column];
  };
  uint32_t row = lane / 4, column = lane % 4 * 2;
  if (transposed)
    return element(column, row) | element(column + 1, row) << 16;
  return element(row, column) | element(row, column + 1) << 16;
}

uint64_t Machine::collective(uint32_t operation, uint32_t mask, uint64_t value,
                             uint32_t extra0, uint32_t extra1) {
  Fiber &fiber = self();
  Warp &warp = *fiber.warp;
  static const char *const names[] = {
      "shfl.sync",     "vote.sync",  "redux.sync", "match.sync",
      "bar.warp.sync", "elect.sync", "ldmatrix"};
  const char *name = names[operation & 255];
  uint32_t bit = 1u << fiber.lane;
  // The whole warp is meant where the block ends within it.
  if (mask == ~0u)
    mask = warp.exists;
  auto hex = [&](uint32_t number) {
    return keep("0x" + llvm::utohexstr(number, true));
  };
  if (!(mask & bit))
    trap(llvm::Twine("divergent collective: ") + name + " with mask " +
         hex(mask) + " in lane " + llvm::Twine(fiber.lane) +
         ", which isn't in it");
  if (mask & ~warp.exists)
    trap(llvm::Twine("divergent collective: ") + name + " with mask " +
         hex(mask) + " names lanes that the block doesn't have");
  if (mask & warp.exited)
    trap(llvm::Twine("divergent collective: ") + name + " with mask " +
         hex(mask) + " waits for lanes that have exited, " +
         hex(mask & warp.exited));
  Collective *mine = nullptr;
  for (Collective &open : warp.open) {
    if (!(open.mask & mask))
      continue;
    if (open.mask != mask || open.operation != operation)
      trap(llvm::Twine("divergent collective: ") + name + " with mask " +
           hex(mask) + " while other lanes are in " +
           names[open.operation & 255] + " with mask " + hex(open.mask));
    mine = &open;
  }
  if (!mine) {
    mine = &warp.open.emplace_back();
    mine->mask = mask;
    mine->operation = operation;
  }
  mine->arrived |= bit;
  mine->values[fiber.lane] = value;
  mine->extra[fiber.lane][0] = extra0;
  mine->extra[fiber.lane][1] = extra1;
  if (mine->arrived != mask) {
    this->block(Wait::warp, mask);
    return fiber.result;
  }

  const Collective &c = *mine;
  llvm::SmallVector<Fiber *, 32> lanes;
  for (uint32_t lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1)
      lanes.push_back(warp.lanes[lane]);
  uint32_t ballot = 0, all = 0;
  bool equal = true;
  for (Fiber *lane : lanes) {
    uint32_t word = c.values[lane->lane];
    ballot |= uint32_t(word != 0) << lane->lane;
    all = lane == lanes[0]
              ? word
              : ((operation & 255) == reduceOp
                     ? reduceWord(ReduceKind(operation >> 8), all, word)
                     : 0);
    equal &= c.values[lane->lane] == c.values[lanes[0]->lane];
  }
  if ((operation & 255) == reduceOp && lanes.size() == 1 &&
      ReduceKind(operation >> 8) >= ReduceKind::fminAbs)
    all &= 0x7fffffff;
  uint32_t badLane = 32;
  for (Fiber *lane : lanes) {
    uint32_t l = lane->lane;
    switch (operation & 255) {
    case shuffleOp: {
      bool bad;
      lane->result = shuffle(c, l, bad);
      if (bad)
        badLane = l;
      break;
    }
    case voteOp:
      switch (VoteKind(operation >> 8)) {
      case VoteKind::any:
        lane->result = ballot != 0;
        break;
      case VoteKind::all:
        lane->result = ballot == mask;
        break;
      case VoteKind::uniform:
        lane->result = ballot == 0 || ballot == mask;
        break;
      case VoteKind::ballot:
        lane->result = ballot;
        break;
      }
      break;
    case reduceOp:
      lane->result = all;
      break;
    case matchOp: {
      uint32_t same = 0;
      for (Fiber *other : lanes)
        same |= uint32_t(c.values[other->lane] == c.values[l]) << other->lane;
      if (operation >> 8) // all
        lane->result = (equal ? mask : 0) | uint64_t(equal) << 32;
      else
        lane->result = same;
      break;
    }
    case electOp:
      lane->result = lanes[0]->lane | uint64_t(lane == lanes[0]) << 32;
      break;
    case matrixOp: {
      auto *target = reinterpret_cast<uint32_t *>(
          uint64_t(c.extra[l][0]) | uint64_t(c.extra[l][1]) << 32);
      uint32_t count = operation >> 8 & 255;
      for (uint32_t matrix = 0; matrix < count; ++matrix)
        target[matrix] = matrixElement(c, l, matrix, operation >> 16);
      break;
    }
    default:
      break;
    }
  }
  if (badLane != 32)
    trap("divergent collective: shfl.sync with mask " + hex(mask) +
         " gives lane " + llvm::Twine(badLane) +
         " the value of a lane that isn't in it");
  // Only bar.warp.sync orders memory.
  if ((operation & 255) == syncOp)
    races.join(lanes);
  warp.open.remove_if([&](const Collective &open) { return &open == mine; });
  uint64_t result = fiber.result;
  for (Fiber *lane : lanes)
    if (lane != &fiber)
      wake(*lane);
  return result;
}

//===----------------------------------------------------------------------===//
// The cluster barrier, and exits
//===----------------------------------------------------------------------===//

static void completeClusterPhase(Machine &machine, Cluster &cluster) {
  if (!cluster.arrived || cluster.arrived + cluster.exited < cluster.threads)
    return;
  cluster.arrived = 0;
  ++cluster.phase;
  cluster.completed = cluster.arriving;
  cluster.arriving = SyncClock();
  for (Fiber *waiting : cluster.waiting)
    machine.wake(*waiting);
  cluster.waiting.clear();
  machine.madeProgress();
}

void Machine::clusterArrive(bool relaxed) {
  Fiber &fiber = self();
  Cluster &cluster = *fiber.block->cluster;
  if (fiber.clusterArrived)
    trap("cluster barrier: a thread arrives twice without a wait between");
  fiber.clusterArrived = true;
  fiber.clusterPhase = cluster.phase;
  ++cluster.arrived;
  if (relaxed)
    races.releaseFenced(fiber, cluster.arriving, Scope::cluster);
  else
    races.release(fiber, cluster.arriving, Scope::cluster);
  completeClusterPhase(*this, cluster);
}

void Machine::clusterWait() {
  Fiber &fiber = self();
  Cluster &cluster = *fiber.block->cluster;
  if (!fiber.clusterArrived)
    trap("cluster barrier: a thread waits that hasn't arrived");
  if (cluster.phase == fiber.clusterPhase) {
    cluster.waiting.push_back(&fiber);
    block(Wait::cluster, 0);
  }
  fiber.clusterArrived = false;
  races.acquire(fiber, cluster.completed);
}

void Machine::fiberExited(Fiber &fiber) {
  // A copy that nobody waited for lands at the latest now.
  finishThreadCopies(fiber, 0, /*all=*/true);
  for (const AsyncCopy &copy : bulk)
    if (copy.issuer == &fiber && !copy.barrier && !copy.performed)
      trap("exits while its bulk copy from " +
           describe(uintptr_t(copy.source)) + " is in flight");
  fiber.done = true;
  Warp &warp = *fiber.warp;
  warp.exited |= 1u << fiber.lane;
  for (Collective &open : warp.open)
    if (open.mask >> fiber.lane & 1)
      trap("divergent collective: the thread exits while lanes wait for it "
           "with mask 0x" +
           keep(llvm::utohexstr(open.mask, true)));
  Cluster &cluster = *fiber.block->cluster;
  // Who arrived and exits counts once.
  if (fiber.clusterArrived && cluster.phase == fiber.clusterPhase)
    --cluster.arrived;
  ++cluster.exited;
  --fiber.block->live;
  madeProgress();
  completeClusterPhase(*this, cluster);
}

std::string Machine::describeDeadlock() {
  uint32_t waiting[5] = {}, polling = ready.size();
  Fiber *example = nullptr;
  for (Block &block : blocks)
    for (Fiber &fiber : block.fibers) {
      if (fiber.done || fiber.wait == Wait::nothing)
        continue;
      ++waiting[unsigned(fiber.wait)];
      if (!example)
        example = &fiber;
    }
  std::string what;
  if (!example) {
    example = ready.front();
    what = llvm::formatv("deadlock: {0} threads poll memory that nobody writes "
                         "any more",
                         polling);
    if (!config.cooperative &&
        blocks.size() < uint64_t(config.grid.x) * config.grid.y * config.grid.z)
      what += "; blocks of a launch that isn't cooperative can't wait for each "
              "other";
  } else {
    const Block &block = *example->block;
    switch (example->wait) {
    case Wait::barrier: {
      const NamedBarrier &barrier = block.barriers[example->waitFor];
      what = llvm::formatv("deadlock: barrier {0} is reached by {1} of {2} "
                           "threads",
                           example->waitFor, barrier.arrived, barrier.expected);
      for (const Fiber &fiber : block.fibers) {
        if (fiber.wait == Wait::barrier && fiber.waitFor == example->waitFor)
          continue;
        what += llvm::formatv("; thread {0} {1}", fiber.index,
                              fiber.done ? "has exited" : "waits elsewhere");
        break;
      }
      break;
    }
    case Wait::warp:
      what = llvm::formatv("deadlock: a warp-wide operation with mask {0:x} "
                           "isn't reached by all its lanes",
                           uint32_t(example->waitFor));
      break;
    case Wait::mbarrier: {
      auto entry = block.mbarriers.find(example->waitFor);
      what = "deadlock: waits for an mbarrier";
      if (entry != block.mbarriers.end())
        what += llvm::formatv(" that still expects {0} of {1} arrivals and {2} "
                              "bytes",
                              entry->second.pending, entry->second.expected,
                              entry->second.transactions);
      break;
    }
    default:
      what = llvm::formatv("deadlock: the cluster barrier is reached by {0} of "
                           "{1} threads",
                           block.cluster->arrived, block.cluster->threads);
    }
    if (polling)
      what += llvm::formatv("; {0} threads poll", polling);
  }
  return llvm::formatv("kernel {0} block ({1},{2},{3}) thread ({4},{5},{6}): "
                       "{7}",
                       kernel->name, example->block->id[0],
                       example->block->id[1], example->block->id[2],
                       example->tid[0], example->tid[1], example->tid[2], what);
}
