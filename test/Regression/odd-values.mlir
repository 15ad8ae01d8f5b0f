// Odd types and combiners: formed, and the same as in f64 when run.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/i1_masks.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/i1_masks.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/bf16_columns.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/bf16_columns.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/f64_inside.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/f64_inside.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/softmax_load.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/softmax_load.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/matvec_sums.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/matvec_sums.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/quant_amax.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/quant_amax.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/maxnum_minimum.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/maxnum_minimum.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/mul_combiner.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/mul_combiner.mlir --device=emulator --check --emulator=sms=3

// ONE-NOT:   [Missed]
// ONE:       norm_fusion.mixed_reduction
// ONE-NOT:   norm_fusion.mixed_reduction

//--- i1_masks.mlir
// Masks at every point and a row; which columns were kept at all.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>

func.func @i1_masks(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>, %arg3: tensor<12xf32>,
      %arg4: tensor<12x40xi1>, %arg5: tensor<12xi1>) -> (tensor<12x40xf32>, tensor<40xf32>, tensor<40xi1>) {
  %false = arith.constant false
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg4, %arg5 : tensor<12x40xf32>, tensor<12x40xi1>, tensor<12xi1>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: i1, %in_2: i1, %out: f32):
    %14 = arith.andi %in_1, %in_2 : i1
    %15 = arith.select %14, %in, %cst_0 : f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %3 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %4 = tensor.empty() : tensor<12xf32>
  %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<12xf32>) -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%2, %3 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%5 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    %15 = arith.addf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<12xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%2, %3, %6, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %14 = arith.mulf %in_1, %in_2 : f32
    %15 = arith.divf %14, %cst : f32
    %16 = arith.subf %in, %15 : f32
    %17 = arith.mulf %16, %in_3 : f32
    linalg.yield %17 : f32
  } -> tensor<12x40xf32>
  %8 = tensor.empty() : tensor<40xf32>
  %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<40xf32>) -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%1, %3 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    %15 = arith.addf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<40xf32>
  %11 = tensor.empty() : tensor<40xi1>
  %12 = linalg.fill ins(%false : i1) outs(%11 : tensor<40xi1>) -> tensor<40xi1>
  %13 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%arg4 : tensor<12x40xi1>)
      outs(%12 : tensor<40xi1>) {
  ^bb0(%in: i1, %out: i1):
    %14 = arith.ori %in, %out : i1
    linalg.yield %14 : i1
  } -> tensor<40xi1>
  return %7, %10, %13 : tensor<12x40xf32>, tensor<40xf32>, tensor<40xi1>
}

//--- bf16_columns.mlir
// Sums that the IR accumulates in bf16: in f32, rounded once.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>

