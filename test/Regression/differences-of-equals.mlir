// (x * a + b) * s minus itself is 0, not what a fused multiply-add leaves of it.
// RUN: norm-fusion-runner %s --form-options=profit=always --device=emulator --check | FileCheck %s
// CHECK: 1 group fused

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
func.func @main(%x: tensor<6x64xf32>, %a: tensor<6xf32>, %b: tensor<6xf32>) -> (tensor<6xf32>, tensor<6x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant 1.0e20 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %t = linalg.generic {indexing_maps = [#e, #r, #r, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a, %b, %s : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %u: f32, %w: f32, %o: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %1, %u : f32
    %3 = arith.mulf %2, %w : f32
    linalg.yield %3 : f32
  } -> tensor<6x64xf32>
  %d = linalg.generic {indexing_maps = [#e, #e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%t, %t : tensor<6x64xf32>, tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.subf %p, %q : f32
    %2 = arith.negf %p : f32
    %3 = arith.addf %2, %q : f32
    %4 = arith.addf %1, %3 : f32
    %5 = arith.mulf %4, %large : f32
    linalg.yield %5 : f32
  } -> tensor<6x64xf32>
  %k = linalg.reduce {arith.addf} ins(%d : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %s, %d, %k : tensor<6xf32>, tensor<6x64xf32>, tensor<64xf32>
}
