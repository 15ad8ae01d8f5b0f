// Odd uses and places: formed, and the same as in f64 when run.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/variadic_rows_cols.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/variadic_rows_cols.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/several_weights.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/several_weights.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/while_body.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/while_body.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/used_everywhere.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/used_everywhere.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/through_outs.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/through_outs.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/two_result_elementwise.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: norm-fusion-runner %t/two_result_elementwise.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/init_chain.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: norm-fusion-runner %t/init_chain.mlir --device=emulator --check --emulator=sms=3

// ONE-NOT:   [Missed]
// ONE:       norm_fusion.mixed_reduction
// ONE-NOT:   norm_fusion.mixed_reduction

// TWO-NOT:   [Missed]
// TWO:       norm_fusion.mixed_reduction
// TWO:       norm_fusion.mixed_reduction
// TWO-NOT:   norm_fusion.mixed_reduction

//--- variadic_rows_cols.mlir
// Two row sums in one reduce, two column sums in another.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @variadic_rows_cols(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>) -> (tensor<12x40xf32>, tensor<40xf32>, tensor<40xf32>) {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    linalg.yield %10 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    linalg.yield %10 : f32
  } -> tensor<12x40xf32>
  %3 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    linalg.yield %10 : f32
  } -> tensor<12x40xf32>
  %4 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %10 = arith.mulf %in, %in_1 : f32
    linalg.yield %10 : f32
  } -> tensor<12x40xf32>
  %5 = tensor.empty() : tensor<12xf32>
  %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<12xf32>) -> tensor<12xf32>
  %reduced:2 = linalg.reduce ins(%1, %3 : tensor<12x40xf32>, tensor<12x40xf32>) outs(%6, %6 : tensor<12xf32>,
        tensor<12xf32>) dimensions = [1] 
    (%in: f32, %in_1: f32, %init: f32, %init_2: f32) {
      %10 = arith.addf %init, %in : f32
      %11 = arith.addf %init_2, %in_1 : f32
      linalg.yield %10, %11 : f32, f32
    }
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %reduced_0:2 = linalg.reduce ins(%arg0, %4 : tensor<12x40xf32>, tensor<12x40xf32>) outs(%8, %8 : tensor<40xf32>,
        tensor<40xf32>) dimensions = [0] 
    (%in: f32, %in_1: f32, %init: f32, %init_2: f32) {
      %10 = arith.addf %init, %in : f32
      %11 = arith.addf %init_2, %in_1 : f32
      linalg.yield %10, %11 : f32, f32
    }
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %reduced#0, %reduced#1 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %10 = arith.mulf %in_1, %in_3 : f32
    %11 = arith.addf %10, %in_2 : f32
    %12 = arith.subf %in, %11 : f32
    linalg.yield %12 : f32
  } -> tensor<12x40xf32>
  return %9, %reduced_0#0, %reduced_0#1 : tensor<12x40xf32>, tensor<40xf32>, tensor<40xf32>
}

//--- several_weights.mlir
// Three weights with a gradient each.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @several_weights(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>, %arg4: tensor<40xf32>, %arg5: tensor<40xf32>) -> (tensor<12x40xf32>, tensor<40xf32>,
      tensor<40xf32>, tensor<40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg4, %arg5 : tensor<12x40xf32>, tensor<40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %out: f32):
    %13 = arith.mulf %in, %in_1 : f32
    %14 = arith.addf %13, %in_2 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.mulf %in, %in_1 : f32
    linalg.yield %13 : f32
  } -> tensor<12x40xf32>
  %3 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.mulf %in, %in_1 : f32
    linalg.yield %13 : f32
  } -> tensor<12x40xf32>
  %4 = tensor.empty() : tensor<12xf32>
  %5 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<12xf32>) -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%2, %3 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%5 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.mulf %in, %in_1 : f32
    %14 = arith.addf %13, %out : f32
    linalg.yield %14 : f32
  } -> tensor<12xf32>
  %7 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%2, %3, %6, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %13 = arith.mulf %in_1, %in_2 : f32
    %14 = arith.divf %13, %cst : f32
    %15 = arith.subf %in, %14 : f32
    %16 = arith.mulf %15, %in_3 : f32
    linalg.yield %16 : f32
  } -> tensor<12x40xf32>
  %8 = tensor.empty() : tensor<40xf32>
  %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<40xf32>) -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%1, %3 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.mulf %in, %in_1 : f32
    %14 = arith.addf %13, %out : f32
    linalg.yield %14 : f32
  } -> tensor<40xf32>
  %11 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %13 = arith.mulf %in, %in_1 : f32
    %14 = arith.addf %13, %out : f32
    linalg.yield %14 : f32
  } -> tensor<40xf32>
  %12 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%1 : tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %13 = arith.addf %in, %out : f32
    linalg.yield %13 : f32
  } -> tensor<40xf32>
  return %7, %10, %11, %12 : tensor<12x40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>
}

