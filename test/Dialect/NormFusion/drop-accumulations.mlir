// Sums over rows that the combine region doesn't use, because a result isn't, aren't accumulated.
// RUN: norm-fusion-opt %s --canonicalize | FileCheck %s
// RUN: norm-fusion-opt %s --canonicalize --canonicalize | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func.func @unused_result
// CHECK:       ^bb0(%[[A:.*]]: f32):
// CHECK:         norm_fusion.partial_accumulate add, %[[A]] : f32
// CHECK-NOT:     norm_fusion.partial_accumulate
// CHECK:       combine
// CHECK-NEXT:  ^bb0(%{{.*}}: f32, %[[K:.*]]: f32):
// CHECK-NEXT:    norm_fusion.yield %[[K]] : f32
func.func @unused_result(%x: tensor<8x64xf32>, %o: tensor<8x64xf32>, %t: tensor<64xf32>) -> (tensor<8x64xf32>, tensor<64xf32>) {
  %0:3 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<8x64xf32>) outs(%o, %t, %t : tensor<8x64xf32>, tensor<64xf32>, tensor<64xf32>) maps = [#e, #e, #c, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %p = arith.mulf %a, %d : f32
    norm_fusion.partial_accumulate add, %p : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %j: f32, %k: f32):
    %q = arith.mulf %j, %j : f32
    norm_fusion.yield %q, %k : f32, f32
  } -> tensor<8x64xf32>, tensor<64xf32>, tensor<64xf32>
  return %0#0, %0#2 : tensor<8x64xf32>, tensor<64xf32>
}

// A schedule that was chosen for some keeps one of them.
// CHECK-LABEL: func.func @scheduled
// CHECK:         norm_fusion.partial_accumulate add
// CHECK-NOT:     norm_fusion.partial_accumulate
// CHECK:       return
func.func @scheduled(%x: memref<8x64xf32>, %o: memref<8x64xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<8x64xf32>) outs(%o : memref<8x64xf32>) maps = [#e, #e]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 chunks=1 vector=2 copy=cp-async combine=tags"> {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.partial_accumulate add, %d : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %j: f32, %k: f32):
    norm_fusion.yield
  }
  return
}

// CHECK-LABEL: func.func @unscheduled
// CHECK-NOT:     norm_fusion.partial_accumulate
// CHECK:       return
func.func @unscheduled(%x: memref<8x64xf32>, %o: memref<8x64xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<8x64xf32>) outs(%o : memref<8x64xf32>) maps = [#e, #e] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield
  }
  return
}
