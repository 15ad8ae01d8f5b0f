//===- HalfConversions.cpp - Narrow floats on the host --------------------===//
//
// Rounds on the bits of the wider type, so nothing depends on the host's modes.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/HalfConversions.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

using namespace mlir::norm_fusion;
using namespace mlir::norm_fusion::runtime;
using llvm::APFloat;

template <typename Float>
static uint16_t convert(Float value, const llvm::fltSemantics &semantics) {
  APFloat wide(value);
  bool lost;
  wide.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return wide.bitcastToAPInt().getZExtValue();
}

uint16_t runtime::convertToBFloat16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return bits >> 16 | 0x40; // a quiet NaN
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
uint16_t runtime::convertToBFloat16(double value) {
  return convert(value, APFloat::BFloat());
}
float runtime::convertFromBFloat16(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits) << 16);
}

uint16_t runtime::convertToHalf(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
  if (magnitude >= 0x47800000) // 65536: beyond all halves
    return sign | 0x7c00;
  uint32_t kept, lost, half;
  if (magnitude >= 0x38800000) { // normal
    kept = (magnitude - 0x38000000) >> 13;
    lost = magnitude & 0x1fff;
    half = 0x1000;
  } else {
    uint32_t shift = 126 - (magnitude >> 23);
    if (shift > 24)
      return sign;
    uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    kept = mantissa >> shift;
    lost = mantissa & ((1u << shift) - 1);
    half = 1u << (shift - 1);
  }
  kept += lost > half || (lost == half && (kept & 1));
  return sign | kept;
}
uint16_t runtime::convertToHalf(double value) {
  return convert(value, APFloat::IEEEhalf());
}
float runtime::convertFromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, mantissa = bits & 0x3ff;
  if (exponent == 31)
    return llvm::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    float value = float(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  return llvm::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint8_t runtime::convertToFloat8(float value, bool e5m2, bool relu) {
  const llvm::fltSemantics &semantics =
      e5m2 ? APFloat::Float8E5M2() : APFloat::Float8E4M3FN();
  APFloat wide(value);
  if (wide.isNaN())
    return 0x7f;
  if (relu && wide.isNegative())
    return 0;
  APFloat largest = APFloat::getLargest(semantics, wide.isNegative());
  bool lost;
  APFloat narrow = wide;
  if (wide.isInfinity() ||
      narrow.convert(semantics, APFloat::rmNearestTiesToEven, &lost) &
          APFloat::opOverflow ||
      narrow.isNaN() || narrow.isInfinity())
    narrow = largest;
  return narrow.bitcastToAPInt().getZExtValue();
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Halves travel in the low bits of an SSE register, as a float does.
static float inRegister(uint16_t bits) {
  return llvm::bit_cast<float>(uint32_t(bits));
}
static uint16_t fromRegister(float value) {
  return llvm::bit_cast<uint32_t>(value);
}

std::vector<std::pair<llvm::StringRef, void *>>
runtime::getHalfConversionSymbols() {
  auto address = [](auto *function) {
    return reinterpret_cast<void *>(function);
  };
  float (*truncsfbf2)(float) = [](float value) {
    return inRegister(convertToBFloat16(value));
  };
  float (*truncdfbf2)(double) = [](double value) {
    return inRegister(convertToBFloat16(value));
  };
  float (*truncsfhf2)(float) = [](float value) {
    return inRegister(convertToHalf(value));
  };
  float (*truncdfhf2)(double) = [](double value) {
    return inRegister(convertToHalf(value));
  };
  float (*extendhfsf2)(float) = [](float value) {
    return convertFromHalf(fromRegister(value));
  };
  float (*extendbfsf2)(float) = [](float value) {
    return convertFromBFloat16(fromRegister(value));
  };
  return {{"__truncsfbf2", address(truncsfbf2)},
          {"__truncdfbf2", address(truncdfbf2)},
          {"__truncsfhf2", address(truncsfhf2)},
          {"__truncdfhf2", address(truncdfhf2)},
          {"__extendhfsf2", address(extendhfsf2)},
          {"__extendbfsf2", address(extendbfsf2)}};
}
