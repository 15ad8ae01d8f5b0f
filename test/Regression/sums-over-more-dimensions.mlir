// A norm whose dy is a sum over one more dimension: that reduction is no part of the space of rows and columns, and doesn't keep its own from being looked at.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=5" --check | FileCheck %s
// CHECK: 1 group fused

#m3 = affine_map<(m, n, k) -> (m, k, n)>
#o3 = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#col = affine_map<(m, n) -> (n)>
#ct = affine_map<(n, m) -> (m, n)>
#cn = affine_map<(n, m) -> (n)>
func.func @main(%d: tensor<9x2x48xf32>, %x: tensor<9x48xf32>, %r: tensor<9xf32>, %w: tensor<48xf32>) -> (tensor<9x48xf32>, tensor<48xf32>) {
  %z = arith.constant 0.0 : f32
  %n = arith.constant 48.0 : f32
  %e = tensor.empty() : tensor<9x48xf32>
  %e0 = linalg.fill ins(%z : f32) outs(%e : tensor<9x48xf32>) -> tensor<9x48xf32>
  %dy = linalg.generic {indexing_maps = [#m3, #o3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d : tensor<9x2x48xf32>) outs(%e0 : tensor<9x48xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<9x48xf32>
  %f = tensor.empty() : tensor<9xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%f : tensor<9xf32>) -> tensor<9xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #col, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%dy, %x, %w, %r : tensor<9x48xf32>, tensor<9x48xf32>, tensor<48xf32>, tensor<9xf32>) outs(%f0 : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %q: f32, %o: f32):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.mulf %b, %q : f32
    %3 = arith.mulf %1, %2 : f32
    %s = arith.addf %o, %3 : f32
    linalg.yield %s : f32
  } -> tensor<9xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #col, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%dy, %x, %w, %r, %sum : tensor<9x48xf32>, tensor<9x48xf32>, tensor<48xf32>, tensor<9xf32>, tensor<9xf32>) outs(%e : tensor<9x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %q: f32, %t: f32, %o: f32):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.mulf %b, %q : f32
    %3 = arith.divf %t, %n : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.subf %1, %4 : f32
    %6 = arith.mulf %5, %q : f32
    linalg.yield %6 : f32
  } -> tensor<9x48xf32>
  %g = tensor.empty() : tensor<48xf32>
  %g0 = linalg.fill ins(%z : f32) outs(%g : tensor<48xf32>) -> tensor<48xf32>
  %dw = linalg.generic {indexing_maps = [#ct, #ct, affine_map<(n, m) -> (m)>, #cn], iterator_types = ["parallel", "reduction"]} ins(%dy, %x, %r : tensor<9x48xf32>, tensor<9x48xf32>, tensor<9xf32>) outs(%g0 : tensor<48xf32>) {
  ^bb0(%a: f32, %b: f32, %q: f32, %o: f32):
    %2 = arith.mulf %b, %q : f32
    %3 = arith.mulf %a, %2 : f32
    %s = arith.addf %o, %3 : f32
    linalg.yield %s : f32
  } -> tensor<48xf32>
  return %dx, %dw : tensor<9x48xf32>, tensor<48xf32>
}
