// A reduction to no elements isn't shared out.
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --plain=device --dims=9 --check
// CHECK-LABEL: func @main
func.func @main(%x: tensor<?x0xf32>) -> tensor<0xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<0xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<0xf32>) -> tensor<0xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x0xf32>) outs(%f : tensor<0xf32>) dimensions = [0]
  return %s : tensor<0xf32>
}
