// What is stored to a global that isn't constant is there for who reads it next.
// RUN: norm-fusion-runner %s --device=emulator --check --input=16x64xf32 --output=%t.0.npy --output=%t.1.npy --output=%t.2.npy
// RUN: %python -c "import numpy, sys; assert numpy.load(sys.argv[1]) == 5" %t.2.npy

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
memref.global "private" @state : memref<4xf32> = dense<1.0>
func.func private @set(%v: f32) attributes {no_inline} {
  %c0 = arith.constant 0 : index
  %g = memref.get_global @state : memref<4xf32>
  memref.store %v, %g[%c0] : memref<4xf32>
  return
}
func.func @f(%x: tensor<16x64xf32>) -> (tensor<16xf32>, tensor<64xf32>, f32) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %five = arith.constant 5.0 : f32
  func.call @set(%five) : (f32) -> ()
  %g2 = memref.get_global @state : memref<4xf32>
  %v = memref.load %g2[%c0] : memref<4xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x64xf32>) outs(%f1 : tensor<16xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.addf %c, %a : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e3 = tensor.empty() : tensor<64xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<64xf32>) -> tensor<64xf32>
  %w = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<16x64xf32>) outs(%f3 : tensor<64xf32>) {
  ^bb0(%a: f32, %c: f32):
    %q = arith.addf %c, %a : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  return %s, %w, %v : tensor<16xf32>, tensor<64xf32>, f32
}
