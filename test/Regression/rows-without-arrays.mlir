// A row reduction of an outer product reads nothing of full size: there is no narrowest element, and a schedule all the same.

// RUN: norm-fusion-opt %s --norm-fusion-fuse="chip=sm_90a row-only=true" | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --form-options=row-only=true --check
// RUN: norm-fusion-runner %s --device=emulator --form-options=row-only=true --check --batch-invariant
// CHECK: norm_fusion.mixed_reduction
// CHECK: schedule = #norm_fusion.schedule<

func.func @main(%a1: tensor<33xf16>, %a2: tensor<2xf16>) -> (tensor<33xf32>) {
  %e3 = tensor.empty() : tensor<33x2xf32>
  %t13 = linalg.generic {indexing_maps = [affine_map<(lm,ln) -> (lm)>, affine_map<(lm,ln) -> (ln)>, affine_map<(lm,ln) -> (lm,ln)>], iterator_types = ["parallel", "parallel"]} ins(%a1, %a2 : tensor<33xf16>, tensor<2xf16>) outs(%e3 : tensor<33x2xf32>) {
  ^bb0(%i3: f16, %i4: f16, %o5: f32):
    %v6 = arith.extf %i3 : f16 to f32
    %v7 = arith.extf %i4 : f16 to f32
    %v8 = arith.mulf %v6, %v7 : f32
    %v9 = arith.constant 1.0 : f32
    %v10 = arith.subf %v8, %v9 : f32
    %v11 = math.tanh %v10 : f32
    linalg.yield %v11 : f32
  } -> tensor<33x2xf32>
  %k14 = arith.constant 0.0 : f32
  %e15 = tensor.empty() : tensor<33xf32>
  %f16 = linalg.fill ins(%k14 : f32) outs(%e15 : tensor<33xf32>) -> tensor<33xf32>
  %t20 = linalg.generic {indexing_maps = [affine_map<(lm,ln) -> (lm,ln)>, affine_map<(lm,ln) -> (lm)>], iterator_types = ["parallel", "reduction"]} ins(%t13 : tensor<33x2xf32>) outs(%f16 : tensor<33xf32>) {
  ^bb0(%i16: f32, %o17: f32):
    %v18 = arith.addf %i16, %o17 : f32
    linalg.yield %v18 : f32
  } -> tensor<33xf32>
  return %t20 : tensor<33xf32>
}
