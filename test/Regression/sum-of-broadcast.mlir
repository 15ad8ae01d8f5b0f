// A bias gradient under mean pooling: dy is the same for all rows of a sequence, and its sum over them has no kernel. A remark says so.
// RUN: norm-fusion-opt %s --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --check
// CHECK: [Passed] formed
// CHECK: [Missed] no-common-space {{.*}}found="a dimension that is reduced and that nothing which is read varies over

#id = affine_map<(b, s, n) -> (b, s, n)>
#bn = affine_map<(b, s, n) -> (b, n)>
#bs = affine_map<(b, s, n) -> (b, s)>
#n = affine_map<(b, s, n) -> (n)>
func.func @main(%d: tensor<5x28xf32>, %x: tensor<5x8x28xf32>, %w: tensor<28xf32>) -> (tensor<5x8x28xf32>, tensor<28xf32>, tensor<28xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x8x28xf32>
  %dy = linalg.generic {indexing_maps = [#bn, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d : tensor<5x28xf32>) outs(%e : tensor<5x8x28xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x8x28xf32>
  %f = tensor.empty() : tensor<5x8xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%f : tensor<5x8xf32>) -> tensor<5x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #n, #bs], iterator_types = ["parallel", "parallel", "reduction"]} ins(%dy, %x, %w : tensor<5x8x28xf32>, tensor<5x8x28xf32>, tensor<28xf32>) outs(%f0 : tensor<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.mulf %1, %b : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<5x8xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #n, #bs, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dy, %x, %w, %s : tensor<5x8x28xf32>, tensor<5x8x28xf32>, tensor<28xf32>, tensor<5x8xf32>) outs(%e : tensor<5x8x28xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %t: f32, %o: f32):
    %1 = arith.mulf %a, %c : f32
    %2 = arith.mulf %t, %b : f32
    %3 = arith.subf %1, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<5x8x28xf32>
  %g = tensor.empty() : tensor<28xf32>
  %g0 = linalg.fill ins(%z : f32) outs(%g : tensor<28xf32>) -> tensor<28xf32>
  %dw = linalg.generic {indexing_maps = [#id, #id, #n], iterator_types = ["reduction", "reduction", "parallel"]} ins(%dy, %x : tensor<5x8x28xf32>, tensor<5x8x28xf32>) outs(%g0 : tensor<28xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<28xf32>
  %db = linalg.generic {indexing_maps = [#id, #n], iterator_types = ["reduction", "reduction", "parallel"]} ins(%dy : tensor<5x8x28xf32>) outs(%g0 : tensor<28xf32>) {
  ^bb0(%a: f32, %o: f32):
    %2 = arith.addf %o, %a : f32
    linalg.yield %2 : f32
  } -> tensor<28xf32>
  return %dx, %dw, %db : tensor<5x8x28xf32>, tensor<28xf32>, tensor<28xf32>
}
