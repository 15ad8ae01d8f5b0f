// A tensor's buffer is freed once the sums of rows have read it, and the rest of the group reads what is made behind that.
// RUN: norm-fusion-opt %s --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s

// CHECK:       [Missed] side-effect-between
// CHECK-SAME:  op=bufferization.dealloc_tensor
// CHECK-LABEL: func @freed
// CHECK-NOT:     norm_fusion

func.func @freed(%x: tensor<6x40xf32>, %v: tensor<?xf32>, %k: index) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %copy = bufferization.alloc_tensor() copy(%x) : tensor<6x40xf32>
  %p = linalg.mul ins(%copy, %x : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  bufferization.dealloc_tensor %copy : tensor<6x40xf32>
  %slice = tensor.extract_slice %v[%k] [40] [1] : tensor<?xf32> to tensor<40xf32>
  %z = linalg.broadcast ins(%slice : tensor<40xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [0]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  %e = linalg.mul ins(%x, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %d = linalg.mul ins(%e, %z : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q : tensor<6x40xf32>, tensor<40xf32>
}
