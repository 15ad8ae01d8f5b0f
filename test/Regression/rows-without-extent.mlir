// A row dimension of no extent: nothing may be divided by it, and the column sums are their initial values.
// RUN: norm-fusion-runner %s --device=emulator --dims=3x0x3x0 --check --repeat=2 --bitwise | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --dims=0x3x0x3 --check --repeat=2 --bitwise | FileCheck %s
// CHECK: 1 group fused
// CHECK: result 1 256xf32: passed

#e = affine_map<(a, m, n) -> (a, m, n)>
#c = affine_map<(a, m, n) -> (n)>
#r = affine_map<(a, m, n) -> (a, m)>
func.func @main(%x: tensor<?x?x256xf32>, %s: tensor<?x?xf32>, %t: tensor<256xf32>) -> (tensor<?x?x256xf32>, tensor<256xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x256xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?x256xf32>
  %o = tensor.empty(%a, %m) : tensor<?x?x256xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x, %s : tensor<?x?x256xf32>, tensor<?x?xf32>) outs(%o, %t : tensor<?x?x256xf32>, tensor<256xf32>) maps = [#e, #r, #e, #c] {
  ^bb0(%v: f32, %w: f32):
    %p = arith.mulf %v, %w : f32
    %sum = norm_fusion.row_reduce add, %p : f32
    %d = arith.subf %v, %sum : f32
    %k = norm_fusion.column_reduce add, %p : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<?x?x256xf32>, tensor<256xf32>
  return %0#0, %0#1 : tensor<?x?x256xf32>, tensor<256xf32>
}
