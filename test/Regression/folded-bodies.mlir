// What folding leaves of a region may vary over fewer dimensions than what was
// formed: a reduction still takes it once for each point, and a group that has
// no kernel any more goes the plain way.
// RUN: norm-fusion-opt %s --norm-fusion-form=profit=always --canonicalize --cse --canonicalize --norm-fusion-partial-accumulate --norm-fusion-to-linalg | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form=profit=always --norm-fusion-partial-accumulate --norm-fusion-schedule -o %t --remarks-filter=norm-fusion --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: norm-fusion-runner %s --entry=row_value --form-options=profit=always --device=emulator --check
// RUN: norm-fusion-runner %s --entry=dynamic --form-options=profit=always --device=emulator --check --dims=6x70
// RUN: norm-fusion-runner %s --entry=nothing --form-options=profit=always --device=emulator --check
// RUN: norm-fusion-runner %s --entry=count --form-options=profit=always --device=emulator --check

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// select(n < n, x, 0) + g[m] is g[m].

// CHECK-LABEL: func @row_value
// CHECK-NOT:     norm_fusion
// REMARK: Missed
// REMARK-SAME: Function=row_value {{.*}}found="a row reduction of what is the same for some columns"
func.func @row_value(%x: tensor<6x64xf32>, %g: tensor<6xf32>) -> (tensor<6x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x64xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g : tensor<6x64xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %j = linalg.index 1 : index
    %never = arith.cmpi ult, %j, %j : index
    %s = arith.select %never, %a, %zero : f32
    %v = arith.addf %s, %b : f32
    linalg.yield %v : f32
  } -> tensor<6x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%t : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %dw = linalg.reduce {arith.addf} ins(%t : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  %db = linalg.reduce {arith.addf} ins(%x : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  %dx = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<6x64xf32>, tensor<6xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<6x64xf32>
  return %dx, %dw, %db : tensor<6x64xf32>, tensor<64xf32>, tensor<64xf32>
}

// i % 1 is 0: the sums are of what varies over columns alone, or not at all.

// CHECK-LABEL: func @dynamic
// CHECK-NOT:     norm_fusion
// CHECK:         tensor.empty(%{{.+}}) : tensor<?xi8>
// REMARK: Missed
// REMARK-SAME: Function=dynamic {{.*}}found="a column reduction of what is the same for some rows"
func.func @dynamic(%x: tensor<?x?xf32>, %w: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %ec = tensor.empty(%n) : tensor<?xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<?xf32>) -> tensor<?xf32>
  %t = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %i = linalg.index 0 : index
    %rest = arith.remui %i, %c1 : index
    %odd = arith.cmpi ne, %rest, %c0 : index
    %v = arith.select %odd, %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  %sum = linalg.generic {indexing_maps = [#e, #e, #r], iterator_types = ["parallel", "reduction"]}
      ins(%t, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%fr : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %v = arith.addf %p, %o : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %dw = linalg.reduce {arith.addf} ins(%t : tensor<?x?xf32>) outs(%fc : tensor<?xf32>) dimensions = [0]
  %dx = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v = arith.mulf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %dx, %dw : tensor<?x?xf32>, tensor<?xf32>
}

// All of it is a constant.

// CHECK-LABEL: func @nothing
// CHECK-NOT:     norm_fusion
// CHECK:         tensor.empty() : tensor<64xi8>
// REMARK: Missed
// REMARK-SAME: Function=nothing {{.*}}found="a row reduction of what is the same in all rows"
func.func @nothing(%x: tensor<6x64xf32>) -> (tensor<6xf32>, tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %false = arith.constant false
  %e = tensor.empty() : tensor<6x64xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = arith.select %false, %a, %half : f32
    linalg.yield %v : f32
  } -> tensor<6x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%t : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %dw = linalg.reduce {arith.addf} ins(%t : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  %db = linalg.reduce {arith.addf} ins(%x : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %sum, %dw, %db : tensor<6xf32>, tensor<64xf32>, tensor<64xf32>
}

// Nothing but an index is read over the columns that are counted, and nothing
// at all over the rows that the last sum is of.

// CHECK-LABEL: func @count
// CHECK-NOT:     norm_fusion
// CHECK:         tensor.empty() : tensor<64xi8>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<6xi32>, tensor<64xi8>)
// CHECK:         tensor.empty() : tensor<6xi8>
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%{{.+}}, %{{.+}} : tensor<64xf32>, tensor<6xi8>)
// REMARK: Missed
// REMARK-SAME: Function=count {{.*}}found="a column reduction of what is the same for some rows"
func.func @count(%lengths: tensor<6xi32>, %w: tensor<64xf32>) -> (tensor<6xi32>, tensor<64xf32>) {
  %er = tensor.empty() : tensor<6xi32>
  %ec = tensor.empty() : tensor<64xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%lengths, %w : tensor<6xi32>, tensor<64xf32>) outs(%er, %ec : tensor<6xi32>, tensor<64xf32>)
      maps = [#r, #c, #r, #c] {
  ^bb0(%l: i32, %b: f32):
    %j = norm_fusion.index 1 : index
    %k = arith.index_cast %j : index to i32
    %p = arith.cmpi slt, %k, %l : i32
    %q = arith.extui %p : i1 to i32
    %count = norm_fusion.row_reduce add, %q : i32
    %sum = norm_fusion.column_reduce add, %b : f32
    norm_fusion.yield %count, %sum : i32, f32
  } -> tensor<6xi32>, tensor<64xf32>
  return %0#0, %0#1 : tensor<6xi32>, tensor<64xf32>
}
