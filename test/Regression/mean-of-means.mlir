// A mean of means isn't reduced from all columns of the norm that reads it: no kernel could be made of a group with it. The
// rest of the group forms.
// RUN: norm-fusion-opt %s --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t.yaml | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.yaml
// RUN: norm-fusion-runner %s --device=emulator --dims=7 --check

// REMARK:      Name: {{ *}}formed
// REMARK:      Name: {{ *}}different-columns
// REMARK:      found: {{ *}}'a row reduction of what varies over some of the group''s columns alone'

#e = affine_map<(b, m, n) -> (b, m, n)>
#r = affine_map<(b, m, n) -> (b, m)>
#e2 = affine_map<(b, m) -> (b, m)>
#r2 = affine_map<(b, m) -> (b)>
#b = affine_map<(b, m, n) -> (b)>
#c = affine_map<(b, m, n) -> (m, n)>

// CHECK-LABEL: func @norm
// CHECK:         linalg.generic
// CHECK:         linalg.generic
// CHECK:         %[[MEAN:.*]] = linalg.generic
// CHECK:         norm_fusion.mixed_reduction
// CHECK-NEXT:      ins({{.*}}%[[MEAN]]
// CHECK:           schedule = {{.*}}structure=small
// CHECK:           norm_fusion.row_reduce
// CHECK:           norm_fusion.partial_accumulate
// CHECK-NOT:     linalg.generic
func.func @norm(%x: tensor<?x4x24xf32>) -> (tensor<?x4x24xf32>, tensor<4x24xf32>) {
  %z = arith.constant 0.0 : f32
  %k = arith.constant 24.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x24xf32>
  %a = tensor.empty(%n) : tensor<?x4xf32>
  %fa = linalg.fill ins(%z : f32) outs(%a : tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<?x4x24xf32>) outs(%fa : tensor<?x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %o, %i : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  %m = linalg.generic {indexing_maps = [#e2, #e2], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x4xf32>) outs(%a : tensor<?x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.divf %i, %k : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  %bb = tensor.empty(%n) : tensor<?xf32>
  %fb = linalg.fill ins(%z : f32) outs(%bb : tensor<?xf32>) -> tensor<?xf32>
  %s2 = linalg.generic {indexing_maps = [#e2, #r2], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<?x4xf32>) outs(%fb : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %o, %i : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %ee = tensor.empty(%n) : tensor<?x4x24xf32>
  %d = linalg.generic {indexing_maps = [#e, #b, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s2 : tensor<?x4x24xf32>, tensor<?xf32>) outs(%ee : tensor<?x4x24xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %t = arith.subf %i, %j : f32
    linalg.yield %t : f32
  } -> tensor<?x4x24xf32>
  %v = linalg.generic {indexing_maps = [#e, #b], iterator_types = ["parallel", "reduction", "reduction"]} ins(%d : tensor<?x4x24xf32>) outs(%fb : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %q = arith.mulf %i, %i : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#e, #b, #e], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %v : tensor<?x4x24xf32>, tensor<?xf32>) outs(%ee : tensor<?x4x24xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %t = arith.mulf %i, %j : f32
    linalg.yield %t : f32
  } -> tensor<?x4x24xf32>
  %g = tensor.empty() : tensor<4x24xf32>
  %fg = linalg.fill ins(%z : f32) outs(%g : tensor<4x24xf32>) -> tensor<4x24xf32>
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel", "parallel"]} ins(%y : tensor<?x4x24xf32>) outs(%fg : tensor<4x24xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %o, %i : f32
    linalg.yield %t : f32
  } -> tensor<4x24xf32>
  return %y, %1 : tensor<?x4x24xf32>, tensor<4x24xf32>
}
