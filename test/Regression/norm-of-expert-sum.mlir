// RMSNorm behind a sum over experts, as PyTorch exported it.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=5" --check | FileCheck %s
// CHECK: 1 group fused

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0, 0)>
#map5 = affine_map<(d0, d1) -> (d1)>
#map6 = affine_map<(d0, d1) -> (0, d1)>
#map7 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @main(%arg0: tensor<9x48xf32>, %arg1: tensor<9x2x48xf32>, %arg2: tensor<9x2xf32>, %arg3: tensor<48xf32>) -> (tensor<9x2x48xf32>, tensor<9x2xf32>, tensor<48xf32>) {
    %c3_i64 = arith.constant 3 : i64
    %c1_i64 = arith.constant 1 : i64
    %c2_i64 = arith.constant 2 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 9.9999999999999995E-7 : f64
    %cst_1 = arith.constant 4.800000e+01 : f32
    %cst_2 = arith.constant -5.000000e-01 : f32
    %cst_3 = arith.constant 2.000000e+00 : f32
    %expanded = tensor.expand_shape %arg2 [[0], [1, 2]] output_shape [9, 2, 1] : tensor<9x2xf32> into tensor<9x2x1xf32>
    %0 = tensor.empty() : tensor<9x2x48xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %expanded : tensor<9x2x48xf32>, tensor<9x2x1xf32>) outs(%0 : tensor<9x2x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x2x48xf32>
    %2 = tensor.empty() : tensor<9x48xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<9x48xf32>) -> tensor<9x48xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction", "parallel"]} ins(%1 : tensor<9x2x48xf32>) outs(%3 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.fpowi %in, %c2_i64 : f32, i64
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %6 = tensor.empty() : tensor<9x1xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<9x1xf32>) -> tensor<9x1xf32>
    %8 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%5 : tensor<9x48xf32>) outs(%7 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<9x1xf32>) outs(%6 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.divf %in, %cst_1 : f32
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<9x1xf32>) outs(%6 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.truncf %cst_0 : f64 to f32
      %37 = arith.addf %in, %36 : f32
      linalg.yield %37 : f32
    } -> tensor<9x1xf32>
    %11 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<9x1xf32>) outs(%6 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.rsqrt %in : f32
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%4, %11 : tensor<9x48xf32>, tensor<9x1xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %13 = linalg.generic {indexing_maps = [#map3, #map5, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg3 : tensor<9x48xf32>, tensor<48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%arg0, %12 : tensor<9x48xf32>, tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %15 = tensor.empty() : tensor<1x48xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%15 : tensor<1x48xf32>) -> tensor<1x48xf32>
    %17 = linalg.generic {indexing_maps = [#map3, #map6], iterator_types = ["reduction", "parallel"]} ins(%14 : tensor<9x48xf32>) outs(%16 : tensor<1x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<1x48xf32>
    %collapsed = tensor.collapse_shape %17 [[0, 1]] : tensor<1x48xf32> into tensor<48xf32>
    %18 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%13, %4 : tensor<9x48xf32>, tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %19 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%13, %11 : tensor<9x48xf32>, tensor<9x1xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%18 : tensor<9x48xf32>) outs(%7 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %21 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<9x1xf32>) outs(%6 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.fpowi %in, %c3_i64 : f32, i64
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<9x1xf32>) outs(%6 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.mulf %in, %cst_2 : f32
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%22, %21 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%6 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x1xf32>
    %collapsed_4 = tensor.collapse_shape %23 [[0, 1]] : tensor<9x1xf32> into tensor<9xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map3], iterator_types = ["parallel", "parallel"]} ins(%collapsed_4 : tensor<9xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x48xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%24 : tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.divf %in, %cst_1 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = math.fpowi %in, %c1_i64 : f32, i64
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.mulf %in, %cst_3 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%25, %27 : tensor<9x48xf32>, tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %29 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%19, %28 : tensor<9x48xf32>, tensor<9x48xf32>) outs(%2 : tensor<9x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.addf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x48xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%29 : tensor<9x48xf32>) outs(%0 : tensor<9x2x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x2x48xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %arg1 : tensor<9x2x48xf32>, tensor<9x2x48xf32>) outs(%0 : tensor<9x2x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x2x48xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%30, %expanded : tensor<9x2x48xf32>, tensor<9x2x1xf32>) outs(%0 : tensor<9x2x48xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %36 = arith.mulf %in, %in_6 : f32
      linalg.yield %36 : f32
    } -> tensor<9x2x48xf32>
    %33 = tensor.empty() : tensor<9x2x1xf32>
    %34 = linalg.fill ins(%cst : f32) outs(%33 : tensor<9x2x1xf32>) -> tensor<9x2x1xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%31 : tensor<9x2x48xf32>) outs(%34 : tensor<9x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %36 = arith.addf %in, %out : f32
      linalg.yield %36 : f32
    } -> tensor<9x2x1xf32>
    %collapsed_5 = tensor.collapse_shape %35 [[0], [1, 2]] : tensor<9x2x1xf32> into tensor<9x2xf32>
    return %32, %collapsed_5, %collapsed : tensor<9x2x48xf32>, tensor<9x2xf32>, tensor<48xf32>
  }
}
