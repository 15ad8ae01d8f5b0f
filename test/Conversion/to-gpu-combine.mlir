// Results of columns that share no accumulator are combined by different blocks, if there are enough of these for tiles of 32 columns: what a block adds
// up is one accumulator's then. (Numbers: Runner/combine.test.)
// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// The first result's tiles, then the second one's: the same loop adds up either, from where its accumulator's partial rows begin.
// CHECK-LABEL: gpu.func @apart_mixed_reduction_{{[0-9]+}}(
// CHECK:         %[[SHARE:[^ ]*]] = arith.divui %[[TILE:arg[0-9]+]], %[[TILES:[^ ]*]] :
// CHECK-NEXT:    arith.remui %[[TILE]], %[[TILES]] :
// CHECK:         %[[IS1:[^ ]*]] = arith.cmpi eq, %[[SHARE]], %c1_i64
// CHECK-NEXT:    arith.select %[[IS1]], %c4_i64, %c0_i64
// CHECK:         scf.for {{.*}} -> (f32)  : i64 {
// CHECK-NOT:     -> (f32)
// CHECK:         %[[IS0:[^ ]*]] = arith.cmpi eq, %[[SHARE]], %c0_i64
// CHECK-NEXT:    scf.if %[[IS0]]
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:         %[[IS1:[^ ]*]] = arith.cmpi eq, %[[SHARE]], %c1_i64
// CHECK-NEXT:    scf.if %[[IS1]]
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK-NOT:     llvm.store {{.*}} : f32, !llvm.ptr<1>
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

// A product isn't added up like a sum: a loop each.
// CHECK-LABEL: gpu.func @unlike_mixed_reduction_{{[0-9]+}}(
// CHECK:         %[[SHARE:[^ ]*]] = arith.divui %[[TILE:arg[0-9]+]], %[[TILES:[^ ]*]] :
// CHECK-NEXT:    arith.remui %[[TILE]], %[[TILES]] :
// CHECK:         %[[IS0:[^ ]*]] = arith.cmpi eq, %[[SHARE]], %c0_i64
// CHECK-NEXT:    scf.if %[[IS0]]
// CHECK:           scf.for {{.*}} -> (f32)  : i64 {
// CHECK:             arith.addf
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:         %[[IS1:[^ ]*]] = arith.cmpi eq, %[[SHARE]], %c1_i64
// CHECK-NEXT:    scf.if %[[IS1]]
// CHECK:           scf.for {{.*}} -> (f32)  : i64 {
// CHECK:             arith.mulf
// CHECK:           llvm.store {{.*}} : f32, !llvm.ptr<1>
// CHECK:       gpu.return
func.func @unlike(%x: memref<?x256xf32>, %y: memref<?x256xf32>, %o0: memref<256xf32>, %o1: memref<256xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : memref<?x256xf32>, memref<?x256xf32>) outs(%o0, %o1 : memref<256xf32>, memref<256xf32>) maps = [#e, #e, #c, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=8 slots=1 chunks=2 vector=4 copy=cp-async combine=grid grid=8"> {
  ^bb0(%a: f32, %b: f32):
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.partial_accumulate mul, %b : f32
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