//--- while_body.mlir
// In the body of a while loop.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @while_body(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<40xf32>
  %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<40xf32>) -> tensor<40xf32>
  %2:3 = scf.while (%arg4 = %c0, %arg5 = %arg0, %arg6 = %1) : (index, tensor<12x40xf32>, tensor<40xf32>) -> (index,
        tensor<12x40xf32>, tensor<40xf32>) {
    %3 = arith.cmpi ult, %arg4, %c2 : index
    scf.condition(%3) %arg4, %arg5, %arg6 : index, tensor<12x40xf32>, tensor<40xf32>
  } do {
  ^bb0(%arg4: index, %arg5: tensor<12x40xf32>, %arg6: tensor<40xf32>):
    %3 = tensor.empty() : tensor<12x40xf32>
    %4 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
        ins(%arg5, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
        outs(%3 : tensor<12x40xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %12 = arith.mulf %in, %in_1 : f32
      linalg.yield %12 : f32
    } -> tensor<12x40xf32>
    %5 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
        ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
        outs(%3 : tensor<12x40xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %12 = arith.mulf %in, %in_1 : f32
      linalg.yield %12 : f32
    } -> tensor<12x40xf32>
    %6 = tensor.empty() : tensor<12xf32>
    %7 = linalg.fill ins(%cst_0 : f32) outs(%6 : tensor<12xf32>) -> tensor<12xf32>
    %8 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
        ins(%4, %5 : tensor<12x40xf32>, tensor<12x40xf32>)
        outs(%7 : tensor<12xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %12 = arith.mulf %in, %in_1 : f32
      %13 = arith.addf %12, %out : f32
      linalg.yield %13 : f32
    } -> tensor<12xf32>
    %9 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
        ins(%4, %5, %8, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
        outs(%3 : tensor<12x40xf32>) {
    ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
      %12 = arith.mulf %in_1, %in_2 : f32
      %13 = arith.divf %12, %cst : f32
      %14 = arith.subf %in, %13 : f32
      %15 = arith.mulf %14, %in_3 : f32
      linalg.yield %15 : f32
    } -> tensor<12x40xf32>
    %10 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
        ins(%arg5, %5 : tensor<12x40xf32>, tensor<12x40xf32>)
        outs(%1 : tensor<40xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %12 = arith.mulf %in, %in_1 : f32
      %13 = arith.addf %12, %out : f32
      linalg.yield %13 : f32
    } -> tensor<40xf32>
    %11 = arith.addi %arg4, %c1 : index
    scf.yield %11, %9, %10 : index, tensor<12x40xf32>, tensor<40xf32>
  }
  return %2#1, %2#2 : tensor<12x40xf32>, tensor<40xf32>
}

//--- used_everywhere.mlir
// Results and what they are made of are used by fused and unfused ops.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @used_everywhere(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>, %arg4: tensor<40x40xf32>) -> (tensor<12x40xf32>, tensor<40xf32>, tensor<12xf32>,
      tensor<12x40xf32>, tensor<12x40xf32>, tensor<12x40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    %15 = arith.addf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %14 = arith.mulf %in_1, %in_2 : f32
    %15 = arith.divf %14, %cst : f32
    %16 = arith.subf %in, %15 : f32
    %17 = arith.mulf %16, %in_3 : f32
    linalg.yield %17 : f32
  } -> tensor<12x40xf32>
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%8 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    %15 = arith.addf %14, %out : f32
    linalg.yield %15 : f32
  } -> tensor<40xf32>
  %10 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<12x40xf32>) -> tensor<12x40xf32>
  %11 = linalg.matmul ins(%6, %arg4 : tensor<12x40xf32>,
        tensor<40x40xf32>) outs(%10 : tensor<12x40xf32>) -> tensor<12x40xf32>
  %12 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%6, %11 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.addf %in, %in_1 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  %13 = linalg.generic {indexing_maps = [#m0, #m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%6, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %14 = arith.mulf %in, %in_1 : f32
    linalg.yield %14 : f32
  } -> tensor<12x40xf32>
  return %6, %9, %5, %12, %13, %1 : tensor<12x40xf32>, tensor<40xf32>, tensor<12xf32>, tensor<12x40xf32>,
        tensor<12x40xf32>, tensor<12x40xf32>
}

