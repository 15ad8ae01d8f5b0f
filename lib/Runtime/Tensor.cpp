//===- Tensor.cpp - Arrays on the host ------------------------------------===//
//
// Element types, the conversions between narrow floats and double, and filling.
// One decoder and one encoder serve all float types: they differ in the widths
// of exponent and mantissa and in what the largest exponent means.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Tensor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemAlloc.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Parallel.h"
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace mlir::norm_fusion::runtime;

namespace {
struct TypeInfo {
  StringLiteral name;
  uint8_t bytes;
  uint8_t exponentBits; // 0: an integer
  uint8_t mantissaBits;
  bool finiteOnly; // no infinities, NaN at all ones
};
constexpr TypeInfo typeInfos[] = {
    {"f64", 8, 11, 52, false},    {"f32", 4, 8, 23, false},
    {"f16", 2, 5, 10, false},     {"bf16", 2, 8, 7, false},
    {"f8E4M3FN", 1, 4, 3, true},  {"f8E5M2", 1, 5, 2, false},
    {"f8E8M0FNU", 1, 8, 0, true}, {"i1", 1, 0, 0, false},
    {"i8", 1, 0, 0, false},       {"i16", 2, 0, 0, false},
    {"i32", 4, 0, 0, false},      {"i64", 8, 0, 0, false},
};
const TypeInfo &getInfo(ElementType type) {
  return typeInfos[static_cast<unsigned>(type)];
}
int getBias(const TypeInfo &info) { return (1 << (info.exponentBits - 1)) - 1; }
} // namespace

StringRef mlir::norm_fusion::runtime::getName(ElementType type) {
  return getInfo(type).name;
}

std::optional<ElementType>
mlir::norm_fusion::runtime::parseElementType(StringRef name) {
  for (auto [index, info] : enumerate(typeInfos))
    if (info.name == name)
      return static_cast<ElementType>(index);
  return std::nullopt;
}

size_t mlir::norm_fusion::runtime::getByteSize(ElementType type) {
  return getInfo(type).bytes;
}

bool mlir::norm_fusion::runtime::isFloat(ElementType type) {
  return getInfo(type).exponentBits != 0;
}

double mlir::norm_fusion::runtime::getUnitRoundoff(ElementType type) {
  return isFloat(type) ? std::ldexp(1.0, -getInfo(type).mantissaBits - 1) : 0.0;
}

double mlir::norm_fusion::runtime::getSpacing(ElementType type, double value) {
  if (!isFloat(type))
    return 1.0;
  const TypeInfo &info = getInfo(type);
  int exponent = 1 - getBias(info);
  if (value != 0 && std::isfinite(value))
    exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - info.mantissaBits);
}

double mlir::norm_fusion::runtime::decodeFloat(ElementType type,
                                               uint64_t bits) {
  if (type == ElementType::f64)
    return bit_cast<double>(bits);
  if (type == ElementType::f32)
    return bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == ElementType::bf16)
    return bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  if (type == ElementType::f8E8M0FNU)
    return bits == 255 ? std::numeric_limits<double>::quiet_NaN()
                       : std::ldexp(1.0, static_cast<int>(bits) - 127);
  const TypeInfo &info = getInfo(type);
  unsigned width = info.exponentBits + info.mantissaBits;
  uint64_t magnitude = bits & maskTrailingOnes<uint64_t>(width);
  uint64_t mantissa = magnitude & maskTrailingOnes<uint64_t>(info.mantissaBits);
  int exponent = static_cast<int>(magnitude >> info.mantissaBits);
  double sign = bits >> width & 1 ? -1.0 : 1.0;
  bool top = exponent == (1 << info.exponentBits) - 1;
  if (info.finiteOnly ? magnitude == maskTrailingOnes<uint64_t>(width)
                      : top && mantissa)
    return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
  if (top && !info.finiteOnly)
    return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0)
    return sign * std::ldexp(static_cast<double>(mantissa),
                             1 - getBias(info) - info.mantissaBits);
  mantissa |= 1ull << info.mantissaBits;
  return sign * std::ldexp(static_cast<double>(mantissa),
                           exponent - getBias(info) - info.mantissaBits);
}

