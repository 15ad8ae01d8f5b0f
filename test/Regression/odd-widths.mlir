// Integers of odd widths: their size in memory is the machine's, before the JIT sees the module, too.
// RUN: norm-fusion-runner %s --device=emulator --check --plain=host
// RUN: sed s/i65/i80/g %s > %t.mlir
// RUN: norm-fusion-runner %t.mlir --device=emulator --check --plain=host

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#i = affine_map<(m) -> (m)>
func.func @f(%x: tensor<16x64xi8>) -> (tensor<16xi64>, tensor<64xi64>, tensor<16x64xi64>) {
  %z = arith.constant 0 : i65
  %e0 = tensor.empty() : tensor<16x64xi65>
  %xx = linalg.generic {indexing_maps = [#mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x64xi8>) outs(%e0 : tensor<16x64xi65>) {
  ^bb0(%a: i8, %c: i65):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.constant 37 : index
    %j1 = arith.muli %j, %k : index
    %s = arith.addi %i, %j1 : index
    %sq = arith.muli %s, %s : index
    %q = arith.index_cast %sq : index to i65
    linalg.yield %q : i65
  } -> tensor<16x64xi65>
  %e1 = tensor.empty() : tensor<16xi65>
  %f1 = linalg.fill ins(%z : i65) outs(%e1 : tensor<16xi65>) -> tensor<16xi65>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%xx : tensor<16x64xi65>) outs(%f1 : tensor<16xi65>) {
  ^bb0(%a: i65, %c: i65):
    %q = arith.addi %c, %a : i65
    linalg.yield %q : i65
  } -> tensor<16xi65>
  %e3 = tensor.empty() : tensor<64xi65>
  %f3 = linalg.fill ins(%z : i65) outs(%e3 : tensor<64xi65>) -> tensor<64xi65>
  %w = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]} ins(%xx : tensor<16x64xi65>) outs(%f3 : tensor<64xi65>) {
  ^bb0(%a: i65, %c: i65):
    %q = arith.addi %c, %a : i65
    linalg.yield %q : i65
  } -> tensor<64xi65>
  %sr = tensor.expand_shape %s [[0, 1, 2, 3]] output_shape [2, 2, 2, 2] : tensor<16xi65> into tensor<2x2x2x2xi65>
  %c0 = arith.constant 0 : index
  %g1 = tensor.empty() : tensor<16xi64>
  %o1 = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%g1 : tensor<16xi64>) {
  ^bb0(%c: i64):
    %p = linalg.index 0 : index
    %l = tensor.extract %s[%p] : tensor<16xi65>
    %q = arith.trunci %l : i65 to i64
    linalg.yield %q : i64
  } -> tensor<16xi64>
  %g2 = tensor.empty() : tensor<64xi64>
  %o2 = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%g2 : tensor<64xi64>) {
  ^bb0(%c: i64):
    %p = linalg.index 0 : index
    %r = arith.constant 63 : index
    %pp = arith.subi %r, %p : index
    %l = tensor.extract %w[%pp] : tensor<64xi65>
    %q = arith.trunci %l : i65 to i64
    linalg.yield %q : i64
  } -> tensor<64xi64>
  %g3 = tensor.empty() : tensor<16x64xi64>
  %o3 = linalg.generic {indexing_maps = [#mn], iterator_types = ["parallel", "parallel"]} outs(%g3 : tensor<16x64xi64>) {
  ^bb0(%c: i64):
    %p = linalg.index 0 : index
    %p1 = linalg.index 1 : index
    %r = arith.constant 63 : index
    %pp = arith.subi %r, %p1 : index
    %l = tensor.extract %xx[%p, %pp] : tensor<16x64xi65>
    %q = arith.trunci %l : i65 to i64
    linalg.yield %q : i64
  } -> tensor<16x64xi64>
  return %o1, %o2, %o3 : tensor<16xi64>, tensor<64xi64>, tensor<16x64xi64>
}
