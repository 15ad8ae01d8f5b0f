//===- JSON.h - JSON of files that are passed around ------------*- C++ -*-===//

#ifndef NORM_FUSION_SCHEDULE_JSON_H
#define NORM_FUSION_SCHEDULE_JSON_H

#include "llvm/Support/JSON.h"

namespace mlir::norm_fusion {

/// As llvm::json::parse, which calls itself for each level of arrays and
/// objects: a text of more than 64 levels is an error, not a stack overflow.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// Fails if `path` is a device: some never end.
llvm::Error checkNoDevice(llvm::StringRef path);

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_SCHEDULE_JSON_H
