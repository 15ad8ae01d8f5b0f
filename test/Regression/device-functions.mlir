// Device code is no place for a launch.
// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s
// CHECK-NOT: norm_fusion

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func @f(%x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
      %zero = arith.constant 0.0 : f32
      %er = tensor.empty() : tensor<24xf32>
      %ec = tensor.empty() : tensor<64xf32>
      %e = tensor.empty() : tensor<24x64xf32>
      %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
      %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
      %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
      %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
      %dx = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
          ins(%x, %s : tensor<24x64xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
      ^bb0(%a: f32, %b: f32, %o: f32):
        %0 = arith.mulf %a, %b : f32
        linalg.yield %0 : f32
      } -> tensor<24x64xf32>
      %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
      return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
    }
  }
}
