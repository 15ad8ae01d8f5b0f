// RUN: norm-fusion-opt %s | norm-fusion-opt | FileCheck %s
// RUN: norm-fusion-opt %s --mlir-print-op-generic | norm-fusion-opt | FileCheck %s

#full = affine_map<(m, n) -> (m, n)>
#turned = affine_map<(m, n) -> (n, m)>
#row = affine_map<(m, n) -> (m)>
#col = affine_map<(m, n) -> (n)>
#none = affine_map<(m, n) -> ()>

// CHECK-LABEL: func @tensors
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK-NEXT:      ins(%{{.+}}, %{{.+}}, %{{.+}} : tensor<?x64xbf16>, tensor<?xf32>, f32)
// CHECK-NEXT:      outs(%{{.+}}, %{{.+}} : tensor<64x?xbf16>, tensor<64xf32>)
// CHECK:         norm_fusion.row_reduce add, %{{.+}} : f32
// CHECK:         norm_fusion.column_reduce maximum, %{{.+}} : f32
// CHECK:         norm_fusion.yield %{{.+}}, %{{.+}} : bf16, f32
// CHECK:         -> tensor<64x?xbf16>, tensor<64xf32>
func.func @tensors(%x: tensor<?x64xbf16>, %r: tensor<?xf32>, %s: f32,
                   %a: tensor<64x?xbf16>, %b: tensor<64xf32>)
    -> (tensor<64x?xbf16>, tensor<64xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x, %r, %s : tensor<?x64xbf16>, tensor<?xf32>, f32)
      outs(%a, %b : tensor<64x?xbf16>, tensor<64xf32>)
      maps = [#full, #row, #none, #turned, #col] {
  ^bb0(%xe: bf16, %re: f32, %se: f32):
    %1 = arith.extf %xe : bf16 to f32
    %2 = arith.mulf %1, %re : f32
    %3 = norm_fusion.row_reduce add, %2 : f32
    %4 = arith.mulf %3, %se : f32
    %5 = arith.truncf %4 : f32 to bf16
    %6 = norm_fusion.column_reduce maximum, %2 : f32
    norm_fusion.yield %5, %6 : bf16, f32
  } -> tensor<64x?xbf16>, tensor<64xf32>
  return %0#0, %0#1 : tensor<64x?xbf16>, tensor<64xf32>
}

// Part of the rows is kept, part of a row is reduced first.

// CHECK-LABEL: func @over
// CHECK:         norm_fusion.row_reduce maxnum, %{{.+}} over [3] : f32
// CHECK:         norm_fusion.column_reduce add, %{{.+}} over [1] : f32
func.func @over(%x: tensor<2x4x8x16xf32>, %a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>)
    -> (tensor<2x4x8xf32>, tensor<2x8x16xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column, column]
      ins(%x : tensor<2x4x8x16xf32>)
      outs(%a, %b : tensor<2x4x8xf32>, tensor<2x8x16xf32>)
      maps = [affine_map<(b, t, g, n) -> (b, t, g, n)>,
              affine_map<(b, t, g, n) -> (b, t, g)>,
              affine_map<(b, t, g, n) -> (b, g, n)>] {
  ^bb0(%xe: f32):
    %1 = norm_fusion.row_reduce maxnum, %xe over [3] : f32
    %2 = norm_fusion.column_reduce add, %xe over [1] : f32
    norm_fusion.yield %1, %2 : f32, f32
  } -> tensor<2x4x8xf32>, tensor<2x8x16xf32>
  return %0#0, %0#1 : tensor<2x4x8xf32>, tensor<2x8x16xf32>
}

// Split and on memrefs.

// CHECK-LABEL: func @split
// CHECK:         norm_fusion.mixed_reduction
// CHECK:         norm_fusion.partial_accumulate add, %{{.+}} : f32
// CHECK:       } combine {
// CHECK:       ^bb0(%{{.+}}: f32, %{{.+}}: f32, %[[TOTAL:.+]]: f32):
// CHECK:         norm_fusion.yield %[[TOTAL]] : f32
// CHECK-NOT:   ->
// CHECK:         return
func.func @split(%x: memref<?x64xf32>, %w: memref<64xf32>,
                 %a: memref<?xf32>, %b: memref<64xf32>) {
  norm_fusion.mixed_reduction dims = [row, column]
      ins(%x, %w : memref<?x64xf32>, memref<64xf32>)
      outs(%a, %b : memref<?xf32>, memref<64xf32>)
      maps = [#full, #col, #row, #col] {
  ^bb0(%xe: f32, %we: f32):
    %0 = arith.mulf %xe, %we : f32
    %1 = norm_fusion.row_reduce add, %0 : f32
    norm_fusion.partial_accumulate add, %xe : f32
    norm_fusion.yield %1 : f32
  } combine {
  ^bb0(%xe: f32, %we: f32, %total: f32):
    norm_fusion.yield %total : f32
  }
  return
}

// Where a point is.

// CHECK-LABEL: func @index
// CHECK:         %[[I:.+]] = norm_fusion.index 0 : index
// CHECK:         %[[J:.+]] = norm_fusion.index 1 : index
// CHECK:         arith.cmpi ule, %[[J]], %[[I]] : index
func.func @index(%x: tensor<?x64xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<?x64xf32>) outs(%r : tensor<?xf32>)
      maps = [#full, #row] {
  ^bb0(%xe: f32):
    %zero = arith.constant 0.0 : f32
    %i = norm_fusion.index 0 : index
    %j = norm_fusion.index 1 : index
    %1 = arith.cmpi ule, %j, %i : index
    %2 = arith.select %1, %xe, %zero : f32
    %3 = norm_fusion.row_reduce add, %2 : f32
    norm_fusion.yield %3 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
