// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// One barrier a slot and warp; lane 0 tells it the bytes of the vectors that exist and copies these; all wait by the parity of the slot's use, behind
// which, and no sooner, lanes read.
// CHECK-LABEL: gpu.func @bulk_mixed_reduction_{{[0-9]+}}(
// CHECK-COUNT-3: nvvm.mbarrier.init {{.*}}%c1_i32
// CHECK-NOT: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.bar.warp.sync
// CHECK: @p mbarrier.arrive.expect_tx
// CHECK: @p cp.async.bulk
// CHECK: scf.for
// CHECK: mbarrier.try_wait.parity
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.load {{.*}}<3>
// CHECK: @p mbarrier.arrive.expect_tx
// CHECK: @p cp.async.bulk
// CHECK-NOT: cp.async.c
// CHECK: gpu.return
func.func @bulk(%x: memref<?x1000xf32>, %o: memref<?x1000xf32>, %t: memref<1000xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x1000xf32>) outs(%o, %t : memref<?x1000xf32>, memref<1000xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=4 row-groups=2 slots=2 chunks=2 vector=4 copy=bulk combine=grid"> {
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
