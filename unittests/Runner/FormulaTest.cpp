//===- FormulaTest.cpp - Formulas of a bundle -----------------------------===//

#include "norm_fusion/Runner/Formula.h"

#include "gtest/gtest.h"

using namespace mlir::norm_fusion::runner;

static std::optional<int64_t> evaluateTo(const std::string &text) {
  auto value = evaluate(text, [](llvm::StringRef name,
                                 llvm::ArrayRef<int64_t> arguments)
                                  -> std::optional<int64_t> {
    if (name == "arg0.dim1" && arguments.empty())
      return 7;
    if (name == "twice" && arguments.size() == 1)
      return 2 * arguments[0];
    return std::nullopt;
  });
  if (value)
    return *value;
  llvm::consumeError(value.takeError());
  return std::nullopt;
}

TEST(Formula, computes) {
  EXPECT_EQ(evaluateTo("12"), 12);
  EXPECT_EQ(evaluateTo("-3"), -3);
  EXPECT_EQ(evaluateTo("((arg0.dim1 + 1) * -2)"), -16);
  EXPECT_EQ(evaluateTo("ceildiv(arg0.dim1, 2)"), 4);
  EXPECT_EQ(evaluateTo("min(max(1, twice(4)), 5)"), 5);
  EXPECT_EQ(evaluateTo("select((7 == arg0.dim1), 1, 2)"), 1);
  EXPECT_EQ(evaluateTo("not((((16 | 4) & 15) == 0))"), 1);
  EXPECT_EQ(evaluateTo("(9223372036854775807 + 1)"), INT64_MIN);
}

TEST(Formula, refuses) {
  for (std::string text :
       {"", "(", "(1", "(1 + 2", "1 2", "x", "(1 / 0)", "(1 % 0)", "(1 ? 2)",
        "min(1)", "99999999999999999999", "(-9223372036854775808 / -1)", "()",
        "arg0.dim1(", "arg0.dim1(1)"})
    EXPECT_FALSE(evaluateTo(text)) << text;
  EXPECT_FALSE(evaluateTo(std::string(100000, '(')));
}
