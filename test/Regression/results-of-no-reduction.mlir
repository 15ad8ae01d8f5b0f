// Results over columns, or of one element, beside no reduction that gives such:
// no combination wrote them. No kernel is made, and the remark says why.
// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/columns.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: remark: {{.*}}output #1 is over columns and the op has no column reduction{{.*}}a column reduction beside it
// RUN: norm-fusion-opt %t/scalar.mlir --norm-fusion-fuse --remarks-filter='norm-fusion.*' 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: remark: {{.*}}output #0 is one element and the op has no reduction of everything{{.*}}a reduction of everything beside it
// RUN: norm-fusion-runner %t/columns.mlir --device=emulator --check
// On so many multiprocessors a kernel for few rows would run.
// RUN: norm-fusion-runner %t/scalar.mlir --device=emulator --emulator=sms=132 --check --json=%t/scalar.json
// RUN: FileCheck %s --check-prefix=KERNELS < %t/scalar.json
// KERNELS: "kernels": []
// On memrefs there is no linalg to fall back to.
// RUN: not norm-fusion-runner %t/memref.mlir --device=emulator 2>&1 | FileCheck %s --check-prefix=MEMREF
// MEMREF: error: {{.*}}has no kernel: output #1 is over columns and the op has no column reduction, expected a column reduction beside it; there is no fallback on memrefs

//--- columns.mlir
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<16x1024xf32>, %w: tensor<1024xf32>) -> (tensor<16xf32>, tensor<1024xf32>) {
  %e0 = tensor.empty() : tensor<16xf32>
  %e1 = tensor.empty() : tensor<1024xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %w : tensor<16x1024xf32>, tensor<1024xf32>) outs(%e0, %e1 : tensor<16xf32>, tensor<1024xf32>) maps = [#e, #c, #r, #c] {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %b, %b : f32
    %p = arith.mulf %a, %v : f32
    %s = norm_fusion.row_reduce add, %p : f32
    norm_fusion.yield %s, %v : f32, f32
  } -> tensor<16xf32>, tensor<1024xf32>
  return %0#0, %0#1 : tensor<16xf32>, tensor<1024xf32>
}

//--- scalar.mlir
#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
#s = affine_map<(m, n) -> ()>
func.func @main(%x: tensor<8x4096xf32>, %w: tensor<f32>) -> (tensor<f32>, tensor<4096xf32>) {
  %e0 = tensor.empty() : tensor<f32>
  %e1 = tensor.empty() : tensor<4096xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %w : tensor<8x4096xf32>, tensor<f32>) outs(%e0, %e1 : tensor<f32>, tensor<4096xf32>) maps = [#e, #s, #s, #c] {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %b, %b : f32
    %s = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %v, %s : f32, f32
  } -> tensor<f32>, tensor<4096xf32>
  return %0#0, %0#1 : tensor<f32>, tensor<4096xf32>
}

//--- memref.mlir
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: memref<16x40xf32>, %w: memref<40xf32>, %s: memref<16xf32>, %t: memref<40xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x, %w : memref<16x40xf32>, memref<40xf32>) outs(%s, %t : memref<16xf32>, memref<40xf32>) maps = [#e, #c, #r, #c] {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %b, %b : f32
    %p = arith.mulf %a, %v : f32
    %q = norm_fusion.row_reduce add, %p : f32
    norm_fusion.yield %q, %v : f32, f32
  }
  return
}
