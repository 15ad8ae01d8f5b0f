// The emulator says so, and goes on to its end: the host's own division trapped
// in the kernel, and what stood behind it never came.
// RUN: not norm-fusion-runner %s --device=emulator --input=13x64xi32=7 --input=13x64xi32=0 2>&1 | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --input=13x64xi32=7 --input=13x64xi32=2 --check
// CHECK: integer division by zero

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<13x64xi32>, %y: tensor<13x64xi32>) -> (tensor<13x64xi32>, tensor<64xi32>) {
  %e = tensor.empty() : tensor<13x64xi32>
  %s = tensor.empty() : tensor<64xi32>
  %r:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<13x64xi32>, tensor<13x64xi32>) outs(%e, %s : tensor<13x64xi32>, tensor<64xi32>) maps = [#e, #e, #e, #c] {
  ^bb0(%a: i32, %b: i32):
    %t = arith.divsi %a, %b : i32
    %su = norm_fusion.row_reduce add, %t : i32
    %z = norm_fusion.column_reduce add, %t : i32
    %o = arith.addi %t, %su : i32
    norm_fusion.yield %o, %z : i32, i32
  } -> tensor<13x64xi32>, tensor<64xi32>
  return %r#0, %r#1 : tensor<13x64xi32>, tensor<64xi32>
}
