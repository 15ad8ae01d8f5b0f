// Sizes that contradict each other: an operand read as ?x?x1 in one op and as
// ?x?x64, transposed, in another. Found by mutation; forming a group of it made a
// cast between types that do not fit. In the second, two dimensions that are one for
// a group have static sizes for the next; in the third, what the first group wrote
// as 64x64 is 64x64x64 to the second.

// RUN: norm-fusion-opt %s --norm-fusion-fuse --split-input-file | FileCheck %s
// CHECK-LABEL: func @main
// CHECK-NOT: norm_fusion.mixed_reduction

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
module {
  func.func @main(%arg0: tensor<?x?x64xf32>, %arg1: tensor<?x?x64xf32>, %arg2: tensor<?x?x1xf32>, %arg3: tensor<?x?x1xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64xf32>) -> (tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 6.400000e+01 : f32
    %dim = tensor.dim %arg1, %c0 : tensor<?x?x64xf32>
    %dim_1 = tensor.dim %arg1, %c1 : tensor<?x?x64xf32>
    %dim_2 = tensor.dim %arg2, %c0 : tensor<?x?x1xf32>
    %0 = arith.cmpi eq, %dim, %dim_2 : index
    cf.assert %0, "mismatched size for broadcast"
    %dim_3 = tensor.dim %arg2, %c1 : tensor<?x?x1xf32>
    %1 = arith.cmpi eq, %dim_1, %dim_3 : index
    cf.assert %1, "mismatched size for broadcast"
    %2 = tensor.empty(%dim, %dim_1) : tensor<?x?x64xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %arg2 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.subf %in, %in_8 : f32
      linalg.yield %in_8 : f32
    } -> tensor<?x?x64xf32>
    %dim_4 = tensor.dim %arg3, %c0 : tensor<?x?x1xf32>
    %4 = arith.cmpi eq, %dim, %dim_4 : index
    cf.assert %4, "mismatched size for broadcast"
    %dim_5 = tensor.dim %arg3, %c1 : tensor<?x?x1xf32>
    %5 = arith.cmpi eq, %dim_1, %dim_5 : index
    cf.assert %5, "mismatched size for broadcast"
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %arg3 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.mulf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %dim_6 = tensor.dim %arg0, %c0 : tensor<?x?x64xf32>
    %dim_7 = tensor.dim %arg0, %c1 : tensor<?x?x64xf32>
    %7 = tensor.empty(%dim_6, %dim_7) : tensor<?x?x64xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %arg4 : tensor<?x?x64xf32>, tensor<64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.mulf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.mulf %in, %cst_0 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %10 = tensor.empty(%dim_6, %dim_7) : tensor<?x?x1xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%11 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x1xf32>
    %13 = arith.cmpi eq, %dim_6, %dim : index
    cf.assert %1, "mismatched size for broadcast"
    %14 = arith.cmpi eq, %dim_7, %dim_1 : index
    cf.assert %14, "mismatched size for broadcast"
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %6 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.mulf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<?x?x64xf32>) outs(%11 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x1xf32>
    %17 = arith.cmpi eq, %dim, %dim_6 : index
    cf.assert %17, "mismatched size for broadcast"
    %18 = arith.cmpi eq, %dim_1, %dim_7 : index
    cf.assert %18, "mismatched size for broadcast"
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %16 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.mulf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %12 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.subf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %13, "mismatched size for broadcast"
    cf.assert %1, "mismatched size for broadcast"
    %21 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %19 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.subf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %22 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg3 : tensor<?x?x1xf32>) outs(%22 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.divf %in, %out : f32
      %34 = arith.divf %in, %33 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x1xf32>
    %24 = arith.cmpi eq, %dim_4, %dim_1 : index
    cf.assert %24, "mismatched size for broadcast"
    %25 = arith.cmpi eq, %dim_5, %dim_7 : index
    cf.assert %25, "mismatched size for broadcast"
    %26 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x64xf32>
    %27 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %21 : tensor<?x?x1xf32>, tensor<?x?x64xf32>) outs(%26 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.mulf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %13, "mismatched size for broadcast"
    cf.assert %14, "mismatched size for broadcast"
    %28 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%27, %6 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %33 = arith.mulf %in, %in_8 : f32
      linalg.yield %33 : f32
    } -> tensor<?x?x64xf32>
    %29 = tensor.empty() : tensor<64xf32>
    %30 = linalg.fill ins(%cst : f32) outs(%29 : tensor<64xf32>) -> tensor<64xf32>
    %31 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%28 : tensor<?x?x64xf32>) outs(%30 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<64xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%30 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %33 = arith.addf %in, %out : f32
      linalg.yield %33 : f32
    } -> tensor<64xf32>
    return %27, %31, %32, %19, %5 : tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1
  }
}


