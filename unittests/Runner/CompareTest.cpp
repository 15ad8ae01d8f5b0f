//===- CompareTest.cpp - What counts as right -----------------------------===//

#include "norm_fusion/Runner/Compare.h"

#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir::norm_fusion::runner;
using namespace mlir::norm_fusion::runtime;

static Tensor makeTensor(std::initializer_list<double> values,
                         ElementType type = ElementType::f64) {
  Tensor tensor =
      llvm::cantFail(Tensor::create(type, {int64_t(values.size())}));
  size_t i = 0;
  for (double value : values)
    tensor.setFloat(i++, value);
  return tensor;
}

TEST(Compare, boundIsAbsolutePlusRelative) {
  Tolerance tolerance{0.1, 1.0};
  EXPECT_TRUE(compare(makeTensor({12}), makeTensor({10}), tolerance).passed());
  Comparison off = compare(makeTensor({10, 12.5}), makeTensor({10, 10}),
                           tolerance);
  EXPECT_EQ(off.failures, 1u);
  EXPECT_EQ(off.worst, 1u);
  EXPECT_EQ(off.maxAbsError, 2.5);
  EXPECT_EQ(off.maxRelError, 0.25);
}

TEST(Compare, valuesThatAreNotFinite) {
  double nan = std::nan(""), inf = HUGE_VAL;
  EXPECT_TRUE(compare(makeTensor({nan, inf, -inf}), makeTensor({nan, inf, -inf}),
                      {})
                  .passed());
  for (auto [got, want] : {std::pair(nan, 0.0), std::pair(0.0, nan),
                           std::pair(inf, -inf), std::pair(inf, 1e308),
                           std::pair(1e308, inf), std::pair(nan, inf)}) {
    Comparison result =
        compare(makeTensor({got}), makeTensor({want}), {1e9, 1e300});
    EXPECT_FALSE(result.passed()) << got << " " << want;
    EXPECT_TRUE(std::isinf(result.maxAbsError));
  }
}

// What overflows unfused, too, isn't fusion's, and no other element's bound.
TEST(Compare, overflowsUnfused) {
  double inf = std::numeric_limits<double>::infinity();
  Tensor want = makeTensor({7e4, 7e4, 1}), unfused = makeTensor({inf, 7e4, 1});
  Comparison own = compare(unfused, want, {});
  EXPECT_EQ(own.maxAbsError, inf);
  EXPECT_EQ(own.maxFiniteError, 0);
  Tolerance tolerance = {0, 0.5};
  EXPECT_TRUE(compare(unfused, want, tolerance, &unfused).passed());
  EXPECT_TRUE(compare(want, want, tolerance, &unfused).passed());
  EXPECT_FALSE(
      compare(makeTensor({inf, inf, 1}), want, tolerance, &unfused).passed());
  EXPECT_FALSE(
      compare(makeTensor({-inf, 7e4, 1}), want, tolerance, &unfused).passed());
  EXPECT_FALSE(
      compare(makeTensor({inf, 7e4, 2}), want, tolerance, &unfused).passed());
}

TEST(Compare, integersAreExactUnlessRounded) {
  Tensor a = makeTensor({1, 2}, ElementType::i8);
  Tensor b = makeTensor({1, 3}, ElementType::i8);
  EXPECT_FALSE(compare(a, b, chooseTolerance(ElementType::i8, 9, 3, false))
                   .passed());
  EXPECT_TRUE(compare(a, b, chooseTolerance(ElementType::i8, 9, 3, true))
                  .passed());
}

TEST(Compare, toleranceFollowsTypeAndLength) {
  Tolerance f32 = chooseTolerance(ElementType::f32, 100, 1, false);
  Tolerance bf16 = chooseTolerance(ElementType::bf16, 100, 1, false);
  Tolerance longer = chooseTolerance(ElementType::f32, 10000, 1, false);
  EXPECT_LT(f32.rtol, bf16.rtol);
  EXPECT_LT(f32.atol, longer.atol);
  EXPECT_LT(longer.atol, 1e-4);
}

TEST(Compare, emptyTensorsAreEqual) {
  EXPECT_TRUE(compare(makeTensor({}), makeTensor({}), {}).passed());
}