func.func @bf16_columns(%arg0: tensor<200x40xbf16>, %arg1: tensor<200x40xbf16>, %arg2: tensor<40xbf16>,
      %arg3: tensor<200xbf16>) -> (tensor<200x40xbf16>, tensor<40xbf16>, tensor<40xbf16>) {
  %cst = arith.constant 0.000000e+00 : bf16
  %0 = tensor.empty() : tensor<200x40xbf16>
  %1 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<200x40xbf16>, tensor<40xbf16>)
      outs(%0 : tensor<200x40xbf16>) {
  ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
    %11 = arith.mulf %in, %in_0 : bf16
    linalg.yield %11 : bf16
  } -> tensor<200x40xbf16>
  %2 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<200x40xbf16>, tensor<200xbf16>)
      outs(%0 : tensor<200x40xbf16>) {
  ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
    %11 = arith.mulf %in, %in_0 : bf16
    linalg.yield %11 : bf16
  } -> tensor<200x40xbf16>
  %3 = tensor.empty() : tensor<200xbf16>
  %4 = linalg.fill ins(%cst : bf16) outs(%3 : tensor<200xbf16>) -> tensor<200xbf16>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<200x40xbf16>, tensor<200x40xbf16>)
      outs(%4 : tensor<200xbf16>) {
  ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
    %11 = arith.mulf %in, %in_0 : bf16
    %12 = arith.addf %out, %11 : bf16
    linalg.yield %12 : bf16
  } -> tensor<200xbf16>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5 : tensor<200x40xbf16>, tensor<200x40xbf16>, tensor<200xbf16>)
      outs(%0 : tensor<200x40xbf16>) {
  ^bb0(%in: bf16, %in_0: bf16, %in_1: bf16, %out: bf16):
    %11 = arith.mulf %in_0, %in_1 : bf16
    %12 = arith.subf %in, %11 : bf16
    linalg.yield %12 : bf16
  } -> tensor<200x40xbf16>
  %7 = tensor.empty() : tensor<40xbf16>
  %8 = linalg.fill ins(%cst : bf16) outs(%7 : tensor<40xbf16>) -> tensor<40xbf16>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<200x40xbf16>, tensor<200x40xbf16>)
      outs(%8 : tensor<40xbf16>) {
  ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
    %11 = arith.mulf %in, %in_0 : bf16
    %12 = arith.addf %out, %11 : bf16
    linalg.yield %12 : bf16
  } -> tensor<40xbf16>
  %10 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%arg0 : tensor<200x40xbf16>)
      outs(%8 : tensor<40xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %11 = arith.addf %out, %in : bf16
    linalg.yield %11 : bf16
  } -> tensor<40xbf16>
  return %6, %9, %10 : tensor<200x40xbf16>, tensor<40xbf16>, tensor<40xbf16>
}

//--- f64_inside.mlir
// f64 between f32 operands and results.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>
#m3 = affine_map<(d0) -> (d0)>

func.func @f64_inside(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 0.000000e+00 : f64
  %0 = tensor.empty() : tensor<12x40xf64>
  %1 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf64>) {
  ^bb0(%in: f32, %in_0: f32, %out: f64):
    %13 = arith.extf %in : f32 to f64
    %14 = arith.extf %in_0 : f32 to f64
    %15 = arith.mulf %13, %14 : f64
    linalg.yield %15 : f64
  } -> tensor<12x40xf64>
  %2 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf64>) {
  ^bb0(%in: f32, %in_0: f32, %out: f64):
    %13 = arith.mulf %in, %in_0 : f32
    %14 = arith.extf %13 : f32 to f64
    linalg.yield %14 : f64
  } -> tensor<12x40xf64>
  %3 = tensor.empty() : tensor<12xf64>
  %4 = linalg.fill ins(%cst : f64) outs(%3 : tensor<12xf64>) -> tensor<12xf64>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf64>, tensor<12x40xf64>)
      outs(%4 : tensor<12xf64>) {
  ^bb0(%in: f64, %in_0: f64, %out: f64):
    %13 = arith.mulf %in, %in_0 : f64
    %14 = arith.addf %13, %out : f64
    linalg.yield %14 : f64
  } -> tensor<12xf64>
  %6 = tensor.empty() : tensor<12x40xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5 : tensor<12x40xf64>, tensor<12x40xf64>, tensor<12xf64>)
      outs(%6 : tensor<12x40xf32>) {
  ^bb0(%in: f64, %in_0: f64, %in_1: f64, %out: f32):
    %13 = arith.mulf %in_0, %in_1 : f64
    %14 = arith.subf %in, %13 : f64
    %15 = arith.truncf %14 : f64 to f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %8 = tensor.empty() : tensor<40xf64>
  %9 = linalg.fill ins(%cst : f64) outs(%8 : tensor<40xf64>) -> tensor<40xf64>
  %10 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf64>)
      outs(%9 : tensor<40xf64>) {
  ^bb0(%in: f32, %in_0: f64, %out: f64):
    %13 = arith.extf %in : f32 to f64
    %14 = arith.mulf %13, %in_0 : f64
    %15 = arith.addf %14, %out : f64
    linalg.yield %15 : f64
  } -> tensor<40xf64>
  %11 = tensor.empty() : tensor<40xf32>
  %12 = linalg.generic {indexing_maps = [#m3, #m3], iterator_types = ["parallel"]}
      ins(%10 : tensor<40xf64>)
      outs(%11 : tensor<40xf32>) {
  ^bb0(%in: f64, %out: f32):
    %13 = arith.truncf %in : f64 to f32
    linalg.yield %13 : f32
  } -> tensor<40xf32>
  return %7, %12 : tensor<12x40xf32>, tensor<40xf32>
}

//--- softmax_load.mlir
// Softmax, and how much each column got: a maximum before the sum.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>

func.func @softmax_load(%arg0: tensor<12x40xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<12xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<12xf32>) -> tensor<12xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%arg0 : tensor<12x40xf32>)
      outs(%1 : tensor<12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.maximumf %in, %out : f32
    linalg.yield %11 : f32
  } -> tensor<12xf32>
  %3 = tensor.empty() : tensor<12x40xf32>
  %4 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%3 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.subf %in, %in_1 : f32
    %12 = math.exp %11 : f32
    linalg.yield %12 : f32
  } -> tensor<12x40xf32>
  %5 = linalg.fill ins(%cst : f32) outs(%0 : tensor<12xf32>) -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%4 : tensor<12x40xf32>)
      outs(%5 : tensor<12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.addf %in, %out : f32
    linalg.yield %11 : f32
  } -> tensor<12xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%4, %6 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%3 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %11 = arith.divf %in, %in_1 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  %8 = tensor.empty() : tensor<40xf32>
  %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<40xf32>) -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%7 : tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.addf %in, %out : f32
    linalg.yield %11 : f32
  } -> tensor<40xf32>
  return %7, %10 : tensor<12x40xf32>, tensor<40xf32>
}

