// RUN: norm-fusion-opt %s --norm-fusion-to-gpu --canonicalize --cse | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// Before it waits for the launch before it, threads of a block ask for its part of what the first step reads, a line of 128 bytes each: half of its rows, or 8 KiB of
// all inputs; and of the row inputs and weights 512 bytes a block. Nothing is asked for behind the end.
// CHECK-LABEL: gpu.func @parts_mixed_reduction_0(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[F:.*]]: !llvm.ptr, %[[W:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[ROWS:.*]]: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64) kernel
// CHECK-DAG: %[[GX:.*]] = llvm.addrspacecast %[[X]]
// CHECK-DAG: %[[GY:.*]] = llvm.addrspacecast %[[Y]]
// CHECK-DAG: %[[GF:.*]] = llvm.addrspacecast %[[F]]
// CHECK-DAG: %[[GW:.*]] = llvm.addrspacecast %[[W]]
// CHECK: nvvm.griddepcontrol {{ *}}launch_dependents
// CHECK: %[[THREAD:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %tid.x;"
// CHECK: %[[ASKS:.*]] = arith.cmpi ult, %[[THREAD]], %c32_i32
// CHECK: scf.if %[[ASKS]] {
// CHECK: %[[BLOCK:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %ctaid.x;"
// CHECK: %[[END:.*]] = arith.muli %[[ROWS]], %c2048_i64
// CHECK: %[[OFBLOCK:.*]] = arith.muli %[[BLOCK]], %c32_i32
// CHECK: %[[LINE:.*]] = arith.addi %[[OFBLOCK]], %[[THREAD]]
// CHECK: %[[LINE64:.*]] = arith.extui %[[LINE]]
// CHECK: %[[AT:.*]] = arith.muli %[[LINE64]], %c128_i64
// CHECK: %[[ISTHERE:.*]] = arith.cmpi ult, %[[AT]], %[[END]]
// CHECK: scf.if %[[ISTHERE]] {
// CHECK: %[[POINTER:.*]] = llvm.getelementptr %[[GX]][%[[AT]]]
// CHECK: nvvm.prefetch level = L2, %[[POINTER]]
// CHECK: scf.if %[[ISTHERE]] {
// CHECK: %[[POINTER:.*]] = llvm.getelementptr %[[GY]][%[[AT]]]
// CHECK: nvvm.prefetch level = L2, %[[POINTER]]
// CHECK: %[[END:.*]] = arith.muli %[[ROWS]], %c4_i64
// CHECK: %[[OFBLOCK:.*]] = arith.muli %[[BLOCK]], %c4_i32
// CHECK: %[[LINE:.*]] = arith.addi %[[OFBLOCK]], %[[THREAD]]
// CHECK: %[[LINE64:.*]] = arith.extui %[[LINE]]
// CHECK: %[[AT:.*]] = arith.muli %[[LINE64]], %c128_i64
// CHECK: %[[ISTHERE:.*]] = arith.cmpi ult, %[[AT]], %[[END]]
// CHECK: %[[ISFEW:.*]] = arith.cmpi ult, %[[THREAD]], %c4_i32
// CHECK: %[[ASKS:.*]] = arith.andi %[[ISTHERE]], %[[ISFEW]]
// CHECK: scf.if %[[ASKS]] {
// CHECK: %[[POINTER:.*]] = llvm.getelementptr %[[GF]][%[[AT]]]
// CHECK: nvvm.prefetch level = L2, %[[POINTER]]
// CHECK: arith.cmpi ult, %[[AT]], %c1024_i64
// CHECK: %[[POINTER:.*]] = llvm.getelementptr %[[GW]][%[[AT]]]
// CHECK: nvvm.prefetch level = L2, %[[POINTER]]
// CHECK-NOT: prefetch
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK-NOT: prefetch
func.func @parts(%x: memref<?x512xf32>, %y: memref<?x512xf32>, %f: memref<?xf32>, %w: memref<512xbf16>, %o: memref<?x512xf32>, %s: memref<512xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y, %f, %w : memref<?x512xf32>, memref<?x512xf32>, memref<?xf32>, memref<512xbf16>) outs(%o, %s : memref<?x512xf32>, memref<512xf32>) maps = [#e, #e, #r, #c, #e, #c]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=12 slots=2 chunks=4 vector=4 copy=cp-async combine=tags"> {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: bf16):
    %h32 = arith.extf %h : bf16 to f32
    %1 = arith.mulf %a, %g : f32
    %2 = arith.mulf %1, %h32 : f32
    %3 = arith.addf %2, %b : f32
    norm_fusion.partial_accumulate add, %3 : f32
    norm_fusion.yield %3 : f32
  } combine {
  ^bb0(%a: f32, %b: f32, %g: f32, %h: bf16, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// Nothing of an input in another order, and of rows of segments, whose first ones aren't neighbours.
// CHECK-LABEL: gpu.func @other_order_mixed_reduction_{{[0-9]+}}(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64) kernel
// CHECK: %[[GX:.*]] = llvm.addrspacecast %[[X]]
// CHECK: nvvm.griddepcontrol {{ *}}launch_dependents
// CHECK: %[[POINTER:.*]] = llvm.getelementptr %[[GX]]
// CHECK: nvvm.prefetch level = L2, %[[POINTER]]
// CHECK-NOT: prefetch
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK-LABEL: gpu.func @segments_mixed_reduction_{{[0-9]+}}(
// CHECK-NOT: prefetch
func.func @other_order(%x: memref<?x4x512xf32>, %y: memref<4x?x512xf32>, %o: memref<?x4x512xf32>, %s: memref<512xf32>) {
  norm_fusion.mixed_reduction dims = [row, row, column] ins(%x, %y : memref<?x4x512xf32>, memref<4x?x512xf32>) outs(%o, %s : memref<?x4x512xf32>, memref<512xf32>)
    maps = [affine_map<(m, b, n) -> (m, b, n)>, affine_map<(m, b, n) -> (b, m, n)>, affine_map<(m, b, n) -> (m, b, n)>, affine_map<(m, b, n) -> (n)>]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=12 slots=2 chunks=4 vector=4 copy=cp-async combine=tags"> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.mulf %a, %b : f32
    norm_fusion.partial_accumulate add, %1 : f32
    norm_fusion.yield %1 : f32
  } combine {
  ^bb0(%a: f32, %b: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}
func.func @segments(%x: memref<4x?x512xf32>, %o: memref<4x?x512xf32>, %s: memref<4x512xf32>) {
  norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : memref<4x?x512xf32>) outs(%o, %s : memref<4x?x512xf32>, memref<4x512xf32>)
    maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, n)>]
    schedule = #norm_fusion.schedule<"structure=ring warps=1 row-groups=12 slots=2 chunks=4 vector=4 copy=cp-async combine=tags"> {
  ^bb0(%a: f32):
    norm_fusion.partial_accumulate add, %a over [1] : f32
    norm_fusion.yield %a : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// Few rows are shared by all blocks: half of 32 rows, were there 128 blocks. The plain variant's pointers may begin anywhere.
// CHECK-LABEL: gpu.func @few_rows_mixed_reduction_{{[0-9]+}}(
// CHECK: nvvm.griddepcontrol {{ *}}launch_dependents
// CHECK: arith.muli %{{.*}}, %c32_i32
// CHECK: nvvm.prefetch
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK-LABEL: gpu.func @few_rows_mixed_reduction_{{[0-9]+}}_plain(
// CHECK-NOT: prefetch
func.func @few_rows(%x: memref<?x8192xf32>, %o: memref<?x8192xf32>, %s: memref<8192xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x8192xf32>) outs(%o, %s : memref<?x8192xf32>, memref<8192xf32>) maps = [#e, #e, #c]
    schedule = #norm_fusion.schedule<"structure=columns warps=1 row-groups=16 slots=1 chunks=1 vector=4 copy=load combine=tags rows=2"> {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    %2 = arith.subf %a, %1 : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %2 : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}
