//===- mutate.cpp - Mutations that keep most modules parsable ---*- C++ -*-===//
//
// Changing bytes of IR gives what doesn't parse, nearly always. Most mutations
// are therefore made on the parsed module: other operands of the same type,
// maps, iterators, body ops, ops that are copied, moved, dropped or returned. A
// few replace a token by another one of its kind, here or everywhere (a number
// by a number, an element type by another), or move lines; and a few are
// libFuzzer's on the bytes. A module is written back as text or as bytecode.
//
//===----------------------------------------------------------------------===//

#include "harness.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <random>
#include <string>

using namespace llvm;

bool isMutated = false;

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
    for (unsigned times = 1 + below(2); times != 0; --times)
      result = below(4) == 0 ? mutateLines(result) : mutateToken(result);
    return result;
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
    std::string replacement = choose(tokens, token), result;
    bool everywhere = below(2) == 0;
    for (const Token &other : tokens) {
      bool replaces =
          &other == &token ||
          (everywhere && other.kind == token.kind && other.text == token.text);
      result += replaces ? StringRef(replacement) : other.text;
    }
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

/// Mutations of a module that may leave it invalid; most don't.
class ModuleMutator {
public:
  ModuleMutator(mlir::ModuleOp module, unsigned seed) : random(seed) {
    module.walk([&](mlir::Operation *op) {
      if (isa<mlir::ModuleOp, mlir::FunctionOpInterface>(op))
        return;
      ops.push_back(op);
      if (auto generic = dyn_cast<mlir::linalg::GenericOp>(op))
        generics.push_back(generic);
    });
  }

  void mutate() {
    if (ops.empty())
      return;
    mlir::Operation *op = ops[below(ops.size())];
    switch (below(10)) {
    case 0:
    case 1:
    case 2:
      return replaceOperand(op);
    case 3:
      return replaceBodyOp(op);
    case 4:
      return drop(op);
    case 5:
      return copy(op);
    case 6:
      return move(op);
    case 7:
      return returnToo(op);
    default:
      if (!generics.empty())
        changeLoops(generics[below(generics.size())]);
    }
  }

private:
  size_t below(size_t bound) { return bound == 0 ? 0 : random() % bound; }

  /// Another value of the type that is there before `op`; null without one.
  mlir::Value getOther(mlir::Operation *op, mlir::Value value) {
    SmallVector<mlir::Value> values;
    auto add = [&](mlir::Value other) {
      if (other != value && other.getType() == value.getType())
        values.push_back(other);
    };
    for (mlir::Value argument : op->getBlock()->getArguments())
      add(argument);
    for (mlir::Operation &before : *op->getBlock()) {
      if (&before == op)
        break;
      for (mlir::Value result : before.getResults())
        add(result);
    }
    return values.empty() ? mlir::Value() : values[below(values.size())];
  }

  void replaceOperand(mlir::Operation *op) {
    if (op->getNumOperands() == 0)
      return;
    mlir::OpOperand &operand = op->getOpOperand(below(op->getNumOperands()));
    if (mlir::Value other = getOther(op, operand.get()))
      operand.set(other);
  }

  void replaceBodyOp(mlir::Operation *op) {
    static const char *floats[] = {
        "arith.addf",     "arith.mulf",     "arith.subf",    "arith.divf",
        "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"};
    static const char *integers[] = {"arith.addi",  "arith.muli", "arith.maxsi",
                                     "arith.minui", "arith.andi", "arith.xori",
                                     "arith.subi",  "arith.shrui"};
    static const char *unary[] = {"arith.negf", "math.exp",  "math.rsqrt",
                                  "math.tanh",  "math.absf", "math.log"};
    if (op->getNumResults() != 1 || op->getNumOperands() == 0)
      return;
    mlir::Type type = op->getResult(0).getType();
    if (llvm::any_of(op->getOperandTypes(),
                     [&](mlir::Type other) { return other != type; }))
      return;
    StringRef name;
    if (isa<mlir::FloatType>(type) && op->getNumOperands() == 2)
      name = floats[below(std::size(floats))];
    else if (isa<mlir::FloatType>(type) && op->getNumOperands() == 1)
      name = unary[below(std::size(unary))];
    else if (type.isSignlessInteger() && op->getNumOperands() == 2)
      name = integers[below(std::size(integers))];
    else
      return;
    mlir::OperationState state(op->getLoc(), name, op->getOperands(), {type});
    op->replaceAllUsesWith(mlir::OpBuilder(op).create(state));
  }

