//===- LoweringTest.cpp - What compiles, and what is refused --------------===//
//
// Unknown ops and instructions are named; inline PTX is decoded; libdevice's
// functions and narrow floats work.
//
//===----------------------------------------------------------------------===//

#include "EmulatorTest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

class LoweringTest : public EmulatorTest {};

TEST_F(LoweringTest, UnknownOpIsNamed) {
  std::string errors;
  EXPECT_FALSE(compileText(wrapKernel("nvvm.wgmma.fence.aligned"), errors));
  EXPECT_TRUE(contains(errors, "the emulator doesn't know "
                               "llvm.nvvm.wgmma.fence.sync.aligned"));
}

TEST_F(LoweringTest, UnknownPtxIsNamed) {
  std::string errors;
  EXPECT_FALSE(compileText(
      wrapKernel("nvvm.inline_ptx \"frobnicate.b32 $0, 1;\" ro (%tid : i32)"),
      errors));
  EXPECT_TRUE(contains(errors, "'frobnicate.b32 $0, 1'"));
  EXPECT_FALSE(
      bool(llvm::errorToBool(mlir::norm_fusion::emulator::checkInlinePtx(
          "ld.relaxed.gpu.global.v4.b32 {$0,$1,$2,$3}, [$4];"))));
  EXPECT_TRUE(
      bool(llvm::errorToBool(mlir::norm_fusion::emulator::checkInlinePtx(
          "ld.relaxed.moon.global.b32 $0, [$1];"))));
}

TEST_F(LoweringTest, UnknownFunctionIsNamed) {
  std::string errors;
  EXPECT_FALSE(
      compileText(wrapKernel("%x = llvm.call @foo(%tid) : (i32) -> i32",
                             "llvm.func @foo(i32) -> i32"),
                  errors));
  EXPECT_TRUE(contains(errors, "'foo'"));
}

TEST_F(LoweringTest, InlinePtx) {
  EXPECT_EQ(run(wrapKernel(R"(
      %g = llvm.ptrtoint %p : !llvm.ptr<1> to i64
      %c5 = llvm.mlir.constant(5.0 : f32) : f32
      nvvm.inline_ptx "st.global.L1::no_allocate.v4.b32 [$0], {$1,$2,$2,$1};" ro (%g, %c1, %c31 : i64, i32, i32)
      %v:4 = nvvm.inline_ptx "ld.relaxed.gpu.global.v4.b32 {$0,$1,$2,$3}, [$4];" ro (%g : i64) -> i32, i32, i32, i32
      %id = llvm.inline_asm has_side_effects "", "=r,0" %v#1 : (i32) -> i32
      nvvm.inline_ptx "red.add.release.gpu.global.u32 [$0+16], $1;" ro (%g, %id : i64, i32)
      nvvm.inline_ptx "fence.acq_rel.gpu;"
      %old = nvvm.inline_ptx "atom.add.acq_rel.gpu.global.u32 $0, [$1+16], $2;" ro (%g, %c1 : i64, i32) -> i32
      nvvm.inline_ptx "{ .reg .pred p; setp.eq.u32 p, $1, 31; @p st.global.u32 [$0+24], $1; @!p st.global.u32 [$0+24], 0; }" ro (%g, %old : i64, i32)
      %yes = llvm.icmp "eq" %c1, %c1 : i32
      nvvm.inline_ptx "st.global.f32 [$0+28], $1;" ro (%g, %c5 : i64, f32), predicate = %yes
  )"),
                grid(1, 1)),
            "");
  EXPECT_EQ(result[0], 1u);
  EXPECT_EQ(result[2], 31u);
  EXPECT_EQ(result[4], 32u);
  EXPECT_EQ(result[6], 31u);
  EXPECT_EQ(result[7], 0x40a00000u);
}

TEST_F(LoweringTest, LibdeviceAndNarrowFloats) {
  EXPECT_EQ(run(wrapKernel(R"(
      %two = llvm.mlir.constant(2.0 : f32) : f32
      %e = llvm.call @__nv_rsqrtf(%two) : (f32) -> f32
      %t = llvm.call @__nv_powf(%two, %two) : (f32, f32) -> f32
      llvm.store %e, %p : f32, !llvm.ptr<1>
      %o1 = llvm.getelementptr %p[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.store %t, %o1 : f32, !llvm.ptr<1>
      %x = llvm.mlir.constant(1.01171875 : f32) : f32
      %b = llvm.fptrunc %x : f32 to bf16
      %h = llvm.fptrunc %e : f32 to f16
      %o2 = llvm.getelementptr %p[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.store %b, %o2 : bf16, !llvm.ptr<1>
      %o3 = llvm.getelementptr %p[3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32
      llvm.store %h, %o3 : f16, !llvm.ptr<1>
  )",
                           R"(
      llvm.func @__nv_rsqrtf(f32) -> f32
      llvm.func @__nv_powf(f32, f32) -> f32)"),
                grid(1, 1)),
            "");
  EXPECT_EQ(llvm::bit_cast<float>(result[1]), 4.0f);
  EXPECT_NEAR(llvm::bit_cast<float>(result[0]), 0.70710678f, 1e-6f);
  EXPECT_EQ(result[2] & 0xffff, 0x3f82u); // a tie, to even
  EXPECT_EQ(result[3] & 0xffff, 0x39a8u);
}

TEST_F(LoweringTest, TrapInstruction) {
  EXPECT_TRUE(
      contains(run(wrapKernel("\"llvm.intr.trap\"() : () -> ()"), grid(1, 1)),
               "trap instruction"));
}

} // namespace
