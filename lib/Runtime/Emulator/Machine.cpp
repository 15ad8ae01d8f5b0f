//===- Machine.cpp - Launches and the scheduler ---------------------------===//
//
// Checks a launch against the virtual device, makes its threads, and runs them
// to their end, to a trap or to a deadlock.
//
// A launch that isn't cooperative runs one cluster after the other in order
// seed 0, so that blocks that wait for each other without being promised
// residency are found; with a seed, as many as fit, in random order.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using namespace mlir::norm_fusion::runtime::emu;
using llvm::Error;
using namespace boost::context::detail;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NORM_FUSION_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#endif

static thread_local Machine *current = nullptr;

Machine &Machine::get() { return *current; }

Machine::Machine(const EmulatorOptions &options)
    : options(options), races(options.races), weak(options.weak) {}

Machine::~Machine() {
  for (auto [address, bytes] : stackMappings)
    munmap(address, bytes);
  if (arena)
    munmap(arena, arenaBytes);
}

//===----------------------------------------------------------------------===//
// Checking a launch
//===----------------------------------------------------------------------===//

static uint64_t getShared(const Kernel &kernel, const LaunchConfig &config) {
  return config.dynamicSharedMemory ? uint64_t(kernel.record->dynamicShared) +
                                          config.dynamicSharedMemory
                                    : kernel.record->staticShared;
}

uint32_t Machine::getBlocksPerSM(const Kernel *kernel,
                                 const LaunchConfig &config) {
  uint64_t threads = config.block.count();
  uint64_t rounded = (threads + 31) / 32 * 32;
  if (!threads || rounded > threadsPerSM)
    return 0;
  uint64_t shared =
      kernel ? getShared(*kernel, config) : config.dynamicSharedMemory;
  shared += sharedReserved;
  uint64_t available = options.sharedMemory + sharedReserved;
  return std::min<uint64_t>(
      {threadsPerSM / rounded, available / shared, uint64_t(blocksPerSM)});
}