//--- matvec_sums.mlir
// Sums as products with a vector.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>

func.func @matvec_sums(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>, %arg4: tensor<12xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    linalg.yield %10 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %1 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %10 = arith.mulf %in, %in_0 : f32
    linalg.yield %10 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.matvec ins(%2, %arg2 : tensor<12x40xf32>, tensor<40xf32>) outs(%4 : tensor<12xf32>) -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %1, %5 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in_0, %in_1 : f32
    %11 = arith.subf %in, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %9 = linalg.vecmat ins(%arg4, %2 : tensor<12xf32>, tensor<12x40xf32>) outs(%8 : tensor<40xf32>) -> tensor<40xf32>
  return %6, %9 : tensor<12x40xf32>, tensor<40xf32>
}

//--- quant_amax.mlir
// dx is quantised by the maximum of its row.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>

func.func @quant_amax(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>) -> (tensor<12x40xi8>, tensor<12xf32>, tensor<40xf32>, tensor<40xf32>) {
  %cst = arith.constant 1.000000e-03 : f32
  %cst_0 = arith.constant 1.270000e+02 : f32
  %cst_1 = arith.constant 4.000000e+01 : f32
  %cst_2 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %14 = arith.mulf %in, %in_3 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %14 = arith.mulf %in, %in_3 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst_2 : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %14 = arith.mulf %in, %in_3 : f32
    %15 = arith.addf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m1, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_3: f32, %in_4: f32, %in_5: f32, %out: f32):
    %14 = arith.mulf %in_3, %in_4 : f32
    %15 = arith.divf %14, %cst_1 : f32
    %16 = arith.subf %in, %15 : f32
    %17 = arith.mulf %16, %in_5 : f32
    linalg.yield %17 : f32
  } -> tensor<12x40xf32>
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst_2 : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%8 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_3: f32, %out: f32):
    %14 = arith.mulf %in, %in_3 : f32
    %15 = arith.addf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%6 : tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %14 = math.absf %in : f32
    %15 = arith.maximumf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<12xf32>
  %11 = tensor.empty() : tensor<12x40xi8>
  %12 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%6, %10 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%11 : tensor<12x40xi8>) {
  ^bb0(%in: f32, %in_3: f32, %out: i8):
    %14 = arith.addf %in_3, %cst : f32
    %15 = arith.divf %in, %14 : f32
    %16 = arith.mulf %15, %cst_0 : f32
    %17 = arith.fptosi %16 : f32 to i8
    linalg.yield %17 : i8
  } -> tensor<12x40xi8>
  %13 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%6 : tensor<12x40xf32>)
      outs(%8 : tensor<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %14 = math.absf %in : f32
    %15 = arith.maximumf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<40xf32>
  return %12, %10, %9, %13 : tensor<12x40xi8>, tensor<12xf32>, tensor<40xf32>, tensor<40xf32>
}

