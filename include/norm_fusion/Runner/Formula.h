//===- Formula.h - Integer formulas of a bundle -----------------*- C++ -*-===//
//
// Grids, workspaces and arguments of a bundle's launches are formulas of sizes
// that are known at launch: 64-bit integers, names, (a + b), min(a, b), ...
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_RUNNER_FORMULA_H
#define NORM_FUSION_RUNNER_FORMULA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>

namespace mlir::norm_fusion::runner {

/// What names and unknown functions stand for; none for an unknown one. A name
/// has no arguments.
using FormulaScope = llvm::function_ref<std::optional<int64_t>(
    llvm::StringRef name, llvm::ArrayRef<int64_t> arguments)>;

/// Parentheses that are nested deeper are an error.
static constexpr unsigned maxFormulaDepth = 1000;

/// primary := number | name | name(expression, ...) | (expression op expression)
/// with op one of + - * / % & | ^ == != < <= > >=. Built in: min, max, ceildiv,
/// select, not. Division truncates; by zero it's an error.
llvm::Expected<int64_t> evaluate(llvm::StringRef formula, FormulaScope scope);

} // namespace mlir::norm_fusion::runner

#endif // NORM_FUSION_RUNNER_FORMULA_H
