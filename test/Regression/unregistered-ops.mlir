// Ops of unregistered dialects ended passes that asked for their dialect.
// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/tensor.mlir --allow-unregistered-dialect --norm-fusion-expand-math | FileCheck %s
// RUN: norm-fusion-opt %t/tensor.mlir --allow-unregistered-dialect --norm-fusion-fuse | FileCheck %s
// RUN: norm-fusion-opt %t/memref.mlir --allow-unregistered-dialect --norm-fusion-plain-to-gpu | FileCheck %s
// RUN: norm-fusion-opt %t/region.mlir --allow-unregistered-dialect --norm-fusion-fuse | FileCheck %s
// CHECK: "foo.op"
// Nothing lowers them: an error says so, where upstream's passes crashed.
// RUN: not norm-fusion-opt %t/tensor.mlir --allow-unregistered-dialect --norm-fusion-lower 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: not norm-fusion-opt %t/memref.mlir --allow-unregistered-dialect --norm-fusion-lower 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: not norm-fusion-opt %t/region.mlir --allow-unregistered-dialect --norm-fusion-plain-host 2>&1 | FileCheck %s --check-prefix=LOWER
// RUN: not norm-fusion-opt %t/tensor.mlir --allow-unregistered-dialect --norm-fusion-emulate-floats 2>&1 | FileCheck %s --check-prefix=EMULATE
// EMULATE: error: 'foo.op' op isn't registered; expected ops of dialects that are
// LOWER: error: 'foo.op' op isn't registered, so that nothing lowers it; expected ops of dialects that are

//--- tensor.mlir
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "foo.op"(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

//--- memref.mlir
#e = affine_map<(m, n) -> (m, n)>
func.func @main(%x: memref<8x16xf32>, %s: memref<8x16xf32>) {
  linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%x : memref<8x16xf32>) outs(%s : memref<8x16xf32>) {
  ^bb0(%a: f32, %o: f32): %w = "foo.op"(%a) : (f32) -> f32 linalg.yield %w : f32 }
  return
}

// A region of one kept upstream's inliner from knowing all symbols, and it crashed.
//--- region.mlir
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "foo.op"(%a) ({ "foo.inner"() : () -> () }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
