// Extents whose product no memory holds: no group, and no arithmetic that overflows.
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa profit=always" --remarks-filter='norm-fusion.*' --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// CHECK: [Missed] over-budget {{.*}}found="more elements than there are addresses", needed="at most 140737488355328"

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

func.func @f(%x: tensor<16x288230376151711744xf32>, %dy: tensor<16x288230376151711744xf32>) -> (tensor<16x288230376151711744xf32>, tensor<288230376151711744xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<16xf32>
  %ec = tensor.empty() : tensor<288230376151711744xf32>
  %e = tensor.empty() : tensor<16x288230376151711744xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<16xf32>) -> tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<288230376151711744xf32>) -> tensor<288230376151711744xf32>
  %p = linalg.mul ins(%x, %dy : tensor<16x288230376151711744xf32>, tensor<16x288230376151711744xf32>) outs(%e : tensor<16x288230376151711744xf32>) -> tensor<16x288230376151711744xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<16x288230376151711744xf32>) outs(%fr : tensor<16xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<16x288230376151711744xf32>, tensor<16xf32>) outs(%e : tensor<16x288230376151711744xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<16x288230376151711744xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<16x288230376151711744xf32>) outs(%fc : tensor<288230376151711744xf32>) dimensions = [0]
  return %dx, %dw : tensor<16x288230376151711744xf32>, tensor<288230376151711744xf32>
}
