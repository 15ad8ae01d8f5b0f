// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s

// A result has a place for every loop that isn't reduced and for none that is;
// what a generic does otherwise isn't one combiner over the reduced loops.

// The parallel loop %b isn't in the result.
// CHECK-LABEL: func @parallel_loop_left_out
// CHECK-NOT:     norm_fusion
func.func @parallel_loop_left_out(%x: tensor<2x6x16xf32>, %fr: tensor<2x6xf32>, %fc: tensor<16xf32>)
    -> (tensor<2x6xf32>, tensor<16xf32>) {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<2x6x16xf32>)
      outs(%fr : tensor<2x6xf32>) dimensions = [2]
  %c = linalg.generic {
      indexing_maps = [affine_map<(a, b, n) -> (a, b, n)>, affine_map<(a, b, n) -> (n)>],
      iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x : tensor<2x6x16xf32>) outs(%fc : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  return %r, %c : tensor<2x6xf32>, tensor<16xf32>
}

// Each result keeps what the other one removes.
// CHECK-LABEL: func @crossed_results
// CHECK-NOT:     norm_fusion
func.func @crossed_results(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>,
                       affine_map<(m, n) -> (n)>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%fr, %fc : tensor<8xf32>, tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %0 = arith.addf %a, %o : f32
    %1 = arith.addf %a, %p : f32
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<8xf32>, tensor<16xf32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<16xf32>
}
