// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s

// The op can't stand where the column sum stood, because of the call; at the
// start of the block it can, and nothing has to move for that: what the first
// attempt found to be moved stays.

// CHECK-LABEL: func @early
// CHECK:         norm_fusion.mixed_reduction
// CHECK:         %[[E:.+]] = tensor.empty
// CHECK:         linalg.broadcast {{.*}} outs(%[[E]]
// CHECK:         call @observe
func.func private @observe(tensor<8x16xf32>)
func.func @early(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8x16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %h = linalg.broadcast ins(%r : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
  %y = linalg.softmax dimension(1) ins(%h : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  func.call @observe(%y) : (tensor<8x16xf32>) -> ()
  %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %y, %c : tensor<8x16xf32>, tensor<16xf32>
}
