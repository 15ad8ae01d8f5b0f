//===- WarpTest.cpp - Warp-wide operations --------------------------------===//
//
// Shuffles, votes, reductions, election, and masks that don't fit.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

/// Stores %v (i32) to p[tid].
std::string store(llvm::StringRef compute) {
  return wrapKernel((compute + R"(
      %out = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
  )")
                        .str());
}

class WarpTest : public EmulatorTest {};

TEST_F(WarpTest, Butterfly) {
  EXPECT_EQ(run(store(R"(
      %f = llvm.sitofp %tid : i32 to f32
      %g = nvvm.shfl.sync bfly %all, %f, %c1, %c31 : f32 -> f32
      %v = llvm.fptosi %g : f32 to i32
  )"),
                grid(1, 64)),
            "");
  for (unsigned t = 0; t < 64; ++t)
    EXPECT_EQ(result[t], t ^ 1);
}

TEST_F(WarpTest, UpDownIndex) {
  EXPECT_EQ(
      run(store("%v = nvvm.shfl.sync up %all, %tid, %c1, %c0 : i32 -> i32"),
          grid(1, 32)),
      "");
  EXPECT_EQ(result[0], 0u);
  EXPECT_EQ(result[5], 4u);
  EXPECT_EQ(
      run(store("%v = nvvm.shfl.sync down %all, %tid, %c1, %c31 : i32 -> i32"),
          grid(1, 32)),
      "");
  EXPECT_EQ(result[31], 31u);
  EXPECT_EQ(result[5], 6u);
  EXPECT_EQ(
      run(store("%v = nvvm.shfl.sync idx %all, %tid, %c31, %c31 : i32 -> i32"),
          grid(1, 64)),
      "");
  EXPECT_EQ(result[3], 31u);
  EXPECT_EQ(result[40], 63u);
}

TEST_F(WarpTest, ReduceVoteElect) {
  EXPECT_EQ(run(store("%v = nvvm.redux.sync add %tid, %all : i32 -> i32"),
                grid(1, 32)),
            "");
  EXPECT_EQ(result[7], 496u);
  EXPECT_EQ(run(store(R"(
      %odd = llvm.trunc %tid : i32 to i1
      %v = nvvm.vote.sync ballot %all, %odd -> i32
  )"),
                grid(1, 32)),
            "");
  EXPECT_EQ(result[7], 0xaaaaaaaau);
  EXPECT_EQ(run(store(R"(
      %e = nvvm.elect.sync -> i1
      %v = llvm.zext %e : i1 to i32
  )"),
                grid(1, 64)),
            "");
  EXPECT_EQ(std::count(result.begin(), result.begin() + 64, 1u), 2);
  EXPECT_EQ(result[32], 1u);
}

TEST_F(WarpTest, MaskThatLacksTheLane) {
  EXPECT_TRUE(contains(
      run(store("%v = nvvm.shfl.sync bfly %c1, %tid, %c1, %c31 : i32 -> i32"),
          grid(1, 32)),
      "divergent collective"));
}

TEST_F(WarpTest, MaskOfExitedLanes) {
  EXPECT_TRUE(contains(run(wrapKernel(R"(
      %odd = llvm.trunc %tid : i32 to i1
      llvm.cond_br %odd, ^end, ^sync
    ^sync:
      nvvm.bar.warp.sync %all : i32
      llvm.br ^end
    ^end:
  )"),
                           grid(1, 32)),
                       "divergent collective"));
}

TEST_F(WarpTest, WarpSyncOrdersShuffleDoesNot) {
  const char *globals = R"(
    llvm.mlir.global internal @s() {addr_space = 3 : i32} : !llvm.array<32 x i32>)";
  auto text = [&](llvm::StringRef between) {
    return wrapKernel((R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %mine = llvm.getelementptr %s[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %tid, %mine : i32, !llvm.ptr<3>
      )" + between + R"(
      %other = llvm.xor %tid, %c1 : i32
      %theirs = llvm.getelementptr %s[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %v = llvm.load %theirs : !llvm.ptr<3> -> i32
      %out = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>
    )")
                          .str(),
                      globals);
  };
  EXPECT_EQ(run(text("nvvm.bar.warp.sync %all : i32"), grid(1, 32)), "");
  EXPECT_EQ(result[4], 5u);
  EXPECT_TRUE(contains(
      run(text("%x = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> i32"),
          grid(1, 32)),
      "race"));
}

TEST_F(WarpTest, MatricesNeedTheLanesOfTheirRows) {
  std::string text = wrapKernel(R"(
      %s = llvm.mlir.addressof @s : !llvm.ptr<3>
      %row = llvm.ptrtoint %s : !llvm.ptr<3> to i32
      %m = llvm.inline_asm has_side_effects "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0, $1, $2, $3}, [$4];", "=r,=r,=r,=r,r" %row : (i32) -> !llvm.struct<(i32, i32, i32, i32)>
      %v = llvm.extractvalue %m[3] : !llvm.struct<(i32, i32, i32, i32)>
      %out = llvm.getelementptr %p[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %out : i32, !llvm.ptr<1>)",
                                R"(
    llvm.mlir.global internal @s() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8>)");
  EXPECT_EQ(run(text, grid(1, 32)), "");
  EXPECT_TRUE(contains(run(text, grid(1, 16)),
                       "ldmatrix: rows of lanes that the block doesn't have"));
}

} // namespace
