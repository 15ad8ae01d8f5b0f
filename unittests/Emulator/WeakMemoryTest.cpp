//===- WeakMemoryTest.cpp - Stores that others see late -------------------===//
//
// Litmus tests: with some seed the weak outcome is seen where nothing forbids
// it, and with none where something does. The race detector is off, or it would
// report most of them first.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

constexpr unsigned seeds = 40;

class WeakMemoryTest : public EmulatorTest {
protected:
  /// Runs with every seed; the number of those in which `isWeak` holds after.
  unsigned count(const std::string &text, LaunchConfig config,
                 llvm::function_ref<bool()> isWeak) {
    std::string errors;
    auto object = compileText(text, errors);
    EXPECT_TRUE(object) << errors;
    unsigned weak = 0;
    for (unsigned seed = 1; object && seed <= seeds; ++seed) {
      open("races=0 order-seed=" + std::to_string(seed) +
           " weak=" + std::to_string(seed));
      KernelHandle kernel = llvm::cantFail(
          device->getKernel(llvm::cantFail(device->loadModule(*object)), "k"));
      EXPECT_EQ(launch(kernel, config, 128), "") << "seed " << seed;
      weak += isWeak();
    }
    return weak;
  }
};

/// Thread 0 of block 0 stores data to word 0, then 1 to word 1; block 1 waits
/// for that and puts the data that it finds into word 2.
std::string passMessage(std::string before, std::string storeFlag,
                        std::string other = "") {
  return wrapKernel(
      R"(
      %flag = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %found = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %seven = llvm.mlir.constant(7 : i32) : i32
      %first = llvm.icmp "eq" %cta, %c0 : i32
      llvm.cond_br %first, ^send, ^wait
    ^send:
      )" +
      (other.empty() ? "llvm.store %seven, %p : i32, !llvm.ptr<1>\n" : other) +
      before + "\n" + storeFlag + R"(
      llvm.br ^end
    ^wait:
      %seen = llvm.load %flag atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %set = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %set, ^read, ^wait
    ^read:
      %data = llvm.load %p atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      llvm.store %data, %found : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:)");
}
constexpr const char *relaxed =
    "llvm.store %c1, %flag atomic syncscope(\"device\") monotonic {alignment = "
    "4 : i64} : i32, !llvm.ptr<1>";
constexpr const char *releasing =
    "llvm.store %c1, %flag atomic syncscope(\"device\") release {alignment = 4 "
    ": i64} : i32, !llvm.ptr<1>";

} // namespace

TEST_F(WeakMemoryTest, StoresArriveInAnyOrder) {
  LaunchConfig config = grid(2, 1, 1, true);
  auto isStale = [&] { return result[2] == 0; };
  unsigned weak = count(passMessage("", relaxed), config, isStale);
  EXPECT_GT(weak, seeds / 10);
  EXPECT_LT(weak, seeds);
  // Without a seed of its own memory is strong.
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    open("races=0 order-seed=" + std::to_string(seed));
    EXPECT_EQ(run(passMessage("", relaxed), config), "");
    EXPECT_EQ(result[2], 7u);
  }
}

TEST_F(WeakMemoryTest, ReleasesOrderThem) {
  LaunchConfig config = grid(2, 1, 1, true);
  auto isStale = [&] { return result[2] != 7; };
  EXPECT_EQ(count(passMessage("", releasing), config, isStale), 0u);
  EXPECT_EQ(
      count(passMessage("llvm.fence syncscope(\"device\") release", relaxed),
            config, isStale),
      0u);
  EXPECT_EQ(
      count(passMessage("llvm.fence syncscope(\"device\") acq_rel", relaxed),
            config, isStale),
      0u);
  std::string exchange = "%old = llvm.cmpxchg %flag, %c0, %c1 "
                         "syncscope(\"device\") acq_rel monotonic : "
                         "!llvm.ptr<1>, i32";
  EXPECT_EQ(count(passMessage("", exchange), config, isStale), 0u);
  // NVPTX makes this a relaxed one.
  std::string add =
      "%old = llvm.atomicrmw add %flag, %c1 syncscope(\"device\") "
      "acq_rel : !llvm.ptr<1>, i32";
  EXPECT_GT(count(passMessage("", add), config, isStale), 0u);
  // An order for the block alone is none for other blocks; nor is an acquire.
  EXPECT_GT(
      count(passMessage("llvm.fence syncscope(\"block\") acq_rel", relaxed),
            config, isStale),
      0u);
  EXPECT_GT(
      count(passMessage("llvm.fence syncscope(\"device\") acquire", relaxed),
            config, isStale),
      0u);
}

TEST_F(WeakMemoryTest, ReleasesAreCumulative) {
  // The data is another thread's; a barrier brings it to the one that releases.
  std::string other = R"(
      %second = llvm.icmp "eq" %tid, %c1 : i32
      llvm.cond_br %second, ^data, ^both
    ^data:
      llvm.store %seven, %p : i32, !llvm.ptr<1>
      llvm.br ^both
    ^both:
      nvvm.barrier
      llvm.cond_br %second, ^end, ^tell
    ^tell:
)";
  LaunchConfig config = grid(2, 2, 1, true);
  auto isStale = [&] { return result[2] != 7; };
  EXPECT_EQ(count(passMessage("", releasing, other), config, isStale), 0u);
  EXPECT_GT(count(passMessage("", relaxed, other), config, isStale), 0u);
}

