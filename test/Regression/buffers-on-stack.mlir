// A buffer on the stack is one that kernels can reach.
// RUN: norm-fusion-runner %s --device=emulator --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --check

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @f(%x: tensor<16x64xf32>) -> (tensor<16xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %five = arith.constant 5.0 : f32
  %g = memref.alloca() : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    memref.store %five, %g[%i] : memref<64xf32>
  }
  %t = bufferization.to_tensor %g restrict : memref<64xf32> to tensor<64xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [#mn, #n, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %t : tensor<16x64xf32>, tensor<64xf32>) outs(%f1 : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %c, %p : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e3 = tensor.empty() : tensor<64xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<64xf32>) -> tensor<64xf32>
  %w = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<16x64xf32>) outs(%f3 : tensor<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.addf %c, %a : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  return %s, %w : tensor<16xf32>, tensor<64xf32>
}
