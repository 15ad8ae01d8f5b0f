// torch 2.15.0, torch-mlir 20261001: aten.native_layer_norm_backward, bf16, dynamic rows; 1280 columns. Arguments: dy, x, mean, rstd, w, b.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, 0)>
#map3 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<?x1280xbf16>, %arg1: tensor<?x1280xbf16>, %arg2: tensor<?x1xf32>, %arg3: tensor<?x1xf32>, %arg4: tensor<1280xbf16>, %arg5: tensor<1280xbf16>) -> (tensor<?x1280xbf16>, tensor<1280xbf16>, tensor<1280xbf16>) {
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.280000e+03 : f32
    %dim = tensor.dim %arg0, %c0 : tensor<?x1280xbf16>
    %0 = arith.index_cast %dim : index to i64
    %1 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %1, "negative values not allowed in new dimensions"
    %2 = tensor.empty(%dim) : tensor<?x1280xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<?x1280xbf16>) outs(%2 : tensor<?x1280xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %51 = arith.extf %in : bf16 to f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %4 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %4, "unimplemented: dynamic negative broadcast sizes"
    %5 = tensor.empty(%dim) : tensor<?x1280xf32>
    %6 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%out: f32):
      %51 = linalg.index 0 : index
      %52 = linalg.index 1 : index
      %53 = arith.cmpi eq, %dim, %c1 : index
      %54 = arith.select %53, %c0, %51 : index
      %extracted = tensor.extract %3[%54, %52] : tensor<?x1280xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x1280xf32>
    %dim_1 = tensor.dim %arg1, %c0 : tensor<?x1280xbf16>
    %7 = arith.index_cast %dim_1 : index to i64
    %8 = arith.cmpi sge, %7, %c0_i64 : i64
    cf.assert %8, "negative values not allowed in new dimensions"
    %9 = tensor.empty(%dim_1) : tensor<?x1280xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<?x1280xbf16>) outs(%9 : tensor<?x1280xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %51 = arith.extf %in : bf16 to f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %11 = arith.cmpi sge, %7, %c0_i64 : i64
    cf.assert %11, "unimplemented: dynamic negative broadcast sizes"
    %12 = tensor.empty(%dim_1) : tensor<?x1280xf32>
    %13 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%12 : tensor<?x1280xf32>) {
    ^bb0(%out: f32):
      %51 = linalg.index 0 : index
      %52 = linalg.index 1 : index
      %53 = arith.cmpi eq, %dim_1, %c1 : index
      %54 = arith.select %53, %c0, %51 : index
      %extracted = tensor.extract %10[%54, %52] : tensor<?x1280xf32>
      linalg.yield %extracted : f32
    } -> tensor<?x1280xf32>
    %14 = tensor.empty() : tensor<1280xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%arg4 : tensor<1280xbf16>) outs(%14 : tensor<1280xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %51 = arith.extf %in : bf16 to f32
      linalg.yield %51 : f32
    } -> tensor<1280xf32>
    %dim_2 = tensor.dim %arg2, %c0 : tensor<?x1xf32>
    %16 = arith.cmpi eq, %dim_1, %dim_2 : index
    cf.assert %16, "mismatched size for broadcast"
    %17 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %arg2 : tensor<?x1280xf32>, tensor<?x1xf32>) outs(%12 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.subf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %dim_3 = tensor.dim %arg3, %c0 : tensor<?x1xf32>
    %18 = arith.cmpi eq, %dim_1, %dim_3 : index
    cf.assert %18, "mismatched size for broadcast"
    %19 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%17, %arg3 : tensor<?x1280xf32>, tensor<?x1xf32>) outs(%12 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.mulf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %15 : tensor<?x1280xf32>, tensor<1280xf32>) outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.mulf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%20 : tensor<?x1280xf32>) outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.mulf %in, %cst_0 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %22 = tensor.empty(%dim) : tensor<?x1xf32>
    %23 = linalg.fill ins(%cst : f32) outs(%22 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%20 : tensor<?x1280xf32>) outs(%23 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<?x1xf32>
    %25 = arith.cmpi eq, %dim, %dim_1 : index
    cf.assert %25, "mismatched size for broadcast"
    %26 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%20, %19 : tensor<?x1280xf32>, tensor<?x1280xf32>) outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.mulf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %27 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["parallel", "reduction"]} ins(%26 : tensor<?x1280xf32>) outs(%23 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<?x1xf32>
    %28 = arith.cmpi eq, %dim_1, %dim : index
    cf.assert %28, "mismatched size for broadcast"
    %29 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%19, %27 : tensor<?x1280xf32>, tensor<?x1xf32>) outs(%12 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.mulf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%21, %24 : tensor<?x1280xf32>, tensor<?x1xf32>) outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.subf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    cf.assert %25, "mismatched size for broadcast"
    %31 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%30, %29 : tensor<?x1280xf32>, tensor<?x1280xf32>) outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.subf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %32 = tensor.empty(%dim_3) : tensor<?x1xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<?x1xf32>) outs(%32 : tensor<?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.divf %in, %cst_0 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1xf32>
    %34 = arith.cmpi eq, %dim_3, %dim : index
    cf.assert %34, "mismatched size for broadcast"
    %35 = tensor.empty(%dim_3) : tensor<?x1280xf32>
    %36 = linalg.generic {indexing_maps = [#map2, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%33, %31 : tensor<?x1xf32>, tensor<?x1280xf32>) outs(%35 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.mulf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    cf.assert %25, "mismatched size for broadcast"
    %37 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %19 : tensor<?x1280xf32>, tensor<?x1280xf32>) outs(%5 : tensor<?x1280xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %51 = arith.mulf %in, %in_4 : f32
      linalg.yield %51 : f32
    } -> tensor<?x1280xf32>
    %38 = linalg.fill ins(%cst : f32) outs(%14 : tensor<1280xf32>) -> tensor<1280xf32>
    %39 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["reduction", "parallel"]} ins(%37 : tensor<?x1280xf32>) outs(%38 : tensor<1280xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<1280xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map3], iterator_types = ["reduction", "parallel"]} ins(%6 : tensor<?x1280xf32>) outs(%38 : tensor<1280xf32>) {
    ^bb0(%in: f32, %out: f32):
      %51 = arith.addf %in, %out : f32
      linalg.yield %51 : f32
    } -> tensor<1280xf32>
    %41 = arith.index_cast %dim_3 : index to i64
    %42 = arith.cmpi sge, %41, %c0_i64 : i64
    cf.assert %42, "negative values not allowed in new dimensions"
    %43 = tensor.empty(%dim_3) : tensor<?x1280xbf16>
    %44 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%36 : tensor<?x1280xf32>) outs(%43 : tensor<?x1280xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %51 = arith.truncf %in : f32 to bf16
      linalg.yield %51 : bf16
    } -> tensor<?x1280xbf16>
    %45 = arith.cmpi sge, %41, %c0_i64 : i64
    cf.assert %45, "unimplemented: dynamic negative broadcast sizes"
    %46 = tensor.empty(%dim_3) : tensor<?x1280xbf16>
    %47 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%46 : tensor<?x1280xbf16>) {
    ^bb0(%out: bf16):
      %51 = linalg.index 0 : index
      %52 = linalg.index 1 : index
      %53 = arith.cmpi eq, %dim_3, %c1 : index
      %54 = arith.select %53, %c0, %51 : index
      %extracted = tensor.extract %44[%54, %52] : tensor<?x1280xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<?x1280xbf16>
    %48 = tensor.empty() : tensor<1280xbf16>
    %49 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%39 : tensor<1280xf32>) outs(%48 : tensor<1280xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %51 = arith.truncf %in : f32 to bf16
      linalg.yield %51 : bf16
    } -> tensor<1280xbf16>
    %50 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%40 : tensor<1280xf32>) outs(%48 : tensor<1280xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %51 = arith.truncf %in : f32 to bf16
      linalg.yield %51 : bf16
    } -> tensor<1280xbf16>
    return %47, %49, %50 : tensor<?x1280xbf16>, tensor<1280xbf16>, tensor<1280xbf16>
  }
}