TEST_F(WeakMemoryTest, AThreadSeesItsOwnStores) {
  std::string text = wrapKernel(R"(
      %w = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %o = llvm.getelementptr %w[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %low = llvm.trunc %tid : i32 to i8
      %three = llvm.mlir.constant(3 : i32) : i32
      llvm.store %tid, %w atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
      %a = llvm.load %w atomic monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      nvvm.bar.warp.sync %all : i32
      %b = llvm.add %a, %three : i32
      llvm.store %b, %w atomic monotonic {alignment = 4 : i64} : i32, !llvm.ptr<1>
      %c = llvm.atomicrmw add %w, %three monotonic : !llvm.ptr<1>, i32
      %d = llvm.load %w atomic monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %e = llvm.add %c, %d : i32
      llvm.store %e, %o : i32, !llvm.ptr<1>)");
  EXPECT_EQ(count(text, grid(1, 32),
                  [&] {
                    for (unsigned i = 0; i < 32; ++i)
                      if (result[i] != i + 6 || result[64 + i] != 2 * i + 9)
                        return true;
                    return false;
                  }),
            0u);
}

TEST_F(WeakMemoryTest, BarriersOrderTheBlock) {
  // Each thread reads what the next one wrote, in global and shared memory.
  auto text = [](const char *order) {
    return wrapKernel((R"(
      %n = llvm.mlir.constant(64 : i32) : i32
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %mineToo = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %out = llvm.getelementptr %mineToo[64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %t = llvm.add %tid, %c1 : i32
      llvm.store %t, %mine : i32, !llvm.ptr<3>
      llvm.store %t, %mineToo : i32, !llvm.ptr<1>
      )" + llvm::StringRef(order) +
                       R"(
      %next = llvm.urem %t, %n : i32
      %theirs = llvm.getelementptr %s[%next] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %theirsToo = llvm.getelementptr %p[%next] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %a = llvm.load %theirs : !llvm.ptr<3> -> i32
      %b = llvm.load %theirsToo : !llvm.ptr<1> -> i32
      %c = llvm.add %a, %b : i32
      llvm.store %c, %out : i32, !llvm.ptr<1>)")
                          .str(),
                      "llvm.mlir.global external @s() {addr_space = 3 : i32} : "
                      "!llvm.array<64 x i32>");
  };
  auto isStale = [&] {
    for (unsigned i = 0; i < 64; ++i)
      if (result[64 + i] != 2 * ((i + 1) % 64 + 1))
        return true;
    return false;
  };
  EXPECT_EQ(count(text("nvvm.barrier"), grid(1, 64), isStale), 0u);
  EXPECT_EQ(count(text(""), grid(1, 64), isStale), seeds);
}

TEST_F(WeakMemoryTest, WordsOfAVectorArriveApart) {
  std::string text = wrapKernel(R"(
      %last = llvm.getelementptr %p[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %found = llvm.getelementptr %p[8] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      %first = llvm.icmp "eq" %cta, %c0 : i32
      llvm.cond_br %first, ^send, ^wait
    ^send:
      llvm.inline_asm has_side_effects asm_dialect = att "st.relaxed.gpu.global.v4.b32 [$0], {$1, $2, $3, $4};", "l,r,r,r,r,~{memory}" %p, %c1, %c1, %c1, %c1 : (!llvm.ptr<1>, i32, i32, i32, i32) -> ()
      llvm.br ^end
    ^wait:
      %seen = llvm.load %last atomic syncscope("device") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      %set = llvm.icmp "eq" %seen, %c1 : i32
      llvm.cond_br %set, ^read, ^wait
    ^read:
      %data = llvm.load %p atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
      llvm.store %data, %found : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:)");
  unsigned apart = count(text, grid(2, 1, 1, true), [&] {
    EXPECT_EQ(result[0] + result[1] + result[2] + result[3], 4u);
    return result[8] == 0;
  });
  EXPECT_GT(apart, 0u);
  EXPECT_LT(apart, seeds);
}

TEST_F(WeakMemoryTest, UpdatesAreNeverLost) {
  std::string text = wrapKernel(R"(
      %hundred = llvm.mlir.constant(100 : i32) : i32
      %mine = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      %out = llvm.getelementptr %mine[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.store %tid, %out : i32, !llvm.ptr<1>
      %old = llvm.atomicrmw add %p, %hundred syncscope("device") monotonic : !llvm.ptr<1>, i32)");
  EXPECT_EQ(count(text, grid(8, 32),
                  [&] {
                    bool wrong = result[0] != 8 * 32 * 100;
                    for (unsigned i = 0; i < 32; ++i)
                      wrong |= result[i + 1] != i;
                    return wrong;
                  }),
            0u);
}

TEST_F(WeakMemoryTest, ClusterBarriersOrderTheCluster) {
  // A block stores to the other's shared memory.
  auto text = [](const char *arrive) {
    return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %r = llvm.xor %cta, %c1 : i32
      %there = nvvm.mapa %s, %r : !llvm.ptr<3> -> !llvm.ptr<7>
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %v = llvm.add %cta, %c1 : i32
      llvm.store %v, %there : i32, !llvm.ptr<7>
      )" + llvm::StringRef(arrive) +
                       R"(
      nvvm.cluster.wait
      %got = llvm.load %s : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %p[%cta] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %got, %out : i32, !llvm.ptr<1>
      nvvm.cluster.arrive
      nvvm.cluster.wait)")
                          .str(),
                      "llvm.mlir.global external @s() {addr_space = 3 : i32} : "
                      "!llvm.array<4 x i32>");
  };
  auto isStale = [&] { return result[0] != 2 || result[1] != 1; };
  EXPECT_EQ(count(text("nvvm.cluster.arrive"), grid(2, 1, 2), isStale), 0u);
  EXPECT_GT(count(text("nvvm.cluster.arrive.relaxed"), grid(2, 1, 2), isStale),
            0u);
}
