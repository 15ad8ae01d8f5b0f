// Columns that aren't the last dimension don't follow each other in memory,
// though an array's map is the identity: no ring frames them.
// RUN: not norm-fusion-runner %s --device=emulator --schedule="structure=ring warps=1 row-groups=2 slots=2 chunks=1 vector=4 lanes=32 rows=1 copy=cp-async combine=kernel" 2>&1 | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --check
// CHECK: schedule isn't possible

func.func @main(%w: tensor<62xf32>, %x: tensor<62x5xf32>) -> (tensor<62xf32>, tensor<62x5xf32>) {
  %s = tensor.empty() : tensor<62xf32>
  %e = tensor.empty() : tensor<62x5xf32>
  %r:2 = norm_fusion.mixed_reduction dims = [column, row] ins(%w, %x : tensor<62xf32>, tensor<62x5xf32>) outs(%s, %e : tensor<62xf32>, tensor<62x5xf32>) maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>] {
  ^bb0(%a: f32, %b: f32):
    %i = norm_fusion.index 1 : index
    %k = norm_fusion.index 1 : index
    %ik = arith.addi %i, %k : index
    %j = arith.index_cast %ik : index to i32
    %f = arith.sitofp %j : i32 to f32
    %v = arith.addf %a, %f : f32
    %t = norm_fusion.column_reduce add, %v : f32
    norm_fusion.yield %t, %v : f32, f32
  } -> tensor<62xf32>, tensor<62x5xf32>
  return %r#0, %r#1 : tensor<62xf32>, tensor<62x5xf32>
}
