// Bodies that accumulate with math.fma are sums of products: formed, and the
// same as in f64 when run. A product of 16-bit floats is made in f32.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/rows_and_columns.mlir --norm-fusion-form | FileCheck %s --check-prefix=F32
// RUN: norm-fusion-runner %t/rows_and_columns.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/narrow.mlir --norm-fusion-form | FileCheck %s --check-prefix=BF16
// RUN: norm-fusion-runner %t/narrow.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/chained.mlir --norm-fusion-form | FileCheck %s --check-prefix=CHAINED
// RUN: norm-fusion-runner %t/chained.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/scaled.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=SCALED

// F32:      norm_fusion.mixed_reduction
// F32-NEXT: ins(
// F32:      %[[G:.*]] = arith.mulf
// F32-NEXT: %[[ROW:.*]] = arith.mulf %[[G]], %{{.*}} : f32
// F32-NEXT: norm_fusion.row_reduce add, %[[ROW]]
// F32:      math.fma
// F32-NEXT: %[[COLUMN:.*]] = arith.mulf
// F32-NEXT: norm_fusion.column_reduce add, %[[COLUMN]]
// F32-NOT:  linalg

// BF16:      norm_fusion.row_reduce
// BF16:      %[[A:.*]] = arith.extf %{{.*}} : bf16 to f32
// BF16-NEXT: %[[B:.*]] = arith.extf %{{.*}} : bf16 to f32
// BF16-NEXT: %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
// BF16-NEXT: norm_fusion.column_reduce add, %[[P]] : f32

// CHAINED:     arith.mulf
// CHAINED:     arith.addf
// CHAINED:     norm_fusion.row_reduce add
// CHAINED-NOT: linalg

// The accumulator as a factor is no sum.
// SCALED:     [Missed] unsupported-combiner
// SCALED-NOT: norm_fusion.mixed_reduction

//--- rows_and_columns.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @rows_and_columns(%dy: tensor<12x40xf32>, %x: tensor<12x40xf32>, %w: tensor<40xf32>, %db: tensor<40xf32>)
    -> (tensor<12x40xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %full = tensor.empty() : tensor<12x40xf32>
  %row = tensor.empty() : tensor<12xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%row : tensor<12xf32>) -> tensor<12xf32>
  %g = linalg.generic {indexing_maps = [#mn, #n, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %w : tensor<12x40xf32>, tensor<40xf32>) outs(%full : tensor<12x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<12x40xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%g, %x : tensor<12x40xf32>, tensor<12x40xf32>) outs(%zeros : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.fma %a, %b, %o : f32
    linalg.yield %0 : f32
  } -> tensor<12xf32>
  %dx = linalg.generic {indexing_maps = [#mn, #mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%g, %x, %s : tensor<12x40xf32>, tensor<12x40xf32>, tensor<12xf32>) outs(%full : tensor<12x40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %k = arith.constant -0.025 : f32
    %0 = arith.mulf %c, %k : f32
    %1 = math.fma %b, %0, %a : f32
    linalg.yield %1 : f32
  } -> tensor<12x40xf32>
  %dw = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x : tensor<12x40xf32>, tensor<12x40xf32>) outs(%db : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.fma %a, %b, %o : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %dx, %dw : tensor<12x40xf32>, tensor<40xf32>
}

//--- narrow.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @narrow(%dy: tensor<12x40xbf16>, %x: tensor<12x40xbf16>) -> (tensor<12xbf16>, tensor<40xbf16>) {
  %zero = arith.constant 0.0 : bf16
  %row = tensor.empty() : tensor<12xbf16>
  %rows = linalg.fill ins(%zero : bf16) outs(%row : tensor<12xbf16>) -> tensor<12xbf16>
  %col = tensor.empty() : tensor<40xbf16>
  %cols = linalg.fill ins(%zero : bf16) outs(%col : tensor<40xbf16>) -> tensor<40xbf16>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%dy : tensor<12x40xbf16>) outs(%rows : tensor<12xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.addf %a, %o : bf16
    linalg.yield %0 : bf16
  } -> tensor<12xbf16>
  %dw = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x : tensor<12x40xbf16>, tensor<12x40xbf16>) outs(%cols : tensor<40xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %0 = math.fma %a, %b, %o : bf16
    linalg.yield %0 : bf16
  } -> tensor<40xbf16>
  return %s, %dw : tensor<12xbf16>, tensor<40xbf16>
}

//--- chained.mlir
// Two steps a point: fma(a, b, acc + c).
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @chained(%dy: tensor<12x40xf32>, %x: tensor<12x40xf32>) -> (tensor<12xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<12xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%row : tensor<12xf32>) -> tensor<12xf32>
  %col = tensor.empty() : tensor<40xf32>
  %cols = linalg.fill ins(%zero : f32) outs(%col : tensor<40xf32>) -> tensor<40xf32>
  %s = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%dy, %x : tensor<12x40xf32>, tensor<12x40xf32>) outs(%rows : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    %1 = math.fma %a, %b, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12xf32>
  %dw = linalg.generic {indexing_maps = [#mn, #mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x : tensor<12x40xf32>, tensor<12x40xf32>) outs(%cols : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.fma %b, %b, %o : f32
    %1 = arith.addf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<40xf32>
  return %s, %dw : tensor<12xf32>, tensor<40xf32>
}

//--- scaled.mlir
#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @scaled(%x: tensor<12x40xf32>, %init: tensor<40xf32>, %sums: tensor<12xf32>) -> (tensor<12xf32>, tensor<40xf32>) {
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<12x40xf32>) outs(%sums : tensor<12xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<12xf32>
  %h = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<12x40xf32>) outs(%init : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %k = arith.constant 0.5 : f32
    %0 = math.fma %o, %k, %a : f32
    linalg.yield %0 : f32
  } -> tensor<40xf32>
  return %s, %h : tensor<12xf32>, tensor<40xf32>
}
