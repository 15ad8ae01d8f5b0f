// Tensors of vectors are left alone: their bytes couldn't be counted.
// RUN: norm-fusion-opt %s --norm-fusion-fuse --remarks-filter='norm-fusion.*' 2>&1 | FileCheck %s
// CHECK: remark: {{.*}}unsupported-type {{.*}}found="elements that aren't numbers"
// CHECK-NOT: norm_fusion.mixed_reduction

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
#r = affine_map<(m, n) -> (m)>
func.func @vec(%x: tensor<8x16xvector<4xf32>>, %s: tensor<16xvector<4xf32>>, %t: tensor<8xvector<4xf32>>) -> (tensor<16xvector<4xf32>>, tensor<8xvector<4xf32>>) {
  %0 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x16xvector<4xf32>>) outs(%s : tensor<16xvector<4xf32>>) {
  ^bb0(%a: vector<4xf32>, %o: vector<4xf32>): %q = arith.addf %a, %o : vector<4xf32> linalg.yield %q : vector<4xf32> } -> tensor<16xvector<4xf32>>
  %1 = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xvector<4xf32>>) outs(%t : tensor<8xvector<4xf32>>) {
  ^bb0(%a: vector<4xf32>, %o: vector<4xf32>): %q = arith.addf %a, %o : vector<4xf32> linalg.yield %q : vector<4xf32> } -> tensor<8xvector<4xf32>>
  return %0, %1 : tensor<16xvector<4xf32>>, tensor<8xvector<4xf32>>
}
