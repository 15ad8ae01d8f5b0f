// Groups of one round that need each other: uses by a group that was formed
// before go to the new results too, and what a member that stays reads can not go
// behind its group. Found by mutation: uses stood before what they use.

// RUN: norm-fusion-opt %s --norm-fusion-fuse --split-input-file | FileCheck %s
// CHECK-LABEL: func @main
// CHECK: norm_fusion.mixed_reduction
// CHECK-LABEL: func @main

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
module {
  func.func @main(%arg0: tensor<?x?x64xf32>, %arg1: tensor<?x?x64xf32>, %arg2: tensor<?x?x1xf32>, %arg3: tensor<?x?x1xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64xf32>) -> (tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1, index) {
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
    %3 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "reduction", "parallel"]} ins(%arg1, %arg2 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
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
    %dim_6 = tensor.dim %arg0, %c0 : tensor<?x?x64xf32>
    %dim_7 = tensor.dim %arg0, %c1 : tensor<?x?x64xf32>
    %7 = tensor.empty(%dim_6, %dim_7) : tensor<?x?x64xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %arg4 : tensor<?x?x64xf32>, tensor<64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
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
    cf.assert %1, "mismatched size for broadcast"
    %14 = arith.cmpi eq, %dim_7, %dim_1 : index
    cf.assert %14, "mismatched size for broadcast"
    %15 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %6 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %in_8 : f32
    } -> tensor<?x?x64xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%15 : tensor<?x?x64xf32>) outs(%11 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x1xf32>
    %17 = arith.cmpi eq, %dim, %dim_6 : index
    cf.assert %17, "mismatched size for broadcast"
    %18 = arith.cmpi eq, %dim_1, %dim_7 : index
    cf.assert %18, "mismatched size for broadcast"
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg1, %16 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%arg0 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %out : f32
    } -> tensor<?x?x64xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %12 : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.subf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %13, "mismatched size for broadcast"
    cf.assert %1, "mismatched size for broadcast"
    %21 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %19 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.subf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    %22 = tensor.empty(%dim_4, %dim_5) : tensor<?x?x1xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<?x?x1xf32>) outs(%16 : tensor<?x?x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.divf %in, %out : f32
      %35 = arith.divf %out, %34 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x1xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg3 : tensor<?x?x1xf32>) outs(%22 : tensor<?x?x1xf32>) {
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
    %28 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %21 : tensor<?x?x1xf32>, tensor<?x?x64xf32>) outs(%27 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %34 : f32
    } -> tensor<?x?x64xf32>
    cf.assert %13, "mismatched size for broadcast"
    cf.assert %14, "mismatched size for broadcast"
    %29 = linalg.generic {indexing_maps = [#map3, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg0, %6 : tensor<?x?x64xf32>, tensor<?x?x64xf32>) outs(%7 : tensor<?x?x64xf32>) {
    ^bb0(%in: f32, %in_8: f32, %out: f32):
      %34 = arith.mulf %in, %in_8 : f32
      linalg.yield %in_8 : f32
    } -> tensor<?x?x64xf32>
    %30 = tensor.empty() : tensor<64xf32>
    %31 = linalg.fill ins(%cst : f32) outs(%arg5 : tensor<64xf32>) -> tensor<64xf32>
    %32 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%29 : tensor<?x?x64xf32>) outs(%31 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<64xf32>
    %33 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "reduction", "parallel"]} ins(%arg0 : tensor<?x?x64xf32>) outs(%32 : tensor<64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %34 = arith.addf %in, %out : f32
      linalg.yield %34 : f32
    } -> tensor<64xf32>
    return %28, %32, %33, %19, %5, %dim_1 : tensor<?x?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x?x64xf32>, i1, index
  }
}


// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0, 0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<52x80xf32>, %arg1: tensor<52x80xf32>, %arg2: tensor<52x1xf32>, %arg3: tensor<52x1xf32>, %arg4: tensor<80xf32>, %arg5: tensor<80xf32>, %arg6: tensor<52x80xf32>) -> (tensor<52x80xf32>, tensor<80xf32>, tensor<80xf32>, tensor<80xf32>, tensor<52x80xf32>, tensor<80xf32>, tensor<52x1xf32>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 8.000000e+01 : f32
    %0 = tensor.empty() : tensor<52x80xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1, %arg2 : tensor<52x80xf32>, tensor<52x1xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.subf %in, %in_1 : f32
      linalg.yield %in : f32
    } -> tensor<52x80xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %arg3 : tensor<52x80xf32>, tensor<52x1xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %in, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg4 : tensor<52x80xf32>, tensor<80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.mulf %in, %cst : f32
      linalg.yield %out : f32
    } -> tensor<52x80xf32>
    %5 = tensor.empty() : tensor<52x1xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<52x1xf32>) -> tensor<52x1xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg6 : tensor<52x80xf32>) outs(%arg2 : tensor<52x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<52x1xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<52x80xf32>) outs(%6 : tensor<52x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<52x1xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["reduction", "parallel"]} ins(%arg0, %2 : tensor<52x80xf32>, tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %out, %out : f32
      %28 = arith.mulf %out, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<52x80xf32>) outs(%arg3 : tensor<52x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.minnumf %in, %out : f32
      %28 = arith.addf %in, %27 : f32
      linalg.yield %27 : f32
    } -> tensor<52x1xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%3 : tensor<52x80xf32>) outs(%6 : tensor<52x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.minnumf %in, %out : f32
      %28 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<52x1xf32>
    %12 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["reduction", "parallel"]} ins(%2, %10 : tensor<52x80xf32>, tensor<52x1xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %in, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%1, %7 : tensor<52x80xf32>, tensor<52x1xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.subf %in, %in : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%13, %12 : tensor<52x80xf32>, tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.subf %in, %out : f32
      linalg.yield %in_1 : f32
    } -> tensor<52x80xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<52x1xf32>) outs(%5 : tensor<52x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.divf %in, %cst : f32
      linalg.yield %27 : f32
    } -> tensor<52x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<52x1xf32>) outs(%5 : tensor<52x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.divf %in, %cst : f32
      linalg.yield %in : f32
    } -> tensor<52x1xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2, %arg6 : tensor<52x1xf32>, tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %in, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %18 = linalg.generic {indexing_maps = [#map1, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2, %14 : tensor<52x1xf32>, tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %in, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %2 : tensor<52x80xf32>, tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.mulf %in, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %20 = tensor.empty() : tensor<80xf32>
    %21 = linalg.fill ins(%cst : f32) outs(%20 : tensor<80xf32>) -> tensor<80xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "parallel"]} ins(%19 : tensor<52x80xf32>) outs(%arg4 : tensor<80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<80xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "parallel"]} ins(%19 : tensor<52x80xf32>) outs(%21 : tensor<80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<80xf32>
    %24 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "parallel"]} ins(%arg0 : tensor<52x80xf32>) outs(%21 : tensor<80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<80xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%18, %17 : tensor<52x80xf32>, tensor<52x80xf32>) outs(%0 : tensor<52x80xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %27 = arith.addf %in, %in_1 : f32
      linalg.yield %27 : f32
    } -> tensor<52x80xf32>
    %26 = linalg.generic {indexing_maps = [#map, #map2], iterator_types = ["reduction", "parallel"]} ins(%25 : tensor<52x80xf32>) outs(%21 : tensor<80xf32>) {
    ^bb0(%in: f32, %out: f32):
      %27 = arith.addf %in, %out : f32
      linalg.yield %27 : f32
    } -> tensor<80xf32>
    return %25, %23, %24, %26, %13, %22, %15 : tensor<52x80xf32>, tensor<80xf32>, tensor<80xf32>, tensor<80xf32>, tensor<52x80xf32>, tensor<80xf32>, tensor<52x1xf32>
  }
}


// -----

// A column sum reads the rows in another order than those in which the group
// makes xh: xh stays a value of its own, which the group reads.

// CHECK-LABEL: func @orientations
// CHECK: %[[XH:.*]] = linalg.generic
// CHECK: norm_fusion.mixed_reduction

#full = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
#columns = affine_map<(d0, d1, d2) -> (d2)>
func.func @orientations(%dy: tensor<6x6x32xf32>, %x: tensor<6x6x32xf32>, %rstd: tensor<6x6xf32>) -> (tensor<6x6x32xf32>, tensor<32xf32>, tensor<6x6x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %full = tensor.empty() : tensor<6x6x32xf32>
  %row = tensor.empty() : tensor<6x6xf32>
  %column = tensor.empty() : tensor<32xf32>
  %row0 = linalg.fill ins(%zero : f32) outs(%row : tensor<6x6xf32>) -> tensor<6x6xf32>
  %column0 = linalg.fill ins(%zero : f32) outs(%column : tensor<32xf32>) -> tensor<32xf32>
  %xh = linalg.generic {indexing_maps = [#full, #rows, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %rstd : tensor<6x6x32xf32>, tensor<6x6xf32>) outs(%full : tensor<6x6x32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<6x6x32xf32>
  %sum = linalg.generic {indexing_maps = [#full, #full, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%dy, %xh : tensor<6x6x32xf32>, tensor<6x6x32xf32>) outs(%row0 : tensor<6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> tensor<6x6xf32>
  %dx = linalg.generic {indexing_maps = [#full, #full, #rows, #rows, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dy, %xh, %sum, %rstd : tensor<6x6x32xf32>, tensor<6x6x32xf32>, tensor<6x6xf32>, tensor<6x6xf32>) outs(%full : tensor<6x6x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
    %p = arith.mulf %out, %c : f32
    %q = arith.subf %a, %p : f32
    %r = arith.mulf %q, %d : f32
    linalg.yield %r : f32
  } -> tensor<6x6x32xf32>
  %dgamma = linalg.generic {indexing_maps = [#turned, #full, #columns], iterator_types = ["reduction", "reduction", "parallel"]} ins(%dy, %xh : tensor<6x6x32xf32>, tensor<6x6x32xf32>) outs(%column0 : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %out : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  return %dx, %dgamma, %xh : tensor<6x6x32xf32>, tensor<32xf32>, tensor<6x6x32xf32>
}