Error Machine::checkConfig(const Kernel &kernel, const LaunchConfig &config) {
  auto fail = [&](const llvm::Twine &what) {
    return makeError(ErrorKind::kernelFailed,
                     "can't launch kernel " + kernel.name + ": " + what);
  };
  const KernelRecord &record = *kernel.record;
  uint64_t threads = config.block.count();
  uint64_t grid = config.grid.count();
  if (grid == 0 || threads == 0)
    return fail("the grid or the block is empty");
  if (grid > 0x7fffffff)
    return fail(llvm::Twine(grid) + " blocks; at most 2147483647 fit");
  if (threads > 1024)
    return fail(llvm::Twine(threads) + " threads a block; at most 1024 fit");
  // Devices have these limits, too; and what is beyond them may have wrapped
  // around above.
  auto checkDims = [&](const char *what, const Dim3 &dim,
                       const Dim3 &most) -> Error {
    if (dim.x <= most.x && dim.y <= most.y && dim.z <= most.z)
      return Error::success();
    return fail(llvm::formatv("a {0} of {1}x{2}x{3}; at most {4}x{5}x{6} fits",
                              what, dim.x, dim.y, dim.z, most.x, most.y, most.z)
                    .str());
  };
  if (Error error = checkDims("grid", config.grid, {0x7fffffff, 65535, 65535}))
    return error;
  if (Error error = checkDims("block", config.block, {1024, 1024, 64}))
    return error;
  if (record.maxThreads && threads > record.maxThreads)
    return fail(llvm::Twine(threads) + " threads a block; the kernel takes " +
                llvm::Twine(record.maxThreads) + " at most");
  if (record.requiredThreads[0] &&
      (record.requiredThreads[0] != config.block.x ||
       record.requiredThreads[1] != config.block.y ||
       record.requiredThreads[2] != config.block.z))
    return fail(llvm::Twine(threads) +
                " threads a block; the kernel requires " +
                llvm::Twine(record.requiredThreads[0]) + "x" +
                llvm::Twine(record.requiredThreads[1]) + "x" +
                llvm::Twine(record.requiredThreads[2]));
  uint64_t shared = getShared(kernel, config);
  if (shared > options.sharedMemory)
    return fail(llvm::Twine(shared) +
                " bytes of shared memory a block; the "
                "device has " +
                llvm::Twine(options.sharedMemory));
  uint64_t cluster = config.cluster.count();
  if (cluster == 0)
    return fail("the cluster is empty");
  if (cluster > options.maxCluster)
    return fail("clusters of " + llvm::Twine(cluster) +
                " blocks; the device takes " + llvm::Twine(options.maxCluster) +
                " at most");
  if (config.grid.x % config.cluster.x || config.grid.y % config.cluster.y ||
      config.grid.z % config.cluster.z)
    return fail("the grid of " + llvm::Twine(grid) +
                " blocks isn't a multiple of the cluster of " +
                llvm::Twine(cluster));
  if (record.cluster[0] && (record.cluster[0] != config.cluster.x ||
                            record.cluster[1] != config.cluster.y ||
                            record.cluster[2] != config.cluster.z))
    return fail("clusters of " + llvm::Twine(cluster) +
                " blocks; the kernel is made for " +
                llvm::Twine(record.cluster[0]) + "x" +
                llvm::Twine(record.cluster[1]) + "x" +
                llvm::Twine(record.cluster[2]));
  uint64_t resident = uint64_t(getBlocksPerSM(&kernel, config)) * options.sms;
  if (cluster > resident)
    return fail("a cluster of " + llvm::Twine(cluster) +
                " blocks; the device holds " + llvm::Twine(resident));
  if (config.cooperative && grid > resident / cluster * cluster)
    return fail("cooperative launch too large: " + llvm::Twine(grid) +
                " blocks, the device holds " +
                llvm::Twine(resident / cluster * cluster));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// A launch
//===----------------------------------------------------------------------===//

Error Machine::run(const Kernel &kernel, const LaunchConfig &config,
                   void **arguments, std::vector<Range> allocations) {
  if (Error error = checkConfig(kernel, config))
    return error;
  this->kernel = &kernel;
  this->config = config;
  this->arguments = arguments;
  ranges = std::move(allocations);
  ranges.insert(ranges.end(), kernel.variables.begin(), kernel.variables.end());
  llvm::sort(ranges, [](Range a, Range b) { return a.begin < b.begin; });
  lastRange = {0, 0};
  threads = config.block.count();
  sharedBytes = getShared(kernel, config);
  weak.begin(launchNumber);
  engine.seed(options.orderSeed + launchNumber++);
  failure.clear();
  texts.clear();

  uint64_t count = config.grid.count() / config.cluster.count();
  uint64_t size = config.cluster.count();
  uint64_t wave =
      uint64_t(getBlocksPerSM(&kernel, config)) * options.sms / size;
  if (config.cooperative)
    wave = count;
  else if (!isSeeded())
    wave = 1;
  wave = std::min(wave, count);

  // Shared memory lies below 4 GiB: its addresses are used as 32-bit integers.
  window = (std::max<size_t>(sharedBytes, 1) + 2047) / 1024 * 1024;
  size_t needed = window * size * wave;
  if (needed > arenaBytes) {
    if (arena)
      munmap(arena, arenaBytes);
    arena = nullptr;
    arenaBytes = 0;
    void *memory =
        mmap(nullptr, needed, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
    if (memory == MAP_FAILED)
      return makeError(ErrorKind::outOfMemory,
                       "no " + llvm::Twine(needed) +
                           " bytes below 4 GiB for emulated shared memory");
    arena = static_cast<uint8_t *>(memory);
    arenaBytes = needed;
  }
  races.begin(threads, count * size);

  std::vector<uint32_t> order(count);
  for (uint64_t i = 0; i < count; ++i)
    order[i] = i;
  if (isSeeded())
    std::shuffle(order.begin(), order.end(), engine);
  deadline = std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(timeout));
  Machine *outer = current;
  current = this;
  Error error = Error::success();
  for (uint64_t first = 0; first < count && !error; first += wave) {
    error = runWave(
        llvm::ArrayRef(order).slice(first, std::min(wave, count - first)));
  }
  current = outer;
  return error;
}

Error Machine::runWave(llvm::ArrayRef<uint32_t> indices) {
  blocks.clear();
  clusters.clear();
  ready.clear();
  bulk.clear();
  arrivesPending = laterPending = 0;
  live = 0;
  idleTurns = 0;
  races.beginWave();
  for (auto [slot, index] : llvm::enumerate(indices))
    createCluster(index, slot);
  for (Block &block : blocks)
    for (Fiber &fiber : block.fibers)
      startFiber(fiber);
  schedule();
  weak.landAll(blocks, clusters);
  if (failure.empty() && !bulk.empty()) {
    // A block may not end before its copies from or to shared memory do.
    for (AsyncCopy &copy : bulk)
      if (!copy.performed)
        perform(copy);
  }
  for (Block &block : blocks) {
    for (Fiber &fiber : block.fibers)
      stacks.push_back(fiber.stack);
    poisonShared(block);
  }
  if (!failure.empty())
    return makeError(ErrorKind::kernelFailed, failure);
  return Error::success();
}

void Machine::createCluster(uint32_t index, uint32_t slot) {
  const Dim3 &shape = config.cluster;
  uint32_t across = config.grid.x / shape.x, down = config.grid.y / shape.y;
  Cluster &cluster = clusters.emplace_back();
  cluster.id[0] = index % across;
  cluster.id[1] = index / across % down;
  cluster.id[2] = index / across / down;
  uint32_t size = shape.count();
  for (uint32_t rank = 0; rank < size; ++rank) {
    Block &block = blocks.emplace_back();
    block.rank = rank;
    block.cluster = &cluster;
    cluster.blocks.push_back(&block);
    block.id[0] = cluster.id[0] * shape.x + rank % shape.x;
    block.id[1] = cluster.id[1] * shape.y + rank / shape.x % shape.y;
    block.id[2] = cluster.id[2] * shape.z + rank / shape.x / shape.y;
    block.linear = block.id[0] +
                   config.grid.x * (block.id[1] + config.grid.y * block.id[2]);
    block.shared = arena + window * (uint64_t(slot) * size + rank);
    block.sharedBytes = sharedBytes;
    block.writing.assign(window / 4 + 4, 0);
    block.reading.assign(window / 4 + 4, 0);
    poisonShared(block);
    block.live = threads;
    live += threads;
    cluster.threads += threads;
    for (uint32_t i = 0; i < threads; ++i) {
      Fiber &fiber = block.fibers.emplace_back();
      fiber.block = &block;
      fiber.index = i;
      fiber.lane = i % 32;
      fiber.tid[0] = i % config.block.x;
      fiber.tid[1] = i / config.block.x % config.block.y;
      fiber.tid[2] = i / config.block.x / config.block.y;
      if (fiber.lane == 0) {
        Warp &warp = block.warps.emplace_back();
        warp.block = &block;
        warp.index = i / 32;
      }
      fiber.warp = &block.warps.back();
      fiber.warp->lanes[fiber.lane] = &fiber;
      fiber.warp->exists |= 1u << fiber.lane;
      races.startThread(fiber);
    }
  }
}

char *Machine::takeStack() {
  if (stacks.empty()) {
    // Many at once. A page below each can't be touched, but a process has only
    // so many mappings: beyond that the mark at a stack's end must do.
    constexpr size_t page = 4096, many = 64, guarded = 8192 / many;
    size_t stride = stackBytes + page;
    void *memory = mmap(nullptr, stride * many, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      llvm::report_fatal_error("no memory for the emulator's stacks");
    stackMappings.push_back({memory, stride * many});
    for (size_t i = many; i-- > 0;) {
      char *low = static_cast<char *>(memory) + stride * i;
      if (stackMappings.size() <= guarded)
        mprotect(low, page, PROT_NONE);
      stacks.push_back(low + page);
    }
  }
  char *stack = stacks.back();
  stacks.pop_back();
  return stack;
}

/// Stands at the end of every stack, until it overflows.
static constexpr uint64_t stackMark = 0x6e6f726d66757365;

void Machine::startFiber(Fiber &fiber) {
  fiber.stack = takeStack();
  memcpy(fiber.stack, &stackMark, sizeof(stackMark));
  fiber.context =
      make_fcontext(fiber.stack + stackBytes, stackBytes, &Machine::fiberMain);
  ready.push_back(&fiber);
}

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

#ifdef NORM_FUSION_ASAN
static thread_local const void *schedulerStack = nullptr;
static thread_local size_t schedulerStackBytes = 0;
#endif

void Machine::fiberMain(transfer_t transfer) {
  Machine &machine = *static_cast<Machine *>(transfer.data);
#ifdef NORM_FUSION_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &schedulerStack,
                                  &schedulerStackBytes);
#endif
  machine.scheduler = transfer.fctx;
  machine.kernel->entry(machine.arguments);
  machine.fiberExited(machine.self());
  machine.leave();
}

void Machine::leave() {
  switchToScheduler(/*forGood=*/true);
  llvm_unreachable("a finished fiber was resumed");
}

void Machine::resume(Fiber &fiber) {
  running = &fiber;
#ifdef NORM_FUSION_ASAN
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, fiber.stack, stackBytes);
#endif
  transfer_t back = jump_fcontext(fiber.context, this);
#ifdef NORM_FUSION_ASAN
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
  fiber.context = back.fctx;
  running = nullptr;
  if (memcmp(fiber.stack, &stackMark, sizeof(stackMark)) && failure.empty())
    failure = "kernel " + kernel->name +
              ": a thread needs more than the emulator's " +
              std::to_string(stackBytes) + " bytes of local memory";
}

