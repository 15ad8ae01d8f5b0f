//===- OptionsTest.cpp - Options and conversions --------------------------===//
//
// The text of --emulator, and rounding to narrow floats.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Device.h"
#include "norm_fusion/Runtime/HalfConversions.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir::norm_fusion::runtime;

TEST(OptionsTest, Parse) {
  auto options = EmulatorOptions::parse(
      "sms=8 shared-memory=65536 max-cluster=4 order-seed=1 races=0 weak=7");
  ASSERT_TRUE(bool(options));
  EXPECT_EQ(options->sms, 8u);
  EXPECT_EQ(options->sharedMemory, 65536u);
  EXPECT_EQ(options->maxCluster, 4u);
  EXPECT_EQ(options->orderSeed, 1u);
  EXPECT_FALSE(options->races);
  EXPECT_EQ(options->weak, 7u);
  for (const char *wrong : {"sms", "sms=0", "sms=x", "speed=1", "races=2"}) {
    auto failed = EmulatorOptions::parse(wrong);
    EXPECT_FALSE(bool(failed)) << wrong;
    llvm::consumeError(failed.takeError());
  }
}

TEST(OptionsTest, NarrowFloatsRoundToNearestEven) {
  auto reference = [](float value, const llvm::fltSemantics &semantics) {
    llvm::APFloat wide(value);
    bool lost;
    wide.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    return wide.bitcastToAPInt().getZExtValue();
  };
  uint32_t state = 1;
  for (unsigned i = 0; i < 200000; ++i) {
    state = state * 1664525 + 1013904223;
    float value = llvm::bit_cast<float>(i < 70000 ? i << 15 | (i & 1) : state);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(convertFromBFloat16(convertToBFloat16(value))));
      EXPECT_TRUE(std::isnan(convertFromHalf(convertToHalf(value))));
      continue;
    }
    ASSERT_EQ(convertToBFloat16(value),
              reference(value, llvm::APFloat::BFloat()))
        << value;
    ASSERT_EQ(convertToHalf(value), reference(value, llvm::APFloat::IEEEhalf()))
        << value;
  }
  for (unsigned bits = 0; bits < 0x7c00; ++bits)
    ASSERT_EQ(convertToHalf(convertFromHalf(bits)), bits);
  EXPECT_EQ(convertToFloat8(1e9f, false), 0x7e);
  EXPECT_EQ(convertToFloat8(1.0f, false), 0x38);
  EXPECT_EQ(convertToFloat8(-1.0f, true), 0xbc);
}
