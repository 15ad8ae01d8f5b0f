//===- BarrierTest.cpp - Block-wide synchronisation -----------------------===//
//
// Barriers, named barriers, and what happens when not all threads reach one.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

const char *const shared = R"(
  llvm.mlir.global internal @s() {addr_space = 3 : i32} : !llvm.array<256 x i32>
)";

/// Thread t writes s[t], then reads s[t ^ 32] after `synchronise`.
std::string exchange(llvm::StringRef synchronise) {
  return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %tid, %mine : i32, !llvm.ptr<3>
      )" + synchronise +
                     R"(
      %c32 = llvm.mlir.constant(32 : i32) : i32
      %other = llvm.xor %tid, %c32 : i32
      %theirs = llvm.getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %theirs : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
  )")
                        .str(),
                    shared);
}

class BarrierTest : public EmulatorTest {};

TEST_F(BarrierTest, BarrierOrdersSharedMemory) {
  for (const char *seed : {"order-seed=0", "order-seed=1", "order-seed=7"}) {
    open(seed);
    EXPECT_EQ(run(exchange("nvvm.barrier0"), grid(1, 128)), "");
    for (unsigned t = 0; t < 128; ++t)
      EXPECT_EQ(result[t], t ^ 32);
  }
}

TEST_F(BarrierTest, MissingBarrierIsARace) {
  EXPECT_TRUE(contains(run(exchange(""), grid(1, 128)), "race: "));
}

TEST_F(BarrierTest, MissingBarrierReadsPoisonWithoutRaceDetection) {
  open("races=0");
  EXPECT_EQ(run(exchange(""), grid(1, 128)), "");
  EXPECT_EQ(result[0], ~0u);
}

TEST_F(BarrierTest, NamedBarriersOfPartOfTheBlock) {
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2.
  EXPECT_EQ(run(exchange(R"(
      %six = llvm.mlir.constant(6 : i32) : i32
      %pair = llvm.lshr %tid, %six : i32
      %id = llvm.add %pair, %c1 : i32
      %c64 = llvm.mlir.constant(64 : i32) : i32
      nvvm.barrier id = %id number_of_threads = %c64
  )"),
                grid(1, 128)),
            "");
  for (unsigned t = 0; t < 128; ++t)
    EXPECT_EQ(result[t], t ^ 32);
}

TEST_F(BarrierTest, ArriveAndSync) {
  // Warp 0 produces and arrives, warp 1 waits and consumes.
  std::string text = wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %c32 = llvm.mlir.constant(32 : i32) : i32
      %c64 = llvm.mlir.constant(64 : i32) : i32
      %first = llvm.icmp "ult" %tid, %c32 : i32
      llvm.cond_br %first, ^produce, ^consume
    ^produce:
      %mine = llvm.getelementptr %s[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %tid, %mine : i32, !llvm.ptr<3>
      nvvm.barrier.arrive id = %c1 number_of_threads = %c64
      llvm.br ^end
    ^consume:
      nvvm.barrier id = %c1 number_of_threads = %c64
      %theirs = llvm.getelementptr %s[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %theirs : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %p[%lane] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:
  )",
                                shared);
  for (const char *seed : {"order-seed=0", "order-seed=3"}) {
    open(seed);
    EXPECT_EQ(run(text, grid(1, 64)), "");
    for (unsigned t = 0; t < 32; ++t)
      EXPECT_EQ(result[t], t);
  }
}

TEST_F(BarrierTest, BarrierThatAThreadSkips) {
  std::string error = run(wrapKernel(R"(
      %skip = llvm.icmp "eq" %tid, %c31 : i32
      llvm.cond_br %skip, ^end, ^wait
    ^wait:
      nvvm.barrier0
      llvm.br ^end
    ^end:
  )"),
                          grid(1, 64));
  EXPECT_TRUE(contains(error, "barrier 0 is reached by 63 of 64 threads"));
  EXPECT_TRUE(contains(error, "thread 31 has exited"));
  // The device works on.
  EXPECT_EQ(run(exchange("nvvm.barrier0"), grid(1, 64)), "");
}

TEST_F(BarrierTest, CountMustBeAMultipleOf32) {
  EXPECT_TRUE(contains(run(wrapKernel(R"(
      nvvm.barrier id = %c1 number_of_threads = %c31
  )"),
                           grid(1, 64)),
                       "isn't a multiple of 32"));
}

} // namespace
