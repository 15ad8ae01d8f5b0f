//===- Npy.cpp - Strict reader and writer of .npy files -------------------===//
//
// The header is a Python dictionary: magic, version, length, then
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. Only this much
// of Python is accepted, each key once, and the file must end where the shape
// says.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runtime/Npy.h"
#include "norm_fusion/Runtime/OutputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace mlir::norm_fusion::runtime;

static constexpr size_t maxHeaderBytes = 1 << 16;
static constexpr size_t maxRank = 32;
static constexpr StringLiteral magic("\x93NUMPY");

/// The descriptions that stand for a type; the first one is written.
static SmallVector<StringRef, 2> getDescriptions(ElementType type) {
  switch (type) {
  case ElementType::f64:
    return {"<f8"};
  case ElementType::f32:
    return {"<f4"};
  case ElementType::f16:
    return {"<f2"};
  case ElementType::bf16:
    return {"<u2", "|V2"};
  case ElementType::f8E4M3FN:
  case ElementType::f8E5M2:
  case ElementType::f8E8M0FNU:
    return {"|u1"};
  case ElementType::i1:
    return {"|b1"};
  case ElementType::i8:
    return {"|i1"};
  case ElementType::i16:
    return {"<i2"};
  case ElementType::i32:
    return {"<i4"};
  case ElementType::i64:
    return {"<i8"};
  }
  llvm_unreachable("unknown element type");
}

namespace {
struct Header {
  StringRef description;
  bool fortranOrder = false;
  SmallVector<int64_t, 4> shape;
};

/// Parses the dictionary. Every method returns true on failure, after setting
/// `problem`.
class HeaderParser {
public:
  HeaderParser(StringRef text) : rest(text) {}
  bool parse(Header &header);
  std::string problem;

private:
  void skipSpace() { rest = rest.ltrim(" \t\n"); }
  bool consume(char c) {
    skipSpace();
    return rest.consume_front(StringRef(&c, 1));
  }
  bool fail(const Twine &message) {
    problem = message.str();
    return true;
  }
  bool parseString(StringRef &value);
  bool parseBool(bool &value);
  bool parseShape(SmallVectorImpl<int64_t> &shape);
  StringRef rest;
};
} // namespace

bool HeaderParser::parseString(StringRef &value) {
  skipSpace();
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
    return fail("the header has something else where a string was expected");
  size_t end = rest.find(rest.front(), 1);
  if (end == StringRef::npos)
    return fail("a string of the header doesn't end");
  value = rest.slice(1, end);
  if (value.size() > 64 || !all_of(value, isPrint) || value.contains('\\'))
    return fail("the header has a strange string");
  rest = rest.drop_front(end + 1);
  return false;
}

bool HeaderParser::parseBool(bool &value) {
  skipSpace();
  if (rest.consume_front("False"))
    value = false;
  else if (rest.consume_front("True"))
    value = true;
  else
    return fail("fortran_order is neither True nor False");
  return false;
}

bool HeaderParser::parseShape(SmallVectorImpl<int64_t> &shape) {
  if (!consume('('))
    return fail("the shape isn't a tuple");
  while (!consume(')')) {
    skipSpace();
    size_t digits = rest.find_if_not(isDigit);
    int64_t size;
    if (digits == 0 || rest.take_front(digits).getAsInteger(10, size))
      return fail("the shape has something that isn't a size");
    rest = rest.drop_front(std::min(digits, rest.size()));
    shape.push_back(size);
    if (shape.size() > maxRank)
      return fail("the shape has more than " + Twine(maxRank) + " dimensions");
    if (!consume(',') && !(skipSpace(), rest.starts_with(")")))
      return fail("the shape isn't a tuple");
  }
  return false;
}

bool HeaderParser::parse(Header &header) {
  bool seenDescription = false, seenOrder = false, seenShape = false;
  if (!consume('{'))
    return fail("the header isn't a dictionary");
  while (!consume('}')) {
    StringRef key;
    if (parseString(key))
      return true;
    if (!consume(':'))
      return fail("the header isn't a dictionary");
    bool *seen = nullptr;
    bool failed;
    if (key == "descr") {
      seen = &seenDescription;
      skipSpace();
      if (rest.starts_with("["))
        return fail("it holds records, a plain array was expected");
      failed = parseString(header.description);
    } else if (key == "fortran_order") {
      seen = &seenOrder;
      failed = parseBool(header.fortranOrder);
    } else if (key == "shape") {
      seen = &seenShape;
      failed = parseShape(header.shape);
    } else {
      return fail("the header has an unknown key '" + key + "'");
    }
    if (failed)
      return true;
    if (*seen)
      return fail("the header has '" + key + "' twice");
    *seen = true;
    if (!consume(',') && !(skipSpace(), rest.starts_with("}")))
      return fail("the header isn't a dictionary");
  }
  skipSpace();
  if (!rest.empty())
    return fail("the header has something behind the dictionary");
  if (!seenDescription || !seenOrder || !seenShape)
    return fail("the header lacks descr, fortran_order or shape");
  return false;
}