//--- maxnum_minimum.mlir
// Maxima and minima that hand NaN on and that don't.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>

func.func @maxnum_minimum(%arg0: tensor<9x33xf32>) -> (tensor<9x33xf32>, tensor<33xf32>, tensor<33xf32>) {
  %cst = arith.constant 0x7F800000 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %0 = tensor.empty() : tensor<9xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<9xf32>) -> tensor<9xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%arg0 : tensor<9x33xf32>)
      outs(%1 : tensor<9xf32>) {
  ^bb0(%in: f32, %out: f32):
    %9 = arith.maxnumf %in, %out : f32
    linalg.yield %9 : f32
  } -> tensor<9xf32>
  %3 = tensor.empty() : tensor<9x33xf32>
  %4 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %2 : tensor<9x33xf32>, tensor<9xf32>)
      outs(%3 : tensor<9x33xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %9 = arith.subf %in, %in_1 : f32
    linalg.yield %9 : f32
  } -> tensor<9x33xf32>
  %5 = tensor.empty() : tensor<33xf32>
  %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<33xf32>) -> tensor<33xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%4 : tensor<9x33xf32>)
      outs(%6 : tensor<33xf32>) {
  ^bb0(%in: f32, %out: f32):
    %9 = arith.minimumf %in, %out : f32
    linalg.yield %9 : f32
  } -> tensor<33xf32>
  %8 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%4 : tensor<9x33xf32>)
      outs(%6 : tensor<33xf32>) {
  ^bb0(%in: f32, %out: f32):
    %9 = arith.minnumf %in, %out : f32
    linalg.yield %9 : f32
  } -> tensor<33xf32>
  return %4, %7, %8 : tensor<9x33xf32>, tensor<33xf32>, tensor<33xf32>
}

//--- mul_combiner.mlir
// Products along rows and down columns.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d0)>
#m2 = affine_map<(d0, d1) -> (d1)>

func.func @mul_combiner(%arg0: tensor<6x24xf32>) -> (tensor<6x24xf32>, tensor<24xf32>) {
  %cst = arith.constant 1.000000e+00 : f32
  %0 = tensor.empty() : tensor<6xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["parallel", "reduction"]}
      ins(%arg0 : tensor<6x24xf32>)
      outs(%1 : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %8 = arith.mulf %in, %out : f32
    linalg.yield %8 : f32
  } -> tensor<6xf32>
  %3 = tensor.empty() : tensor<6x24xf32>
  %4 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %2 : tensor<6x24xf32>, tensor<6xf32>)
      outs(%3 : tensor<6x24xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %8 = arith.mulf %in, %in_0 : f32
    linalg.yield %8 : f32
  } -> tensor<6x24xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m2], iterator_types = ["reduction", "parallel"]}
      ins(%arg0 : tensor<6x24xf32>)
      outs(%6 : tensor<24xf32>) {
  ^bb0(%in: f32, %out: f32):
    %8 = arith.mulf %out, %in : f32
    linalg.yield %8 : f32
  } -> tensor<24xf32>
  return %4, %7 : tensor<6x24xf32>, tensor<24xf32>
}