void Machine::switchToScheduler([[maybe_unused]] bool forGood) {
#ifdef NORM_FUSION_ASAN
  // Without a place to keep it, the fiber's fake stack is freed.
  void *fake = nullptr;
  __sanitizer_start_switch_fiber(forGood ? nullptr : &fake, schedulerStack,
                                 schedulerStackBytes);
#endif
  transfer_t back = jump_fcontext(scheduler, nullptr);
#ifdef NORM_FUSION_ASAN
  __sanitizer_finish_switch_fiber(fake, &schedulerStack, &schedulerStackBytes);
#endif
  scheduler = back.fctx;
}

void Machine::yield() {
  ready.push_back(running);
  ++idleTurns;
  switchToScheduler();
}

/// The others' turn: who waits in a loop without a volatile or atomic access
/// would keep them from what it waits for.
void Machine::preempt() {
  checkTime();
  ready.push_back(running);
  switchToScheduler();
}

void Machine::block(Wait wait, uint64_t waitFor, uint64_t phase) {
  running->wait = wait;
  running->waitFor = waitFor;
  running->waitPhase = phase;
  switchToScheduler();
}

void Machine::wake(Fiber &fiber) {
  fiber.wait = Wait::nothing;
  ready.push_back(&fiber);
  madeProgress();
}

