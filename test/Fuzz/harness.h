//===- harness.h - What the fuzz target and its mutator share ---*- C++ -*-===//

#ifndef NORM_FUSION_TEST_FUZZ_HARNESS_H
#define NORM_FUSION_TEST_FUZZ_HARNESS_H

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

/// Set by the mutator: the next input is a new one.
extern bool isMutated;

/// Of the inputs; may be another one after a crash.
mlir::MLIRContext &getContext();

/// Calls `mutate`, whose crashes are not what is looked for. False if it did.
bool runMutation(llvm::function_ref<void()> mutate);

inline bool isBytecode(llvm::StringRef text) {
  return text.starts_with("ML\xefR");
}

#endif // NORM_FUSION_TEST_FUZZ_HARNESS_H
