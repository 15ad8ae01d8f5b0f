//===- ClusterTest.cpp - Clusters and distributed shared memory -----------===//
//
// mapa, accesses to other blocks' shared memory, the cluster barrier, st.async.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

class ClusterTest : public EmulatorTest {};

const char *const globals = R"(
  llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i32>
  llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<1 x i64>
)";

std::string neighbour(llvm::StringRef before, llvm::StringRef after) {
  return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %size = nvvm.read.ptx.sreg.cluster.nctarank : i32
      %c10 = llvm.mlir.constant(10 : i32) : i32
      %x = llvm.mul %cta, %c10 : i32
      %val = llvm.add %x, %tid : i32
      %mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %val, %mine : i32, !llvm.ptr<3>
      )" + before + R"(
      %next = llvm.add %rank, %c1 : i32
      %target = llvm.urem %next, %size : i32
      %remote = nvvm.mapa %mine, %target : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %remote : !llvm.ptr<7> -> i32
      )" + after + R"(
      %n = nvvm.read.ptx.sreg.ntid.x : i32
      %b = llvm.mul %cta, %n : i32
      %o = llvm.add %b, %tid : i32
      %out = llvm.getelementptr %p[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>)")
                        .str(),
                    globals);
}

TEST_F(ClusterTest, ReadANeighbour) {
  const char *sync = "nvvm.cluster.arrive nvvm.cluster.wait";
  for (const char *seed : {"order-seed=0", "order-seed=1"}) {
    open(seed);
    EXPECT_EQ(run(neighbour(sync, sync), grid(4, 4, 2)), "");
    EXPECT_EQ(result[0], 10u);
    EXPECT_EQ(result[5], 1u);
    EXPECT_EQ(result[8], 30u);
  }
  EXPECT_TRUE(contains(run(neighbour("", sync), grid(4, 4, 2)), "race: "));
  EXPECT_TRUE(contains(run(neighbour("nvvm.cluster.arrive.relaxed "
                                     "nvvm.cluster.wait",
                                     sync),
                           grid(4, 4, 2)),
                       "race: "));
  // A fence before it releases; one of the block alone doesn't reach others.
  EXPECT_EQ(run(neighbour("llvm.fence syncscope(\"cluster\") release "
                          "nvvm.cluster.arrive.relaxed nvvm.cluster.wait",
                          sync),
                grid(4, 4, 2)),
            "");
  EXPECT_TRUE(contains(run(neighbour("llvm.fence syncscope(\"block\") release "
                                     "nvvm.cluster.arrive.relaxed "
                                     "nvvm.cluster.wait",
                                     sync),
                           grid(4, 4, 2)),
                       "race: "));
}

TEST_F(ClusterTest, UseAfterExit) {
  std::string text = wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %first = llvm.icmp "eq" %cta, %c0 : i32
      llvm.cond_br %first, ^end, ^read
    ^read:
      %remote = nvvm.mapa %s, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %remote : !llvm.ptr<7> -> i32
      llvm.store %v, %p : i32, !llvm.ptr<1>
      llvm.br ^end
    ^end:)",
                                globals);
  EXPECT_TRUE(contains(run(text, grid(2, 1, 2)), "use after exit"));
  EXPECT_TRUE(contains(run(wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %remote = nvvm.mapa %s, %c1 : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %remote : !llvm.ptr<7> -> i32
      llvm.store %v, %p : i32, !llvm.ptr<1>)",
                                      globals),
                           grid(1, 1)),
                       "mapa: block 1 of a cluster of 1"));
}

TEST_F(ClusterTest, AsyncStore) {
  // Each thread 0 sends its rank to all blocks of the cluster.
  std::string text = wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %size = nvvm.read.ptx.sreg.cluster.nctarank : i32
      %c4 = llvm.mlir.constant(4 : i32) : i32
      %bytes = llvm.mul %size, %c4 : i32
      nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cluster.arrive
      nvvm.cluster.wait
      %mine = llvm.getelementptr %s[%rank] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.br ^send(%c0 : i32)
    ^send(%to: i32):
      %target = nvvm.mapa %mine, %to : !llvm.ptr<3> -> !llvm.ptr<7>
      %tell = nvvm.mapa %bar, %to : !llvm.ptr<3> -> !llvm.ptr<7>
      %ti = llvm.ptrtoint %target : !llvm.ptr<7> to i32
      %bi = llvm.ptrtoint %tell : !llvm.ptr<7> to i32
      nvvm.inline_ptx "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [$0], $1, [$2];" ro (%ti, %rank, %bi : i32, i32, i32)
      %next = llvm.add %to, %c1 : i32
      %more = llvm.icmp "ult" %next, %size : i32
      llvm.cond_br %more, ^send(%next : i32), ^wait
    ^wait:
      nvvm.mbarrier.try_wait.parity %bar, %c0, %c31 : !llvm.ptr<3>, i32, i32
      %last = llvm.sub %size, %c1 : i32
      %from = llvm.getelementptr %s[%last] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %from : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %p[%cta] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
      nvvm.cluster.arrive
      nvvm.cluster.wait)",
                                globals);
  for (const char *seed : {"order-seed=0", "order-seed=1", "order-seed=2"}) {
    open(seed);
    EXPECT_EQ(run(text, grid(8, 1, 4)), "");
    for (unsigned block = 0; block < 8; ++block)
      EXPECT_EQ(result[block], 3u);
  }
}

} // namespace
