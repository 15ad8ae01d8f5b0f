// From sm_90 on, kernels may be launched before the launch before them is done: each waits before it touches memory, and says so in its module.
// RUN: norm-fusion-opt %s --norm-fusion-to-gpu | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" | FileCheck %s --check-prefix=PTX90
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_80 format=isa" | FileCheck %s --check-prefix=PTX80

// CHECK-DAG: llvm.mlir.global external constant @ring_mixed_reduction_0_dependent
// CHECK-DAG: llvm.mlir.global external constant @ring_mixed_reduction_0_cooperative
// CHECK-DAG: llvm.mlir.global external constant @rows_mixed_reduction_{{[0-9]+}}_dependent
// CHECK-DAG: llvm.mlir.global external constant @kernel_mixed_reduction_{{[0-9]+}}_dependent
// CHECK-DAG: llvm.mlir.global external constant @kernel_mixed_reduction_{{[0-9]+}}_combine_dependent

// PTX80-NOT: {{griddepcontrol|prefetch|_dependent}}
// PTX80: .entry ring_mixed_reduction_0(
// PTX80-NOT: {{griddepcontrol|prefetch|_dependent}}
// PTX80: .entry kernel_mixed_reduction_{{[0-9]+}}_combine(
// PTX80-NOT: {{griddepcontrol|prefetch|_dependent}}

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// All blocks run at once: the next launch's may take the places that these leave, and ask for their first rows before they may read them.
// PTX90: .entry ring_mixed_reduction_0(
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: griddepcontrol.launch_dependents
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: prefetch.global.L2
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: griddepcontrol.wait
// PTX90: cp.async.cg.shared.global
func.func @ring(%x: memref<?x1024xf32>, %o: memref<?x1024xf32>, %t: memref<1024xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x1024xf32>) outs(%o, %t : memref<?x1024xf32>, memref<1024xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=4 row-groups=2 slots=2 chunks=2 vector=4 copy=cp-async combine=tags"> {
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

// Blocks that come and go keep their places.
// PTX90: .entry rows_mixed_reduction_{{[0-9]+}}(
// PTX90-NOT: {{launch_dependents|prefetch}}
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: griddepcontrol.wait
// PTX90-NOT: launch_dependents
// PTX90: {{ld[.a-z0-9:]*\.global}}
func.func @rows(%x: memref<?x1024xf32>, %o: memref<?x1024xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x1024xf32>) outs(%o : memref<?x1024xf32>) maps = [#e, #e]
    schedule = #norm_fusion.schedule<"structure=rows warps=4 chunks=2 vector=4 copy=load"> {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.yield %d : f32
  }
  return
}

// A second launch waits for the first, and the first for what is before it.
// PTX90: .entry kernel_mixed_reduction_{{[0-9]+}}(
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: griddepcontrol.launch_dependents
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: griddepcontrol.wait
// PTX90: .entry kernel_mixed_reduction_{{[0-9]+}}_combine(
// PTX90-NOT: launch_dependents
// PTX90-NOT: {{(ld|st|atom|red|async)[.a-z0-9:]*\.global}}
// PTX90: griddepcontrol.wait
// PTX90: {{ld[.a-z0-9]*\.global}}
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
