// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
#r = affine_map<(m, n) -> (m)>

// Lanes of a ring that hold four vectors, some of them beyond the last column, store under predicates: behind branches, stores would wait for all of a
// row's arithmetic.
// CHECK-LABEL: gpu.func @masked_mixed_reduction_{{[0-9]+}}(
// CHECK-NOT: L2::128B
// CHECK: scf.for
// CHECK-COUNT-4: @p st.global.cs.v4.b32
// CHECK: gpu.return
func.func @masked(%x: memref<?x1000xf32>, %o: memref<?x1000xf32>, %t: memref<1000xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x1000xf32>) outs(%o, %t : memref<?x1000xf32>, memref<1000xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=2 row-groups=4 slots=2 chunks=4 vector=4 copy=cp-async combine=grid"> {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// Where all columns exist there is no predicate.
// CHECK-LABEL: gpu.func @whole_mixed_reduction_{{[0-9]+}}(
// CHECK-NOT: L2::128B
// CHECK-NOT: @p st.global
// CHECK-COUNT-4: "st.global.cs.v4.b32
// CHECK-NOT: @p st.global
// CHECK: gpu.return
func.func @whole(%x: memref<?x1024xf32>, %o: memref<?x1024xf32>, %t: memref<1024xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x1024xf32>) outs(%o, %t : memref<?x1024xf32>, memref<1024xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=2 row-groups=4 slots=2 chunks=4 vector=4 copy=cp-async combine=grid"> {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// The vectors of framed rows are stored one after the other has been computed. Lines of the L2 cache that two rows share are fetched whole, and stay until
// the second row is stored.
// CHECK-LABEL: gpu.func @framed_mixed_reduction_{{[0-9]+}}(
// CHECK: cp.async.cg.shared.global.L2::128B [
// CHECK: @p st.global.v4.b32
// CHECK: nvvm.bar.warp.sync
// CHECK: @p st.global.v4.b32
// CHECK: gpu.return
func.func @framed(%x: memref<?x2001xbf16>, %o: memref<?x2001xbf16>, %t: memref<2001xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x2001xbf16>) outs(%o, %t : memref<?x2001xbf16>, memref<2001xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=2 row-groups=4 slots=2 chunks=4 vector=8 copy=cp-async combine=grid"> {
  ^bb0(%a: bf16):
    %b = arith.extf %a : bf16 to f32
    %s = norm_fusion.row_reduce add, %b : f32
    %d = arith.mulf %b, %s : f32
    %n = arith.truncf %d : f32 to bf16
    norm_fusion.partial_accumulate add, %b : f32
    norm_fusion.yield %n : bf16
  } combine {
  ^bb0(%a: bf16, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// A scaled x - mean of narrow elements beside another term, with a result as narrow, is one multiply-add; what the sums take stays a difference.
// CHECK-LABEL: gpu.func @narrow_mixed_reduction_{{[0-9]+}}(
// CHECK: arith.subf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.subf {{.*}} : vector<8xf32>
// CHECK: gpu.return
func.func @narrow(%x: memref<?x256xbf16>, %y: memref<?x256xbf16>, %m: memref<?xf32>, %o: memref<?x256xbf16>, %t: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y, %m : memref<?x256xbf16>, memref<?x256xbf16>, memref<?xf32>) outs(%o, %t : memref<?x256xbf16>, memref<256xf32>) maps = [#e, #e, #r, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=2 chunks=1 vector=8 copy=cp-async combine=grid"> {
  ^bb0(%a: bf16, %c: bf16, %mean: f32):
    %b = arith.extf %a : bf16 to f32
    %e = arith.extf %c : bf16 to f32
    %d = arith.subf %b, %mean : f32
    %s = norm_fusion.row_reduce add, %d : f32
    %p = arith.mulf %d, %s : f32
    %q = arith.addf %p, %e : f32
    %n = arith.truncf %q : f32 to bf16
    norm_fusion.partial_accumulate add, %d : f32
    norm_fusion.yield %n : bf16
  } combine {
  ^bb0(%a: bf16, %c: bf16, %mean: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// Alone it must be 0 where x is the mean.
// CHECK-LABEL: gpu.func @alone_mixed_reduction_{{[0-9]+}}(
// CHECK-COUNT-2: arith.subf {{.*}} : vector<8xf32>
// CHECK: gpu.return
func.func @alone(%x: memref<?x256xbf16>, %m: memref<?xf32>, %o: memref<?x256xbf16>, %t: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %m : memref<?x256xbf16>, memref<?xf32>) outs(%o, %t : memref<?x256xbf16>, memref<256xf32>) maps = [#e, #r, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=2 chunks=1 vector=8 copy=cp-async combine=grid"> {
  ^bb0(%a: bf16, %mean: f32):
    %b = arith.extf %a : bf16 to f32
    %d = arith.subf %b, %mean : f32
    %s = norm_fusion.row_reduce add, %d : f32
    %p = arith.mulf %d, %s : f32
    %n = arith.truncf %p : f32 to bf16
    norm_fusion.partial_accumulate add, %d : f32
    norm_fusion.yield %n : bf16
  } combine {
  ^bb0(%a: bf16, %mean: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// An f32 result has bits to lose.
// CHECK-LABEL: gpu.func @exact_mixed_reduction_{{[0-9]+}}(
// CHECK-COUNT-2: arith.subf {{.*}} : vector<8xf32>
// CHECK: gpu.return
func.func @exact(%x: memref<?x256xbf16>, %y: memref<?x256xbf16>, %m: memref<?xf32>, %o: memref<?x256xf32>, %t: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y, %m : memref<?x256xbf16>, memref<?x256xbf16>, memref<?xf32>) outs(%o, %t : memref<?x256xf32>, memref<256xf32>) maps = [#e, #e, #r, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=2 chunks=1 vector=8 copy=cp-async combine=grid"> {
  ^bb0(%a: bf16, %c: bf16, %mean: f32):
    %b = arith.extf %a : bf16 to f32
    %e = arith.extf %c : bf16 to f32
    %d = arith.subf %b, %mean : f32
    %s = norm_fusion.row_reduce add, %d : f32
    %p = arith.mulf %d, %s : f32
    %q = arith.addf %p, %e : f32
    norm_fusion.partial_accumulate add, %d : f32
    norm_fusion.yield %q : f32
  } combine {
  ^bb0(%a: bf16, %c: bf16, %mean: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}
