// The second row sum takes its size from a dead op that reads the first: that
// says nothing about their order. Found by a generated program (9000033).

// RUN: norm-fusion-opt %s --norm-fusion-form=row-only=true | FileCheck %s
// CHECK-LABEL: func @main
// CHECK: norm_fusion.mixed_reduction
// CHECK-COUNT-2: norm_fusion.row_reduce
// CHECK-NOT: norm_fusion.mixed_reduction

#full = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#own = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<?x32xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x32xf32>
  %empty = tensor.empty(%rows) : tensor<?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x32xf32>) outs(%init : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %dead = linalg.generic {indexing_maps = [#own, #own], iterator_types = ["parallel"]} ins(%sum : tensor<?xf32>) outs(%empty : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.mulf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %size = tensor.dim %dead, %c0 : tensor<?xf32>
  %empty2 = tensor.empty(%size) : tensor<?xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<?xf32>) -> tensor<?xf32>
  %sum2 = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<?x32xf32>, tensor<?xf32>) outs(%init2 : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %sum, %sum2 : tensor<?xf32>, tensor<?xf32>
}
