// A constant that is no number, taken from outside a body: an operand of the group.
// RUN: norm-fusion-opt %s --norm-fusion-fuse | FileCheck %s
// RUN: sed 's/ub.poison/llvm.mlir.undef/' %s | norm-fusion-opt --norm-fusion-lower -o %t
// CHECK: ub.poison
// CHECK: norm_fusion.mixed_reduction

#mn = affine_map<(m, n) -> (m, n)>
#nm = affine_map<(m, n) -> (n, m)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#i1 = affine_map<(m) -> (m)>
#s = affine_map<(m) -> ()>
func.func @f(%x: tensor<16x64xf32>, %dy: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %u = ub.poison : f32
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %dy : tensor<16x64xf32>, tensor<16x64xf32>) outs(%f1 : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e2 = tensor.empty() : tensor<16x64xf32>
  %dx = linalg.generic {indexing_maps = [#mn, #mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %dy, %s : tensor<16x64xf32>, tensor<16x64xf32>, tensor<16xf32>) outs(%e2 : tensor<16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %p = arith.mulf %a, %c : f32
    %q0 = arith.subf %b, %p : f32
    %q = arith.addf %q0, %u : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %e3 = tensor.empty() : tensor<64xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<64xf32>) -> tensor<64xf32>
  %w = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]} ins(%x, %dy : tensor<16x64xf32>, tensor<16x64xf32>) outs(%f3 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>

  return %dx, %w : tensor<16x64xf32>, tensor<64xf32>
}
