// RUN: norm-fusion-opt %s --norm-fusion-form=row-only=true --split-input-file | FileCheck %s

// What a group reads and the block stores anyway, the group stores: read once
// less. The same twice changes nothing more.
// RUN: norm-fusion-opt %s --norm-fusion-form=row-only=true --split-input-file > %t.once
// RUN: norm-fusion-opt %s --norm-fusion-form=row-only=true --norm-fusion-form=row-only=true --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

#full = affine_map<(m, n) -> (m, n)>

// A residual add whose sum is returned, with the widening that only it needs.

// CHECK-LABEL: func @residual
// CHECK-SAME:    %[[X:.+]]: tensor<8x16xf32>, %[[R:.+]]: tensor<8x16xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         norm_fusion.mixed_reduction
// CHECK-NEXT:      ins(%[[R]], %[[X]] :
// CHECK:           %[[SUM:.+]] = arith.addf
// CHECK:           norm_fusion.row_reduce maximum, %[[SUM]]
// CHECK:           norm_fusion.yield %{{.+}}, %[[SUM]]
// CHECK-NOT:     linalg.generic
func.func @residual(%x: tensor<8x16xf32>, %r: tensor<8x16xbf16>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %wide = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<8x16xbf16>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %sum = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %wide : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %most = linalg.reduce {arith.maximumf} ins(%sum : tensor<8x16xf32>) outs(%fr : tensor<8xf32>) dimensions = [1]
  return %most, %sum : tensor<8xf32>, tensor<8x16xf32>
}

// -----

// What the group reads depends on the sum: it stays where it is.

#full = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func @needed_before
// CHECK:         %[[SUM:.+]] = linalg.generic
// CHECK:         %[[Y:.+]] = linalg.matmul ins(%[[SUM]]
// CHECK:         norm_fusion.mixed_reduction
// CHECK-NEXT:      ins(%[[SUM]], %[[Y]] :
func.func @needed_before(%x: tensor<8x8xf32>, %r: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8xf32>, tensor<8x8xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %sum = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  %y = linalg.matmul ins(%sum, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %both = linalg.map {arith.mulf} ins(%sum, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>)
  %most = linalg.reduce {arith.maximumf} ins(%both : tensor<8x8xf32>) outs(%fr : tensor<8xf32>) dimensions = [1]
  return %most, %sum : tensor<8xf32>, tensor<8x8xf32>
}

// -----

// Nor does a scalar that the group reads come from it.

#full = affine_map<(m, n) -> (m, n)>

// CHECK-LABEL: func @scalar_before
// CHECK:         %[[SUM:.+]] = linalg.generic
// CHECK:         %[[S:.+]] = tensor.extract %[[SUM]]
// CHECK:         norm_fusion.mixed_reduction
// CHECK-NEXT:      ins(%[[SUM]], %[[S]] :
func.func @scalar_before(%x: tensor<8x16xf32>, %r: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %sum = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %s = tensor.extract %sum[%c0, %c0] : tensor<8x16xf32>
  %t = tensor.from_elements %s : tensor<f32>
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %both = linalg.generic {indexing_maps = [#full, affine_map<(m, n) -> ()>, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %t : tensor<8x16xf32>, tensor<f32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %most = linalg.reduce {arith.maximumf} ins(%both : tensor<8x16xf32>) outs(%fr : tensor<8xf32>) dimensions = [1]
  return %most, %sum : tensor<8xf32>, tensor<8x16xf32>
}
