// What isn't fused becomes PTX that needs no library, or host code: by default kernels for a GPU, loops beside the emulator.
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_80" | FileCheck %s --check-prefix=PTX --implicit-check-not=__nv_
// RUN: norm-fusion-opt %s --norm-fusion-widen --norm-fusion-lower="chip=sm_90a" | FileCheck %s --check-prefix=PTX --implicit-check-not=__nv_
// RUN: norm-fusion-opt %s --norm-fusion-lower="target=emulator plain=device" | FileCheck %s --check-prefix=EMULATOR
// RUN: norm-fusion-opt %s --norm-fusion-lower="target=emulator" | FileCheck %s --check-prefix=HOST --implicit-check-not=gpu.binary
// RUN: norm-fusion-opt %s --norm-fusion-lower="plain=host" | FileCheck %s --check-prefix=HOST --implicit-check-not=gpu.binary

// PTX:      llvm.func @main
// PTX:      gpu.launch_func
// PTX:      gpu.binary @norm_fusion_plain_kernels
// PTX-SAME: .entry main_plain_0(
// EMULATOR: gpu.launch_func
// EMULATOR: gpu.binary @norm_fusion_plain_kernels [#gpu.object<#norm_fusion.emulator_target
// HOST:     llvm.func @main
func.func @main(%x: tensor<?x64xf32>, %k: tensor<64xbf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%0, %k : tensor<?x64xf32>, tensor<64xbf16>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: bf16, %o: f32):
    %2 = math.erf %b : bf16
    %3 = arith.extf %2 : bf16 to f32
    %4 = math.powf %a, %3 : f32
    %5 = math.rsqrt %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
