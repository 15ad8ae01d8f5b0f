// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file -o %t \
// RUN:   --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// The size of the dynamic rows is only to be had from the flattened operand: the
// other factor is static.

// CHECK-LABEL: func @quotient
// CHECK:         norm_fusion.mixed_reduction
// CHECK-DAG:     %[[FLAT:.+]] = tensor.dim %arg0
// CHECK-DAG:     %[[FIVE:.+]] = arith.constant 5 : index
// CHECK:         arith.divui %[[FLAT]], %[[FIVE]] : index
func.func @quotient(%x: tensor<?x16xf32>, %b: index, %fr: tensor<?x5xf32>, %fc: tensor<16xf32>)
    -> (tensor<?x5xf32>, tensor<16xf32>) {
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%b, 5, 16]
      : tensor<?x16xf32> into tensor<?x5x16xf32>
  %r = linalg.reduce {arith.addf} ins(%y : tensor<?x5x16xf32>)
      outs(%fr : tensor<?x5xf32>) dimensions = [2]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r, %c : tensor<?x5xf32>, tensor<16xf32>
}

// -----

// Expanded and collapsed with sizes from different values: the static extent is
// the same, so the dynamic one is.

// CHECK-LABEL: func @one_dynamic_factor
// CHECK:         norm_fusion.mixed_reduction
func.func @one_dynamic_factor(%x: tensor<?x5x16xf32>, %b: index, %fr: tensor<?x5xf32>,
                              %fc: tensor<16xf32>) -> (tensor<?x5xf32>, tensor<16xf32>) {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x5x16xf32> into tensor<?x16xf32>
  %y = tensor.expand_shape %flat [[0, 1], [2]] output_shape [%b, 5, 16]
      : tensor<?x16xf32> into tensor<?x5x16xf32>
  %r = linalg.reduce {arith.addf} ins(%y : tensor<?x5x16xf32>)
      outs(%fr : tensor<?x5xf32>) dimensions = [2]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x5x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0, 1]
  return %r, %c : tensor<?x5xf32>, tensor<16xf32>
}

// -----

// Two dynamic factors that no operand has apart.

// REMARK:      unknown-size
// REMARK-SAME:   found="a size that no operand has", needed="sizes from operands"
// CHECK-LABEL: func @two_dynamic_factors
// CHECK-NOT:     norm_fusion
func.func @two_dynamic_factors(%x: tensor<?x16xf32>, %a: index, %b: index, %fc: tensor<16xf32>)
    -> (tensor<?x?xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%a, %b) : tensor<?x?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 16]
      : tensor<?x16xf32> into tensor<?x?x16xf32>
  %r = linalg.reduce {arith.addf} ins(%y : tensor<?x?x16xf32>)
      outs(%fr : tensor<?x?xf32>) dimensions = [2]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r, %c : tensor<?x?xf32>, tensor<16xf32>
}
