// The weight's gradient is divided by its own norm: one number, of finished
// columns. The group ends before; the division stays outside.

// RUN: norm-fusion-opt %s --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --check --emulator=sms=3

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
#own = affine_map<(n) -> (n)>
#one = affine_map<(n) -> ()>

// CHECK-NOT:   [Missed] cycle
// CHECK-LABEL: func @clipped
// CHECK:       norm_fusion.mixed_reduction
// CHECK:       linalg.generic
// CHECK:       linalg.generic
func.func @clipped(%dy: tensor<9x32xf32>, %x: tensor<9x32xf32>) -> (tensor<9x32xf32>, tensor<32xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %full = tensor.empty() : tensor<9x32xf32>
  %row = tensor.empty() : tensor<9xf32>
  %col = tensor.empty() : tensor<32xf32>
  %number = tensor.empty() : tensor<f32>
  %rows = linalg.fill ins(%zero : f32) outs(%row : tensor<9xf32>) -> tensor<9xf32>
  %cols = linalg.fill ins(%zero : f32) outs(%col : tensor<32xf32>) -> tensor<32xf32>
  %total = linalg.fill ins(%zero : f32) outs(%number : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%dy, %x : tensor<9x32xf32>, tensor<9x32xf32>) outs(%rows : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<9xf32>
  %dx = linalg.generic {indexing_maps = [#mn, #mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %x, %s : tensor<9x32xf32>, tensor<9x32xf32>, tensor<9xf32>) outs(%full : tensor<9x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.mulf %b, %c : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<9x32xf32>
  %dw = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x : tensor<9x32xf32>, tensor<9x32xf32>) outs(%cols : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<32xf32>
  %norm = linalg.generic {indexing_maps = [#own, #one], iterator_types = ["reduction"]}
      ins(%dw : tensor<32xf32>) outs(%total : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %clipped = linalg.generic {indexing_maps = [#own, #one, #own], iterator_types = ["parallel"]}
      ins(%dw, %norm : tensor<32xf32>, tensor<f32>) outs(%col : tensor<32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.sqrt %b : f32
    %1 = arith.divf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<32xf32>
  return %dx, %clipped, %norm : tensor<9x32xf32>, tensor<32xf32>, tensor<f32>
}
