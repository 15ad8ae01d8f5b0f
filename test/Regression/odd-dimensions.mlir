// Odd dimensions and layouts: formed, and the same as in f64 when run.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/rank6_two_cols.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/rank6_two_cols.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/norm_chw.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/norm_chw.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/interleaved_axes.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/interleaved_axes.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/transposed_residual.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/transposed_residual.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/transposed_out.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/transposed_out.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/shared_init_square.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/shared_init_square.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/adaln_and_total.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=APART
// RUN: norm-fusion-runner %t/adaln_and_total.mlir --device=emulator --check --emulator=sms=3

// ONE-NOT:   [Missed]
// ONE:       norm_fusion.mixed_reduction
// ONE-NOT:   norm_fusion.mixed_reduction

// APART:     [Missed] different-rows
// APART-SAME:  found="a column reduction over other rows than the group's"
// APART:     norm_fusion.mixed_reduction
// APART-NOT: norm_fusion.mixed_reduction

//--- rank6_two_cols.mlir
// Four row dimensions and two normalised ones.
#m0 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
#m1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5)>
#m2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>

func.func @rank6_two_cols(%arg0: tensor<2x3x2x2x4x8xf32>, %arg1: tensor<2x3x2x2x4x8xf32>, %arg2: tensor<4x8xf32>,
      %arg3: tensor<2x3x2x2xf32>) -> (tensor<2x3x2x2x4x8xf32>, tensor<4x8xf32>) {
  %cst = arith.constant 3.125000e-02 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<2x3x2x2x4x8xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel", "parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<2x3x2x2x4x8xf32>, tensor<4x8xf32>)
      outs(%0 : tensor<2x3x2x2x4x8xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    linalg.yield %10 : f32
  } -> tensor<2x3x2x2x4x8xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel", "parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<2x3x2x2x4x8xf32>, tensor<2x3x2x2xf32>)
      outs(%0 : tensor<2x3x2x2x4x8xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    linalg.yield %10 : f32
  } -> tensor<2x3x2x2x4x8xf32>
  %3 = tensor.empty() : tensor<2x3x2x2xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "parallel", "parallel",
        "parallel", "reduction", "reduction"]}
      ins(%1, %2 : tensor<2x3x2x2x4x8xf32>, tensor<2x3x2x2x4x8xf32>)
      outs(%4 : tensor<2x3x2x2xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    %11 = arith.addf %10, %out : f32
    linalg.yield %11 : f32
  } -> tensor<2x3x2x2xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel", "parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<2x3x2x2x4x8xf32>, tensor<2x3x2x2x4x8xf32>, tensor<2x3x2x2xf32>,
        tensor<2x3x2x2xf32>)
      outs(%0 : tensor<2x3x2x2x4x8xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %10 = arith.mulf %in_1, %in_2 : f32
    %11 = arith.mulf %10, %cst : f32
    %12 = arith.subf %in, %11 : f32
    %13 = arith.mulf %12, %in_3 : f32
    linalg.yield %13 : f32
  } -> tensor<2x3x2x2x4x8xf32>
  %7 = tensor.empty() : tensor<4x8xf32>
  %8 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "reduction", "reduction",
        "reduction", "parallel", "parallel"]}
      ins(%arg0, %2 : tensor<2x3x2x2x4x8xf32>, tensor<2x3x2x2x4x8xf32>)
      outs(%8 : tensor<4x8xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    %11 = arith.addf %10, %out : f32
    linalg.yield %11 : f32
  } -> tensor<4x8xf32>
  return %6, %9 : tensor<2x3x2x2x4x8xf32>, tensor<4x8xf32>
}

//--- norm_chw.mlir
// Three normalised dimensions, with weight and bias.
#m0 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#m1 = affine_map<(d0, d1, d2, d3) -> (d0)>
#m2 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>

