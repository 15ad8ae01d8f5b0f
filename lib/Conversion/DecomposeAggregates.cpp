//===- DecomposeAggregates.cpp - linalg.softmax and kin to generics -------===//
//
// convert-linalg-to-loops leaves these ops behind without a word; their
// interface knows how to write them with ops that it lowers. tensor.bitcast,
// which doesn't bufferize, is an arith.bitcast of the elements.
//
//===----------------------------------------------------------------------===//

#include "norm_fusion/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::norm_fusion {
#define GEN_PASS_DEF_NORMFUSIONDECOMPOSEAGGREGATES
#include "norm_fusion/Conversion/Passes.h.inc"
} // namespace mlir::norm_fusion

using namespace mlir;

namespace {
struct DecomposeAggregatesPass final
    : norm_fusion::impl::NormFusionDecomposeAggregatesBase<
          DecomposeAggregatesPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::AggregatedOpInterface> ops;
    getOperation().walk(
        [&](linalg::AggregatedOpInterface op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::AggregatedOpInterface op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
      if (failed(values)) {
        op->emitOpError("can't be decomposed to generics");
        return signalPassFailure();
      }
      rewriter.replaceOp(op, *values);
    }
    getOperation().walk([&](tensor::BitcastOp op) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(),
                                                    op.getSource());
    });
  }
};
} // namespace
