//===- Formula.cpp - Integer formulas of a bundle -------------------------===//
//
// A recursive descent over the text. Files come from anywhere: depth is
// bounded, overflow wraps, and every mistake is an error, but for divisions
// that can't be done in what a select doesn't take.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Runner/Formula.h"
#include "norm_fusion/Runner/Error.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include <algorithm>

using namespace llvm;
using namespace mlir::norm_fusion::runner;

namespace {
class Evaluator {
public:
  Evaluator(StringRef text, FormulaScope scope)
      : formula(text), rest(text), scope(scope) {}

  Expected<int64_t> run() {
    Expected<int64_t> value = parse(0);
    skipSpace();
    if (value && !rest.empty())
      return fail("something behind its end");
    return value;
  }

private:
  Error fail(const Twine &what) {
    return makeError(ExitCode::badInput, "the bundle's formula '" +
                                             formula.take_front(200) +
                                             "' has " + what);
  }
  void skipSpace() { rest = rest.ltrim(); }
  Expected<int64_t> parse(unsigned depth);
  Expected<int64_t> call(StringRef name, ArrayRef<int64_t> arguments);
  Expected<int64_t> apply(StringRef op, int64_t a, int64_t b);

  StringRef formula, rest;
  FormulaScope scope;
  /// Within what a select doesn't take: values there are 0, not errors.
  bool isSkipped = false;
};
} // namespace

Expected<int64_t> Evaluator::parse(unsigned depth) {
  if (depth > maxFormulaDepth)
    return fail("too many parentheses");
  skipSpace();
  if (rest.consume_front("(")) {
    Expected<int64_t> lhs = parse(depth + 1);
    if (!lhs)
      return lhs;
    skipSpace();
    StringRef op = rest.take_while(
        [](char c) { return StringRef("+-*/%&|^=!<>").contains(c); });
    // A sign belongs to the number behind it.
    if (op.size() > 1 && op.ends_with("-"))
      op = op.drop_back();
    rest = rest.drop_front(op.size());
    Expected<int64_t> rhs = parse(depth + 1);
    if (!rhs)
      return rhs;
    skipSpace();
    if (!rest.consume_front(")"))
      return fail("a missing parenthesis");
    return apply(op, *lhs, *rhs);
  }
  if (rest.starts_with("-") || (!rest.empty() && isDigit(rest.front()))) {
    size_t end = rest.find_if_not(isDigit, 1);
    int64_t value;
    if (rest.take_front(end).getAsInteger(10, value))
      return fail("a number that isn't one");
    rest = rest.substr(end);
    return value;
  }
  StringRef name = rest.take_while(
      [](char c) { return isAlnum(c) || c == '_' || c == '.'; });
  if (name.empty())
    return fail("nothing where a value was expected");
  rest = rest.drop_front(name.size());
  SmallVector<int64_t> arguments;
  if (rest.consume_front("(")) {
    do {
      bool takesOther = name == "select" && !arguments.empty() &&
                        (arguments[0] != 0) != (arguments.size() == 1);
      llvm::SaveAndRestore skip(isSkipped, isSkipped || takesOther);
      Expected<int64_t> argument = parse(depth + 1);
      if (!argument)
        return argument;
      arguments.push_back(*argument);
      skipSpace();
    } while (rest.consume_front(","));
    if (!rest.consume_front(")"))
      return fail("a missing parenthesis");
  }
  return call(name, arguments);
}

Expected<int64_t> Evaluator::call(StringRef name, ArrayRef<int64_t> arguments) {
  if (arguments.size() == 2) {
    auto [a, b] = std::pair(arguments[0], arguments[1]);
    if (name == "min")
      return std::min(a, b);
    if (name == "max")
      return std::max(a, b);
    if (name == "ceildiv") {
      Expected<int64_t> quotient = apply("/", a, b);
      if (!quotient)
        return quotient;
      bool isExact = b == 0 || b == -1 || a % b == 0;
      return *quotient + (!isExact && (a < 0) == (b < 0));
    }
  }
  if (arguments.size() == 3 && name == "select")
    return arguments[0] ? arguments[1] : arguments[2];
  if (arguments.size() == 1 && name == "not")
    return !arguments[0];
  if (std::optional<int64_t> value = scope(name, arguments))
    return *value;
  return fail("an unknown name '" + name + "'");
}

Expected<int64_t> Evaluator::apply(StringRef op, int64_t a, int64_t b) {
  auto wrap = [](uint64_t value) { return static_cast<int64_t>(value); };
  uint64_t ua = a, ub = b;
  if (op == "+")
    return wrap(ua + ub);
  if (op == "-")
    return wrap(ua - ub);
  if (op == "*")
    return wrap(ua * ub);
  if (op == "/" || op == "%") {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
      if (isSkipped)
        return 0;
      return fail("a division that can't be done");
    }
    return op == "/" ? a / b : a % b;
  }
  if (op == "&")
    return a & b;
  if (op == "|")
    return a | b;
  if (op == "^")
    return a ^ b;
  if (op == "==")
    return a == b;
  if (op == "!=")
    return a != b;
  if (op == "<")
    return a < b;
  if (op == "<=")
    return a <= b;
  if (op == ">")
    return a > b;
  if (op == ">=")
    return a >= b;
  return fail("an unknown operator '" + op + "'");
}

Expected<int64_t> mlir::norm_fusion::runner::evaluate(StringRef formula,
                                                      FormulaScope scope) {
  return Evaluator(formula, scope).run();
}
