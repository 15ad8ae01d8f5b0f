// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file | FileCheck %s

// Forming twice changes nothing more.
// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file > %t.once
// RUN: norm-fusion-opt %s --norm-fusion-form --norm-fusion-form --split-input-file > %t.twice
// RUN: diff %t.once %t.twice

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#col = affine_map<(m, n) -> (n)>

// A row sum returns into the space, a column sum doesn't. The bf16 operands are
// read as they are, not widened first.

// CHECK-LABEL: func @rms_backward
// CHECK-SAME:    %[[DY:[a-z0-9]+]]: tensor<?x64xbf16>, %[[X:[a-z0-9]+]]: tensor<?x64xbf16>, %[[R:[a-z0-9]+]]: tensor<?xf32>
// CHECK-NOT:     linalg
// CHECK:         %[[M:.+]] = tensor.dim %{{.+}}, %{{.+}} : tensor<?x64xbf16>
// CHECK:         tensor.empty(%[[M]]) : tensor<?x64xf32>
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK-NEXT:      ins(%[[X]], %[[R]], %[[DY]] :
// CHECK-DAG:       %[[XH:.+]] = arith.mulf
// CHECK:           %[[S:.+]] = norm_fusion.row_reduce add, %{{.+}} : f32
// CHECK:           norm_fusion.column_reduce add, %{{.+}} : f32
// CHECK-NOT:       linalg
// CHECK:           norm_fusion.yield
// CHECK-NOT:     linalg
func.func @rms_backward(%dy: tensor<?x64xbf16>, %x: tensor<?x64xbf16>,
                        %r: tensor<?xf32>)
    -> (tensor<?x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %xh = linalg.generic {indexing_maps = [#full, #row, #full],
                        iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<?x64xbf16>, tensor<?xf32>)
      outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %g = linalg.generic {indexing_maps = [#full, #full],
                       iterator_types = ["parallel", "parallel"]}
      ins(%dy : tensor<?x64xbf16>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    linalg.yield %0 : f32
  } -> tensor<?x64xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  // The product stands in the body, the accumulator on the left.
  %s = linalg.generic {indexing_maps = [#full, #full, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%g, %xh : tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%fr : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %dx = linalg.generic {indexing_maps = [#full, #full, #row, #full],
                        iterator_types = ["parallel", "parallel"]}
      ins(%g, %xh, %s : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?xf32>)
      outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %0 = arith.mulf %b, %c : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %dw = linalg.generic {indexing_maps = [affine_map<(n, m) -> (m, n)>,
                                         affine_map<(n, m) -> (m, n)>,
                                         affine_map<(n, m) -> (n)>],
                        iterator_types = ["parallel", "reduction"]}
      ins(%g, %xh : tensor<?x64xf32>, tensor<?x64xf32>)
      outs(%fc : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %dx, %dw : tensor<?x64xf32>, tensor<64xf32>
}

// -----

// A named reduce with two results, a sum that starts from an argument, and a
// cast behind the finished columns: all of it is in the op, the argument enters
// once.

// CHECK-LABEL: func @named
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x16xf32>, %[[OLD:[a-z0-9]+]]: tensor<16xf32>
// CHECK:         %[[R:.+]]:3 = norm_fusion.mixed_reduction
// CHECK-NEXT:      ins(%[[X]], %[[OLD]] :
// CHECK:         ^bb0(%[[XE:.+]]: f32, %[[OLDE:.+]]: f32):
// CHECK:           %[[A:.+]] = norm_fusion.column_reduce add, %[[XE]] : f32
// CHECK:           arith.addf %[[OLDE]], %[[A]] : f32
// CHECK:           norm_fusion.column_reduce maximum, %[[XE]] : f32
// CHECK:           norm_fusion.row_reduce add, %[[XE]] : f32
// CHECK:         return %[[R]]#{{[0-2]}}, %[[R]]#{{[0-2]}}, %[[R]]#{{[0-2]}}
func.func @named(%x: tensor<8x16xf32>, %old: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xbf16>, tensor<16xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %lows = linalg.fill ins(%low : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %cols:2 = linalg.reduce ins(%x, %x : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%old, %lows : tensor<16xf32>, tensor<16xf32>) dimensions = [0]
      (%a: f32, %b: f32, %o: f32, %p: f32) {
        %0 = arith.addf %a, %o : f32
        %1 = arith.maximumf %b, %p : f32
        linalg.yield %0, %1 : f32, f32
      }
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %rows = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %eb = tensor.empty() : tensor<16xbf16>
  %narrow = linalg.map ins(%cols#0 : tensor<16xf32>)
      outs(%eb : tensor<16xbf16>) (%a: f32, %o: bf16) {
        %0 = arith.truncf %a : f32 to bf16
        linalg.yield %0 : bf16
      }
  return %rows, %narrow, %cols#1 : tensor<8xf32>, tensor<16xbf16>, tensor<16xf32>
}

// -----

// A sum that the front end accumulates in bf16 is accumulated in f32.

// CHECK-LABEL: func @narrow_sum
// CHECK:         %[[W:.+]] = arith.extf %{{.+}} : bf16 to f32
// CHECK:         %[[C:.+]] = norm_fusion.column_reduce add, %[[W]] : f32
// CHECK:         arith.truncf %[[C]] : f32 to bf16
func.func @narrow_sum(%x: tensor<8x16xbf16>) -> (tensor<8xbf16>, tensor<16xbf16>) {
  %low = arith.constant 0xFF80 : bf16
  %zero = arith.constant 0.0 : bf16
  %er = tensor.empty() : tensor<8xbf16>
  %ec = tensor.empty() : tensor<16xbf16>
  %fr = linalg.fill ins(%low : bf16) outs(%er : tensor<8xbf16>) -> tensor<8xbf16>
  %fc = linalg.fill ins(%zero : bf16) outs(%ec : tensor<16xbf16>) -> tensor<16xbf16>
  %r = linalg.reduce {arith.maximumf} ins(%x : tensor<8x16xbf16>)
      outs(%fr : tensor<8xbf16>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xbf16>)
      outs(%fc : tensor<16xbf16>) dimensions = [0]
  return %r, %c : tensor<8xbf16>, tensor<16xbf16>
}
