// A reduction of everything comes along with the row reductions that read the same; what reads its result stays outside. Alone it makes no group.
// RUN: norm-fusion-opt %s --norm-fusion-form="row-only=true" | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s --check-prefix=MIXED
// RUN: norm-fusion-opt %s --norm-fusion-form="row-only=true" --norm-fusion-partial-accumulate --norm-fusion-to-linalg | FileCheck %s --check-prefix=LINALG

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#s = affine_map<(m, n) -> ()>

// MIXED-NOT: norm_fusion.mixed_reduction
// CHECK-LABEL: func @amax
// CHECK: %[[OUT:.*]]:2 = norm_fusion.mixed_reduction dims = [row, column]
// CHECK: %[[SUM:.*]] = norm_fusion.row_reduce add
// CHECK: %[[Y:.*]] = arith.mulf %{{.*}}, %[[SUM]]
// CHECK: %[[A:.*]] = math.absf %[[Y]]
// CHECK: %[[ROW:.*]] = norm_fusion.row_reduce maximum, %[[A]] : f32
// CHECK: %[[ALL:.*]] = norm_fusion.column_reduce maximum, %[[ROW]] : f32
// CHECK: norm_fusion.yield {{.*}}%[[ALL]]
// CHECK: -> {{.*}}tensor<f32>
// CHECK: linalg.generic {{.*}} iterator_types = []
// LINALG-LABEL: func @amax
// LINALG: linalg.generic {{.*}} iterator_types = ["reduction"]
func.func @amax(%x: tensor<8x256xf32>) -> (tensor<8x256xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<8xf32>
  %ri = linalg.fill ins(%zero : f32) outs(%ei : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x256xf32>) outs(%ri : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %full = tensor.empty() : tensor<8x256xf32>
  %y = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<8x256xf32>, tensor<8xf32>) outs(%full : tensor<8x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x256xf32>
  %es = tensor.empty() : tensor<f32>
  %si = linalg.fill ins(%low : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %amax = linalg.generic {indexing_maps = [#e, #s], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<8x256xf32>) outs(%si : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %t = arith.maximumf %o, %b : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %scale = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%amax : tensor<f32>) outs(%es : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %a : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  return %y, %scale : tensor<8x256xf32>, tensor<f32>
}

// In two steps, rows first, whose maxima others need, too.
// CHECK-LABEL: func @two_steps
// CHECK: norm_fusion.mixed_reduction dims = [row, column]
// CHECK: %[[ROW:.*]] = norm_fusion.row_reduce maximum
// CHECK-NOT: norm_fusion.row_reduce
// CHECK: %[[ALL:.*]] = norm_fusion.column_reduce maximum, %[[ROW]] : f32
// CHECK: norm_fusion.yield {{.*}}%[[ALL]]
// CHECK-NOT: linalg
// LINALG-LABEL: func @two_steps
func.func @two_steps(%x: tensor<8x256xf32>) -> (tensor<8x256xf32>, tensor<f32>) {
  %low = arith.constant 0xFF800000 : f32
  %er = tensor.empty() : tensor<8xf32>
  %ri = linalg.fill ins(%low : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %ofRow = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x256xf32>) outs(%ri : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %t = arith.maximumf %o, %b : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  %full = tensor.empty() : tensor<8x256xf32>
  %y = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %ofRow : tensor<8x256xf32>, tensor<8xf32>) outs(%full : tensor<8x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x256xf32>
  %es = tensor.empty() : tensor<f32>
  %si = linalg.fill ins(%low : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce {arith.maximumf} ins(%ofRow : tensor<8xf32>) outs(%si : tensor<f32>) dimensions = [0]
  return %y, %all : tensor<8x256xf32>, tensor<f32>
}
