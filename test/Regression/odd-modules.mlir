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
