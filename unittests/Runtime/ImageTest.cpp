//===- ImageTest.cpp - What an image of kernels says of itself ------------===//

#include "norm_fusion/Runtime/Image.h"
#include "gtest/gtest.h"

using namespace mlir::norm_fusion::runtime;

namespace {

const llvm::StringRef ptx = R"(.version 8.1
.extern .func  (.param .b32 func_retval0) __nv_sinf
(
	.param .b32 __nv_sinf_param_0
)
;
	// .globl	scale_dependent
.visible .global .align 4 .u32 my_scale_cooperative = 1;
.visible .global .align 4 .u32 other_dependent = 1;
.visible .global .align 8 .u64 table = generic(scale_cooperative);
.visible .entry scale(
	.param .u64 .ptr .align 1 scale_param_0,
	.param .u32 scale_param_1
)
{
	.local .align 4 .b8 	__local_depot0[28];
	.reg .b32 	%r<3>;
}
.visible .entry scale_dependent()
{
	.local .align 8 .b8 	__local_depot1[8];
}
)";

TEST(ImageTest, Globals) {
  EXPECT_TRUE(hasGlobal(ptx, "my_scale_cooperative"));
  EXPECT_TRUE(hasGlobal(ptx, "other_dependent"));
  EXPECT_FALSE(hasGlobal(ptx, "scale_cooperative"));
  EXPECT_FALSE(hasGlobal(ptx, "scale_dependent"));
  EXPECT_FALSE(hasGlobal(ptx, "other_depend"));
  EXPECT_FALSE(hasGlobal("", "k"));
}

TEST(ImageTest, GlobalsOfCubins) {
  llvm::StringRef cubin("\x7f"
                        "ELF\0.text.a\0a\0a_dependent\0.text.b_dependent\0"
                        "b_dependent\0",
                        52);
  EXPECT_TRUE(hasGlobal(cubin, "a_dependent"));
  EXPECT_FALSE(hasGlobal(cubin, "b_dependent"));
  EXPECT_FALSE(hasGlobal(cubin, "dependent"));
}

TEST(ImageTest, ParametersAndArrays) {
  EXPECT_EQ(countParameters(ptx, "scale"), 2u);
  EXPECT_EQ(countParameters(ptx, "scale_dependent"), 0u);
  EXPECT_EQ(countParameters(ptx, "none"), std::nullopt);
  EXPECT_EQ(countLocalBytes(ptx, "scale"), 32u);
  EXPECT_EQ(countLocalBytes(ptx, "scale_dependent"), 8u);
  EXPECT_EQ(countLocalBytes(ptx, "none"), 0u);
}

TEST(ImageTest, MissingFunctions) {
  EXPECT_EQ(findMissingFunction(ptx), "__nv_sinf");
  EXPECT_EQ(findMissingFunction(ptx.drop_front(ptx.find("// .globl"))), "");
  EXPECT_EQ(findMissingFunction(".extern .func vprintf\n(\n);\n"
                                ".func __nv_sinf() {}"),
            "");
}

} // namespace