uint64_t mlir::norm_fusion::runtime::encodeFloat(ElementType type,
                                                 double value) {
  if (type == ElementType::f64)
    return bit_cast<uint64_t>(value);
  if (type == ElementType::f32)
    return bit_cast<uint32_t>(static_cast<float>(value));
  if (type == ElementType::f8E8M0FNU) {
    // An exponent alone: half of the way and more is rounded up, zero to the
    // smallest power.
    if (!(value >= 0))
      return 255;
    int64_t exponent = static_cast<int64_t>(
        (bit_cast<uint64_t>(std::fabs(value)) + (1ull << 51)) >> 52);
    return std::clamp<int64_t>(exponent - (1023 - 127), 0, 255);
  }
  const TypeInfo &info = getInfo(type);
  unsigned width = info.exponentBits + info.mantissaBits;
  uint64_t sign = static_cast<uint64_t>(std::signbit(value)) << width;
  uint64_t top = maskTrailingOnes<uint64_t>(info.exponentBits)
                 << info.mantissaBits;
  uint64_t nan = info.finiteOnly ? maskTrailingOnes<uint64_t>(width)
                                 : top | 1ull << (info.mantissaBits - 1);
  if (std::isnan(value))
    return sign | nan;
  // Bits of double at or above 2^-1022 hold exponent and mantissa in one
  // integer, so that a carry out of the mantissa moves the exponent.
  double magnitude = std::fabs(value);
  int smallest = 1 - getBias(info);
  uint64_t bits;
  if (magnitude < std::ldexp(1.0, smallest)) {
    // Adding 2^k with k such that the last bit of the sum is the type's last
    // bit rounds to nearest even; the low bits of the sum are the result.
    double magic = std::ldexp(1.0, smallest - info.mantissaBits + 52);
    bits = bit_cast<uint64_t>(magnitude + magic) - bit_cast<uint64_t>(magic);
  } else {
    unsigned shift = 52 - info.mantissaBits;
    uint64_t wide = bit_cast<uint64_t>(magnitude);
    wide += maskTrailingOnes<uint64_t>(shift - 1) + (wide >> shift & 1);
    bits = (wide >> shift) -
           (static_cast<uint64_t>(1023 - getBias(info)) << info.mantissaBits);
  }
  uint64_t overflow = info.finiteOnly ? nan : top;
  if (bits > overflow || std::isinf(value))
    bits = overflow;
  return sign | bits;
}

std::optional<size_t>
mlir::norm_fusion::runtime::getByteCount(ElementType type,
                                         ArrayRef<int64_t> shape) {
  // The product without the zeros must fit too: strides are made of it.
  int64_t bytes = getByteSize(type);
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    empty |= size == 0;
    if (size != 0 && MulOverflow(bytes, size, bytes))
      return std::nullopt;
  }
  return empty ? 0 : static_cast<size_t>(bytes);
}

std::string mlir::norm_fusion::runtime::formatType(ElementType type,
                                                   ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + getName(type).str();
}

bool mlir::norm_fusion::runtime::hasHostMemory(size_t bytes) {
  // An allocation alone tells nothing: pages come when they're written.
  if (bytes < (size_t(64) << 20))
    return true;
  auto file = MemoryBuffer::getFileAsStream("/proc/meminfo");
  if (!file)
    return true;
  StringRef text = (*file)->getBuffer();
  uint64_t kilobytes;
  text = text.split("MemAvailable:").second.ltrim();
  return text.consumeInteger(10, kilobytes) || bytes / 1024 < kilobytes;
}

void Tensor::Free::operator()(char *pointer) const { std::free(pointer); }

Expected<Tensor> Tensor::create(ElementType type, ArrayRef<int64_t> shape) {
  std::optional<size_t> bytes = getByteCount(type, shape);
  if (!bytes)
    return createStringError(
        "a tensor " + formatType(type, shape) +
        (any_of(shape, [](int64_t size) { return size < 0; })
             ? " has a negative size"
             : " is larger than the address space"));
  Tensor tensor;
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.count = *bytes / getByteSize(type);
  void *data = nullptr;
  if (!hasHostMemory(*bytes) ||
      posix_memalign(&data, 256, std::max<size_t>(*bytes, 256)))
    return createStringError("no memory for a tensor " +
                             formatType(type, shape) +
                             "; run a smaller problem");
  tensor.data.reset(static_cast<char *>(data));
  std::memset(data, 0, *bytes);
  return std::move(tensor);
}

double Tensor::getFloat(size_t index) const {
  if (!isFloat(type))
    return static_cast<double>(getInteger(index));
  uint64_t bits = 0;
  std::memcpy(&bits, getData() + index * getByteSize(type), getByteSize(type));
  return decodeFloat(type, bits);
}

int64_t Tensor::getInteger(size_t index) const {
  uint64_t bits = 0;
  std::memcpy(&bits, getData() + index * getByteSize(type), getByteSize(type));
  return type == ElementType::i1 ? bits & 1
                                 : SignExtend64(bits, getByteSize(type) * 8);
}