void Machine::trap(const llvm::Twine &what) {
  if (failure.empty()) {
    std::string where;
    if (running) {
      const Block &block = *running->block;
      where = llvm::formatv(" block ({0},{1},{2}) thread ({3},{4},{5})",
                            block.id[0], block.id[1], block.id[2],
                            running->tid[0], running->tid[1], running->tid[2]);
    }
    failure = "kernel " + kernel->name + where + ": " + what.str();
  }
  if (running)
    switchToScheduler(/*forGood=*/true);
  llvm_unreachable("a trapped fiber was resumed");
}

void Machine::checkTime() {
  if (std::chrono::steady_clock::now() > deadline)
    trap(keep(describeHang(timeout)));
}

void Machine::schedule() {
  while (live) {
    if (ready.empty()) {
      weak.leave();
      if (performOne(/*onlyLater=*/false))
        continue;
      failure = describeDeadlock();
      return;
    }
    if (isSeeded()) {
      std::swap(ready.front(), ready[random(ready.size())]);
      if (random(4) == 0) {
        weak.leave();
        performOne(/*onlyLater=*/true);
      }
    }
    weak.landSome(blocks);
    Fiber *fiber = ready.front();
    ready.pop_front();
    weak.enter(*fiber);
    resume(*fiber);
    if (!failure.empty())
      return;
    if (fiber->done)
      --live;
    // Who has read what it polled for and waits elsewhere now isn't idle: many
    // may do so one after the other, while few are left to be patient with.
    if (fiber->wait != Wait::nothing)
      madeProgress();
    // Everybody polls: what is in flight must land now.
    if (idleTurns > 2 * ready.size() + 2) {
      weak.leave();
      if (performOne(/*onlyLater=*/false) || weak.landMany(blocks, clusters)) {
        madeProgress();
        continue;
      }
    }
    uint64_t patience = (ready.size() + 1) * (sawUpdates ? 200000 : 4000);
    if (idleTurns > patience) {
      failure = describeDeadlock();
      return;
    }
  }
}