func.func @norm_chw(%arg0: tensor<6x4x3x5xf32>, %arg1: tensor<6x4x3x5xf32>, %arg2: tensor<4x3x5xf32>,
      %arg3: tensor<6xf32>, %arg4: tensor<6xf32>) -> (tensor<6x4x3x5xf32>, tensor<4x3x5xf32>, tensor<4x3x5xf32>) {
  %cst = arith.constant 6.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<6x4x3x5xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m1, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel"]}
      ins(%arg1, %arg3, %arg4 : tensor<6x4x3x5xf32>, tensor<6xf32>, tensor<6xf32>)
      outs(%0 : tensor<6x4x3x5xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %out: f32):
    %12 = arith.subf %in, %in_1 : f32
    %13 = arith.mulf %12, %in_2 : f32
    linalg.yield %13 : f32
  } -> tensor<6x4x3x5xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel"]}
      ins(%arg0, %arg2 : tensor<6x4x3x5xf32>, tensor<4x3x5xf32>)
      outs(%0 : tensor<6x4x3x5xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    linalg.yield %12 : f32
  } -> tensor<6x4x3x5xf32>
  %3 = tensor.empty() : tensor<6xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<6xf32>) -> tensor<6xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction", "reduction", "reduction"]}
      ins(%2 : tensor<6x4x3x5xf32>)
      outs(%4 : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %12 = arith.addf %in, %out : f32
    linalg.yield %12 : f32
  } -> tensor<6xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["parallel", "reduction", "reduction",
        "reduction"]}
      ins(%2, %1 : tensor<6x4x3x5xf32>, tensor<6x4x3x5xf32>)
      outs(%4 : tensor<6xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    %13 = arith.addf %12, %out : f32
    linalg.yield %13 : f32
  } -> tensor<6xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m1, #m1, #m0], iterator_types = ["parallel", "parallel",
        "parallel", "parallel"]}
      ins(%2, %1, %5, %6, %arg4 : tensor<6x4x3x5xf32>, tensor<6x4x3x5xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
      outs(%0 : tensor<6x4x3x5xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %in_4: f32, %out: f32):
    %12 = arith.mulf %in_1, %in_3 : f32
    %13 = arith.addf %12, %in_2 : f32
    %14 = arith.divf %13, %cst : f32
    %15 = arith.subf %in, %14 : f32
    %16 = arith.mulf %15, %in_4 : f32
    linalg.yield %16 : f32
  } -> tensor<6x4x3x5xf32>
  %8 = tensor.empty() : tensor<4x3x5xf32>
  %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<4x3x5xf32>) -> tensor<4x3x5xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["reduction", "parallel", "parallel",
        "parallel"]}
      ins(%arg0, %1 : tensor<6x4x3x5xf32>, tensor<6x4x3x5xf32>)
      outs(%9 : tensor<4x3x5xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    %13 = arith.addf %12, %out : f32
    linalg.yield %13 : f32
  } -> tensor<4x3x5xf32>
  %11 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel", "parallel", "parallel"]}
      ins(%arg0 : tensor<6x4x3x5xf32>)
      outs(%9 : tensor<4x3x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %12 = arith.addf %in, %out : f32
    linalg.yield %12 : f32
  } -> tensor<4x3x5xf32>
  return %7, %10, %11 : tensor<6x4x3x5xf32>, tensor<4x3x5xf32>, tensor<4x3x5xf32>
}

//--- interleaved_axes.mlir
// Rows and columns take turns among the dimensions.
#m0 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#m1 = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
#m2 = affine_map<(d0, d1, d2, d3) -> (d0, d2)>

