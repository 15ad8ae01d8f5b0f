// The second group makes again what the first one has made of its sums: sums
// that only the first has by then. The next round sees its results instead.

// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --check --emulator=sms=3

// CHECK-LABEL:   func @main
// CHECK-COUNT-2: norm_fusion.mixed_reduction

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (0, d1)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d1)>
func.func @main(%arg0: tensor<40x64xf32>, %arg1: tensor<40x64xf32>, %arg2: tensor<64xf32>) -> (tensor<40x64xf32>, tensor<64xf32>, tensor<40x64xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 1.000000e-01 : f32
  %cst_1 = arith.constant 4.000000e+01 : f32
  %cst_2 = arith.constant 6.400000e+01 : f32
  %0 = tensor.empty() : tensor<1x64xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<1x64xf32>) -> tensor<1x64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "parallel"]} ins(%arg1 : tensor<40x64xf32>) outs(%1 : tensor<1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.addf %in, %out : f32
    linalg.yield %23 : f32
  } -> tensor<1x64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<1x64xf32>) outs(%0 : tensor<1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.divf %in, %cst_1 : f32
    linalg.yield %23 : f32
  } -> tensor<1x64xf32>
  %4 = tensor.empty() : tensor<40x64xf32>
  %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1, %3 : tensor<40x64xf32>, tensor<1x64xf32>) outs(%4 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %23 = arith.negf %in_3 : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<40x64xf32>) outs(%arg1 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.mulf %out, %out : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %7 = tensor.empty() : tensor<40x1xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<40x1xf32>) -> tensor<40x1xf32>
  %9 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%6 : tensor<40x64xf32>) outs(%8 : tensor<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.addf %in, %out : f32
    linalg.yield %23 : f32
  } -> tensor<40x1xf32>
  %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<40x1xf32>) outs(%7 : tensor<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.divf %in, %cst_2 : f32
    linalg.yield %23 : f32
  } -> tensor<40x1xf32>
  %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<40x1xf32>) outs(%7 : tensor<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.addf %in, %cst_0 : f32
    linalg.yield %23 : f32
  } -> tensor<40x1xf32>
  %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "reduction"]} ins(%11 : tensor<40x1xf32>) outs(%7 : tensor<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = math.rsqrt %in : f32
    linalg.yield %23 : f32
  } -> tensor<40x1xf32>
  %13 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%5, %12 : tensor<40x64xf32>, tensor<40x1xf32>) outs(%4 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %23 = arith.mulf %in, %in_3 : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %13 : tensor<40x64xf32>, tensor<40x64xf32>) outs(%4 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %23 = arith.mulf %in, %in_3 : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %15 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%14 : tensor<40x64xf32>) outs(%8 : tensor<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.addf %in, %out : f32
    linalg.yield %23 : f32
  } -> tensor<40x1xf32>
  %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<40x1xf32>) outs(%7 : tensor<40x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.divf %in, %cst_2 : f32
    linalg.yield %23 : f32
  } -> tensor<40x1xf32>
  %17 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %16 : tensor<40x64xf32>, tensor<40x1xf32>) outs(%4 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %23 = arith.mulf %in, %in_3 : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %18 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %17 : tensor<40x64xf32>, tensor<40x64xf32>) outs(%4 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %23 = arith.subf %in, %in_3 : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %19 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "reduction"]} ins(%18, %12 : tensor<40x64xf32>, tensor<40x1xf32>) outs(%4 : tensor<40x64xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %23 = arith.mulf %in, %in_3 : f32
    linalg.yield %23 : f32
  } -> tensor<40x64xf32>
  %20 = tensor.empty() : tensor<64xf32>
  %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<64xf32>) -> tensor<64xf32>
  %22 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["reduction", "parallel"]} ins(%arg0 : tensor<40x64xf32>) outs(%21 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %23 = arith.addf %in, %out : f32
    linalg.yield %23 : f32
  } -> tensor<64xf32>
  return %19, %22, %14 : tensor<40x64xf32>, tensor<64xf32>, tensor<40x64xf32>
}
