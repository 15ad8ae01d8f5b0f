// RUN: norm-fusion-opt %s --norm-fusion-to-linalg | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-to-linalg | FileCheck %s

// Each reduction and each result is one generic; the product is computed in
// both of its users.

// CHECK-DAG:   #[[FULL:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[ROW:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[COL:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @mixed
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK:         %[[S:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[COL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         %[[C:.+]] = linalg.generic {indexing_maps = [#[[FULL]], #[[COL]], #[[COL]]], iterator_types = ["reduction", "parallel"]}
// CHECK:           arith.mulf
// CHECK:           arith.maximumf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins({{.*}}%[[S]]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel"]} ins({{.*}}%[[C]]
// CHECK-NOT:     norm_fusion
func.func @mixed(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %a: tensor<?x8xf32>,
                 %b: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x, %w : tensor<?x8xf32>, tensor<8xf32>)
      outs(%a, %b : tensor<?x8xf32>, tensor<8xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
              affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>] {
  ^bb0(%xe: f32, %we: f32):
    %1 = arith.mulf %xe, %we : f32
    %2 = norm_fusion.row_reduce add, %1 : f32
    %3 = arith.subf %xe, %2 : f32
    %4 = norm_fusion.column_reduce maximum, %1 : f32
    %5 = arith.addf %4, %we : f32
    norm_fusion.yield %3, %5 : f32, f32
  } -> tensor<?x8xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<?x8xf32>, tensor<8xf32>
}
