// Tensors of a buffer that is written to between the ops of a would-be group: these read it before the write, or behind it, not both.
// RUN: norm-fusion-opt %s --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: norm-fusion-runner %s --entry=both_sides --device=emulator --check
// RUN: norm-fusion-runner %s --entry=before --device=emulator --check

// CHECK:       [Missed] side-effect-between
// CHECK-SAME:  found="may write to a buffer that the group reads before it"
// CHECK:       [Passed] formed
// CHECK-LABEL: func @both_sides
// CHECK-NOT:     norm_fusion
// CHECK-LABEL: func @before
// CHECK:         norm_fusion.mixed_reduction
// CHECK:         memref.store

func.func @both_sides(%mx: memref<6x40xf32>, %my: memref<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %x = bufferization.to_tensor %mx restrict : memref<6x40xf32> to tensor<6x40xf32>
  %y = bufferization.to_tensor %my restrict : memref<6x40xf32> to tensor<6x40xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %p = linalg.mul ins(%x, %y : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  memref.store %seven, %mx[%c0, %c0] : memref<6x40xf32>
  %d = linalg.mul ins(%y, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q : tensor<6x40xf32>, tensor<40xf32>
}

// Nothing reads a buffer behind the write: the op goes before it.
func.func @before(%mx: memref<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %x = bufferization.to_tensor %mx restrict : memref<6x40xf32> to tensor<6x40xf32>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %p = linalg.mul ins(%x, %x : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  %d = linalg.mul ins(%p, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  memref.store %seven, %mx[%c0, %c0] : memref<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q : tensor<6x40xf32>, tensor<40xf32>
}
