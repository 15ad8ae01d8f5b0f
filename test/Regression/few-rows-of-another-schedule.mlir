// The kernel for few rows leaves with the schedule that it was chosen beside.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule | FileCheck %s --check-prefix=KEPT
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule --norm-fusion-schedule | FileCheck %s --check-prefix=KEPT
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule --norm-fusion-schedule=batch-invariant=true | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule --norm-fusion-schedule=schedule=pace=0 | FileCheck %s
// KEPT:      few_rows =
// CHECK:     schedule =
// CHECK-NOT: few_rows =

func.func @main(%x: tensor<?x4096xf32>, %dx: tensor<?x4096xf32>, %dw: tensor<4096xf32>) -> (tensor<?x4096xf32>, tensor<4096xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<?x4096xf32>) outs(%dx, %dw : tensor<?x4096xf32>, tensor<4096xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %2, %3 : f32, f32
  } -> tensor<?x4096xf32>, tensor<4096xf32>
  return %0#0, %0#1 : tensor<?x4096xf32>, tensor<4096xf32>
}