Expected<Tensor>
mlir::norm_fusion::runtime::parseNpy(StringRef contents, StringRef name,
                                     ArrayRef<ElementType> types) {
  auto fail = [&](const Twine &message) {
    return createStringError(name + ": " + message);
  };
  if (!contents.starts_with(magic) || contents.size() < 10)
    return fail("not a .npy file; write it with numpy.save");
  unsigned major = static_cast<unsigned char>(contents[6]);
  unsigned minor = static_cast<unsigned char>(contents[7]);
  if (major < 1 || major > 3 || minor != 0)
    return fail("format version " + Twine(major) + "." + Twine(minor) +
                ", expected 1.0, 2.0 or 3.0");
  size_t prefix = major == 1 ? 10 : 12;
  if (contents.size() < prefix)
    return fail("the file ends inside its header");
  size_t length = major == 1
                      ? support::endian::read16le(contents.data() + 8)
                      : support::endian::read32le(contents.data() + 8);
  if (length > maxHeaderBytes)
    return fail("a header of " + Twine(length) + " bytes, at most " +
                Twine(maxHeaderBytes) + " are accepted");
  if (contents.size() - prefix < length)
    return fail("the file ends inside its header");

  Header header;
  HeaderParser parser(contents.substr(prefix, length));
  if (parser.parse(header))
    return fail(parser.problem);
  const ElementType *type = find_if(types, [&](ElementType candidate) {
    return is_contained(getDescriptions(candidate), header.description);
  });
  if (type == types.end()) {
    std::string expected;
    for (ElementType candidate : types)
      for (StringRef text : getDescriptions(candidate))
        expected += (expected.empty() ? "" : " or ") + text.str();
    return fail("element type " + header.description + ", expected " +
                expected + " (" + getName(types.front()) +
                "); convert it with numpy's astype or view");
  }
  if (header.fortranOrder)
    return fail("column-major order, expected row-major; write it through "
                "numpy.ascontiguousarray");
  std::optional<size_t> bytes = getByteCount(*type, header.shape);
  if (!bytes)
    return fail("a shape whose size overflows");
  if (contents.size() - prefix - length != *bytes)
    return fail("the file holds " + Twine(contents.size() - prefix - length) +
                " bytes of data, its shape needs " + Twine(*bytes));
  Expected<Tensor> tensor = Tensor::create(*type, header.shape);
  if (!tensor)
    return fail(toString(tensor.takeError()));
  const char *source = contents.data() + prefix + length;
  if (*type == ElementType::i1)
    for (size_t i = 0; i < *bytes; ++i)
      if (source[i] != 0 && source[i] != 1)
        return fail("a boolean that is neither 0 nor 1");
  std::memcpy(tensor->getData(), source, *bytes);
  return tensor;
}

Expected<Tensor>
mlir::norm_fusion::runtime::readNpy(StringRef path,
                                    ArrayRef<ElementType> types) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(path + ": " + buffer.getError().message());
  return parseNpy((*buffer)->getBuffer(), path, types);
}

Expected<Tensor> mlir::norm_fusion::runtime::readNpy(StringRef path,
                                                     ElementType type) {
  return readNpy(path, ArrayRef<ElementType>(type));
}

Error mlir::norm_fusion::runtime::writeNpy(StringRef path,
                                           const Tensor &tensor) {
  std::string header = "{'descr': '";
  header += getDescriptions(tensor.getElementType()).front();
  header += "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.getShape())
    header += std::to_string(size) + ", ";
  if (tensor.getShape().size() > 1)
    header.resize(header.size() - 2);
  else if (tensor.getShape().size() == 1)
    header.pop_back();
  header += "), }";
  // The data starts at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';

  return writeFile(path, [&](raw_ostream &os) {
    os << magic << '\x01' << '\0';
    char length[2];
    support::endian::write16le(length, header.size());
    os << StringRef(length, 2) << header
       << StringRef(tensor.getData(), tensor.getNumBytes());
  });
}
