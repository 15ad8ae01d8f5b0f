// Rows that the last step of a walk lacks: their sums are left out by one branch, or with one sum a column by a selection. Steps are counted in 32 bits.
// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// CHECK-LABEL: gpu.func @two_sums_mixed_reduction_{{[0-9]+}}(
// The first step's copies have no predicate: they take the last row in place of those behind it.
// CHECK:      %[[LAST:.*]] = arith.minui
// CHECK-NOT:  setp
// CHECK:      cp.async.ca.shared.global [$0], [$1], 8;
// CHECK:      scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args({{.*}}) -> ({{.*}}) : i32 {
// CHECK:        %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// A later one's have, and the second array's place is a constant of the instruction.
// CHECK:        scf.if %[[EXISTS]] -> (vector<4xf32>, vector<4xf32>) {
// CHECK:          arith.addf
// CHECK:          arith.addf
// CHECK:        } else {
// CHECK:        setp
// CHECK:        cp.async.ca.shared.global [$0], [$1], 8;
// CHECK:        cp.async.ca.shared.global [$0+256], [$1], 8;
func.func @two_sums(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>, %o: memref<?x64xbf16>, %s: memref<64xf32>, %t: memref<64xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : memref<?x64xbf16>, memref<?x64xbf16>) outs(%o, %s, %t : memref<?x64xbf16>, memref<64xf32>, memref<64xf32>) maps = [#e, #e, #e, #c, #c]
    schedule = #norm_fusion.schedule<"structure=small warps=1 row-groups=8 slots=1 chunks=1 vector=4 copy=cp-async combine=grid lanes=16"> {
  ^bb0(%a: bf16, %b: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %r = norm_fusion.row_reduce add, %p : f32
    %d = arith.subf %q, %r : f32
    norm_fusion.partial_accumulate add, %p : f32
    norm_fusion.partial_accumulate add, %q : f32
    %n = arith.truncf %d : f32 to bf16
    norm_fusion.yield %n : bf16
  } combine {
  ^bb0(%a: bf16, %b: bf16, %k: f32, %l: f32):
    norm_fusion.yield %k, %l : f32, f32
  }
  return
}

// CHECK-LABEL: gpu.func @one_sum_mixed_reduction_{{[0-9]+}}(
// CHECK:      scf.for {{.*}} : i32 {
// CHECK:        %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK:        arith.select %[[EXISTS]], %{{.*}}, %{{.*}} : vector<4xf32>
func.func @one_sum(%x: memref<?x64xbf16>, %o: memref<?x64xbf16>, %s: memref<64xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x64xbf16>) outs(%o, %s : memref<?x64xbf16>, memref<64xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=small warps=1 row-groups=8 slots=1 chunks=1 vector=4 copy=cp-async combine=grid lanes=16"> {
  ^bb0(%a: bf16):
    %p = arith.extf %a : bf16 to f32
    %r = norm_fusion.row_reduce add, %p : f32
    %d = arith.subf %p, %r : f32
    norm_fusion.partial_accumulate add, %p : f32
    %n = arith.truncf %d : f32 to bf16
    norm_fusion.yield %n : bf16
  } combine {
  ^bb0(%a: bf16, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}
