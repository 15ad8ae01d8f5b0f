// RUN: norm-fusion-runner %s --check
// RUN: norm-fusion-runner %s --check --input=9x72xf32=inf --input=9x72xf32=nan
// RUN: sed s/isinf/isnormal/ %s > %t.mlir
// RUN: norm-fusion-runner %t.mlir --check
// RUN: norm-fusion-runner %t.mlir --check --form-options=profit=never
// RUN: norm-fusion-runner %s --check --form-options=profit=never

#a = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<9x72xf32>, %y: tensor<9x72xf32>) -> (tensor<9x72xi32>, tensor<9xi32>, tensor<72xi32>) {
 %id = arith.constant 0 : i32
 %ee = tensor.empty() : tensor<9x72xi32>
 %er = tensor.empty() : tensor<9xi32>
 %ec = tensor.empty() : tensor<72xi32>
 %e = linalg.generic {indexing_maps = [#a, #a, #a], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<9x72xf32>, tensor<9x72xf32>) outs(%ee : tensor<9x72xi32>) {
 ^bb0(%a: f32, %b: f32, %o: i32):
  %k = math.isinf %a : f32
  %z = arith.extui %k : i1 to i32
  linalg.yield %z : i32
 } -> tensor<9x72xi32>
 %fr = linalg.fill ins(%id : i32) outs(%er : tensor<9xi32>) -> tensor<9xi32>
 %fc = linalg.fill ins(%id : i32) outs(%ec : tensor<72xi32>) -> tensor<72xi32>
 %s = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<9x72xi32>) outs(%fr : tensor<9xi32>) {
 ^bb0(%a: i32, %o: i32):
  %1 = arith.addi %a, %o : i32
  linalg.yield %1 : i32
 } -> tensor<9xi32>
 %q = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["reduction", "parallel"]} ins(%e : tensor<9x72xi32>) outs(%fc : tensor<72xi32>) {
 ^bb0(%a: i32, %o: i32):
  %1 = arith.addi %a, %o : i32
  linalg.yield %1 : i32
 } -> tensor<72xi32>
 return %e, %s, %q : tensor<9x72xi32>, tensor<9xi32>, tensor<72xi32>
}
