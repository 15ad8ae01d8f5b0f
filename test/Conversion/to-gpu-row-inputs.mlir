// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// With row-inputs=copy the first lane of a row copies its inputs of 4 and of 8 bytes behind its vectors, in one group of copies with these. All lanes read them
// once the warp has met. Narrower ones are loaded a step ahead.
// CHECK-LABEL: gpu.func @copied_mixed_reduction_{{[0-9]+}}(
// CHECK: cp.async.cg.shared.global [$0], [$1], 16;
// CHECK: cp.async.ca.shared.global [$0], [$1], 4;
// CHECK: cp.async.ca.shared.global [$0+8], [$1], 8;
// CHECK: nvvm.cp.async.commit.group
// CHECK: llvm.load {{.*}} !llvm.ptr<1> -> bf16
// CHECK: scf.for
// CHECK: nvvm.shfl.sync idx
// CHECK-NOT: nvvm.shfl.sync idx
// CHECK: nvvm.cp.async.wait.group
// CHECK: llvm.load {{.*}} !llvm.ptr<1> -> bf16
// CHECK: nvvm.bar.warp.sync
// CHECK-NOT: norm_fusion.scheduling
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK: llvm.load {{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> f64
// CHECK: gpu.return
func.func @copied(%x: memref<?x512xf32>, %f: memref<?xf32>, %h: memref<?xbf16>, %d: memref<?xf64>, %o: memref<?x512xf32>, %t: memref<512xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %f, %h, %d : memref<?x512xf32>, memref<?xf32>, memref<?xbf16>, memref<?xf64>) outs(%o, %t : memref<?x512xf32>, memref<512xf32>) maps = [#e, #r, #r, #r, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=4 slots=2 chunks=4 vector=4 copy=cp-async combine=grid row-inputs=copy"> {
  ^bb0(%a: f32, %b: f32, %c: bf16, %e: f64):
    %c32 = arith.extf %c : bf16 to f32
    %e32 = arith.truncf %e : f64 to f32
    %1 = arith.mulf %a, %b : f32
    %2 = arith.mulf %1, %c32 : f32
    %3 = arith.mulf %2, %e32 : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %3 : f32
  } combine {
  ^bb0(%a: f32, %b: f32, %c: bf16, %e: f64, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// Else all are loaded a step ahead.
// CHECK-LABEL: gpu.func @loaded_mixed_reduction_{{[0-9]+}}(
// CHECK-NOT: cp.async.ca
// CHECK: llvm.load {{.*}} !llvm.ptr<1> -> f32
// CHECK: scf.for
// CHECK: nvvm.shfl.sync idx
// CHECK: nvvm.bar.warp.sync {{.*}}norm_fusion.scheduling
// CHECK-NOT: cp.async.ca
// CHECK: gpu.return
func.func @loaded(%x: memref<?x512xf32>, %f: memref<?xf32>, %o: memref<?x512xf32>, %t: memref<512xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %f : memref<?x512xf32>, memref<?xf32>) outs(%o, %t : memref<?x512xf32>, memref<512xf32>) maps = [#e, #r, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=4 slots=2 chunks=4 vector=4 copy=cp-async combine=grid"> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %1 : f32
  } combine {
  ^bb0(%a: f32, %b: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}