// -----

// CHECK-LABEL: func @main

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
module {
  func.func @main(%arg0: tensor<?x?x64xf32>, %arg1: tensor<?x?x64xf32>, %arg2: tensor<?x?x1xf32>, %arg3: tensor<?x?x1xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64xf32>) -> (tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 6.400000e+01 : f32
    %dim = tensor.dim %arg1, %c0 : tensor<?x?x64xf32>
    %dim_1 = tensor.dim %arg0, %c1 : tensor<?x?x64xf32>
    %dim_2 = tensor.dim %arg2, %c0 : tensor<?x?x1xf32>
    %0 = arith.cmpi eq, %dim, %dim_1 : index
    %1 = arith.cmpi eq, %dim, %dim_2 : index
    cf.assert %1, "mismatched size for broadcast"
    %dim_3 = tensor.dim %arg2, %c1 : tensor<?x?x1xf32>
    %2 = arith.cmpi eq, %dim_1, %dim_3 : index
    cf.assert %2, "mismatched size for broadcast"
    %3 = tensor.empty(%dim, %dim_1) : tensor<?x?x64xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %arg2 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.subf %in, %in_8 : f32
      linalg.yield %in_8 : f32
    } -> tensor<?x?x64xf32>
    %dim_4 = tensor.dim %arg3, %c0 : tensor<?x?x1xf32>
    %5 = arith.cmpi eq, %dim, %dim_4 : index
    cf.assert %5, "mismatched size for broadcast"
    %dim_5 = tensor.dim %arg3, %c1 : tensor<?x?x1xf32>
    %6 = arith.cmpi eq, %dim_1, %dim_5 : index
    cf.assert %6, "mismatched size for broadcast"
    %7 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %arg3 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %dim_6 = tensor.dim %arg0, %c0 : tensor<?x?x64xf32>
    %dim_7 = tensor.dim %arg0, %c1 : tensor<?x?x64xf32>
    %8 = tensor.empty(%dim, %dim_7) : tensor<?x?x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %arg4 : tensor<?x?x64xf32>, tensor<64xf32>) outs(%8 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %in_8, %in_8 : f32
      %36 = arith.mulf %in, %in_8 : f32
      linalg.yield %in : f32
    } -> tensor<?x?x64xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<?x?x64xf32>) outs(%8 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.mulf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %11 = tensor.empty(%dim_3, %dim_7) : tensor<?x?x1xf32>
    %12 = linalg.fill ins(%cst : f32) outs(%11 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%12 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x1xf32>
    %14 = arith.cmpi eq, %dim_6, %dim : index
    cf.assert %14, "mismatched size for broadcast"
    %15 = arith.cmpi eq, %dim_7, %dim_1 : index
    cf.assert %15, "mismatched size for broadcast"
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %7 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%8 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%16 : tensor<?x?x64xf32>) outs(%13 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x1xf32>
    %18 = arith.cmpi eq, %dim, %dim_6 : index
    cf.assert %18, "mismatched size for broadcast"
    %19 = arith.cmpi eq, %dim_1, %dim_7 : index
    cf.assert %19, "mismatched size for broadcast"
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %17 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %out, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7, %17 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10, %13 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%8 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.subf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %0, "mismatched size for broadcast"
    cf.assert %2, "mismatched size for broadcast"
    %23 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %21 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%8 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.subf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %24 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<?x?x1xf32>) outs(%24 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.divf %in, %out : f32
      %36 = arith.divf %in, %35 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x1xf32>
    %26 = arith.cmpi eq, %dim_4, %dim_1 : index
    cf.assert %26, "mismatched size for broadcast"
    %27 = arith.cmpi eq, %dim_5, %dim_7 : index
    cf.assert %27, "mismatched size for broadcast"
    %28 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x64xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %23 : tensor<?x?x1xf32>, tensor<?x?x64xf32>) outs(%28 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %14, "mismatched size for broadcast"
    cf.assert %15, "mismatched size for broadcast"
    %30 = linalg.generic {indexing_maps = [#map3, #map4, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %7 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%8 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %35 = arith.mulf %in, %in_8 : f32
      linalg.yield %35 : f32
    } -> tensor<?x?x64xf32>
    %31 = tensor.empty() : tensor<64xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<64xf32>) -> tensor<64xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%30 : tensor<?x?x64xf32>) outs(%32 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<64xf32>
    %34 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%arg4 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %35 = arith.addf %in, %out : f32
      linalg.yield %35 : f32
    } -> tensor<64xf32>
    return %29, %33, %34, %21, %6 : tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1
  }
}


