// Valid modules that no front end writes, found by mutation: through the whole
// pipeline without invalid IR.

// RUN: norm-fusion-opt %s --norm-fusion-fuse --split-input-file | FileCheck %s

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// One of two results is the same everywhere: nothing is reduced over columns or
// rows there, whatever the other result reads.
// CHECK-LABEL: func @one_result_varies
// CHECK:       norm_fusion.mixed_reduction
// CHECK:       norm_fusion.row_reduce
// CHECK:       norm_fusion.partial_accumulate
// CHECK-NOT:   norm_fusion.partial_accumulate
// CHECK:       linalg.generic
func.func @one_result_varies(%x: tensor<12x40xf32>, %row: tensor<12xf32>, %col: tensor<40xf32>, %a: f32)
    -> (tensor<12x40xf32>, tensor<12xf32>, tensor<40xf32>, tensor<40xf32>) {
  %full = tensor.empty() : tensor<12x40xf32>
  %two:2 = linalg.generic {indexing_maps = [#mn, affine_map<(m, n) -> ()>, #mn, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%x, %a : tensor<12x40xf32>, f32) outs(%full, %full : tensor<12x40xf32>, tensor<12x40xf32>) {
  ^bb0(%in: f32, %s: f32, %o0: f32, %o1: f32):
    %0 = arith.addf %in, %s : f32
    linalg.yield %0, %s : f32, f32
  } -> (tensor<12x40xf32>, tensor<12x40xf32>)
  %r = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%two#0 : tensor<12x40xf32>) outs(%row : tensor<12xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<12xf32>
  %c = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%two#0 : tensor<12x40xf32>) outs(%col : tensor<40xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  %d = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%two#1 : tensor<12x40xf32>) outs(%col : tensor<40xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %two#0, %r, %c, %d : tensor<12x40xf32>, tensor<12xf32>, tensor<40xf32>, tensor<40xf32>
}

// -----

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>

// Loops of two extents.
// CHECK-LABEL: func @contradiction
// CHECK-NOT:   norm_fusion.mixed_reduction
func.func @contradiction(%x: tensor<?x40xf32>, %w: tensor<0xf32>, %row: tensor<?xf32>) -> (tensor<?xf32>, tensor<0xf32>) {
  %r = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x40xf32>) outs(%row : tensor<?xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x40xf32>) outs(%w : tensor<0xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<0xf32>
  return %r, %c : tensor<?xf32>, tensor<0xf32>
}

// -----

#mkn = affine_map<(m, k, n) -> (m, k, n)>
#mk = affine_map<(m, k, n) -> (m, k)>
#km = affine_map<(m, k, n) -> (k, m)>
#n = affine_map<(m, k, n) -> (n)>

// What lies transposed is read from outside, and varies over its own dimensions
// only: the sum of it over the columns is none.
// CHECK-LABEL: func @read_transposed
// CHECK-NOT:   norm_fusion.row_reduce
func.func @read_transposed(%x: tensor<4x4x8xf32>, %r: tensor<4x4xf32>, %init: tensor<8xf32>) -> (tensor<4x4xf32>, tensor<8xf32>) {
  %full = tensor.empty() : tensor<4x4x8xf32>
  %b = linalg.generic {indexing_maps = [#mk, #mkn], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r : tensor<4x4xf32>) outs(%full : tensor<4x4x8xf32>) {
  ^bb0(%in: f32, %o: f32):
    linalg.yield %in : f32
  } -> tensor<4x4x8xf32>
  %s = linalg.generic {indexing_maps = [#mkn, #km], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%b : tensor<4x4x8xf32>) outs(%r : tensor<4x4xf32>) {
  ^bb0(%in: f32, %o: f32):
    %0 = arith.addf %in, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4x4xf32>
  %c = linalg.generic {indexing_maps = [#mkn, #mkn, #n], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%x, %b : tensor<4x4x8xf32>, tensor<4x4x8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %in1: f32, %o: f32):
    %0 = arith.mulf %in, %in1 : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %s, %c : tensor<4x4xf32>, tensor<8xf32>
}
