//===- TensorTest.cpp - Conversions against APFloat -----------------------===//

#include "norm_fusion/Runtime/Tensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mlir::norm_fusion::runtime;
using llvm::APFloat;

static const llvm::fltSemantics &getSemantics(ElementType type) {
  switch (type) {
  case ElementType::f16:
    return APFloat::IEEEhalf();
  case ElementType::bf16:
    return APFloat::BFloat();
  case ElementType::f8E4M3FN:
    return APFloat::Float8E4M3FN();
  case ElementType::f8E5M2:
    return APFloat::Float8E5M2();
  case ElementType::f8E8M0FNU:
    return APFloat::Float8E8M0FNU();
  default:
    return APFloat::IEEEsingle();
  }
}

static constexpr ElementType narrow[] = {ElementType::f16, ElementType::bf16,
                                         ElementType::f8E4M3FN,
                                         ElementType::f8E5M2};

static void checkEncode(ElementType type, double value) {
  APFloat expected(value);
  bool losesInfo;
  expected.convert(getSemantics(type), APFloat::rmNearestTiesToEven, &losesInfo);
  double got = decodeFloat(type, encodeFloat(type, value));
  if (expected.isNaN()) {
    EXPECT_TRUE(std::isnan(got)) << value;
    return;
  }
  EXPECT_EQ(encodeFloat(type, value), expected.bitcastToAPInt().getZExtValue())
      << getName(type).str() << " of " << value;
}

TEST(Tensor, decodesEveryNarrowValueAsAPFloatDoes) {
  for (ElementType type : narrow)
    for (uint64_t bits = 0; bits < 1ull << (8 * getByteSize(type)); ++bits) {
      APFloat expected(getSemantics(type),
                       llvm::APInt(8 * getByteSize(type), bits));
      double got = decodeFloat(type, bits);
      if (expected.isNaN()) {
        EXPECT_TRUE(std::isnan(got));
        continue;
      }
      bool losesInfo;
      expected.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                       &losesInfo);
      ASSERT_EQ(got, expected.convertToDouble());
      ASSERT_EQ(std::signbit(got), expected.isNegative());
      ASSERT_EQ(encodeFloat(type, got), bits);
    }
}

TEST(Tensor, roundsAsAPFloatDoes) {
  std::mt19937_64 random(1);
  for (ElementType type : narrow) {
    for (double value : {0.0, -0.0, 1e300, -1e300, 1e-300, HUGE_VAL, -HUGE_VAL,
                         std::nan(""), 448.0, 464.0, 465.0, 480.0, 57344.0,
                         61440.0, 65504.0, 65520.0})
      checkEncode(type, value);
    // Halfway between neighbours, and next to it.
    for (uint64_t bits = 0; bits < 1ull << (8 * getByteSize(type)); bits += 3) {
      double a = decodeFloat(type, bits), b = decodeFloat(type, bits + 1);
      double half = a + (b - a) / 2;
      for (double value : {half, std::nextafter(half, a), std::nextafter(half, b)})
        checkEncode(type, value);
    }
    for (int i = 0; i < 20000; ++i)
      checkEncode(type, llvm::bit_cast<double>(
                            (random() & ~(0x7ffull << 52)) |
                            ((1023 - 30 + random() % 60) << 52)));
  }
}

