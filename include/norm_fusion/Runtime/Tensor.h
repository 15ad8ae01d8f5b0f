//===- Tensor.h - Arrays on the host ----------------------------*- C++ -*-===//
//
// What the runner holds between a file and a kernel: an element type, a shape
// and aligned bytes in C order. Conversions between the narrow float types and
// double are exact or rounded once, to nearest even.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNTIME_TENSOR_H
#define NORM_FUSION_RUNTIME_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mlir::norm_fusion::runtime {

/// Whether this machine can hold `bytes` more without being killed for it.
bool hasHostMemory(size_t bytes);

enum class ElementType : uint8_t {
  f64,
  f32,
  f16,
  bf16,
  f8E4M3FN,
  f8E5M2,
  f8E8M0FNU,
  i1,
  i8,
  i16,
  i32,
  i64
};

/// As MLIR spells it.
llvm::StringRef getName(ElementType type);
std::optional<ElementType> parseElementType(llvm::StringRef name);
/// Size in memory; an i1 takes a byte.
size_t getByteSize(ElementType type);
bool isFloat(ElementType type);
/// Half the distance from 1 to the next larger value; 0 for integers.
double getUnitRoundoff(ElementType type);
/// Distance between neighbouring values at the magnitude of `value`; 1 for
/// integers.
double getSpacing(ElementType type, double value);

/// The value that the low bits of `bits` stand for. Floats only.
double decodeFloat(ElementType type, uint64_t bits);
/// `value` rounded to nearest even, as APFloat does: overflow gives infinity,
/// or NaN where the type has no infinity.
uint64_t encodeFloat(ElementType type, double value);

/// Product of the sizes times the element size; none if it overflows or a size
/// is negative.
std::optional<size_t> getByteCount(ElementType type,
                                   llvm::ArrayRef<int64_t> shape);
/// "4x8xf32"; "f32" for a scalar.
std::string formatType(ElementType type, llvm::ArrayRef<int64_t> shape);

class Tensor {
public:
  Tensor() = default;
  /// Zeros. Fails where the size overflows or the memory isn't there.
  static llvm::Expected<Tensor> create(ElementType type,
                                       llvm::ArrayRef<int64_t> shape);

  ElementType getElementType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  size_t getNumElements() const { return count; }
  size_t getNumBytes() const { return count * getByteSize(type); }
  char *getData() { return data.get(); }
  const char *getData() const { return data.get(); }
  std::string getTypeName() const { return formatType(type, shape); }

  /// The element's value; integers are converted.
  double getFloat(size_t index) const;
  int64_t getInteger(size_t index) const;
  /// Rounds to the element type.
  void setFloat(size_t index, double value);

  /// Every element gets `number`, in decimal; an error if the type has no such
  /// value: a fraction or too large an integer, or a finite number beyond a
  /// float's range. Other floats are rounded.
  llvm::Error fill(llvm::StringRef number);
  /// Normal(0, 1), a function of `seed` and the element's index alone; integers
  /// become 0.
  void fillRandom(uint64_t seed);
  /// The same values as double; integers are kept as they are.
  llvm::Expected<Tensor> widen() const;
  bool isBitwiseEqual(const Tensor &other) const;

private:
  struct Free {
    void operator()(char *pointer) const;
  };
  ElementType type = ElementType::f32;
  llvm::SmallVector<int64_t, 4> shape;
  size_t count = 0;
  std::unique_ptr<char, Free> data;
};

/// A type and shape on the command line: SHAPExTYPE or SHAPExTYPE=NUMBER; index
/// is i64.
struct TensorSpec {
  ElementType type;
  llvm::SmallVector<int64_t, 4> shape;
  std::optional<std::string> splat; ///< a number, not checked against the type
};
/// None if `text` doesn't look like one (a file name, say).
std::optional<TensorSpec> parseTensorSpec(llvm::StringRef text);

} // namespace mlir::norm_fusion::runtime

#endif // NORM_FUSION_RUNTIME_TENSOR_H
