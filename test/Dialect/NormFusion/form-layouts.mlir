// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file | FileCheck %s

// Flattened and unflattened rows, extents of 1 and a keepdim result are one
// space of two dimensions.

// CHECK-LABEL: func @flattened
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x1x6x16xf32>
// CHECK:         %[[FLAT:.+]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2], [3]]
// CHECK:         %[[R:.+]]:2 = norm_fusion.mixed_reduction dims = [row, column]
// CHECK-NEXT:      ins(%[[FLAT]] : tensor<12x16xf32>)
// CHECK:         tensor.expand_shape %[[R]]#{{[01]}} {{.*}} into tensor<2x1x6x1xf32>
func.func @flattened(%x: tensor<2x1x6x16xf32>) -> (tensor<2x1x6x1xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<2x1x6x1xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x1x6x1xf32>) -> tensor<2x1x6x1xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>,
                       affine_map<(a, b, c, d) -> (a, b, c, 0)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x1x6x16xf32>) outs(%fr : tensor<2x1x6x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x1x6x1xf32>
  %flat = tensor.collapse_shape %x [[0, 1, 2], [3]]
      : tensor<2x1x6x16xf32> into tensor<12x16xf32>
  %ec = tensor.empty() : tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<16xf32>) -> tensor<16xf32>
  %c = linalg.reduce {arith.addf} ins(%flat : tensor<12x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r, %c : tensor<2x1x6x1xf32>, tensor<16xf32>
}

// -----

// Channels first: the columns are in the middle; the layout is in the maps.

// CHECK-DAG:   #[[NCHW:.+]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG:   #[[C:.+]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-LABEL: func @channels_first
// CHECK-NOT:     transpose
// CHECK:         norm_fusion.mixed_reduction dims = [row, row, column]
// CHECK:           maps = [#[[NCHW]], #[[NCHW]], #[[C]]]
// CHECK:         norm_fusion.row_reduce add, %{{.+}} : f32
// CHECK:         norm_fusion.column_reduce add, %{{.+}} : f32
func.func @channels_first(%x: tensor<2x8x4x4xf32>) -> (tensor<2x8x4x4xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<2x4x4xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<2x8x4x4xf32>)
      outs(%fr : tensor<2x4x4xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<2x8x4x4xf32>
  %b = linalg.broadcast ins(%s : tensor<2x4x4xf32>)
      outs(%e : tensor<2x8x4x4xf32>) dimensions = [1]
  %dx = linalg.map {arith.subf} ins(%x, %b : tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>)
      outs(%e : tensor<2x8x4x4xf32>)
  %ec = tensor.empty() : tensor<8xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<8xf32>) -> tensor<8xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<2x8x4x4xf32>)
      outs(%fc : tensor<8xf32>) dimensions = [0, 2, 3]
  return %dx, %c : tensor<2x8x4x4xf32>, tensor<8xf32>
}

// -----

// One column sum an entry of the batch: part of the rows is kept.

// CHECK-LABEL: func @segmented
// CHECK:         norm_fusion.mixed_reduction dims = [row, row, column]
// CHECK-DAG:       norm_fusion.row_reduce add, %{{.+}} : f32
// CHECK-DAG:       norm_fusion.column_reduce add, %{{.+}} over [1] : f32
func.func @segmented(%x: tensor<2x6x16xf32>) -> (tensor<2x6xf32>, tensor<2x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<2x6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x6xf32>) -> tensor<2x6xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<2x6x16xf32>)
      outs(%fr : tensor<2x6xf32>) dimensions = [2]
  %ec = tensor.empty() : tensor<2x16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<2x16xf32>) -> tensor<2x16xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<2x6x16xf32>)
      outs(%fc : tensor<2x16xf32>) dimensions = [1]
  return %r, %c : tensor<2x6xf32>, tensor<2x16xf32>
}

// -----

// A column sum in two steps is one column sum.

