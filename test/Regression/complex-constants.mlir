// Dense constants of complex floats are widened with their type.
// RUN: norm-fusion-runner %s --entry=main --device=emulator --check
// RUN: norm-fusion-opt %s --norm-fusion-widen | FileCheck %s
// CHECK: dense<(0.000000e+00,1.000000e+00)> : tensor<4xcomplex<f64>>
// CHECK: dense<(1.000000e+00,2.000000e+00)> : tensor<0xcomplex<f64>>
// CHECK: dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,4.000000e+00)]> : tensor<2xcomplex<f64>>

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

func.func @others() -> (tensor<0xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  %none = arith.constant dense<(1.0,2.0)> : tensor<0xcomplex<f32>>
  %two = arith.constant dense<[(1.0,2.0), (3.0,4.0)]> : tensor<2xcomplex<f32>>
  return %none, %two : tensor<0xcomplex<f32>>, tensor<2xcomplex<f32>>
}
