// The size of a reshape of a result, asked for before the group's last op: the group stands where it dominates that.
// RUN: norm-fusion-opt %s --split-input-file --norm-fusion-fuse | FileCheck %s
// RUN: norm-fusion-opt %s --split-input-file --norm-fusion-lower=target=emulator -o %t
// CHECK-COUNT-2: norm_fusion.mixed_reduction

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @f(%x: tensor<?x1024xf32>, %dy: tensor<?x1024xf32>) -> (tensor<?x4x256xf32>, tensor<1024xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %e1 = tensor.empty(%M) : tensor<?xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %dy : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%f1 : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%M) : tensor<?x1024xf32>
  %dx = linalg.generic {indexing_maps = [#mn, #mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %dy, %s : tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?xf32>) outs(%e2 : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.subf %b, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x1024xf32>
  %r = tensor.expand_shape %dx [[0], [1, 2]] output_shape [%M, 4, 256] : tensor<?x1024xf32> into tensor<?x4x256xf32>
  %d = tensor.dim %r, %c0 : tensor<?x4x256xf32>
  %other = tensor.empty(%d) : tensor<?xf32>
  %of = linalg.fill ins(%z : f32) outs(%other : tensor<?xf32>) -> tensor<?xf32>
  %e3 = tensor.empty() : tensor<1024xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<1024xf32>) -> tensor<1024xf32>
  %w = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]} ins(%x, %dy : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%f3 : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<1024xf32>
  return %r, %w, %of : tensor<?x4x256xf32>, tensor<1024xf32>, tensor<?xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @f(%x: tensor<?x1024xf32>, %dy: tensor<?x1024xf32>) -> (tensor<?x?xf32>, tensor<1024xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %M = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %e1 = tensor.empty(%M) : tensor<?xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %dy : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%f1 : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %e2 = tensor.empty(%M) : tensor<?x1024xf32>
  %dx = linalg.generic {indexing_maps = [#mn, #mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %dy, %s : tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?xf32>) outs(%e2 : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    %p = arith.mulf %a, %c : f32
    %q = arith.subf %b, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x1024xf32>
  %r = tensor.cast %dx : tensor<?x1024xf32> to tensor<?x?xf32>
  %d = tensor.dim %r, %c0 : tensor<?x?xf32>
  %other = tensor.empty(%d) : tensor<?xf32>
  %of = linalg.fill ins(%z : f32) outs(%other : tensor<?xf32>) -> tensor<?xf32>
  %e3 = tensor.empty() : tensor<1024xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<1024xf32>) -> tensor<1024xf32>
  %w = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]} ins(%x, %dy : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%f3 : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<1024xf32>
  return %r, %w, %of : tensor<?x?xf32>, tensor<1024xf32>, tensor<?xf32>
}