func.func @interleaved_axes(%arg0: tensor<3x4x5x6xf32>, %arg1: tensor<3x4x5x6xf32>, %arg2: tensor<4x6xf32>,
      %arg3: tensor<3x5xf32>) -> (tensor<3x4x5x6xf32>, tensor<4x6xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<3x4x5x6xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel"]}
      ins(%arg0, %arg2 : tensor<3x4x5x6xf32>, tensor<4x6xf32>)
      outs(%0 : tensor<3x4x5x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    linalg.yield %10 : f32
  } -> tensor<3x4x5x6xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel"]}
      ins(%arg1, %arg3 : tensor<3x4x5x6xf32>, tensor<3x5xf32>)
      outs(%0 : tensor<3x4x5x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    linalg.yield %10 : f32
  } -> tensor<3x4x5x6xf32>
  %3 = tensor.empty() : tensor<3x5xf32>
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<3x5xf32>) -> tensor<3x5xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction", "parallel",
        "reduction"]}
      ins(%1, %2 : tensor<3x4x5x6xf32>, tensor<3x4x5x6xf32>)
      outs(%4 : tensor<3x5xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    %11 = arith.addf %10, %out : f32
    linalg.yield %11 : f32
  } -> tensor<3x5xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m0], iterator_types = ["parallel", "parallel", "parallel",
        "parallel"]}
      ins(%1, %2, %5 : tensor<3x4x5x6xf32>, tensor<3x4x5x6xf32>, tensor<3x5xf32>)
      outs(%0 : tensor<3x4x5x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in_0, %in_1 : f32
    %11 = arith.subf %in, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<3x4x5x6xf32>
  %7 = tensor.empty() : tensor<4x6xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel", "reduction",
        "parallel"]}
      ins(%arg0, %2 : tensor<3x4x5x6xf32>, tensor<3x4x5x6xf32>)
      outs(%8 : tensor<4x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    %11 = arith.addf %10, %out : f32
    linalg.yield %11 : f32
  } -> tensor<4x6xf32>
  return %6, %9 : tensor<3x4x5x6xf32>, tensor<4x6xf32>
}

//--- transposed_residual.mlir
// A residual that is stored by columns.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>
#m3 = affine_map<(d0, d1) -> (d1, d0)>

func.func @transposed_residual(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>, %arg4: tensor<40x12xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    %12 = arith.addf %11, %out : f32
    linalg.yield %12 : f32
  } -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %11 = arith.mulf %in_1, %in_2 : f32
    %12 = arith.divf %11, %cst : f32
    %13 = arith.subf %in, %12 : f32
    %14 = arith.mulf %13, %in_3 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%8 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    %12 = arith.addf %11, %out : f32
    linalg.yield %12 : f32
  } -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m3, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%6, %arg4 : tensor<12x40xf32>, tensor<40x12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.addf %in, %in_1 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  return %10, %9 : tensor<12x40xf32>, tensor<40xf32>
}

//--- transposed_out.mlir
// dx leaves transposed.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @transposed_out(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>) -> (tensor<40x12xf32>, tensor<40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    %12 = arith.addf %11, %out : f32
    linalg.yield %12 : f32
  } -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %11 = arith.mulf %in_1, %in_2 : f32
    %12 = arith.divf %11, %cst : f32
    %13 = arith.subf %in, %12 : f32
    %14 = arith.mulf %13, %in_3 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%8 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.mulf %in, %in_1 : f32
    %12 = arith.addf %11, %out : f32
    linalg.yield %12 : f32
  } -> tensor<40xf32>
  %10 = tensor.empty() : tensor<40x12xf32>
  %transposed = linalg.transpose ins(%6 : tensor<12x40xf32>) outs(%10 : tensor<40x12xf32>) permutation = [1, 0] 
  return %transposed, %9 : tensor<40x12xf32>, tensor<40xf32>
}

