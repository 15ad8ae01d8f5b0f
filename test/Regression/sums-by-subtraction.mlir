// A body that subtracts from its accumulator, as IREE makes of a sum of negated values, is a sum of the negatives: it was
// no combiner, and its reduction no part of the norm.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/sums.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/sums.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/narrow.mlir --norm-fusion-form | FileCheck %s --check-prefix=BF16
// RUN: norm-fusion-runner %t/narrow.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/steps.mlir --norm-fusion-form | FileCheck %s --check-prefix=STEPS
// RUN: norm-fusion-runner %t/steps.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/others.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=OTHERS

// CHECK:     %[[P:.*]] = arith.mulf
// CHECK:     %[[N:.*]] = arith.negf %[[P]] : f32
// CHECK:     %[[S:.*]] = norm_fusion.row_reduce add, %[[N]] : f32
// CHECK:     arith.subf %{{.*}}, %[[S]] : f32
// CHECK:     %[[C:.*]] = arith.addf
// CHECK:     %[[M:.*]] = arith.negf %[[C]] : f32
// CHECK:     norm_fusion.column_reduce add, %[[M]] : f32
// CHECK-NOT: linalg

// Upstream's arith-emulate-unsupported-floats behind it.
// BF16:     %[[E:.*]] = arith.extf %{{.*}} : bf16 to f32
// BF16:     %[[N:.*]] = arith.negf %[[E]] : f32
// BF16:     norm_fusion.row_reduce add, %[[N]] : f32
// BF16:     norm_fusion.column_reduce add
// BF16-NOT: linalg.generic

// Two steps; and the sum of the second stage loses the first one's: its result isn't negated, the second's is.
// STEPS:     %[[N:.*]] = arith.negf
// STEPS:     %[[S:.*]] = arith.addf %{{.*}}, %[[N]]
// STEPS:     norm_fusion.row_reduce add, %[[S]]
// STEPS:     norm_fusion.column_reduce add
// STEPS-NOT: norm_fusion.column_reduce
// STEPS:     linalg.generic

// What the accumulator is taken from isn't a sum.
// OTHERS:     [Missed] unsupported-combiner
// OTHERS-NOT: norm_fusion.mixed_reduction

//--- sums.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @sums(%dy: tensor<12x40xf32>, %x: tensor<12x40xf32>, %start: tensor<40xf32>) -> (tensor<12x40xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %full = tensor.empty() : tensor<12x40xf32>
  %row = tensor.empty() : tensor<12xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%row : tensor<12xf32>) -> tensor<12xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%dy, %x : tensor<12x40xf32>, tensor<12x40xf32>) outs(%zeros : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.subf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12xf32>
  %dx = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %s : tensor<12x40xf32>, tensor<12xf32>) outs(%full : tensor<12x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<12x40xf32>
  %dw = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x : tensor<12x40xf32>, tensor<12x40xf32>) outs(%start : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.subf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<40xf32>
  return %dx, %dw : tensor<12x40xf32>, tensor<40xf32>
}

//--- narrow.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @narrow(%x: tensor<33x64xbf16>) -> (tensor<33xbf16>, tensor<64xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %row = tensor.empty() : tensor<33xbf16>
  %column = tensor.empty() : tensor<64xbf16>
  %rows = linalg.fill ins(%zero : bf16) outs(%row : tensor<33xbf16>) -> tensor<33xbf16>
  %columns = linalg.fill ins(%zero : bf16) outs(%column : tensor<64xbf16>) -> tensor<64xbf16>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<33x64xbf16>) outs(%rows : tensor<33xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.extf %o : bf16 to f32
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<33xbf16>
  %c = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<33x64xbf16>) outs(%columns : tensor<64xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.subf %o, %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<64xbf16>
  return %s, %c : tensor<33xbf16>, tensor<64xbf16>
}

//--- steps.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @steps(%x: tensor<3x4x40xf32>, %y: tensor<3x4x40xf32>) -> (tensor<3x4xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<3x4xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%row : tensor<3x4xf32>) -> tensor<3x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<3x4x40xf32>, tensor<3x4x40xf32>) outs(%rows : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %o, %a : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<3x4xf32>
  %part = tensor.empty() : tensor<3x40xf32>
  %parts = linalg.fill ins(%zero : f32) outs(%part : tensor<3x40xf32>) -> tensor<3x40xf32>
  %first = linalg.reduce {arith.addf} ins(%x : tensor<3x4x40xf32>) outs(%parts : tensor<3x40xf32>) dimensions = [1]
  %column = tensor.empty() : tensor<40xf32>
  %columns = linalg.fill ins(%zero : f32) outs(%column : tensor<40xf32>) -> tensor<40xf32>
  %second = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%first : tensor<3x40xf32>) outs(%columns : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.subf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %s, %second : tensor<3x4xf32>, tensor<40xf32>
}

//--- others.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @alternating(%x: tensor<33x64xf32>, %init: tensor<33xf32>) -> tensor<33xf32> {
  %0 = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<33x64xf32>) outs(%init : tensor<33xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.subf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<33xf32>
  return %0 : tensor<33xf32>
}
