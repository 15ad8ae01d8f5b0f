// How a tensor with an encoding lies in memory nobody knows: not fused, and not cast to one without.
// RUN: norm-fusion-opt %s --norm-fusion-form=profit=always --remarks-filter=norm-fusion --remark-format=emitRemark 2>&1 | FileCheck %s
// CHECK:     [Missed] encoded-tensor {{.*}}found="a tensor with an encoding"
// CHECK-NOT: norm_fusion.mixed_reduction
// CHECK-NOT: tensor.cast
func.func @main(%x: tensor<8x96xf32, "mine">) -> (tensor<8xf32>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %ec = tensor.empty() : tensor<96xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<96xf32>) -> tensor<96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x96xf32, "mine">) outs(%fr : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<8x96xf32, "mine">) outs(%fc : tensor<96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<96xf32>
  return %r, %c : tensor<8xf32>, tensor<96xf32>
}
