// An input that the body doesn't use counts for nothing: it goes when the op is
// canonicalized, and vectors that its type allowed went with it. A schedule that
// isn't possible any more gives way to the plain kernel. Found by a generated
// program (6000534): 16-byte copies from addresses that are multiples of 4.

// RUN: norm-fusion-opt %s --norm-fusion-schedule=chip=sm_90a | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-schedule="schedule='structure=ring warps=1 row-groups=2 chunks=1 vector=1 lanes=32 rows=1 copy=load combine=grid'" \
// RUN:   | sed 's/cluster=1 \(.*\)vector=1 copy=load/cluster=16 \1vector=4 copy=cp-async/' > %t.impossible.mlir
// RUN: norm-fusion-opt %t.impossible.mlir --norm-fusion-to-gpu --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t.yaml | FileCheck %s --check-prefix=PLAIN
// RUN: FileCheck %s --check-prefix=REMARK < %t.yaml

// CHECK: structure={{ring|small}} {{.*}} vector=1 {{.*}}
// PLAIN: gpu.func @sums_mixed_reduction_0({{.*}}structure=plain
// PLAIN-NOT: cp.async
// REMARK: cluster=16 leaves a block without any of the 7 columns
func.func @sums(%x: memref<16x7xf32>, %mask: memref<16x7xi1>, %row: memref<16xf32>, %column: memref<7xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %mask : memref<16x7xf32>, memref<16x7xi1>) outs(%row, %column : memref<16xf32>, memref<7xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>] {
  ^bb0(%a: f32, %unused: i1):
    %sum = norm_fusion.row_reduce add, %a : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %sum : f32
  } combine {
  ^bb0(%a: f32, %unused: i1, %total: f32):
    norm_fusion.yield %total : f32
  }
  return
}
