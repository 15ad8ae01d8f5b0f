// x * x - 0.5 * x * x of an infinite x is NaN.
// RUN: norm-fusion-runner %s --check --input=6x64xf32=inf
// RUN: norm-fusion-runner %s --check

#a = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<6x64xf32>) -> (tensor<6xf32>, tensor<6x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %2 = arith.minimumf %a, %o : f32
    linalg.yield %2 : f32
  } -> (tensor<6xf32>)
  %d = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.mulf %1, %zero : f32
    %3 = arith.subf %1, %2 : f32
    linalg.yield %3 : f32
  } -> (tensor<6x64xf32>)
  %q = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.mulf %1, %zero : f32
    %k = arith.mulf %a, %a : f32
    %3 = arith.subf %k, %2 : f32
    %4 = arith.maxnumf %3, %o : f32
    linalg.yield %4 : f32
  } -> tensor<64xf32>
  return %s, %d, %q : tensor<6xf32>, tensor<6x64xf32>, tensor<64xf32>
}
