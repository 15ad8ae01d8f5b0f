// A row reduction of what is the same in all rows: no kernel, right all the same.
// RUN: norm-fusion-runner %s --check --remarks=%t.yaml
// RUN: FileCheck %s --input-file=%t.yaml
// CHECK: a row reduction of what is the same in all rows

#a = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<6x64xf32>, %w: tensor<64xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %wb = linalg.broadcast ins(%w : tensor<64xf32>) outs(%e : tensor<6x64xf32>) dimensions = [0]
  %s = linalg.generic {indexing_maps = [#a, #a, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %wb : tensor<6x64xf32>, tensor<6x64xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<6xf32>
  %n = linalg.reduce {arith.addf} ins(%wb : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %q = linalg.generic {indexing_maps = [#a, #a, #r, #c], iterator_types = ["reduction", "parallel"]} ins(%x, %wb, %n : tensor<6x64xf32>, tensor<6x64xf32>, tensor<6xf32>) outs(%fc : tensor<64xf32>) {
  ^bb0(%a: f32, %w1: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %3 = arith.mulf %w1, %1 : f32
    %2 = arith.addf %3, %o : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %s, %n, %q : tensor<6xf32>, tensor<6xf32>, tensor<64xf32>
}
