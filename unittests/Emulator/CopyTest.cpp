//===- CopyTest.cpp - Asynchronous copies and mbarriers -------------------===//
//
// cp.async and bulk copies arrive when they are waited for, and not before.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

class CopyTest : public EmulatorTest {};

const char *const globals = R"(
  llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x i32>
  llvm.mlir.global internal @bar() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<2 x i64>
)";

std::string copyAsync(llvm::StringRef wait) {
  return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %c77 = llvm.mlir.constant(77 : i32) : i32
      %i = llvm.add %tid, %c77 : i32
      %in = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %i, %in : i32, !llvm.ptr<1>
      %to = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      nvvm.cp.async.shared.global %to, %in, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      nvvm.cp.async.commit.group
      )" + wait + R"(
      %v = llvm.load %to : !llvm.ptr<3> -> i32
      %c100 = llvm.mlir.constant(100 : i32) : i32
      %o = llvm.add %tid, %c100 : i32
      %out = llvm.getelementptr %p[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>)")
                        .str(),
                    globals);
}

TEST_F(CopyTest, WaitGroup) {
  for (const char *seed : {"order-seed=0", "order-seed=1", "order-seed=2"}) {
    open(seed);
    EXPECT_EQ(run(copyAsync("nvvm.cp.async.wait.group 0"), grid(1, 32)), "");
    EXPECT_EQ(result[105], 82u);
  }
}

TEST_F(CopyTest, MissingWait) {
  for (const char *seed : {"order-seed=0", "order-seed=1", "order-seed=2"}) {
    open(seed);
    EXPECT_TRUE(contains(run(copyAsync(""), grid(1, 32)),
                         "asynchronous copy to it is in flight"));
    EXPECT_TRUE(
        contains(run(copyAsync("nvvm.cp.async.wait.group 1"), grid(1, 32)),
                 "asynchronous copy to it is in flight"));
  }
}

TEST_F(CopyTest, PartialSourceFillsWithZeros) {
  EXPECT_EQ(run(wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %c4 = llvm.mlir.constant(4 : i32) : i32
      llvm.store %c31, %p : i32, !llvm.ptr<1>
      nvvm.cp.async.shared.global %s, %p, 16, cache = cg, %c4 : !llvm.ptr<3>, !llvm.ptr<1>, i32
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      %v = llvm.load %s : !llvm.ptr<3> -> vector<4xi32>
      llvm.store %v, %p {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
  )",
                           globals),
                grid(1, 1)),
            "");
  EXPECT_EQ(result[0], 31u);
  EXPECT_EQ(result[3], 0u);
}

/// Thread 0 starts a bulk copy of 128 bytes, all wait for the mbarrier.
std::string bulkCopy(llvm::StringRef wait, llvm::StringRef bytes = "128") {
  return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
      %c128 = llvm.mlir.constant()" +
                     bytes + R"( : i32) : i32
      %size = llvm.mlir.constant(128 : i32) : i32
      %first = llvm.icmp "eq" %tid, %c0 : i32
      llvm.cond_br %first, ^start, ^wait
    ^start:
      nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32
      llvm.br ^wait
    ^wait:
      nvvm.barrier0
      llvm.cond_br %first, ^copy, ^use
    ^copy:
      nvvm.mbarrier.arrive.expect_tx %bar, %c128 : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %s, %p, %bar, %size : !llvm.ptr<3>, !llvm.ptr<1>
      llvm.br ^use
    ^use:
      )" + wait + R"(
      %from = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %from : !llvm.ptr<3> -> i32
      %w = llvm.add %v, %tid : i32
      %c100 = llvm.mlir.constant(100 : i32) : i32
      %o = llvm.add %tid, %c100 : i32
      %out = llvm.getelementptr %p[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %w, %out : i32, !llvm.ptr<1>)")
                        .str(),
                    globals);
}

TEST_F(CopyTest, BulkCopyWithMbarrier) {
  const char *wait = "nvvm.mbarrier.try_wait.parity %bar, %c0, %c31 : "
                     "!llvm.ptr<3>, i32, i32";
  for (const char *seed :
       {"order-seed=0", "order-seed=1", "order-seed=2", "order-seed=3"}) {
    open(seed);
    EXPECT_EQ(run(bulkCopy(wait), grid(1, 32)), "");
    EXPECT_EQ(result[107], 7u);
  }
  EXPECT_TRUE(contains(run(bulkCopy(""), grid(1, 32)), "race: "));
  // More bytes announced than come: the phase never ends.
  open();
  EXPECT_TRUE(contains(run(bulkCopy(wait, "144"), grid(1, 32)),
                       "still expects 0 of 1 arrivals and 16 bytes"));
}

TEST_F(CopyTest, BulkToGlobal) {
  auto text = [](llvm::StringRef wait) {
    return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %to = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %tid, %to : i32, !llvm.ptr<3>
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.barrier0
      %first = llvm.icmp "eq" %tid, %c0 : i32
      llvm.cond_br %first, ^copy, ^end
    ^copy:
      %c128 = llvm.mlir.constant(128 : i32) : i32
      nvvm.cp.async.bulk.global.shared.cta %p, %s, %c128 : !llvm.ptr<1>, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      )" + wait + R"(
      llvm.br ^end
    ^end:)")
                          .str(),
                      globals);
  };
  EXPECT_EQ(run(text("nvvm.cp.async.bulk.wait_group 0"), grid(1, 32)), "");
  EXPECT_EQ(result[9], 9u);
  EXPECT_TRUE(contains(run(text(""), grid(1, 32)), "in flight"));
}

TEST_F(CopyTest, PrefetchReadsNothing) {
  auto text = [](llvm::StringRef first) {
    return wrapKernel(("%from = llvm.getelementptr %p[" + first +
                       "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n"
                       "nvvm.prefetch level = L2, %from : !llvm.ptr<1>\n")
                          .str());
  };
  // The launch before may still write there.
  LaunchConfig config = grid(1, 32);
  config.programmaticDependent = true;
  EXPECT_EQ(run(text("4"), config), "");
  EXPECT_TRUE(
      contains(run(text("1048576"), config), "out of bounds: prefetches"));
}

TEST_F(CopyTest, MbarrierOfPlainArrivals) {
  auto text = [](llvm::StringRef count) {
    return wrapKernel((R"(
      %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %n = llvm.mlir.constant()" +
                       count + R"( : i32) : i32
      %first = llvm.icmp "eq" %tid, %c0 : i32
      llvm.cond_br %first, ^start, ^go
    ^start:
      nvvm.mbarrier.init %bar, %n : !llvm.ptr<3>, i32
      llvm.br ^go
    ^go:
      nvvm.barrier0
      %to = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %tid, %to : i32, !llvm.ptr<3>
      %token = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64
      nvvm.mbarrier.try_wait.parity %bar, %c0, %c31 : !llvm.ptr<3>, i32, i32
      %other = llvm.sub %c31, %tid : i32
      %from = llvm.getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %from : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>)")
                          .str(),
                      globals);
  };
  EXPECT_EQ(run(text("32"), grid(1, 32)), "");
  EXPECT_EQ(result[1], 30u);
  EXPECT_TRUE(
      contains(run(text("33"), grid(1, 32)), "still expects 1 of 33 arrivals"));
  EXPECT_TRUE(contains(run(text("16"), grid(1, 32)), "race"));
}

} // namespace
