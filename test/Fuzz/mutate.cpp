//===- mutate.cpp - Mutations that keep most modules parsable ---*- C++ -*-===//
//
// Changing bytes of IR text gives text that doesn't parse, nearly always. Here
// a mutation replaces a token by another one of its kind (a value by a value, a
// map by a map, a number by a number, an op by an op), or moves, copies or drops
// lines. Bytecode, and some of the text, is left to libFuzzer's bytes.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <random>
#include <string>

using namespace llvm;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {
enum class Kind { value, symbol, number, word, string, other };

struct Token {
  Kind kind;
  StringRef text;
};

Kind getKind(char c) {
  return c == '%'                                  ? Kind::value
         : c == '#' || c == '@' || c == '^'        ? Kind::symbol
         : isDigit(c) || c == '?'                  ? Kind::number
         : isAlpha(c) || c == '_'                  ? Kind::word
         : c == '"'                                ? Kind::string
                                                   : Kind::other;
}

SmallVector<Token, 0> tokenize(StringRef text) {
  SmallVector<Token, 0> tokens;
  while (!text.empty()) {
    Kind kind = getKind(text[0]);
    size_t length = 1;
    if (kind == Kind::string)
      length = std::min(text.find('"', 1), text.size() - 1) + 1;
    else if (kind == Kind::number)
      while (length < text.size() && isDigit(text[length]))
        ++length;
    else if (kind != Kind::other)
      while (length < text.size() &&
             (isAlnum(text[length]) || text[length] == '_' ||
              (text[length] == '.' && kind == Kind::word)))
        ++length;
    tokens.push_back({kind, text.take_front(length)});
    text = text.drop_front(length);
  }
  return tokens;
}

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  std::string mutate(StringRef text) {
    std::string result = text.str();
    for (unsigned times = 1 + below(4); times != 0; --times)
      result = below(4) == 0 ? mutateLines(result) : mutateToken(result);
    return result;
  }

  /// Some lines of `other` within `text`.
  std::string cross(StringRef text, StringRef other) {
    SmallVector<StringRef, 0> a, b;
    text.split(a, '\n');
    other.split(b, '\n');
    size_t at = below(a.size() + 1), first = below(b.size());
    size_t count = 1 + below(std::min<size_t>(b.size() - first, 12));
    a.insert(a.begin() + at, b.begin() + first, b.begin() + first + count);
    return join(a, "\n");
  }

private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random() % bound; }

  std::string mutateToken(StringRef text) {
    SmallVector<Token, 0> tokens = tokenize(text);
    if (tokens.empty())
      return text.str();
    size_t at = below(tokens.size());
    for (unsigned tries = 0; tries < 8 && tokens[at].kind == Kind::other; ++tries)
      at = below(tokens.size());
    Token &token = tokens[at];
    std::string replacement = choose(tokens, token);
    std::string result;
    for (const Token &other : tokens)
      result += &other == &token ? StringRef(replacement) : other.text;
    return result;
  }

  std::string choose(ArrayRef<Token> tokens, const Token &token) {
    static const char *numbers[] = {"0", "1", "2", "3",  "7",   "16",
                                    "?", "?", "9223372036854775807", "1024"};
    static const char *words[] = {
        "arith.addf",     "arith.mulf",     "arith.maximumf", "arith.maxnumf",
        "arith.minimumf", "arith.subf",     "arith.divf",     "arith.addi",
        "arith.maxsi",    "arith.andi",     "arith.xori",     "arith.extf",
        "arith.truncf",   "arith.negf",     "math.rsqrt",     "math.exp",
        "linalg.map",     "linalg.reduce",  "linalg.generic", "linalg.fill",
        "linalg.add",     "linalg.mul",     "linalg.broadcast",
        "linalg.transpose", "tensor.cast",  "tensor.empty",   "f32",
        "bf16",           "f16",            "f64",            "f8E4M3FN",
        "i1",             "i8",             "i32",            "i64",
        "index",          "dense",          "memref",         "vector",
        "private",        "unranked",       "complex"};
    static const char *strings[] = {"\"parallel\"", "\"reduction\"",
                                    "\"window\""};
    if (token.kind == Kind::number && below(2) == 0)
      return numbers[below(std::size(numbers))];
    if (token.kind == Kind::word && below(2) == 0)
      return words[below(std::size(words))];
    if (token.kind == Kind::string && below(2) == 0)
      return strings[below(std::size(strings))];
    for (unsigned tries = 0; tries < 32; ++tries) {
      const Token &other = tokens[below(tokens.size())];
      if (other.kind == token.kind && other.text != token.text)
        return other.text.str();
    }
    return token.kind == Kind::other ? std::string() : token.text.str();
  }

  std::string mutateLines(StringRef text) {
    SmallVector<StringRef, 0> lines;
    text.split(lines, '\n');
    size_t first = below(lines.size());
    size_t count = 1 + below(std::min<size_t>(lines.size() - first, 6));
    SmallVector<StringRef, 6> block(lines.begin() + first,
                                    lines.begin() + first + count);
    unsigned action = below(3);
    if (action != 0)
      lines.erase(lines.begin() + first, lines.begin() + first + count);
    if (action != 1)
      lines.insert(lines.begin() + below(lines.size() + 1), block.begin(),
                   block.end());
    return join(lines, "\n");
  }

  std::minstd_rand random;
};

bool isBytecode(StringRef text) { return text.starts_with("ML\xefR"); }

size_t copyOut(StringRef text, uint8_t *data, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  StringRef text(reinterpret_cast<char *>(data), size);
  if (isBytecode(text) || text.empty() || seed % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  return copyOut(Mutator(seed).mutate(text), data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
                                            const uint8_t *data2, size_t size2,
                                            uint8_t *out, size_t maxSize,
                                            unsigned seed) {
  StringRef a(reinterpret_cast<const char *>(data1), size1);
  StringRef b(reinterpret_cast<const char *>(data2), size2);
  if (isBytecode(a) || isBytecode(b))
    return copyOut(a, out, maxSize);
  return copyOut(Mutator(seed).cross(a, b), out, maxSize);
}
