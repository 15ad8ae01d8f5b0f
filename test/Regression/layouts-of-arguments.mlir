// The runner passes arguments densely: a layout that bufferization would give
// one is refused.
// RUN: not norm-fusion-runner %s --device=emulator 2>&1 | FileCheck %s
// CHECK: argument 0 of f has bufferization.buffer_layout = affine_map<(d0) -> (d0 + 4)>, expected none
func.func @f(%x: tensor<64xf32> {bufferization.buffer_layout = affine_map<(d0) -> (d0 + 4)>}) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}
