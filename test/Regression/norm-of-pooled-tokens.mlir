// LayerNorm behind mean pooling, as PyTorch exported it.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=5" --check | FileCheck %s
// CHECK: 1 group fused

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<5x8x28xf32>, %arg1: tensor<28xf32>, %arg2: tensor<28xf32>, %arg3: tensor<5x28xf32>) -> (tensor<5x8x28xf32>, tensor<28xf32>, tensor<28xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : f64
    %cst_1 = arith.constant 1.000000e-05 : f64
    %cst_2 = arith.constant 8.000000e+00 : f32
    %cst_3 = arith.constant 2.800000e+01 : f64
    %cst_4 = arith.constant 2.800000e+01 : f32
    %0 = tensor.empty() : tensor<5x28xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<5x28xf32>) -> tensor<5x28xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg0 : tensor<5x8x28xf32>) outs(%1 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<5x28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.divf %in, %cst_2 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %4 = tensor.empty() : tensor<5x28xf64>
    %5 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<5x28xf32>) outs(%4 : tensor<5x28xf64>) {
    ^bb0(%in: f32, %out: f64):
      %41 = arith.extf %in : f32 to f64
      linalg.yield %41 : f64
    } -> tensor<5x28xf64>
    %6 = tensor.empty() : tensor<5x1xf64>
    %7 = linalg.fill ins(%cst_0 : f64) outs(%6 : tensor<5x1xf64>) -> tensor<5x1xf64>
    %8 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%5 : tensor<5x28xf64>) outs(%7 : tensor<5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %41 = arith.addf %in, %out : f64
      linalg.yield %41 : f64
    } -> tensor<5x1xf64>
    %9 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<5x1xf64>) outs(%6 : tensor<5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %41 = arith.divf %in, %cst_3 : f64
      linalg.yield %41 : f64
    } -> tensor<5x1xf64>
    %10 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%5, %9 : tensor<5x28xf64>, tensor<5x1xf64>) outs(%4 : tensor<5x28xf64>) {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %41 = arith.subf %in, %in_5 : f64
      linalg.yield %41 : f64
    } -> tensor<5x28xf64>
    %11 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%10, %10 : tensor<5x28xf64>, tensor<5x28xf64>) outs(%4 : tensor<5x28xf64>) {
    ^bb0(%in: f64, %in_5: f64, %out: f64):
      %41 = arith.mulf %in, %in_5 : f64
      linalg.yield %41 : f64
    } -> tensor<5x28xf64>
    %12 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%11 : tensor<5x28xf64>) outs(%7 : tensor<5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %41 = arith.addf %in, %out : f64
      linalg.yield %41 : f64
    } -> tensor<5x1xf64>
    %13 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<5x1xf64>) outs(%6 : tensor<5x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %41 = arith.divf %in, %cst_3 : f64
      linalg.yield %41 : f64
    } -> tensor<5x1xf64>
    %14 = tensor.empty() : tensor<5x1xf32>
    %15 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<5x1xf64>) outs(%14 : tensor<5x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %41 = arith.truncf %in : f64 to f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %16 = linalg.fill ins(%cst : f32) outs(%14 : tensor<5x1xf32>) -> tensor<5x1xf32>
    %17 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<5x28xf32>) outs(%16 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %18 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<5x1xf32>) outs(%14 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.divf %in, %cst_4 : f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %19 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<5x1xf32>) outs(%14 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.truncf %cst_1 : f64 to f32
      %42 = arith.addf %in, %41 : f32
      linalg.yield %42 : f32
    } -> tensor<5x1xf32>
    %20 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<5x1xf32>) outs(%14 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = math.rsqrt %in : f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %21 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%3, %18 : tensor<5x28xf32>, tensor<5x1xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.subf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %22 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%21, %20 : tensor<5x28xf32>, tensor<5x1xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.mulf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %23 = linalg.generic {indexing_maps = [#map2, #map4, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg3, %arg1 : tensor<5x28xf32>, tensor<28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.mulf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %24 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<5x28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.mulf %in, %cst_4 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%23 : tensor<5x28xf32>) outs(%16 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %26 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%23, %22 : tensor<5x28xf32>, tensor<5x28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.mulf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %27 = linalg.generic {indexing_maps = [#map2, #map3], iterator_types = ["parallel", "reduction"]} ins(%26 : tensor<5x28xf32>) outs(%16 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %28 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%22, %27 : tensor<5x28xf32>, tensor<5x1xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.mulf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map3, #map2], iterator_types = ["parallel", "parallel"]} ins(%24, %25 : tensor<5x28xf32>, tensor<5x1xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.subf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %30 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%29, %28 : tensor<5x28xf32>, tensor<5x28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.subf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<5x1xf32>) outs(%14 : tensor<5x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.divf %in, %cst_4 : f32
      linalg.yield %41 : f32
    } -> tensor<5x1xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%31, %30 : tensor<5x1xf32>, tensor<5x28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.mulf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %33 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = ["parallel", "parallel"]} ins(%arg3, %22 : tensor<5x28xf32>, tensor<5x28xf32>) outs(%0 : tensor<5x28xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %41 = arith.mulf %in, %in_5 : f32
      linalg.yield %41 : f32
    } -> tensor<5x28xf32>
    %34 = tensor.empty() : tensor<28xf32>
    %35 = linalg.fill ins(%cst : f32) outs(%34 : tensor<28xf32>) -> tensor<28xf32>
    %36 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["reduction", "parallel"]} ins(%33 : tensor<5x28xf32>) outs(%35 : tensor<28xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<28xf32>
    %37 = linalg.generic {indexing_maps = [#map2, #map4], iterator_types = ["reduction", "parallel"]} ins(%arg3 : tensor<5x28xf32>) outs(%35 : tensor<28xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %in, %out : f32
      linalg.yield %41 : f32
    } -> tensor<28xf32>
    %38 = tensor.empty() : tensor<5x8x28xf32>
    %39 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%32 : tensor<5x28xf32>) outs(%38 : tensor<5x8x28xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<5x8x28xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%39 : tensor<5x8x28xf32>) outs(%38 : tensor<5x8x28xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.divf %in, %cst_2 : f32
      linalg.yield %41 : f32
    } -> tensor<5x8x28xf32>
    return %40, %36, %37 : tensor<5x8x28xf32>, tensor<28xf32>, tensor<28xf32>
  }
}
