// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --split-input-file | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --split-input-file > %t.once
// RUN: norm-fusion-opt %t.once --norm-fusion-partial-accumulate --split-input-file | diff %t.once -

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
#r = affine_map<(m, n) -> (m)>

// What depends on the total moves, with what it needs of the inputs; the initial value enters there, once.
// CHECK-LABEL: func @scaled_and_accumulated
func.func @scaled_and_accumulated(%x: tensor<8x16xf32>, %acc: tensor<16xf32>, %s: f32, %dx: tensor<8x16xf32>, %dw: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>) {
  // CHECK: ^bb0(%[[X:.*]]: f32, %[[ACC:.*]]: f32, %[[S:.*]]: f32):
  // CHECK-NEXT: %[[SUM:.*]] = norm_fusion.row_reduce add, %[[X]] : f32
  // CHECK-NEXT: %[[DX:.*]] = arith.subf %[[X]], %[[SUM]]
  // CHECK-NEXT: norm_fusion.partial_accumulate add, %[[DX]] : f32
  // CHECK-NEXT: norm_fusion.yield %[[DX]] : f32
  // CHECK-NEXT: } combine {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %[[ACC2:.*]]: f32, %[[S2:.*]]: f32, %[[TOTAL:.*]]: f32):
  // CHECK-NEXT: %[[K:.*]] = arith.mulf %[[ACC2]], %[[S2]]
  // CHECK-NEXT: %[[R:.*]] = arith.addf %[[TOTAL]], %[[K]]
  // CHECK-NEXT: norm_fusion.yield %[[R]] : f32
  %0:2 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x, %acc, %s : tensor<8x16xf32>, tensor<16xf32>, f32)
      outs(%dx, %dw : tensor<8x16xf32>, tensor<16xf32>)
      maps = [#e, #c, affine_map<(m, n) -> ()>, #e, #c] {
  ^bb0(%xe: f32, %a: f32, %f: f32):
    %k = arith.mulf %a, %f : f32
    %sum = norm_fusion.row_reduce add, %xe : f32
    %d = arith.subf %xe, %sum : f32
    %t = norm_fusion.column_reduce add, %d : f32
    %r = arith.addf %t, %k : f32
    norm_fusion.yield %d, %r : f32, f32
  } -> tensor<8x16xf32>, tensor<16xf32>
  return %0#0, %0#1 : tensor<8x16xf32>, tensor<16xf32>
}

// -----

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>

// Row reductions alone: no combine region.
// CHECK-LABEL: func @rows_only
func.func @rows_only(%x: tensor<8x16xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NOT: combine
  %0 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<8x16xf32>) outs(%y : tensor<8xf32>) maps = [#e, #r] {
  ^bb0(%xe: f32):
    %s = norm_fusion.row_reduce maximum, %xe : f32
    norm_fusion.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#e = affine_map<(b, t, n) -> (b, t, n)>
#s = affine_map<(b, t, n) -> (b, n)>
#r = affine_map<(b, t, n) -> (b, t)>

// A segmented sum keeps its dimensions.
// CHECK-LABEL: func @segments
func.func @segments(%x: tensor<2x8x16xf32>, %y: tensor<2x8xf32>, %z: tensor<2x16xf32>) -> (tensor<2x8xf32>, tensor<2x16xf32>) {
  // CHECK: norm_fusion.partial_accumulate add, %{{.*}} over [1] : f32
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<2x8x16xf32>) outs(%y, %z : tensor<2x8xf32>, tensor<2x16xf32>) maps = [#e, #r, #s] {
  ^bb0(%xe: f32):
    %s = norm_fusion.row_reduce add, %xe : f32
    %c = norm_fusion.column_reduce add, %xe over [1] : f32
    norm_fusion.yield %s, %c : f32, f32
  } -> tensor<2x8xf32>, tensor<2x16xf32>
  return %0#0, %0#1 : tensor<2x8xf32>, tensor<2x16xf32>
}

// -----

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// A finished column at every point: rows would have to wait for it.
// CHECK-LABEL: func @column_at_every_point
// CHECK:       norm_fusion.column_reduce
// CHECK-NOT:   combine
func.func @column_at_every_point(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>, %w: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<16xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<8x16xf32>)
      outs(%y, %w : tensor<8x16xf32>, tensor<16xf32>) maps = [#e, #e, #c] {
  ^bb0(%xe: f32):
    %s = norm_fusion.column_reduce add, %xe : f32
    norm_fusion.yield %s, %s : f32, f32
  } -> tensor<8x16xf32>, tensor<16xf32>
  return %0#0, %0#1 : tensor<8x16xf32>, tensor<16xf32>
}
