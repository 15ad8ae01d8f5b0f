// A warp's last rows may not exist: what is computed from their index takes the
// last row's, whose divisor isn't zero.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=4" --dims=13 --check | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=4" --dims=13 --check --schedule="structure=ring rows=2 lanes=32 warps=1 chunks=1 vector=2 row-groups=1" | FileCheck %s
// CHECK: result 0 {{.*}}: passed
// CHECK: result 1 {{.*}}: passed

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %s = tensor.empty() : tensor<64xf32>
  %r:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<?x64xf32>) outs(%e, %s : tensor<?x64xf32>, tensor<64xf32>) maps = [#e, #e, #c] {
  ^bb0(%a: f32):
    %i = norm_fusion.index 0 : index
    %c13 = arith.constant 13 : index
    %c100 = arith.constant 100 : index
    %left = arith.subi %c13, %i : index
    %q = arith.divui %c100, %left : index
    %q32 = arith.index_cast %q : index to i32
    %f = arith.sitofp %q32 : i32 to f32
    %t = arith.mulf %a, %f : f32
    %su = norm_fusion.row_reduce add, %t : f32
    %z = norm_fusion.column_reduce add, %t : f32
    %o = arith.addf %t, %su : f32
    norm_fusion.yield %o, %z : f32, f32
  } -> tensor<?x64xf32>, tensor<64xf32>
  return %r#0, %r#1 : tensor<?x64xf32>, tensor<64xf32>
}
