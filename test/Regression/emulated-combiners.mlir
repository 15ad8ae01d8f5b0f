// Upstream's arith-emulate-unsupported-floats computes each step of a bf16 sum in f32 and rounds it: the same sum. Canonicalizing
// then folds the conversions of what is added: no sum of bf16 values any more, but one that is rounded to bf16.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/sums.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/sums.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/power.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: norm-fusion-opt %t/sums.mlir --canonicalize --norm-fusion-form | FileCheck %s --check-prefix=FOLDED
// RUN: norm-fusion-opt %t/sums.mlir --canonicalize -o %t/folded.mlir
// RUN: norm-fusion-runner %t/folded.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/others.mlir --norm-fusion-form | FileCheck %s --check-prefix=OTHERS
// RUN: norm-fusion-runner %t/others.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/stages.mlir --norm-fusion-form | FileCheck %s --check-prefix=STAGES
// RUN: norm-fusion-runner %t/stages.mlir --device=emulator --check --emulator=sms=3

// CHECK:      %[[P:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[P]] : bf16 to f32
// CHECK-NEXT: norm_fusion.row_reduce add, %[[E]] : f32
// CHECK:      norm_fusion.column_reduce add, %{{.*}} : f32
// CHECK-NOT:  linalg.generic

// FOLDED:      %[[P:.*]] = arith.mulf %{{.*}} : f32
// FOLDED-NEXT: norm_fusion.row_reduce add, %[[P]] : f32
// FOLDED:      %[[Q:.*]] = arith.mulf %{{.*}} : f32
// FOLDED-NEXT: norm_fusion.column_reduce add, %[[Q]] : f32
// FOLDED-NOT:  linalg.generic

// Maxima of f32 values, rounded, and a fused multiply-add.
// OTHERS:     %[[M:.*]] = norm_fusion.row_reduce maximum, %{{.*}} : f32
// OTHERS:     %[[R:.*]] = arith.maximumf %{{.*}}, %[[M]] : f32
// OTHERS:     arith.truncf %[[R]] : f32 to bf16
// OTHERS:     %[[P:.*]] = arith.mulf %{{.*}} : f32
// OTHERS:     norm_fusion.column_reduce add, %[[P]] : f32
// OTHERS-NOT: linalg.generic

// A sum of f32 and one of its results that is rounded to bf16 have two types: two sums.
// STAGES: norm_fusion.column_reduce add, %{{.*}} : f32
// STAGES: linalg.generic

// Powers of two round in a way of their own.
// WIDE:     [Missed] unsupported-combiner
// WIDE-NOT: norm_fusion.mixed_reduction

//--- sums.mlir
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<33x64xbf16>, %arg1: tensor<33x64xbf16>) -> (tensor<33xbf16>, tensor<64xbf16>) {
    %cst = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<33xbf16>
    %1 = tensor.empty() : tensor<64xbf16>
    %2 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<33xbf16>) -> tensor<33xbf16>
    %3 = linalg.fill ins(%cst : bf16) outs(%1 : tensor<64xbf16>) -> tensor<64xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<33x64xbf16>, tensor<33x64xbf16>) outs(%2 : tensor<33xbf16>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
      %6 = arith.extf %out fastmath<contract> : bf16 to f32
      %7 = arith.extf %in_0 fastmath<contract> : bf16 to f32
      %8 = arith.extf %in fastmath<contract> : bf16 to f32
      %9 = arith.mulf %8, %7 : f32
      %10 = arith.truncf %9 fastmath<contract> : f32 to bf16
      %11 = arith.extf %10 fastmath<contract> : bf16 to f32
      %12 = arith.addf %11, %6 : f32
      %13 = arith.truncf %12 fastmath<contract> : f32 to bf16
      linalg.yield %13 : bf16
    } -> tensor<33xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map2], iterator_types = ["reduction", "parallel"]} ins(%arg0, %arg1 : tensor<33x64xbf16>, tensor<33x64xbf16>) outs(%3 : tensor<64xbf16>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
      %6 = arith.extf %out fastmath<contract> : bf16 to f32
      %7 = arith.extf %in_0 fastmath<contract> : bf16 to f32
      %8 = arith.extf %in fastmath<contract> : bf16 to f32
      %9 = arith.mulf %8, %7 : f32
      %10 = arith.truncf %9 fastmath<contract> : f32 to bf16
      %11 = arith.extf %10 fastmath<contract> : bf16 to f32
      %12 = arith.addf %11, %6 : f32
      %13 = arith.truncf %12 fastmath<contract> : f32 to bf16
      linalg.yield %13 : bf16
    } -> tensor<64xbf16>
    return %4, %5 : tensor<33xbf16>, tensor<64xbf16>
  }
}

//--- others.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @others(%x: tensor<33x64xf32>, %rows: tensor<33xbf16>, %columns: tensor<64xf16>) -> (tensor<33xbf16>, tensor<64xf16>) {
  %0 = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<33x64xf32>) outs(%rows : tensor<33xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %2 = arith.extf %o : bf16 to f32
    %3 = arith.maximumf %a, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<33xbf16>
  %1 = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<33x64xf32>) outs(%columns : tensor<64xf16>) {
  ^bb0(%a: f32, %o: f16):
    %2 = arith.extf %o : f16 to f32
    %3 = math.fma %a, %a, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<64xf16>
  return %0, %1 : tensor<33xbf16>, tensor<64xf16>
}

//--- stages.mlir
#mn = affine_map<(m, n) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
func.func @stages(%x: tensor<3x4x40xf32>) -> (tensor<3x4xf32>, tensor<40xbf16>) {
  %zero = arith.constant 0.0 : f32
  %narrow = arith.constant 0.0 : bf16
  %row = tensor.empty() : tensor<3x4xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%row : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<3x4x40xf32>) outs(%rows : tensor<3x4xf32>) dimensions = [2]
  %part = tensor.empty() : tensor<3x40xf32>
  %parts = linalg.fill ins(%zero : f32) outs(%part : tensor<3x40xf32>) -> tensor<3x40xf32>
  %first = linalg.reduce {arith.addf} ins(%x : tensor<3x4x40xf32>) outs(%parts : tensor<3x40xf32>) dimensions = [1]
  %column = tensor.empty() : tensor<40xbf16>
  %columns = linalg.fill ins(%narrow : bf16) outs(%column : tensor<40xbf16>) -> tensor<40xbf16>
  %second = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%first : tensor<3x40xf32>) outs(%columns : tensor<40xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.extf %o : bf16 to f32
    %1 = arith.addf %0, %a : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<40xbf16>
  return %s, %second : tensor<3x4xf32>, tensor<40xbf16>
}

//--- power.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @power(%x: tensor<33x64xf8E8M0FNU>, %init: tensor<33xf8E8M0FNU>) -> tensor<33xf8E8M0FNU> {
  %0 = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<33x64xf8E8M0FNU>) outs(%init : tensor<33xf8E8M0FNU>) {
  ^bb0(%a: f8E8M0FNU, %o: f8E8M0FNU):
    %1 = arith.extf %o : f8E8M0FNU to f32
    %2 = arith.extf %a : f8E8M0FNU to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to f8E8M0FNU
    linalg.yield %4 : f8E8M0FNU
  } -> tensor<33xf8E8M0FNU>
  return %0 : tensor<33xf8E8M0FNU>
}
