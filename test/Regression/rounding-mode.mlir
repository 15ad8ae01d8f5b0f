// RUN: not norm-fusion-runner %s 2>&1 | FileCheck %s
// RUN: sed 's/%c = arith.truncf %a downward : f32 to f16/%one = arith.constant 1.0 : f32 %c = arith.scaling_truncf %a, %one downward : f32, f32 to f16/' %s > %t.mlir
// RUN: not norm-fusion-runner %t.mlir 2>&1 | FileCheck %s
// CHECK: rounding mode downward isn't supported, expected to_nearest_even or none

#a = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<9x72xf32>, %y: tensor<9x72xf32>) -> (tensor<9x72xf32>, tensor<9xf32>, tensor<72xf32>) {
 %id = arith.constant -1.0e4 : f32
 %ee = tensor.empty() : tensor<9x72xf32>
 %er = tensor.empty() : tensor<9xf32>
 %ec = tensor.empty() : tensor<72xf32>
 %e = linalg.generic {indexing_maps = [#a, #a, #a], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<9x72xf32>, tensor<9x72xf32>) outs(%ee : tensor<9x72xf32>) {
 ^bb0(%a: f32, %b: f32, %o: f32):
  %c = arith.truncf %a downward : f32 to f16
  %z = arith.extf %c : f16 to f32
  linalg.yield %z : f32
 } -> tensor<9x72xf32>
 %fr = linalg.fill ins(%id : f32) outs(%er : tensor<9xf32>) -> tensor<9xf32>
 %fc = linalg.fill ins(%id : f32) outs(%ec : tensor<72xf32>) -> tensor<72xf32>
 %s = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<9x72xf32>) outs(%fr : tensor<9xf32>) {
 ^bb0(%a: f32, %o: f32):
  %1 = arith.maximumf %a, %o : f32
  linalg.yield %1 : f32
 } -> tensor<9xf32>
 %q = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["reduction", "parallel"]} ins(%e : tensor<9x72xf32>) outs(%fc : tensor<72xf32>) {
 ^bb0(%a: f32, %o: f32):
  %1 = arith.maximumf %a, %o : f32
  linalg.yield %1 : f32
 } -> tensor<72xf32>
 return %e, %s, %q : tensor<9x72xf32>, tensor<9xf32>, tensor<72xf32>
}