// -----

// CHECK-LABEL: func @main

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
module {
  func.func @main(%arg0: tensor<?x?x64xf32>, %arg1: tensor<?x?x64xf32>, %arg2: tensor<?x?x1xf32>, %arg3: tensor<?x?x1xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64xf32>) -> (tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1, tensor<?x?x64xf32>) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 6.400000e+01 : f32
    %dim = tensor.dim %arg1, %c0 : tensor<?x?x64xf32>
    %dim_1 = tensor.dim %arg1, %c1 : tensor<?x?x64xf32>
    %dim_2 = tensor.dim %arg2, %c0 : tensor<?x?x1xf32>
    %0 = arith.cmpi eq, %dim, %dim_2 : index
    cf.assert %0, "mismatched size for broadcast"
    %dim_3 = tensor.dim %arg2, %c1 : tensor<?x?x1xf32>
    %1 = arith.cmpi eq, %dim_1, %dim_3 : index
    cf.assert %1, "mismatched size for broadcast"
    %2 = tensor.empty(%dim, %dim_1) : tensor<?x?x64xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %arg2 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.subf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %dim_4 = tensor.dim %arg3, %c0 : tensor<?x?x1xf32>
    %4 = arith.cmpi eq, %dim, %dim_4 : index
    cf.assert %4, "mismatched size for broadcast"
    %dim_5 = tensor.dim %arg3, %c1 : tensor<?x?x1xf32>
    %5 = arith.cmpi eq, %dim_1, %dim_5 : index
    cf.assert %5, "mismatched size for broadcast"
    %6 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %arg3 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %dim_6 = tensor.dim %arg0, %dim_4 : tensor<?x?x64xf32>
    %dim_7 = tensor.dim %arg0, %c1 : tensor<?x?x64xf32>
    %7 = tensor.empty(%dim, %dim_7) : tensor<?x?x64xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %arg4 : tensor<?x?x64xf32>, tensor<64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8 : tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.mulf %in, %cst_0 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %10 = tensor.empty(%dim_6, %dim_7) : tensor<?x?x1xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%11 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x1xf32>
    %13 = arith.cmpi eq, %dim_6, %dim : index
    cf.assert %4, "mismatched size for broadcast"
    %14 = arith.cmpi eq, %dim_7, %dim_2 : index
    %15 = arith.cmpi eq, %dim_7, %dim_1 : index
    cf.assert %15, "mismatched size for broadcast"
    %16 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %6 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in : f32
      linalg.yield %in_8 : f32
    } -> tensor<?x?x64xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%16 : tensor<?x?x64xf32>) outs(%12 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x1xf32>
    %18 = arith.cmpi eq, %dim, %dim_6 : index
    cf.assert %18, "mismatched size for broadcast"
    %19 = arith.cmpi eq, %dim_1, %dim_7 : index
    cf.assert %19, "mismatched size for broadcast"
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6, %17 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %12 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.subf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %13, "mismatched size for broadcast"
    cf.assert %1, "mismatched size for broadcast"
    %22 = linalg.generic {indexing_maps = [#map4, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %20 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.subf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %23 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<?x?x1xf32>) outs(%23 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.divf %in, %out : f32
      %35 = arith.divf %in, %34 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x1xf32>
    %25 = arith.cmpi eq, %dim_4, %dim_1 : index
    cf.assert %25, "mismatched size for broadcast"
    %26 = arith.cmpi eq, %dim_5, %dim_7 : index
    cf.assert %26, "mismatched size for broadcast"
    %27 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x64xf32>
    %28 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%24, %22 : tensor<?x?x1xf32>, tensor<?x?x64xf32>) outs(%27 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %29 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%arg4 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<64xf32>
    cf.assert %13, "mismatched size for broadcast"
    cf.assert %14, "mismatched size for broadcast"
    %30 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %6 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %31 = tensor.empty() : tensor<64xf32>
    %32 = linalg.fill ins(%cst : f32) outs(%31 : tensor<64xf32>) -> tensor<64xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%30 : tensor<?x?x64xf32>) outs(%32 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<64xf32>
    return %28, %33, %29, %20, %5, %8 : tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1, tensor<?x?x64xf32>
  }
}
