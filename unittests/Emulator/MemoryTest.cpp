//===- MemoryTest.cpp - What accesses may do ------------------------------===//
//
// Bounds, alignment, use after free, shared memory, limits of launches, and
// ordering between blocks.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

#include <cstdlib>

using namespace mlir::norm_fusion::runtime;

namespace {

class MemoryTest : public EmulatorTest {};

std::string storeAt(llvm::StringRef index, llvm::StringRef extra = "") {
  return wrapKernel((R"(
      %i = llvm.mlir.constant()" +
                     index + R"( : i64) : i64
      %out = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
      llvm.store %tid, %out )" +
                     extra + R"( : i32, !llvm.ptr<1>)")
                        .str());
}

TEST_F(MemoryTest, OutOfBounds) {
  EXPECT_EQ(run(storeAt("60"), grid(1, 1), 16), "");
  std::string error = run(storeAt("64"), grid(1, 1), 16);
  EXPECT_TRUE(contains(error, "kernel k block (0,0,0) thread (0,0,0): out of "
                              "bounds: writes 4 bytes"));
  EXPECT_TRUE(contains(error, "0 bytes behind a buffer of 64 bytes"));
  EXPECT_TRUE(contains(run(storeAt("-4"), grid(1, 1), 16), "out of bounds"));
  EXPECT_TRUE(
      contains(run(storeAt("62", "{alignment = 1 : i64}"), grid(1, 1), 16),
               "out of bounds"));
}

TEST_F(MemoryTest, Misaligned) {
  EXPECT_TRUE(contains(run(storeAt("2"), grid(1, 1)), "misaligned"));
}

TEST_F(MemoryTest, UseAfterFree) {
  auto kernel = load(storeAt("0"));
  ASSERT_TRUE(bool(kernel));
  auto again = load(storeAt("0"));
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(*kernel, *again);
  auto memory = device->allocate(64, false);
  ASSERT_TRUE(bool(memory));
  EXPECT_EQ(static_cast<unsigned char *>(*memory)[5], 0xff);
  void *pointer = *memory;
  device->deallocate(pointer);
  void *arguments[] = {&pointer};
  llvm::Error error = device->launch(*kernel, grid(1, 1), arguments, nullptr);
  ASSERT_TRUE(error.isA<DeviceError>());
  llvm::handleAllErrors(std::move(error), [](const DeviceError &device) {
    EXPECT_EQ(device.getKind(), ErrorKind::kernelFailed);
  });
}

TEST_F(MemoryTest, SharedOutOfBounds) {
  std::string text =
      wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %tid, %mine : i32, !llvm.ptr<3>)",
                 "llvm.mlir.global external @s() {addr_space = 3 : i32, "
                 "alignment = 16 : i64} : !llvm.array<0 x i32>");
  LaunchConfig config = grid(2, 33);
  config.dynamicSharedMemory = 132;
  EXPECT_EQ(run(text, config), "");
  config.dynamicSharedMemory = 128;
  EXPECT_TRUE(contains(run(text, config), "out of bounds: writes 4 bytes at "
                                          "shared memory + 128"));
  open("shared-memory=1000");
  config.dynamicSharedMemory = 1001;
  EXPECT_TRUE(contains(run(text, config), "1001 bytes of shared memory"));
}

TEST_F(MemoryTest, LaunchLimits) {
  std::string text = wrapKernel("");
  EXPECT_TRUE(contains(run(text, grid(1, 1025)), "1025 threads"));
  EXPECT_TRUE(contains(run(text, grid(3, 32, 2)), "multiple of the cluster"));
  EXPECT_TRUE(contains(run(text, grid(32, 32, 32)), "at most"));
  open("sms=2");
  EXPECT_EQ(run(text, grid(4, 1024, 1, true)), "");
  EXPECT_TRUE(contains(run(text, grid(5, 1024, 1, true)),
                       "cooperative launch too large: 5 blocks, the device "
                       "holds 4"));
}

TEST_F(MemoryTest, Capacity) {
  open("memory=4096");
  void *first = *device->allocate(3000, false);
  auto second = device->allocate(1097, false);
  ASSERT_FALSE(bool(second));
  llvm::handleAllErrors(second.takeError(), [](const DeviceError &error) {
    EXPECT_EQ(error.getKind(), ErrorKind::outOfMemory);
    EXPECT_TRUE(contains(error.message(), "3000 of the emulator's 4096"));
  });
  device->deallocate(first);
  EXPECT_EQ(run(storeAt("0"), grid(1, 1)), "");
}

TEST_F(MemoryTest, NumberOfArguments) {
  auto kernel = load(storeAt("0"));
  ASSERT_TRUE(bool(kernel));
  EXPECT_TRUE(contains(
      llvm::toString(device->launch(*kernel, grid(1, 1), {}, nullptr)),
      "takes 1 arguments, 0 were given"));
}

TEST_F(MemoryTest, Division) {
  // The divisor is loaded: 0 as the memory is filled.
  auto divide = [](llvm::StringRef op, llvm::StringRef dividend) {
    return wrapKernel((R"(
      %x = llvm.mlir.constant()" +
                       dividend + R"( : i32) : i32
      %d = llvm.load %p : !llvm.ptr<1> -> i32
      %q = llvm.)" + op +
                       R"( %x, %d : i32
      %out = llvm.getelementptr %p[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.store %q, %out : i32, !llvm.ptr<1>)")
                          .str());
  };
  for (const char *op : {"udiv", "sdiv", "urem", "srem"})
    EXPECT_TRUE(contains(run(divide(op, "7"), grid(1, 1)), "division by zero"));
}