TEST(Tensor, fillsWithWhatTheTypeHas) {
  auto fill = [](ElementType type, llvm::StringRef number) -> std::string {
    Tensor tensor = llvm::cantFail(Tensor::create(type, {2}));
    if (llvm::Error error = tensor.fill(number))
      return llvm::toString(std::move(error));
    return isFloat(type) ? std::to_string(tensor.getFloat(1))
                         : std::to_string(tensor.getInteger(1));
  };
  EXPECT_EQ(fill(ElementType::i8, "-128"), "-128");
  EXPECT_EQ(fill(ElementType::i8, "255"), "-1");
  EXPECT_EQ(fill(ElementType::i8, "256"), "256, expected an integer of 8 bits");
  EXPECT_EQ(fill(ElementType::i8, "-129"),
            "-129, expected an integer of 8 bits");
  EXPECT_EQ(fill(ElementType::i1, "1"), "1");
  EXPECT_EQ(fill(ElementType::i1, "2"), "2, expected an integer of 1 bit");
  EXPECT_EQ(fill(ElementType::i32, "3e4"), "30000");
  EXPECT_EQ(fill(ElementType::i32, "nan"),
            "nan, expected an integer of 32 bits");
  EXPECT_EQ(fill(ElementType::i64, "9007199254740993"), "9007199254740993");
  EXPECT_EQ(fill(ElementType::i64, "18446744073709551615"), "-1");
  EXPECT_EQ(fill(ElementType::i64, "18446744073709551616"),
            "18446744073709551616, expected an integer of 64 bits");
  EXPECT_EQ(fill(ElementType::f16, "65504"), "65504.000000");
  EXPECT_EQ(fill(ElementType::f16, "65536"),
            "65536, expected a value that f16 has");
  EXPECT_EQ(fill(ElementType::f32, "1e400"),
            "1e400, expected a value that f32 has");
  EXPECT_EQ(fill(ElementType::f32, "-inf"), "-inf");
}

TEST(Tensor, parsesSpecs) {
  auto spec = parseTensorSpec("4x8xbf16=2.5");
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->type, ElementType::bf16);
  EXPECT_EQ(spec->shape.size(), 2u);
  EXPECT_EQ(spec->splat, "2.5");
  EXPECT_TRUE(parseTensorSpec("f32"));
  EXPECT_TRUE(parseTensorSpec("0x4xf8E4M3FN"));
  for (llvm::StringRef text :
       {"", "x.npy", "4x", "4xf31", "4x-1xf32", "4xf32=", "4xf32=x", "4f32"})
    EXPECT_FALSE(parseTensorSpec(text)) << text.str();
}

TEST(Tensor, randomNumbersDependOnTheSeedAlone) {
  Tensor a = llvm::cantFail(Tensor::create(ElementType::f32, {1000}));
  Tensor b = llvm::cantFail(Tensor::create(ElementType::f32, {1000}));
  a.fillRandom(3);
  b.fillRandom(3);
  EXPECT_TRUE(a.isBitwiseEqual(b));
  b.fillRandom(4);
  EXPECT_FALSE(a.isBitwiseEqual(b));
  double sum = 0, squares = 0;
  for (size_t i = 0; i < 1000; ++i) {
    sum += a.getFloat(i);
    squares += a.getFloat(i) * a.getFloat(i);
  }
  EXPECT_NEAR(sum / 1000, 0, 0.1);
  EXPECT_NEAR(squares / 1000, 1, 0.15);
}

TEST(Tensor, refusesSizesThatOverflow) {
  EXPECT_FALSE(getByteCount(ElementType::f64, {1ll << 40, 1ll << 40}));
  EXPECT_FALSE(getByteCount(ElementType::f64, {0, 1ll << 40, 1ll << 40}));
  EXPECT_FALSE(getByteCount(ElementType::f64, {-1}));
  EXPECT_EQ(getByteCount(ElementType::f64, {0, 3}), 0u);
  EXPECT_EQ(getByteCount(ElementType::f64, {}), 8u);
}

TEST(Tensor, exponentsAreRoundedAsAPFloatDoes) {
  constexpr ElementType type = ElementType::f8E8M0FNU;
  for (int exponent = -130; exponent <= 129; ++exponent)
    for (double factor : {1.0, 1.0 + 0x1p-52, 1.25, 1.5 - 0x1p-52, 1.5,
                          1.5 + 0x1p-52, 1.75, 2.0 - 0x1p-52})
      checkEncode(type, std::ldexp(factor, exponent));
  for (uint64_t bits = 0; bits < 255; ++bits)
    EXPECT_EQ(encodeFloat(type, decodeFloat(type, bits)), bits);
  EXPECT_EQ(encodeFloat(type, 0.0), 0u);
  EXPECT_EQ(encodeFloat(type, -0.0), 0u);
  EXPECT_EQ(encodeFloat(type, -1.0), 255u);
  EXPECT_EQ(encodeFloat(type, HUGE_VAL), 255u);
  EXPECT_EQ(encodeFloat(type, std::nan("")), 255u);
}
