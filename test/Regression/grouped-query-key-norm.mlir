// K-norm under grouped queries as JAX exported it: its dy is summed over the heads of a group.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=5" --check | FileCheck %s
// CHECK: 1 group fused

#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> ()>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4, d3)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0)>
#map10 = affine_map<(d0, d1, d2, d3) -> (0, 0, 0, d3)>
module @jit_g attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x7x32xf32>, %arg1: tensor<16xf32>, %arg2: tensor<2x6x7x16xf32>) -> (tensor<2x7x32xf32> {jax.result_info = "result[0]"}, tensor<16xf32> {jax.result_info = "result[1]"}) {
    %cst = arith.constant dense<-5.000000e-01> : tensor<f32>
    %cst_0 = arith.constant dense<9.99999997E-7> : tensor<f32>
    %cst_1 = arith.constant dense<1.600000e+01> : tensor<f32>
    %cst_2 = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3]] output_shape [2, 7, 2, 16] : tensor<2x7x32xf32> into tensor<2x7x2x16xf32>
    %0 = tensor.empty() : tensor<2x7x2x16xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %expanded : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %2 = tensor.empty() : tensor<2x7x2xf32>
    %3 = linalg.fill ins(%cst_2 : f32) outs(%2 : tensor<2x7x2xf32>) -> tensor<2x7x2xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%1 : tensor<2x7x2x16xf32>) outs(%3 : tensor<2x7x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %out, %in : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2xf32>
    %5 = tensor.empty() : tensor<2x7x2x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<2x7x2xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x1xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %7 : tensor<2x7x2x1xf32>, tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.divf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %9 : tensor<2x7x2x1xf32>, tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.addf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%10 : tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = math.rsqrt %in : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11, %10 : tensor<2x7x2x1xf32>, tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.divf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%13, %12 : tensor<2x7x2x1xf32>, tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %15 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%11 : tensor<2x7x2x1xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x16xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %15 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %17 = tensor.empty() : tensor<1x1x1x16xf32>
    %18 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg1 : tensor<16xf32>) outs(%17 : tensor<1x1x1x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x1x1x16xf32>
    %19 = tensor.empty() : tensor<2x7x6x16xf32>
    %20 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg2 : tensor<2x6x7x16xf32>) outs(%19 : tensor<2x7x6x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x6x16xf32>
    %expanded_3 = tensor.expand_shape %20 [[0], [1], [2, 3], [4]] output_shape [2, 7, 2, 3, 16] : tensor<2x7x6x16xf32> into tensor<2x7x2x3x16xf32>
    %21 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<2x7x2x16xf32>) -> tensor<2x7x2x16xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded_3 : tensor<2x7x2x3x16xf32>) outs(%21 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %out, %in : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %22 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %24 = tensor.empty() : tensor<16xf32>
    %25 = linalg.fill ins(%cst_2 : f32) outs(%24 : tensor<16xf32>) -> tensor<16xf32>
    %26 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%23 : tensor<2x7x2x16xf32>) outs(%25 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %out, %in : f32
      linalg.yield %41 : f32
    } -> tensor<16xf32>
    %expanded_4 = tensor.expand_shape %26 [[0, 1, 2, 3]] output_shape [1, 1, 1, 16] : tensor<16xf32> into tensor<1x1x1x16xf32>
    %27 = linalg.generic {indexing_maps = [#map10, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%18 : tensor<1x1x1x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x16xf32>
    %28 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22, %27 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %29 = linalg.generic {indexing_maps = [#map8, #map9], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%expanded_4 : tensor<1x1x1x16xf32>) outs(%25 : tensor<16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %out, %in : f32
      linalg.yield %41 : f32
    } -> tensor<16xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %28 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%30 : tensor<2x7x2x16xf32>) outs(%3 : tensor<2x7x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %out, %in : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2xf32>
    %expanded_5 = tensor.expand_shape %31 [[0], [1], [2, 3]] output_shape [2, 7, 2, 1] : tensor<2x7x2xf32> into tensor<2x7x2x1xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%28, %15 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_5, %14 : tensor<2x7x2x1xf32>, tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%33, %7 : tensor<2x7x2x1xf32>, tensor<2x7x2x1xf32>) outs(%5 : tensor<2x7x2x1xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.divf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x1xf32>
    %35 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<2x7x2x1xf32>) outs(%3 : tensor<2x7x2xf32>) {
    ^bb0(%in: f32, %out: f32):
      %41 = arith.addf %out, %in : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2xf32>
    %36 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x7x2xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x7x2x16xf32>
    %37 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded, %36 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %37 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.addf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %expanded : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.mulf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %39 : tensor<2x7x2x16xf32>, tensor<2x7x2x16xf32>) outs(%0 : tensor<2x7x2x16xf32>) {
    ^bb0(%in: f32, %in_6: f32, %out: f32):
      %41 = arith.addf %in, %in_6 : f32
      linalg.yield %41 : f32
    } -> tensor<2x7x2x16xf32>
    %collapsed = tensor.collapse_shape %40 [[0], [1], [2, 3]] : tensor<2x7x2x16xf32> into tensor<2x7x32xf32>
    return %collapsed, %29 : tensor<2x7x32xf32>, tensor<16xf32>
  }
}
