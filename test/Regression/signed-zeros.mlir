// The larger of two zeros is the positive one, in host loops, in simple kernels
// and in fused ones: 1 / maximum(0, -0) and 1 / minimum(0, -0).
// DEFINE: %{signs} = %python -c "import numpy; assert (numpy.load('%t.max.npy') == numpy.inf).all() and (numpy.load('%t.min.npy') == -numpy.inf).all()"
// RUN: norm-fusion-runner %s --device=emulator --input=4x8xf32=0.0 --input=4x8xf32=-0.0 --output=%t.max.npy --output=%t.min.npy
// RUN: %{signs}
// RUN: norm-fusion-runner %s --device=emulator --plain=device --input=4x8xf32=0.0 --input=4x8xf32=-0.0 --output=%t.max.npy --output=%t.min.npy
// RUN: %{signs}
// RUN: norm-fusion-runner %s --device=emulator --form-options="row-only=true profit=always" --input=4x8xf32=0.0 --input=4x8xf32=-0.0 --check --output=%t.max.npy --output=%t.min.npy
// RUN: %{signs}
#f = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s:2 = linalg.generic {indexing_maps = [#f, #f, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%i, %i : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32, %p: f32):
    %one = arith.constant 1.0 : f32
    %m = arith.maximumf %a, %b : f32
    %n = arith.minimumf %a, %b : f32
    %1 = arith.divf %one, %m : f32
    %2 = arith.divf %one, %n : f32
    %3 = arith.addf %1, %o : f32
    %4 = arith.addf %2, %p : f32
    linalg.yield %3, %4 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %s#0, %s#1 : tensor<4xf32>, tensor<4xf32>
}
