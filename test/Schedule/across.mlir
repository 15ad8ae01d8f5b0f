// A row a lane where most of what is read and written has neighbouring rows side by side; as many warps as have columns.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_90a" | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_80" | FileCheck %s
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="schedule='structure=plain lanes=2'" 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="schedule='structure=ring lanes=1 copy=load'" 2>&1 | FileCheck %s --check-prefix=RING
// TWO: schedule isn't possible: lanes=2 with structure=plain, expected 32 or 1
// RING: schedule isn't possible: lanes=1 with structure=ring, expected 32

#cf = affine_map<(n, m, c) -> (n, c, m)>
#cl = affine_map<(n, m, c) -> (n, m, c)>
#c = affine_map<(n, m, c) -> (c)>
#k = affine_map<(n, m, c) -> (m, c)>

// CHECK-LABEL: func @first
// CHECK: structure=plain cluster=1 warps=5 {{.*}} copy=load combine=grid {{.*}} lanes=1
func.func @first(%x: tensor<2x40x?xf32>, %o: tensor<2x40x?xf32>, %t: tensor<40xf32>) -> (tensor<2x40x?xf32>, tensor<40xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<2x40x?xf32>) outs(%o, %t : tensor<2x40x?xf32>, tensor<40xf32>) maps = [#cf, #cf, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<2x40x?xf32>, tensor<40xf32>
  return %0#0, %0#1 : tensor<2x40x?xf32>, tensor<40xf32>
}

// Of 16 warps at most, however many columns there are, and of any number.
// CHECK-LABEL: func @many
// CHECK: structure=plain cluster=1 warps=16 {{.*}} lanes=1
func.func @many(%x: tensor<2x4000x?xf32>, %o: tensor<2x4000x?xf32>, %t: tensor<4000xf32>) -> (tensor<2x4000x?xf32>, tensor<4000xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<2x4000x?xf32>) outs(%o, %t : tensor<2x4000x?xf32>, tensor<4000xf32>) maps = [#cf, #cf, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<2x4000x?xf32>, tensor<4000xf32>
  return %0#0, %0#1 : tensor<2x4000x?xf32>, tensor<4000xf32>
}
// CHECK-LABEL: func @any
// CHECK: structure=plain cluster=1 warps=8 {{.*}} lanes=1
func.func @any(%x: tensor<2x?x?xf32>, %o: tensor<2x?x?xf32>, %t: tensor<?xf32>) -> (tensor<2x?x?xf32>, tensor<?xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<2x?x?xf32>) outs(%o, %t : tensor<2x?x?xf32>, tensor<?xf32>) maps = [#cf, #cf, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<2x?x?xf32>, tensor<?xf32>
  return %0#0, %0#1 : tensor<2x?x?xf32>, tensor<?xf32>
}

// Not where as many bytes have neighbouring columns side by side.
// CHECK-LABEL: func @half
// CHECK: structure=plain cluster=1 warps=8 {{.*}} grid=0"
func.func @half(%x: tensor<2x40x?xf32>, %o: tensor<2x?x40xf32>, %t: tensor<40xf32>) -> (tensor<2x?x40xf32>, tensor<40xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<2x40x?xf32>) outs(%o, %t : tensor<2x?x40xf32>, tensor<40xf32>) maps = [#cf, #cl, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<2x?x40xf32>, tensor<40xf32>
  return %0#0, %0#1 : tensor<2x?x40xf32>, tensor<40xf32>
}

// Nor where column results keep the neighbours apart.
// CHECK-LABEL: func @kept
// CHECK: structure=plain cluster=1 warps=8 {{.*}} grid=0"
func.func @kept(%x: tensor<2x40x?xf32>, %o: tensor<2x40x?xf32>, %t: tensor<?x40xf32>) -> (tensor<2x40x?xf32>, tensor<?x40xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<2x40x?xf32>) outs(%o, %t : tensor<2x40x?xf32>, tensor<?x40xf32>) maps = [#cf, #cf, #k] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %a over [0] : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<2x40x?xf32>, tensor<?x40xf32>
  return %0#0, %0#1 : tensor<2x40x?xf32>, tensor<?x40xf32>
}
