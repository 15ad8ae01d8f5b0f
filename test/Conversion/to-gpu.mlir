// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s --check-prefix=KERNEL
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX80
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" | FileCheck %s --check-prefix=PTX90
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_100 format=isa" | FileCheck %s --check-prefix=PTX100

// PTX80: .target sm_80
// PTX80: cp.async.cg.shared.global
// PTX90: .target sm_90a
// PTX90: fence.acq_rel.gpu
// PTX90: ld.acquire.gpu
// PTX100: .target sm_100

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// The grid is the device's, or what there are rows for; unaligned pointers take the plain kernel, and so do more rows than a ring counts; a
// grid-wide barrier is marked.
// CHECK-LABEL: func.func @grid
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK: %[[MOST:.*]] = arith.constant 2147483646 : index
// CHECK: %[[COUNTABLE:.*]] = arith.cmpi ule, %{{.*}}, %[[MOST]] : index
// CHECK: %[[POSSIBLE:.*]] = arith.andi %[[ALIGNED]], %[[COUNTABLE]]
// CHECK: scf.if %[[POSSIBLE]]
// CHECK: call @norm_fusion_multiprocessor_count
// CHECK: arith.constant {{[0-9]+}} : index
// CHECK: call @norm_fusion_workspace
// CHECK: gpu.launch_func @norm_fusion_kernels::@grid_mixed_reduction_0 {{.*}}norm_fusion.kernel = {column_reductions = 1 : i64, columns = 1024 : i64, row_reductions = 1 : i64, rows = -1 : i64
// CHECK: else
// CHECK: gpu.launch_func @norm_fusion_kernels_plain::@grid_mixed_reduction_0_plain
func.func @grid(%x: memref<?x1024xf32>, %o: memref<?x1024xf32>, %t: memref<1024xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x1024xf32>) outs(%o, %t : memref<?x1024xf32>, memref<1024xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=4 row-groups=2 slots=2 chunks=2 vector=4 copy=cp-async combine=grid"> {
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

// A pinned grid asks no device; the second kernel merges, nothing is cooperative.
// CHECK-LABEL: func.func @kernel
// CHECK-NOT: norm_fusion_multiprocessor_count
// CHECK: gpu.launch_func @[[MODULE:norm_fusion_kernels_[0-9]+]]::@kernel_mixed_reduction_{{[0-9]+}} blocks
// CHECK: gpu.launch_func @[[MODULE]]::@kernel_mixed_reduction_{{[0-9]+}}_combine
func.func @kernel(%x: memref<?x5xf32>, %o: memref<?x5xf32>, %t: memref<5xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x5xf32>) outs(%o, %t : memref<?x5xf32>, memref<5xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=plain warps=8 combine=kernel grid=16"> {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce maximum, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// KERNEL-DAG: llvm.mlir.global external constant @grid_mixed_reduction_0_cooperative
// KERNEL-DAG: @p cp.async.cg.shared.global
// KERNEL-DAG: mbarrier.test_wait.parity
