// Dimensions of 0 and of unknown extent aren't collapsed to one.
// RUN: norm-fusion-runner %s --dims=3 --check | FileCheck %s
// CHECK: result 1 3x0xf32

#a = affine_map<(m, n, k) -> (m, n, k)>
#r = affine_map<(m, n, k) -> (m)>
#c = affine_map<(m, n, k) -> (n, k)>
func.func @main(%x: tensor<6x?x0xf32>) -> (tensor<6xf32>, tensor<?x0xf32>) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c1 : tensor<6x?x0xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty(%d) : tensor<?x0xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<?x0xf32>) -> tensor<?x0xf32>
  %s = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<6x?x0xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %2 = arith.addf %a, %o : f32
    linalg.yield %2 : f32
  } -> tensor<6xf32>
  %q = linalg.generic {indexing_maps = [#a, #r, #c], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x, %s : tensor<6x?x0xf32>, tensor<6xf32>) outs(%fc : tensor<?x0xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<?x0xf32>
  return %s, %q : tensor<6xf32>, tensor<?x0xf32>
}