void Tensor::setFloat(size_t index, double value) {
  uint64_t bits = isFloat(type)
                      ? encodeFloat(type, value)
                      : static_cast<uint64_t>(static_cast<int64_t>(value));
  if (type == ElementType::i1)
    bits = value != 0;
  std::memcpy(getData() + index * getByteSize(type), &bits, getByteSize(type));
}

Error Tensor::fill(StringRef number) {
  auto refuse = [&](const Twine &expected) {
    return createStringError(inconvertibleErrorCode(),
                             number + ", expected " + expected);
  };
  uint64_t bits = 0;
  if (isFloat(type)) {
    double value;
    if (number.getAsDouble(value))
      return refuse("a number");
    bits = encodeFloat(type, value);
    bool isFinite = number.find_first_of("iInN") == StringRef::npos;
    if (isFinite && !std::isfinite(decodeFloat(type, bits)))
      return refuse("a value that " + getName(type) + " has");
  } else {
    // With a sign or without one; or such as 3e4.
    unsigned width = type == ElementType::i1 ? 1 : getByteSize(type) * 8;
    bool fits = false;
    auto set = [&](int64_t integer) {
      bits = static_cast<uint64_t>(integer);
      fits = isIntN(width, integer) || (integer >= 0 && isUIntN(width, bits));
    };
    int64_t integer;
    double value;
    if (!number.getAsInteger(10, integer))
      set(integer);
    else if (!number.getAsInteger(10, bits))
      fits = width == 64;
    else if (!number.getAsDouble(value) && value == std::trunc(value) &&
             std::fabs(value) <= 0x1p53)
      set(static_cast<int64_t>(value));
    if (!fits)
      return refuse("an integer of " + Twine(width) +
                    (width == 1 ? " bit" : " bits"));
    if (type == ElementType::i1)
      bits &= 1;
  }
  for (size_t i = 0; i < count; ++i)
    std::memcpy(getData() + i * getByteSize(type), &bits, getByteSize(type));
  return Error::success();
}

static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

void Tensor::fillRandom(uint64_t seed) {
  if (!isFloat(type)) {
    std::memset(getData(), 0, getNumBytes());
    return;
  }
  // Box and Muller: two values from two uniform ones.
  constexpr double pi = 3.14159265358979323846;
  uint64_t state = mix(seed);
  // Each value depends on its index alone.
  constexpr size_t share = 1 << 16;
  llvm::parallelFor(0, llvm::divideCeil(count, share), [&](size_t part) {
    size_t end = std::min(count, (part + 1) * share);
    for (size_t i = part * share; i < end; i += 2) {
      double u = static_cast<double>((mix(state + i) >> 11) + 1) * 0x1p-53;
      double v = static_cast<double>(mix(state + i + 1) >> 11) * 0x1p-53;
      double radius = std::sqrt(-2 * std::log(u));
      double first = radius * std::cos(2 * pi * v);
      double second = radius * std::sin(2 * pi * v);
      bool hasSign = type != ElementType::f8E8M0FNU;
      setFloat(i, hasSign ? first : std::fabs(first));
      if (i + 1 < end)
        setFloat(i + 1, hasSign ? second : std::fabs(second));
    }
  });
}

Expected<Tensor> Tensor::widen() const {
  Expected<Tensor> result =
      create(isFloat(type) ? ElementType::f64 : type, shape);
  if (!result)
    return result;
  if (type == result->type) {
    std::memcpy(result->getData(), getData(), getNumBytes());
    return result;
  }
  double *values = reinterpret_cast<double *>(result->getData());
  for (size_t i = 0; i < count; ++i)
    values[i] = getFloat(i);
  return result;
}

bool Tensor::isBitwiseEqual(const Tensor &other) const {
  return type == other.type && shape == other.shape &&
         std::memcmp(getData(), other.getData(), getNumBytes()) == 0;
}

std::optional<TensorSpec>
mlir::norm_fusion::runtime::parseTensorSpec(StringRef text) {
  TensorSpec spec;
  StringRef rest = text;
  if (size_t equals = text.find('='); equals != StringRef::npos) {
    double value;
    if (text.substr(equals + 1).getAsDouble(value))
      return std::nullopt;
    spec.splat = text.substr(equals + 1).str();
    rest = text.take_front(equals);
  }
  while (!rest.empty() && isDigit(rest.front())) {
    auto [size, tail] = rest.split('x');
    int64_t value;
    if (size.getAsInteger(10, value) || size.size() == rest.size())
      return std::nullopt;
    spec.shape.push_back(value);
    rest = tail;
  }
  std::optional<ElementType> type =
      rest == "index" ? ElementType::i64 : parseElementType(rest);
  if (!type)
    return std::nullopt;
  spec.type = *type;
  return spec;
}
