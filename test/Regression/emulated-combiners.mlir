// Upstream's arith-emulate-unsupported-floats computes each step of a bf16 sum in f32 and rounds it: the same sum.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/sums.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/sums.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/power.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: norm-fusion-opt %t/wide.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=WIDE

// CHECK:      %[[P:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: %[[E:.*]] = arith.extf %[[P]] : bf16 to f32
// CHECK-NEXT: norm_fusion.row_reduce add, %[[E]] : f32
// CHECK:      norm_fusion.column_reduce add, %{{.*}} : f32
// CHECK-NOT:  linalg.generic

// What is added in f32 may be nothing that bf16 has, and powers of two round in a way of their own.
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

//--- wide.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @wide(%x: tensor<33x64xf32>, %init: tensor<33xbf16>) -> tensor<33xbf16> {
  %0 = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<33x64xf32>) outs(%init : tensor<33xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %1 = arith.extf %o : bf16 to f32
    %2 = arith.addf %1, %a : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<33xbf16>
  return %0 : tensor<33xbf16>
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
