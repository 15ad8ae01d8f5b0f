// Results of columns that share no accumulator are combined by different blocks, if there are enough of these for tiles of 32 columns: what a block adds
// up is one accumulator's then. (Numbers: Runner/combine.test.)
// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// The first result's tiles, then the second one's.
// CHECK-LABEL: gpu.func @apart_mixed_reduction_{{[0-9]+}}(
// CHECK:       scf.for %[[TILE:[^ ]*]] = %{{[^ ]*}} to %{{[^ ]*}} step %{{[^ ]*}}  : i64 {
// CHECK:         arith.cmpi eq
// CHECK-NEXT:    scf.if
// CHECK:           scf.for {{.*}} -> (f32)  : i64 {
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:         arith.cmpi eq
// CHECK-NEXT:    scf.if
// CHECK:           scf.for {{.*}} -> (f32)  : i64 {
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:       gpu.return
func.func @apart(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %o0: memref<256xf32>, %o1: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : memref<?x256xf32>, memref<?x256xf32>) outs(%o0, %o1 : memref<256xf32>, memref<256xf32>) maps = [#e, #e, #c, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=1 chunks=2 vector=4 copy=cp-async combine=grid grid=8"> {
  ^bb0(%a: f32, %b: f32):
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.partial_accumulate add, %b : f32
    norm_fusion.yield
  } combine {
  ^bb0(%a: f32, %b: f32, %k: f32, %l: f32):
    norm_fusion.yield %k, %l : f32, f32
  }
  return
}

// One that hangs on both accumulators keeps them together.
// CHECK-LABEL: gpu.func @together_mixed_reduction_{{[0-9]+}}(
// CHECK:       scf.for {{.*}} -> (f32, f32)  : i64 {
// CHECK-COUNT-2:  llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:       gpu.return
func.func @together(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %o0: memref<256xf32>, %o1: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : memref<?x256xf32>, memref<?x256xf32>) outs(%o0, %o1 : memref<256xf32>, memref<256xf32>) maps = [#e, #e, #c, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=1 chunks=2 vector=4 copy=cp-async combine=grid grid=8"> {
  ^bb0(%a: f32, %b: f32):
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.partial_accumulate add, %b : f32
    norm_fusion.yield
  } combine {
  ^bb0(%a: f32, %b: f32, %k: f32, %l: f32):
    %d = arith.subf %k, %l : f32
    norm_fusion.yield %d, %l : f32, f32
  }
  return
}

// So it does with two that would be apart.
// CHECK-LABEL: gpu.func @joined_mixed_reduction_{{[0-9]+}}(
// CHECK:       scf.for {{.*}} -> (f32, f32)  : i64 {
// CHECK-COUNT-3:  llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:       gpu.return
func.func @joined(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %o0: memref<256xf32>, %o1: memref<256xf32>, %o2: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : memref<?x256xf32>, memref<?x256xf32>) outs(%o0, %o1, %o2 : memref<256xf32>, memref<256xf32>, memref<256xf32>) maps = [#e, #e, #c, #c, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=1 chunks=2 vector=4 copy=cp-async combine=grid grid=8"> {
  ^bb0(%a: f32, %b: f32):
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.partial_accumulate add, %b : f32
    norm_fusion.yield
  } combine {
  ^bb0(%a: f32, %b: f32, %k: f32, %l: f32):
    %d = arith.subf %k, %l : f32
    norm_fusion.yield %k, %l, %d : f32, f32, f32
  }
  return
}
