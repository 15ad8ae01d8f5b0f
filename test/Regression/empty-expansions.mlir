// A dimension of extent 0 taken apart: the host's check of its sizes divided by 0.
// RUN: norm-fusion-runner %s --device=emulator --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --check
func.func @main(%x: tensor<0xf32>, %y: tensor<4xf32>) -> (tensor<1x0xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<0xf32>
  %s = linalg.add ins(%x, %x : tensor<0xf32>, tensor<0xf32>) outs(%e : tensor<0xf32>) -> tensor<0xf32>
  %r = tensor.expand_shape %s [[0, 1]] output_shape [1, 0] : tensor<0xf32> into tensor<1x0xf32>
  %e2 = tensor.empty() : tensor<4xf32>
  %t = linalg.add ins(%y, %y : tensor<4xf32>, tensor<4xf32>) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  return %r, %t : tensor<1x0xf32>, tensor<4xf32>
}