  void drop(mlir::Operation *op) {
    for (mlir::Value result : op->getResults()) {
      mlir::Value other = getOther(op, result);
      if (!other && !result.use_empty())
        return;
      if (other)
        result.replaceAllUsesWith(other);
    }
  }

  void copy(mlir::Operation *op) {
    if (op->hasTrait<mlir::OpTrait::IsTerminator>())
      return;
    mlir::Operation *clone = mlir::OpBuilder(op).clone(*op);
    for (auto [result, other] :
         llvm::zip_equal(op->getResults(), clone->getResults()))
      result.replaceUsesWithIf(
          other, [&](mlir::OpOperand &) { return below(2) == 0; });
    replaceOperand(clone);
  }

  void move(mlir::Operation *op) {
    mlir::Block &block = *op->getBlock();
    mlir::Operation *other =
        &*std::next(block.begin(), below(block.getOperations().size()));
    if (op != other && !op->hasTrait<mlir::OpTrait::IsTerminator>())
      op->moveBefore(other);
  }

  /// The function returns a result of `op` too.
  void returnToo(mlir::Operation *op) {
    auto function = dyn_cast<mlir::func::FuncOp>(op->getParentOp());
    auto end = dyn_cast<mlir::func::ReturnOp>(op->getBlock()->getTerminator());
    if (!function || !end || op->getNumResults() == 0)
      return;
    mlir::Value result = op->getResult(below(op->getNumResults()));
    end->insertOperands(end->getNumOperands(), result);
    function.setType(mlir::FunctionType::get(
        op->getContext(), function.getArgumentTypes(), end->getOperandTypes()));
    function.removeResAttrsAttr();
  }

  void changeLoops(mlir::linalg::GenericOp op) {
    mlir::MLIRContext *context = op.getContext();
    if (below(2) == 0) {
      SmallVector<mlir::Attribute> kinds(op.getIteratorTypes().getValue());
      if (kinds.empty())
        return;
      kinds[below(kinds.size())] = mlir::linalg::IteratorTypeAttr::get(
          context, below(2) == 0 ? mlir::utils::IteratorType::parallel
                                 : mlir::utils::IteratorType::reduction);
      return op.setIteratorTypesAttr(mlir::ArrayAttr::get(context, kinds));
    }
    SmallVector<mlir::AffineMap> maps = op.getIndexingMapsArray();
    mlir::AffineMap &map = maps[below(maps.size())];
    SmallVector<mlir::AffineExpr> exprs(map.getResults());
    if (exprs.empty())
      return;
    mlir::AffineExpr &expr = exprs[below(exprs.size())];
    if (below(2) == 0)
      std::swap(expr, exprs[below(exprs.size())]);
    else
      expr = below(4) == 0
                 ? mlir::getAffineConstantExpr(0, context)
                 : mlir::getAffineDimExpr(below(map.getNumDims()), context);
    map = mlir::AffineMap::get(map.getNumDims(), 0, exprs, context);
    op.setIndexingMapsAttr(
        mlir::OpBuilder(context).getAffineMapArrayAttr(maps));
  }

  SmallVector<mlir::Operation *> ops;
  SmallVector<mlir::linalg::GenericOp> generics;
  std::minstd_rand random;
};

/// Empty if the module couldn't be mutated.
std::string mutateModule(StringRef text, unsigned seed) {
  std::string result;
  auto mutate = [&] {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(
            text, mlir::ParserConfig(&getContext()));
    if (!module)
      return;
    for (unsigned times = 1 + seed / 64 % 3; times != 0; --times)
      ModuleMutator(*module, seed + times).mutate();
    if (failed(mlir::verify(*module)))
      return;
    raw_string_ostream os(result);
    if (seed / 8 % 3 == 0) {
      if (failed(mlir::writeBytecodeToFile(*module, os)))
        result.clear();
    } else {
      module->print(os);
    }
  };
  return runMutation(mutate) ? result : std::string();
}

size_t copyOut(StringRef text, uint8_t *data, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::copy_n(text.begin(), size, data);
  return size;
}
} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  isMutated = true;
  StringRef text(reinterpret_cast<char *>(data), size);
  // Upstream's bytecode reader breaks the heap on changed bytes: few of those.
  unsigned kind = seed % 32;
  if (kind > 4 || (kind > 0 && isBytecode(text)))
    if (std::string result = mutateModule(text, seed);
        !result.empty() && result.size() <= maxSize)
      return copyOut(result, data, maxSize);
  if (isBytecode(text) || text.empty() || kind == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  return copyOut(Mutator(seed).mutate(text), data, maxSize);
}
