// A reduction of which another result isn't reduced, as fusing what is added up into it leaves: such a result is one of the
// group, or only passes between its ops.
// RUN: norm-fusion-opt %s --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t.yaml | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.yaml
// RUN: norm-fusion-runner %s --entry=between --device=emulator --dims=37 --check
// RUN: norm-fusion-runner %s --entry=result --device=emulator --dims=37 --check
// RUN: norm-fusion-runner %s --entry=init --device=emulator --dims=37 --check
// RUN: norm-fusion-runner %s --entry=columns --device=emulator --dims=37 --check
// RUN: norm-fusion-runner %s --entry=prefix --device=emulator --check

#e = affine_map<(m, n) -> (m, n)>
#t = affine_map<(m, n) -> (n, m)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func @between
// CHECK:         norm_fusion.mixed_reduction
// CHECK:           %[[P:.*]] = arith.mulf
// CHECK-DAG:       norm_fusion.row_reduce add, %[[P]]
// CHECK-DAG:       norm_fusion.column_reduce add, %[[P]]
// CHECK-NOT:     linalg.generic
func.func @between(%x: tensor<?x96xf32>, %y: tensor<?x96xf32>, %a: tensor<?xf32>, %e: tensor<?x96xf32>, %g: tensor<96xf32>) -> (tensor<?xf32>, tensor<96xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#e, #e, #r, #e], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<?x96xf32>, tensor<?x96xf32>) outs(%a, %e : tensor<?xf32>, tensor<?x96xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32, %u: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<?xf32>, tensor<?x96xf32>)
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%0#1 : tensor<?x96xf32>) outs(%g : tensor<96xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %0#0, %1 : tensor<?xf32>, tensor<96xf32>
}

// Something else needs it, transposed; and it needs the sum that another op of the group makes.
// CHECK-LABEL: func @result
// CHECK:         norm_fusion.mixed_reduction
// CHECK-NOT:     linalg.generic
func.func @result(%x: tensor<?x96xf32>, %y: tensor<?x96xf32>, %a: tensor<?xf32>, %e: tensor<96x?xf32>, %g: tensor<96xf32>) -> (tensor<96x?xf32>, tensor<?xf32>, tensor<96xf32>) {
  %q = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x96xf32>) outs(%a : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %0:2 = linalg.generic {indexing_maps = [#e, #r, #t, #r], iterator_types = ["parallel", "reduction"]} ins(%y, %q : tensor<?x96xf32>, tensor<?xf32>) outs(%e, %a : tensor<96x?xf32>, tensor<?xf32>) {
  ^bb0(%i: f32, %j: f32, %u: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %p, %s : f32, f32
  } -> (tensor<96x?xf32>, tensor<?xf32>)
  %1 = linalg.generic {indexing_maps = [#t, #c], iterator_types = ["reduction", "parallel"]} ins(%0#0 : tensor<96x?xf32>) outs(%g : tensor<96xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %0#0, %0#1, %1 : tensor<96x?xf32>, tensor<?xf32>, tensor<96xf32>
}

// What it starts from is read, as that of an elementwise op.
// CHECK-LABEL: func @init
// CHECK:         norm_fusion.mixed_reduction
// CHECK-NOT:     linalg.generic
func.func @init(%x: tensor<?x96xf32>, %a: tensor<?xf32>, %e: tensor<?x96xf32>, %g: tensor<96xf32>) -> (tensor<?xf32>, tensor<?x96xf32>, tensor<96xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x96xf32>) outs(%a, %e : tensor<?xf32>, tensor<?x96xf32>) {
  ^bb0(%i: f32, %o: f32, %u: f32):
    %p = arith.subf %i, %u : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<?xf32>, tensor<?x96xf32>)
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x96xf32>) outs(%g : tensor<96xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %0#0, %0#1, %1 : tensor<?xf32>, tensor<?x96xf32>, tensor<96xf32>
}

// Of column sums it would be there before they are.
// CHECK-LABEL: func @columns
// CHECK-NOT:     norm_fusion.
// CHECK:         return
// REMARK:      Name: {{ *}}unreduced-result
// REMARK:      Function: {{ *}}columns
// REMARK:      needed: {{ *}}'results of reductions alone, or beside sums of rows what is added up; others are an op of their own'
func.func @columns(%x: tensor<?x96xf32>, %a: tensor<?xf32>, %e: tensor<?x96xf32>, %g: tensor<96xf32>) -> (tensor<?xf32>, tensor<?x96xf32>, tensor<96xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#e, #c, #e], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x96xf32>) outs(%g, %e : tensor<96xf32>, tensor<?x96xf32>) {
  ^bb0(%i: f32, %o: f32, %u: f32):
    %p = arith.mulf %i, %i : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<96xf32>, tensor<?x96xf32>)
  %1 = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x96xf32>) outs(%a : tensor<?xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %1, %0#1, %0#0 : tensor<?xf32>, tensor<?x96xf32>, tensor<96xf32>
}

// Sums so far aren't what is added up.
// CHECK-LABEL: func @prefix
// CHECK-NOT:     norm_fusion.
// CHECK:         return
func.func @prefix(%x: tensor<8x16xf32>, %a: tensor<8xf32>, %e: tensor<8x16xf32>, %g: tensor<16xf32>) -> (tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x16xf32>) outs(%a, %e : tensor<8xf32>, tensor<8x16xf32>) {
  ^bb0(%i: f32, %o: f32, %u: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<8xf32>, tensor<8x16xf32>)
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%g : tensor<16xf32>) {
  ^bb0(%i: f32, %o: f32):
    %s = arith.addf %o, %i : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %0#0, %0#1, %1 : tensor<8xf32>, tensor<8x16xf32>, tensor<16xf32>
}
