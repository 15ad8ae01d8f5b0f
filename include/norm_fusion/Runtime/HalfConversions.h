//===- HalfConversions.h - Narrow floats on the host ------------*- C++ -*-===//
//
// Conversions between float and bfloat16, half and the 8-bit floats: to nearest
// even, denormals kept, NaN stays NaN. LLVM's host code calls some of them
// (`__truncsfbf2` and kin), and Debian 12's libgcc lacks those.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNTIME_HALFCONVERSIONS_H
#define NORM_FUSION_RUNTIME_HALFCONVERSIONS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace mlir::norm_fusion::runtime {

uint16_t convertToBFloat16(float value);
uint16_t convertToBFloat16(double value);
float convertFromBFloat16(uint16_t bits);
uint16_t convertToHalf(float value);
uint16_t convertToHalf(double value);
float convertFromHalf(uint16_t bits);
/// e4m3 (finite, no infinities) or e5m2, saturating to the largest finite value
/// as PTX's cvt.rn.satfinite does; `relu`: negative values become zero.
uint8_t convertToFloat8(float value, bool e5m2, bool relu = false);

/// The functions of compiler-rt's names, to register with a JIT.
std::vector<std::pair<llvm::StringRef, void *>> getHalfConversionSymbols();

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_HALFCONVERSIONS_H
