//===- NormFusionDialect.td - The norm_fusion dialect ------*- tablegen -*-===//
//
// The dialect: one region op that describes a mixed-order reduction (row-wise
// and column-wise reductions over one space), the reductions inside it, and
// the attribute that holds its schedule.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_FUSION_DIALECT_TD
#define NORM_FUSION_DIALECT_TD

include "mlir/IR/OpBase.td"

def NormFusion_Dialect : Dialect {
  let name = "norm_fusion";
  let cppNamespace = "::mlir::norm_fusion";
  let summary = "Mixed-order reductions: row-wise and column-wise, in one pass";
  let description = [{
    A norm backward reduces along each row (for dx) and down each column (for
    dgamma and dbeta) over the same large operands. This dialect describes such
    a computation by its dataflow: `norm_fusion.mixed_reduction` is an
    elementwise region over a space of row and column dimensions in which
    `norm_fusion.row_reduce` and `norm_fusion.column_reduce` are ops. Nothing in
    it knows a particular norm.

    Every value of the region has a *level*: the set of dimensions that it
    varies over. `element` varies over all, `row` over row dimensions alone,
    `column` over column dimensions (and, for segmented sums, some row
    dimensions), `scalar` over none. Ops combine levels by union.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // NORM_FUSION_DIALECT_TD
