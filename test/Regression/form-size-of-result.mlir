// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s

// The size of a row sum gives an operand of the group its shape: no cycle, since
// the size is known before the sum.

// CHECK-LABEL: func @size_of_row_sum
// CHECK:         tensor.dim %arg1
// CHECK:         linalg.softmax
// CHECK:         norm_fusion.mixed_reduction
func.func @size_of_row_sum(%x: tensor<?x16xf32>, %fr: tensor<?xf32>, %fc: tensor<16xf32>)
    -> (tensor<?xf32>, tensor<16xf32>, tensor<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %r = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>)
      outs(%fr : tensor<?xf32>) dimensions = [1]
  %m = tensor.dim %r, %c0 : tensor<?xf32>
  %e = tensor.empty(%m) : tensor<?x16xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %p = linalg.mul ins(%x, %y : tensor<?x16xf32>, tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %c = linalg.reduce {arith.addf} ins(%p : tensor<?x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r, %c, %p : tensor<?xf32>, tensor<16xf32>, tensor<?x16xf32>
}
