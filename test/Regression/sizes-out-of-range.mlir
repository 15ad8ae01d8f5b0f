// tensor.dim with a constant that no dimension has, which verifies: no size is known of it.
// RUN: norm-fusion-opt %s --split-input-file --norm-fusion-form | FileCheck %s
// CHECK: tensor.dim %{{.*}}, %c99999999
// CHECK: norm_fusion.mixed_reduction
// CHECK: tensor.dim %{{.*}}, %c99999999
// CHECK-NOT: norm_fusion.mixed_reduction

#mn = affine_map<(a, b, n) -> (a, b, n)>
#m = affine_map<(a, b, n) -> (a, b)>
#n = affine_map<(a, b, n) -> (n)>
func.func @f(%x: tensor<?x?x64xf32>) -> (tensor<?x?xf32>, tensor<64xf32>, tensor<?x?x64xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 99999999 : index
  %A = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %B = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %D = tensor.dim %x, %c9 : tensor<?x?x64xf32>
  %e1 = tensor.empty(%A, %B) : tensor<?x?xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<?x?x64xf32>) outs(%f1 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.addf %c, %a : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  %e3 = tensor.empty() : tensor<64xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<64xf32>) -> tensor<64xf32>
  %w = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "reduction", "parallel"]} ins(%x : tensor<?x?x64xf32>) outs(%f3 : tensor<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.addf %c, %a : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x64xf32> into tensor<?x64xf32>
  %r = tensor.expand_shape %flat [[0, 1], [2]] output_shape [%D, %B, 64] : tensor<?x64xf32> into tensor<?x?x64xf32>
  return %s, %w, %r : tensor<?x?xf32>, tensor<64xf32>, tensor<?x?x64xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @f(%x: tensor<?x64xf32>, %k: index) -> (tensor<?xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 99999999 : index
  %e = tensor.empty(%k) : tensor<?x64xf32>
  %D = tensor.dim %e, %c9 : tensor<?x64xf32>
  %e1 = tensor.empty(%D) : tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#m, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%e1, %x: tensor<?xf32>, tensor<?x64xf32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%b: f32, %a: f32, %c: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l = tensor.extract %x[%i, %j] : tensor<?x64xf32>
    %q = arith.addf %c, %l : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}
