// rms(rms(x, w).T, v).T as JAX exported it (MLP-Mixer): each norm's rows are the other's columns.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=5" --check | FileCheck %s
// CHECK: 2 groups fused

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> ()>
#map3 = affine_map<(d0, d1) -> (d0, 0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
#map6 = affine_map<(d0, d1) -> (d1, d0)>
module @jit_g attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9x40xf32>, %arg1: tensor<40xf32>, %arg2: tensor<9xf32>, %arg3: tensor<9x40xf32>) -> (tensor<9x40xf32> {jax.result_info = "result[0]"}, tensor<40xf32> {jax.result_info = "result[1]"}, tensor<9xf32> {jax.result_info = "result[2]"}) {
    %cst = arith.constant dense<9.000000e+00> : tensor<f32>
    %cst_0 = arith.constant dense<-5.000000e-01> : tensor<f32>
    %cst_1 = arith.constant dense<9.99999997E-7> : tensor<f32>
    %cst_2 = arith.constant dense<4.000000e+01> : tensor<f32>
    %cst_3 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<9x40xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg0 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %2 = tensor.empty() : tensor<9xf32>
    %3 = linalg.fill ins(%cst_3 : f32) outs(%2 : tensor<9xf32>) -> tensor<9xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<9x40xf32>) outs(%3 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<9xf32>
    %5 = tensor.empty() : tensor<9x1xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<9xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x1xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %7 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.divf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %9 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x1xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %9 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.addf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = math.rsqrt %in : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%11, %10 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.divf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %13 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %12 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %15 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<9x1xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %15 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %17 = tensor.empty() : tensor<1x40xf32>
    %18 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<40xf32>) outs(%17 : tensor<1x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x40xf32>
    %19 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%18 : tensor<1x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%16, %19 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %21 = tensor.empty() : tensor<40x9xf32>
    %22 = linalg.generic {indexing_maps = [#map6, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<9x40xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x9xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %22 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %24 = tensor.empty() : tensor<40xf32>
    %25 = linalg.fill ins(%cst_3 : f32) outs(%24 : tensor<40xf32>) -> tensor<40xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%23 : tensor<40x9xf32>) outs(%25 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<40xf32>
    %27 = tensor.empty() : tensor<40x1xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%26 : tensor<40xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x1xf32>
    %29 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst : tensor<f32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x1xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%28, %29 : tensor<40x1xf32>, tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.divf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %31 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<f32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x1xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %31 : tensor<40x1xf32>, tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.addf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%32 : tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = math.rsqrt %in : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%33, %32 : tensor<40x1xf32>, tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.divf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %35 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<f32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x1xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%35, %34 : tensor<40x1xf32>, tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %37 = linalg.generic {indexing_maps = [#map3, #map], iterator_types = ["parallel", "parallel"]} ins(%33 : tensor<40x1xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x9xf32>
    %38 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %37 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %39 = tensor.empty() : tensor<1x9xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<9xf32>) outs(%39 : tensor<1x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x9xf32>
    %41 = linalg.generic {indexing_maps = [#map6, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<9x40xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x9xf32>
    %42 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%38, %41 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %43 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "reduction"]} ins(%42 : tensor<40x9xf32>) outs(%3 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<9xf32>
    %expanded = tensor.expand_shape %43 [[0, 1]] output_shape [1, 9] : tensor<9xf32> into tensor<1x9xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map], iterator_types = ["parallel", "parallel"]} ins(%40 : tensor<1x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x9xf32>
    %45 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%41, %44 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "reduction"]} ins(%expanded : tensor<1x9xf32>) outs(%3 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<9xf32>
    %47 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %45 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %48 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%47 : tensor<40x9xf32>) outs(%25 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<40xf32>
    %expanded_4 = tensor.expand_shape %48 [[0, 1]] output_shape [40, 1] : tensor<40xf32> into tensor<40x1xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%45, %37 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %50 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_4, %36 : tensor<40x1xf32>, tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %51 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%50, %29 : tensor<40x1xf32>, tensor<40x1xf32>) outs(%27 : tensor<40x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.divf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x1xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%51 : tensor<40x1xf32>) outs(%25 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<40xf32>
    %53 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%52 : tensor<40xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<40x9xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%22, %53 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%49, %54 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.addf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %56 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%53, %22 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%55, %56 : tensor<40x9xf32>, tensor<40x9xf32>) outs(%21 : tensor<40x9xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.addf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<40x9xf32>
    %58 = linalg.generic {indexing_maps = [#map6, #map], iterator_types = ["parallel", "parallel"]} ins(%57 : tensor<40x9xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %59 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%16, %58 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %60 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "reduction"]} ins(%59 : tensor<9x40xf32>) outs(%25 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<40xf32>
    %expanded_5 = tensor.expand_shape %60 [[0, 1]] output_shape [1, 40] : tensor<40xf32> into tensor<1x40xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%58, %19 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %62 = linalg.generic {indexing_maps = [#map6, #map1], iterator_types = ["parallel", "reduction"]} ins(%expanded_5 : tensor<1x40xf32>) outs(%25 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<40xf32>
    %63 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %61 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %64 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%63 : tensor<9x40xf32>) outs(%3 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<9xf32>
    %expanded_6 = tensor.expand_shape %64 [[0, 1]] output_shape [9, 1] : tensor<9xf32> into tensor<9x1xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%61, %15 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %66 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_6, %14 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%66, %7 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%5 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.divf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x1xf32>
    %68 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%67 : tensor<9x1xf32>) outs(%3 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<9xf32>
    %69 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%68 : tensor<9xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %69 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%65, %70 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.addf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %72 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%69, %arg0 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.mulf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%71, %72 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%0 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_7: f32, %out: f32):
      %74 = arith.addf %in, %in_7 : f32
      linalg.yield %74 : f32
    } -> tensor<9x40xf32>
    return %73, %62, %46 : tensor<9x40xf32>, tensor<40xf32>, tensor<9xf32>
  }
}
