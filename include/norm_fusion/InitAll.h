//===- InitAll.h - Everything of norm-fusion that registers -----*- C++ -*-===//
//
// One call a tool: the dialect with its interfaces, and all passes and
// pipelines under their names. The tools and the plugin register the same.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_INITALL_H
#define NORM_FUSION_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::norm_fusion {

/// The norm_fusion dialect, its external models, and nothing of upstream.
void registerDialects(DialectRegistry &registry);

/// Every pass and pipeline of norm-fusion.
void registerPasses();

} // namespace mlir::norm_fusion

#endif // NORM_FUSION_INITALL_H