// CHECK-LABEL: func @two_steps
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK:         norm_fusion.column_reduce add
// CHECK-NOT:     norm_fusion.column_reduce
// CHECK-NOT:     linalg
func.func @two_steps(%x: tensor<12x16xf32>) -> (tensor<12xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<12xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<12x16xf32>)
      outs(%fr : tensor<12xf32>) dimensions = [1]
  %split = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 4, 16]
      : tensor<12x16xf32> into tensor<3x4x16xf32>
  %e1 = tensor.empty() : tensor<3x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x16xf32>) -> tensor<3x16xf32>
  %c1 = linalg.reduce {arith.addf} ins(%split : tensor<3x4x16xf32>)
      outs(%f1 : tensor<3x16xf32>) dimensions = [1]
  %e2 = tensor.empty() : tensor<16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16xf32>) -> tensor<16xf32>
  %c2 = linalg.reduce {arith.addf} ins(%c1 : tensor<3x16xf32>)
      outs(%f2 : tensor<16xf32>) dimensions = [0]
  return %r, %c2 : tensor<12xf32>, tensor<16xf32>
}

// -----

// Unless the first step's result is needed, too: that is what the group makes.

// CHECK-LABEL: func @first_step_kept
// CHECK:         norm_fusion.mixed_reduction dims = [row, row, column]
// CHECK:         norm_fusion.column_reduce add
// CHECK-NOT:     norm_fusion.column_reduce
// CHECK:         linalg.reduce
func.func @first_step_kept(%x: tensor<12x16xf32>) -> (tensor<12xf32>, tensor<3x16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<12xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<12x16xf32>)
      outs(%fr : tensor<12xf32>) dimensions = [1]
  %split = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 4, 16]
      : tensor<12x16xf32> into tensor<3x4x16xf32>
  %e1 = tensor.empty() : tensor<3x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x16xf32>) -> tensor<3x16xf32>
  %c1 = linalg.reduce {arith.addf} ins(%split : tensor<3x4x16xf32>)
      outs(%f1 : tensor<3x16xf32>) dimensions = [1]
  %e2 = tensor.empty() : tensor<16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16xf32>) -> tensor<16xf32>
  %c2 = linalg.reduce {arith.addf} ins(%c1 : tensor<3x16xf32>)
      outs(%f2 : tensor<16xf32>) dimensions = [0]
  return %r, %c1, %c2 : tensor<12xf32>, tensor<3x16xf32>, tensor<16xf32>
}

// -----

// Or other columns are summed over the first step's rows alone.

// CHECK-LABEL: func @beside_segments
// CHECK:         norm_fusion.mixed_reduction dims = [row, row, column]
// CHECK-COUNT-2: norm_fusion.column_reduce add
// CHECK:         linalg.reduce
func.func @beside_segments(%x: tensor<12x16xf32>) -> (tensor<12xf32>, tensor<3x16xf32>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<12xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<12xf32>) -> tensor<12xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<12x16xf32>)
      outs(%fr : tensor<12xf32>) dimensions = [1]
  %split = tensor.expand_shape %x [[0, 1], [2]] output_shape [3, 4, 16]
      : tensor<12x16xf32> into tensor<3x4x16xf32>
  %e1 = tensor.empty() : tensor<3x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x16xf32>) -> tensor<3x16xf32>
  %c1 = linalg.reduce {arith.addf} ins(%split : tensor<3x4x16xf32>)
      outs(%f1 : tensor<3x16xf32>) dimensions = [1]
  %sq = linalg.map {arith.mulf} ins(%split, %split : tensor<3x4x16xf32>, tensor<3x4x16xf32>)
      outs(%split : tensor<3x4x16xf32>)
  %c3 = linalg.reduce {arith.addf} ins(%sq : tensor<3x4x16xf32>)
      outs(%f1 : tensor<3x16xf32>) dimensions = [1]
  %e2 = tensor.empty() : tensor<16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<16xf32>) -> tensor<16xf32>
  %c2 = linalg.reduce {arith.addf} ins(%c1 : tensor<3x16xf32>)
      outs(%f2 : tensor<16xf32>) dimensions = [0]
  return %r, %c3, %c2 : tensor<12xf32>, tensor<3x16xf32>, tensor<16xf32>
}
