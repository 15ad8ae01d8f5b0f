// Dense constants of complex floats are widened with their type.
// RUN: norm-fusion-runner %s --device=emulator --check

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %i = arith.constant dense<(0.0,1.0)> : tensor<4xcomplex<f32>>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x, %i : tensor<4xf32>, tensor<4xcomplex<f32>>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %c: complex<f32>, %o: f32):
    %im = complex.im %c : complex<f32>
    %s = arith.addf %a, %im : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
