// A cast that only forgets static sizes folds into the op that reads it, though
// the op's combine region is empty; with sizes of results cast back.
// RUN: norm-fusion-opt %s --canonicalize | FileCheck %s
// RUN: norm-fusion-runner %s --entry=between --device=emulator --form-options="row-only=true" --dims=6 --check
// CHECK-LABEL: func.func @into
// CHECK: %[[S:.*]] = norm_fusion.mixed_reduction
// CHECK-SAME: dims = [row, column]
// CHECK-NEXT: ins(%{{.*}} : tensor<3x4xf32>)
// CHECK-NEXT: outs(%{{.*}} : tensor<3xf32>)
// CHECK: } -> tensor<3xf32>
// CHECK-NEXT: %[[C:.*]] = tensor.cast %[[S]] : tensor<3xf32> to tensor<?xf32>
// CHECK-NEXT: return %[[C]]
#f = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
func.func @into(%x: tensor<3x4xf32>) -> tensor<?xf32> {
  %c = arith.constant 3 : index
  %x2 = tensor.cast %x : tensor<3x4xf32> to tensor<?x4xf32>
  %o = tensor.empty(%c) : tensor<?xf32>
  %s = norm_fusion.mixed_reduction dims = [row, column] ins(%x2 : tensor<?x4xf32>) outs(%o : tensor<?xf32>) maps = [#f, #r] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<?xf32>
  return %s : tensor<?xf32>
}
#c = affine_map<(d0, d1) -> (d1)>
func.func @between(%x: tensor<?x64xf32>, %y: tensor<6x64xf32>, %v: tensor<5x6xf32>) -> (tensor<?xf32>, tensor<5xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#f, #f, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<?x64xf32>, tensor<6x64xf32>) outs(%i : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty() : tensor<5xf32>
  %i2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<5xf32>) -> tensor<5xf32>
  %t = linalg.generic {indexing_maps = [#f, #c, #r], iterator_types = ["parallel", "reduction"]} ins(%v, %s : tensor<5x6xf32>, tensor<?xf32>) outs(%i2 : tensor<5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %a, %b : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<5xf32>
  return %s, %t : tensor<?xf32>, tensor<5xf32>
}
