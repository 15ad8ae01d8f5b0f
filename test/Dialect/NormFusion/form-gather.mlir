// torch-mlir writes a dynamic broadcast that changes nothing as a gather. It is looked through where the extents are provably the
// same, and left where the compared extent is another one.
// RUN: %python %S/../../../benchmarks/norm.py ir rms bf16 72 | norm-fusion-opt --norm-fusion-fuse --canonicalize | FileCheck %s --check-prefix=TORCH --implicit-check-not=linalg.generic
// RUN: %python %S/../../../benchmarks/norm.py ir layer f16 1000 | norm-fusion-opt --norm-fusion-fuse --canonicalize | FileCheck %s --check-prefix=TORCH --implicit-check-not=linalg.generic
// RUN: norm-fusion-opt %s --norm-fusion-form --canonicalize | FileCheck %s

// TORCH: norm_fusion.mixed_reduction
// TORCH-NEXT: ins(%arg{{[0-9]}}, %arg{{[0-9]}}

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
// Row 0 is read for every row if %other is 1.
// CHECK-LABEL: func @broadcast_of_row_zero
// CHECK: %[[GATHERED:.*]] = linalg.generic
// CHECK: tensor.extract %arg0
// CHECK: norm_fusion.mixed_reduction
// CHECK-NEXT: ins(%[[GATHERED]] :
func.func @broadcast_of_row_zero(%x: tensor<?x8xf32>, %other: index) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %empty = tensor.empty(%m) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#e], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<?x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %one = arith.cmpi eq, %other, %c1 : index
    %k = arith.select %one, %c0, %i : index
    %v = tensor.extract %x[%k, %j] : tensor<?x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  %re = tensor.empty(%m) : tensor<?xf32>
  %rz = linalg.fill ins(%zero : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<?x8xf32>) outs(%rz : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %ce = tensor.empty() : tensor<8xf32>
  %cz = linalg.fill ins(%zero : f32) outs(%ce : tensor<8xf32>) -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<?x8xf32>, tensor<?xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x8xf32>
  %t = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x8xf32>) outs(%cz : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %d, %t : tensor<?x8xf32>, tensor<8xf32>
}