TEST_F(MemoryTest, NeverEnds) {
  setenv("NORM_FUSION_KERNEL_TIMEOUT", "0.2", 1);
  open();
  unsetenv("NORM_FUSION_KERNEL_TIMEOUT");
  // Nor where something else is called in each turn, or an access in some.
  const char *bodies[] = {"", "nvvm.barrier0",
                          "%v = nvvm.vote.sync ballot %c1, %yes -> i32",
                          R"(
      %y = nvvm.read.ptx.sreg.tid.y : i32
      %some = llvm.icmp "ne" %y, %c0 : i32
      llvm.cond_br %some, ^store, ^loop
    ^store:
      llvm.store volatile %y, %p : i32, !llvm.ptr<1>)"};
  for (const char *body : bodies)
    EXPECT_TRUE(contains(run(wrapKernel(std::string(R"(
      %yes = llvm.icmp "eq" %tid, %c0 : i32
      llvm.br ^loop
    ^loop:
      )") + body + R"(
      llvm.br ^loop
    ^end:)"),
                             grid(1, 1)),
                         "hung: not finished after 0.2 s"))
        << body;
}

/// An array of `words` words, whose word `index` is stored to and loaded.
std::string useArray(llvm::StringRef words, llvm::StringRef index) {
  return wrapKernel((R"(
      %words = llvm.mlir.constant()" +
                     words + R"( : i32) : i32
      %array = llvm.alloca %words x i32 : (i32) -> !llvm.ptr
      %zero = llvm.load %p : !llvm.ptr<1> -> i32
      %i = llvm.mlir.constant()" +
                     index + R"( : i32) : i32
      %at = llvm.add %zero, %i : i32
      %word = llvm.getelementptr %array[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store volatile %c31, %word : i32, !llvm.ptr
      %v = llvm.load volatile %word : !llvm.ptr -> i32
      llvm.store %v, %p : i32, !llvm.ptr<1>)")
                        .str());
}

TEST_F(MemoryTest, Arrays) {
  EXPECT_EQ(run(useArray("8000", "7999"), grid(1, 1)), "");
  EXPECT_EQ(result[0], 31u);
  for (const char *index : {"-100000", "100000000"})
    EXPECT_TRUE(contains(run(useArray("8000", index), grid(1, 1)),
                         "out of bounds: writes 4 bytes"));
  EXPECT_TRUE(contains(run(useArray("10000", "0"), grid(1, 1)),
                       "'k' has arrays of 40000 bytes a thread, at most 32768 "
                       "fit on the emulator"));
}

/// Every block adds one to p[0] and waits until all have; then block 0 reads
/// what the last one wrote.
std::string gridBarrier(llvm::StringRef fence) {
  return wrapKernel((R"(
      %c2 = llvm.mlir.constant(2 : i32) : i32
      %blocks = nvvm.read.ptx.sreg.nctaid.x : i32
      %slot = llvm.add %cta, %c2 : i32
      %mine = llvm.getelementptr %p[%slot] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %cta, %mine : i32, !llvm.ptr<1>
      )" + fence + R"(
      %old = llvm.atomicrmw add %p, %c1 syncscope("device") monotonic : !llvm.ptr<1>, i32
      llvm.br ^poll
    ^poll:
      %seen = llvm.load %p atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %done = llvm.icmp "uge" %seen, %blocks : i32
      llvm.cond_br %done, ^on, ^poll
    ^on:
      )" + fence + R"(
      %last = llvm.add %blocks, %c1 : i32
      %theirs = llvm.getelementptr %p[%last] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %v = llvm.load %theirs : !llvm.ptr<1> -> i32
      %c100 = llvm.mlir.constant(100 : i32) : i32
      %to = llvm.add %cta, %c100 : i32
      %out = llvm.getelementptr %p[%to] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
  )")
                        .str());
}

TEST_F(MemoryTest, GridBarrier) {
  const char *fence = "llvm.fence syncscope(\"device\") acq_rel";
  for (const char *seed : {"order-seed=0", "order-seed=5"}) {
    open(seed);
    EXPECT_EQ(run(gridBarrier(fence), grid(8, 1, 1, true)), "");
    for (unsigned block = 0; block < 8; ++block)
      EXPECT_EQ(result[100 + block], 7u);
  }
  EXPECT_TRUE(contains(run(gridBarrier(""), grid(8, 1, 1, true)), "race: "));
  EXPECT_TRUE(
      contains(run(gridBarrier("llvm.fence syncscope(\"block\") acq_rel"),
                   grid(8, 1, 1, true)),
               "race: "));
}

TEST_F(MemoryTest, GridBarrierNeedsResidency) {
  const char *fence = "llvm.fence syncscope(\"device\") acq_rel";
  std::string error = run(gridBarrier(fence), grid(8, 1));
  EXPECT_TRUE(contains(error, "deadlock"));
  EXPECT_TRUE(contains(error, "isn't cooperative"));
}

} // namespace