//--- through_outs.mlir
// The residual comes in as the destination.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @through_outs(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>, %arg4: tensor<12x40xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
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
  %10 = linalg.generic {indexing_maps = [#m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%6 : tensor<12x40xf32>)
      outs(%arg4 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %11 = arith.addf %in, %out : f32
    linalg.yield %11 : f32
  } -> tensor<12x40xf32>
  return %10, %9 : tensor<12x40xf32>, tensor<40xf32>
}

//--- two_result_elementwise.mlir
// One op yields the row's result and what a column sum reads.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @two_result_elementwise(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>,
      %arg3: tensor<12xf32>, %arg4: tensor<12x40xf32>) -> (tensor<12x40xf32>, tensor<40xf32>, tensor<40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    linalg.yield %12 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    linalg.yield %12 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    %13 = arith.addf %12, %out : f32
    linalg.yield %13 : f32
  } -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %12 = arith.mulf %in_1, %in_2 : f32
    %13 = arith.divf %12, %cst : f32
    %14 = arith.subf %in, %13 : f32
    %15 = arith.mulf %14, %in_3 : f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %7:2 = linalg.generic {indexing_maps = [#m0, #m0, #m0, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%6, %arg4 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%0, %0 : tensor<12x40xf32>, tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32, %out_2: f32):
    %12 = arith.addf %in, %in_1 : f32
    %13 = arith.mulf %12, %12 : f32
    linalg.yield %12, %13 : f32, f32
  } -> (tensor<12x40xf32>, tensor<12x40xf32>)
  %8 = tensor.empty() : tensor<40xf32>
  %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<40xf32>) -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%7#1 : tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %12 = arith.addf %in, %out : f32
    linalg.yield %12 : f32
  } -> tensor<40xf32>
  %11 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %12 = arith.mulf %in, %in_1 : f32
    %13 = arith.addf %12, %out : f32
    linalg.yield %13 : f32
  } -> tensor<40xf32>
  return %7#0, %11, %10 : tensor<12x40xf32>, tensor<40xf32>, tensor<40xf32>
}

//--- init_chain.mlir
// The gradient of a weight that two norms share: one starts from the other.
#m0 = affine_map<(d0, d1) -> (d0, d1)>
#m1 = affine_map<(d0, d1) -> (d1)>
#m2 = affine_map<(d0, d1) -> (d0)>

func.func @init_chain(%arg0: tensor<12x40xf32>, %arg1: tensor<12x40xf32>, %arg2: tensor<40xf32>, %arg3: tensor<12xf32>,
      %arg4: tensor<12x40xf32>, %arg5: tensor<12x40xf32>, %arg6: tensor<12xf32>) -> (tensor<12x40xf32>,
      tensor<12x40xf32>, tensor<40xf32>) {
  %cst = arith.constant 4.000000e+01 : f32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = tensor.empty() : tensor<12x40xf32>
  %1 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg0, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %2 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg1, %arg3 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %3 = tensor.empty() : tensor<12xf32>
  %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<12xf32>) -> tensor<12xf32>
  %5 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%1, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    %16 = arith.addf %15, %out : f32
    linalg.yield %16 : f32
  } -> tensor<12xf32>
  %6 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%1, %2, %5, %arg3 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %15 = arith.mulf %in_1, %in_2 : f32
    %16 = arith.divf %15, %cst : f32
    %17 = arith.subf %in, %16 : f32
    %18 = arith.mulf %17, %in_3 : f32
    linalg.yield %18 : f32
  } -> tensor<12x40xf32>
  %7 = tensor.empty() : tensor<40xf32>
  %8 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<40xf32>) -> tensor<40xf32>
  %9 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg0, %2 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%8 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    %16 = arith.addf %15, %out : f32
    linalg.yield %16 : f32
  } -> tensor<40xf32>
  %10 = linalg.generic {indexing_maps = [#m0, #m1, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg4, %arg2 : tensor<12x40xf32>, tensor<40xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %11 = linalg.generic {indexing_maps = [#m0, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%arg5, %arg6 : tensor<12x40xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    linalg.yield %15 : f32
  } -> tensor<12x40xf32>
  %12 = linalg.generic {indexing_maps = [#m0, #m0, #m2], iterator_types = ["parallel", "reduction"]}
      ins(%10, %11 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%4 : tensor<12xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    %16 = arith.addf %15, %out : f32
    linalg.yield %16 : f32
  } -> tensor<12xf32>
  %13 = linalg.generic {indexing_maps = [#m0, #m0, #m2, #m2, #m0], iterator_types = ["parallel", "parallel"]}
      ins(%10, %11, %12, %arg6 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>, tensor<12xf32>)
      outs(%0 : tensor<12x40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %in_2: f32, %in_3: f32, %out: f32):
    %15 = arith.mulf %in_1, %in_2 : f32
    %16 = arith.divf %15, %cst : f32
    %17 = arith.subf %in, %16 : f32
    %18 = arith.mulf %17, %in_3 : f32
    linalg.yield %18 : f32
  } -> tensor<12x40xf32>
  %14 = linalg.generic {indexing_maps = [#m0, #m0, #m1], iterator_types = ["reduction", "parallel"]}
      ins(%arg4, %11 : tensor<12x40xf32>, tensor<12x40xf32>)
      outs(%9 : tensor<40xf32>) {
  ^bb0(%in: f32, %in_1: f32, %out: f32):
    %15 = arith.mulf %in, %in_1 : f32
    %16 = arith.addf %15, %out : f32
    linalg.yield %16 : f32
  } -> tensor<40xf32>
  return %6, %13, %14 : tensor<12x40xf32>, tensor<12x40xf32>, tensor<40xf32>
}
