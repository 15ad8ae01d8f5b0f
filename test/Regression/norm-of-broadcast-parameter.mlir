// A norm of a parameter that is broadcast over the batch, as JAX exported it: its dy is a sum over the batch.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=5" --check | FileCheck %s
// CHECK: 1 group fused

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1, d2) -> (d2, d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (d1, d0)>
#map6 = affine_map<(d0, d1) -> (d1)>
module @jit_g {
  func.func public @main(%arg0: tensor<9x40xf32>, %arg1: tensor<3x9x40xf32>, %arg2: tensor<40xf32>, %arg3: tensor<40xf32>, %arg4: tensor<3x9x40xf32>) -> (tensor<9x40xf32>, tensor<3x9x40xf32>, tensor<40xf32>, tensor<40xf32>) {
    %cst = arith.constant -5.000000e-01 : f32
    %cst_0 = arith.constant 9.99999974E-6 : f32
    %cst_1 = arith.constant 4.000000e+01 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<9xf32>
    %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<9xf32>) -> tensor<9xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<9x40xf32>) outs(%1 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9xf32>
    %expanded = tensor.expand_shape %2 [[0, 1]] output_shape [9, 1] : tensor<9xf32> into tensor<9x1xf32>
    %3 = tensor.empty() : tensor<9x1xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded : tensor<9x1xf32>) outs(%3 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.divf %in, %cst_1 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %5 = tensor.empty() : tensor<9x40xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<9x1xf32>) outs(%5 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %7 = tensor.empty() : tensor<9x40xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %6 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%7 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.subf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %9 = tensor.empty() : tensor<9x40xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<9x40xf32>) outs(%9 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.mulf %in, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %11 = tensor.empty() : tensor<9xf32>
    %12 = linalg.fill ins(%cst_2 : f32) outs(%11 : tensor<9xf32>) -> tensor<9xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%10 : tensor<9x40xf32>) outs(%12 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9xf32>
    %expanded_3 = tensor.expand_shape %13 [[0, 1]] output_shape [9, 1] : tensor<9xf32> into tensor<9x1xf32>
    %14 = tensor.empty() : tensor<9x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_3 : tensor<9x1xf32>) outs(%14 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.divf %in, %cst_1 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %16 = tensor.empty() : tensor<9x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<9x1xf32>) outs(%16 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %in, %cst_0 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %18 = tensor.empty() : tensor<9x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%17 : tensor<9x1xf32>) outs(%18 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = math.rsqrt %in : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %20 = tensor.empty() : tensor<9x1xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %17 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%20 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.divf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %22 = tensor.empty() : tensor<9x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%21 : tensor<9x1xf32>) outs(%22 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.mulf %in, %cst : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %24 = tensor.empty() : tensor<9x40xf32>
    %25 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<9x1xf32>) outs(%24 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %26 = tensor.empty() : tensor<9x40xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %25 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%26 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %28 = tensor.empty() : tensor<9x40xf32>
    %29 = linalg.fill ins(%cst_2 : f32) outs(%28 : tensor<9x40xf32>) -> tensor<9x40xf32>
    %30 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg4 : tensor<3x9x40xf32>) outs(%29 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %expanded_4 = tensor.expand_shape %30 [[0, 1], [2]] output_shape [1, 9, 40] : tensor<9x40xf32> into tensor<1x9x40xf32>
    %31 = tensor.empty() : tensor<9x40xf32>
    %32 = linalg.fill ins(%cst_2 : f32) outs(%31 : tensor<9x40xf32>) -> tensor<9x40xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "reduction"]} ins(%expanded_4 : tensor<1x9x40xf32>) outs(%32 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %34 = tensor.empty() : tensor<40xf32>
    %35 = linalg.fill ins(%cst_2 : f32) outs(%34 : tensor<40xf32>) -> tensor<40xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "reduction"]} ins(%33 : tensor<9x40xf32>) outs(%35 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<40xf32>
    %expanded_5 = tensor.expand_shape %36 [[0, 1]] output_shape [1, 40] : tensor<40xf32> into tensor<1x40xf32>
    %37 = tensor.empty() : tensor<40xf32>
    %38 = linalg.fill ins(%cst_2 : f32) outs(%37 : tensor<40xf32>) -> tensor<40xf32>
    %39 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "reduction"]} ins(%expanded_5 : tensor<1x40xf32>) outs(%38 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<40xf32>
    %40 = tensor.empty() : tensor<9x40xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%27, %33 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%40 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %42 = tensor.empty() : tensor<40xf32>
    %43 = linalg.fill ins(%cst_2 : f32) outs(%42 : tensor<40xf32>) -> tensor<40xf32>
    %44 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "reduction"]} ins(%41 : tensor<9x40xf32>) outs(%43 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<40xf32>
    %expanded_6 = tensor.expand_shape %44 [[0, 1]] output_shape [1, 40] : tensor<40xf32> into tensor<1x40xf32>
    %45 = tensor.empty() : tensor<9x40xf32>
    %46 = linalg.generic {indexing_maps = [#map6, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<40xf32>) outs(%45 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %47 = tensor.empty() : tensor<9x40xf32>
    %48 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%33, %46 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%47 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %49 = tensor.empty() : tensor<40xf32>
    %50 = linalg.fill ins(%cst_2 : f32) outs(%49 : tensor<40xf32>) -> tensor<40xf32>
    %51 = linalg.generic {indexing_maps = [#map5, #map1], iterator_types = ["parallel", "reduction"]} ins(%expanded_6 : tensor<1x40xf32>) outs(%50 : tensor<40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<40xf32>
    %52 = tensor.empty() : tensor<9x40xf32>
    %53 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %48 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%52 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %54 = tensor.empty() : tensor<9xf32>
    %55 = linalg.fill ins(%cst_2 : f32) outs(%54 : tensor<9xf32>) -> tensor<9xf32>
    %56 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%53 : tensor<9x40xf32>) outs(%55 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9xf32>
    %expanded_7 = tensor.expand_shape %56 [[0, 1]] output_shape [9, 1] : tensor<9xf32> into tensor<9x1xf32>
    %57 = tensor.empty() : tensor<9x40xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%48, %25 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%57 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %59 = tensor.empty() : tensor<9x1xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_7, %23 : tensor<9x1xf32>, tensor<9x1xf32>) outs(%59 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %61 = tensor.empty() : tensor<9x1xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%60 : tensor<9x1xf32>) outs(%61 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.divf %in, %cst_1 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %63 = tensor.empty() : tensor<9xf32>
    %64 = linalg.fill ins(%cst_2 : f32) outs(%63 : tensor<9xf32>) -> tensor<9xf32>
    %65 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%62 : tensor<9x1xf32>) outs(%64 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9xf32>
    %66 = tensor.empty() : tensor<9x40xf32>
    %67 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%65 : tensor<9xf32>) outs(%66 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %68 = tensor.empty() : tensor<9x40xf32>
    %69 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %67 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%68 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %70 = tensor.empty() : tensor<9x40xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%58, %69 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%70 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.addf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %72 = tensor.empty() : tensor<9x40xf32>
    %73 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%67, %8 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%72 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.mulf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %74 = tensor.empty() : tensor<9x40xf32>
    %75 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%71, %73 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%74 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.addf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %76 = tensor.empty() : tensor<9x40xf32>
    %77 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%75 : tensor<9x40xf32>) outs(%76 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.negf %in : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    %78 = tensor.empty() : tensor<9xf32>
    %79 = linalg.fill ins(%cst_2 : f32) outs(%78 : tensor<9xf32>) -> tensor<9xf32>
    %80 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%77 : tensor<9x40xf32>) outs(%79 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9xf32>
    %expanded_8 = tensor.expand_shape %80 [[0, 1]] output_shape [9, 1] : tensor<9xf32> into tensor<9x1xf32>
    %81 = tensor.empty() : tensor<9x1xf32>
    %82 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%expanded_8 : tensor<9x1xf32>) outs(%81 : tensor<9x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.divf %in, %cst_1 : f32
      linalg.yield %90 : f32
    } -> tensor<9x1xf32>
    %83 = tensor.empty() : tensor<9xf32>
    %84 = linalg.fill ins(%cst_2 : f32) outs(%83 : tensor<9xf32>) -> tensor<9xf32>
    %85 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%82 : tensor<9x1xf32>) outs(%84 : tensor<9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %90 = arith.addf %out, %in : f32
      linalg.yield %90 : f32
    } -> tensor<9xf32>
    %86 = tensor.empty() : tensor<9x40xf32>
    %87 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%85 : tensor<9xf32>) outs(%86 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<9x40xf32>
    %88 = tensor.empty() : tensor<9x40xf32>
    %89 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%75, %87 : tensor<9x40xf32>, tensor<9x40xf32>) outs(%88 : tensor<9x40xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %90 = arith.addf %in, %in_9 : f32
      linalg.yield %90 : f32
    } -> tensor<9x40xf32>
    return %89, %arg4, %51, %39 : tensor<9x40xf32>, tensor<3x9x40xf32>, tensor<40xf32>, tensor<40xf32>
  }
}

