// A row sum of which only a size is asked: nobody needs its elements, it makes
// no group, and keeps none of what a group takes in.

// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// CHECK:       [Missed] no-row-reduction
// CHECK-LABEL: func @size_of_rows
// CHECK-NOT:   norm_fusion.mixed_reduction
func.func @size_of_rows(%x: tensor<?x40xf32>, %rows: tensor<?xf32>, %init: tensor<40xf32>) -> (tensor<40xf32>, index) {
  %c0 = arith.constant 0 : index
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x40xf32>) outs(%rows : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %size = tensor.dim %s, %c0 : tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x40xf32>) outs(%init : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %c, %size : tensor<40xf32>, index
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func @beside_a_group
// CHECK:       norm_fusion.mixed_reduction
// CHECK:       norm_fusion.row_reduce add
// CHECK-NOT:   norm_fusion.row_reduce
// CHECK:       tensor.dim %{{.*}}, %{{.*}} : tensor<?xf32>
// CHECK-NOT:   linalg
func.func @beside_a_group(%x: tensor<?x40xf32>, %rows: tensor<?xf32>, %init: tensor<40xf32>) -> (tensor<?xf32>, tensor<40xf32>, index) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x40xf32>
  %full = tensor.empty(%d) : tensor<?x40xf32>
  %y = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x40xf32>) outs(%full : tensor<?x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<?x40xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x40xf32>) outs(%rows : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %dead = linalg.generic {indexing_maps = [#mn, #m, #m], iterator_types = ["parallel", "reduction"]}
      ins(%y, %s : tensor<?x40xf32>, tensor<?xf32>) outs(%rows : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = arith.maximumf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %size = tensor.dim %dead, %c0 : tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<?x40xf32>) outs(%init : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %s, %c, %size : tensor<?xf32>, tensor<40xf32>, index
}