//--- shared_init_square.mlir
// One fill starts row sums and column sums: as many rows as columns.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @shared_init_square(%arg0: tensor<16x16xf32>, %arg1: tensor<16x16xf32>, %arg2: tensor<16xf32>,
      %arg3: tensor<16xf32>) -> (tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<16xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<16xf32>) -> tensor<16xf32>
  %2 = tensor.empty() : tensor<16x16xf32>
  %3 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<16x16xf32>, tensor<16xf32>)
      outs(%2 : tensor<16x16xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    linalg.yield %10 : f32
  } -> tensor<16x16xf32>
  %4 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<16x16xf32>, tensor<16xf32>)
      outs(%2 : tensor<16x16xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    linalg.yield %10 : f32
  } -> tensor<16x16xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%3, %4 : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%1 : tensor<16xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    %11 = arith.addf %10, %out : f32
    linalg.yield %11 : f32
  } -> tensor<16xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%3 : tensor<16x16xf32>)
      outs(%1 : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %10 = arith.addf %in, %out : f32
    linalg.yield %10 : f32
  } -> tensor<16xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%3, %4, %5, %6 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>)
      outs(%2 : tensor<16x16xf32>) {
  ^bb0(%in: f32, %in_0: f32, %in_1: f32, %in_2: f32, %out: f32):
    %10 = arith.mulf %in_0, %in_1 : f32
    %11 = arith.addf %10, %in_2 : f32
    %12 = arith.subf %in, %11 : f32
    linalg.yield %12 : f32
  } -> tensor<16x16xf32>
  %8 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %4 : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%1 : tensor<16xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    %11 = arith.addf %10, %out : f32
    linalg.yield %11 : f32
  } -> tensor<16xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0 : tensor<16x16xf32>)
      outs(%1 : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %10 = arith.addf %in, %out : f32
    linalg.yield %10 : f32
  } -> tensor<16xf32>
  return %7, %8, %9 : tensor<16x16xf32>, tensor<16xf32>, tensor<16xf32>
}

//--- adaln_and_total.mlir
// Segmented sums, and one over all rows, which stays by itself.
#m0 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#m1 = affine_map<(d0, d1, d2) -> (d0, d1)>
#m2 = affine_map<(d0, d1, d2) -> (d0, d2)>
#m3 = affine_map<(d0, d1, d2) -> (d2)>

func.func @adaln_and_total(%arg0: tensor<3x7x40xf32>, %arg1: tensor<3x7x40xf32>, %arg2: tensor<3x40xf32>,
      %arg3: tensor<3x7xf32>) -> (tensor<3x7x40xf32>, tensor<3x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<3x7x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<3x7x40xf32>, tensor<3x7xf32>)
      outs(%0 : tensor<3x7x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %13 = arith.mulf %in, %in_0 : f32
    linalg.yield %13 : f32
  } -> tensor<3x7x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<3x7x40xf32>, tensor<3x40xf32>)
      outs(%0 : tensor<3x7x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %13 = arith.mulf %in, %in_0 : f32
    linalg.yield %13 : f32
  } -> tensor<3x7x40xf32>
  %3 = tensor.empty() : tensor<3x7xf32>
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<3x7xf32>) -> tensor<3x7xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%2, %1 : tensor<3x7x40xf32>, tensor<3x7x40xf32>)
      outs(%4 : tensor<3x7xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %13 = arith.mulf %in, %in_0 : f32
    %14 = arith.addf %13, %out : f32
    linalg.yield %14 : f32
  } -> tensor<3x7xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m0], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2, %1, %5 : tensor<3x7x40xf32>, tensor<3x7x40xf32>, tensor<3x7xf32>)
      outs(%0 : tensor<3x7x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
    %13 = arith.mulf %in_0, %in_1 : f32
    %14 = arith.subf %in, %13 : f32
    linalg.yield %14 : f32
  } -> tensor<3x7x40xf32>
  %7 = tensor.empty() : tensor<3x40xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<3x40xf32>) -> tensor<3x40xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%arg0, %1 : tensor<3x7x40xf32>, tensor<3x7x40xf32>)
      outs(%8 : tensor<3x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %13 = arith.mulf %in, %in_0 : f32
    %14 = arith.addf %13, %out : f32
    linalg.yield %14 : f32
  } -> tensor<3x40xf32>
  %10 = tensor.empty() : tensor<40xf32>
  %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<40xf32>) -> tensor<40xf32>
  %12 = linalg.generic {indexing_maps = [#m0, #m3], iterator_types = ["reduction", "reduction", "parallel"]}
      ins(%6 : tensor<3x7x40xf32>)
      outs(%11 : tensor<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = arith.addf %in, %out : f32
    linalg.yield %13 : f32
  } -> tensor<40xf32>
  return %6, %9, %12 : tensor<3x7x40xf32>, tensor<3x40xf32>, tensor<40xf32>
}
