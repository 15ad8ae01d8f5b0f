// A dead scf.if uses what a group leaves over, and goes with it, before anybody forms groups in its blocks.
// RUN: norm-fusion-opt %s --norm-fusion-form=profit=always | FileCheck %s
#e = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @used
// CHECK:       norm_fusion.mixed_reduction
// CHECK-NOT:   linalg
// CHECK-NOT:   scf.if
// CHECK:       return
func.func @used(%a: tensor<8x8xf32>, %x: tensor<8x8xf32>, %w: tensor<8xf32>, %p: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<8x8xf32>) outs(%w : tensor<8xf32>) {
  ^bb0(%q: f32, %o: f32):
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<8x8xf32>) outs(%w : tensor<8xf32>) {
  ^bb0(%q: f32, %o: f32):
    %t = arith.addf %q, %o : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%a, %s : tensor<8x8xf32>, tensor<8xf32>) outs(%x : tensor<8x8xf32>) {
  ^bb0(%q: f32, %k: f32, %o: f32):
    %t = arith.mulf %q, %k : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %i = scf.if %p -> tensor<8x8xf32> {
    // Groups are looked for where something is reduced.
    %n = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<8x8xf32>) outs(%w : tensor<8xf32>) {
    ^bb0(%q: f32, %o: f32):
      %t = arith.addf %q, %o : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    %m = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%y, %n : tensor<8x8xf32>, tensor<8xf32>) outs(%x : tensor<8x8xf32>) {
    ^bb0(%q: f32, %k: f32, %o: f32):
      %t = arith.mulf %q, %k : f32
      linalg.yield %t : f32
    } -> tensor<8x8xf32>
    scf.yield %m : tensor<8x8xf32>
  } else {
    scf.yield %y : tensor<8x8xf32>
  }
  return %s, %d : tensor<8xf32>, tensor<8xf32>
}
