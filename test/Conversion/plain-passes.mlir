// The small passes of the plain path, one each.
// RUN: norm-fusion-opt %s --norm-fusion-protect-arguments | FileCheck %s --check-prefix=PROTECT
// RUN: norm-fusion-opt %s --norm-fusion-assert-to-call | FileCheck %s --check-prefix=ASSERT
// RUN: norm-fusion-opt %s --norm-fusion-decompose-aggregates | FileCheck %s --check-prefix=DECOMPOSE
// RUN: norm-fusion-opt %s --norm-fusion-expand-float-conversions | FileCheck %s --check-prefix=FLOATS
// RUN: norm-fusion-opt %s --norm-fusion-plain-host | FileCheck %s --check-prefix=HOST

// PROTECT: func.func @public(%{{.*}}: tensor<4xf32> {bufferization.writable = false}, %{{.*}}: tensor<4xf32> {bufferization.writable = true}, %{{.*}}: i1)
// PROTECT: func.func private @private(%{{.*}}: tensor<4xf32>)
// ASSERT-DAG: llvm.mlir.global internal constant @[[TEXT:.*]]("no good\00")
// ASSERT-DAG: llvm.func @norm_fusion_assertion_failed(!llvm.ptr)
// ASSERT:     func.func @public
// ASSERT-NOT: cf.assert
// ASSERT:     scf.if
// ASSERT:       llvm.mlir.addressof @[[TEXT]]
// ASSERT:       llvm.call @norm_fusion_assertion_failed
func.func @public(%a: tensor<4xf32>, %b: tensor<4xf32> {bufferization.writable = true}, %c: i1) -> tensor<4xf32> {
  cf.assert %c, "no good"
  %0 = func.call @private(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @private(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// DECOMPOSE-LABEL: func.func @bitcast
// DECOMPOSE:       arith.bitcast %{{.*}} : tensor<?xi32> to tensor<?xf32>
func.func @bitcast(%a: tensor<?xi32>) -> tensor<?xf32> {
  %0 = tensor.bitcast %a : tensor<?xi32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// DECOMPOSE-LABEL: func.func @softmax
// DECOMPOSE-NOT:   linalg.softmax
// DECOMPOSE:       math.exp
func.func @softmax(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// FLOATS-LABEL: func.func @floats
// FLOATS-NOT:   f32 to bf16
// FLOATS-NOT:   f8E4M3FN to f32
// FLOATS-NOT:   f64 to f8E5M2
// FLOATS:       arith.truncf %{{.*}} : f32 to f16
func.func @floats(%a: f32, %b: f8E4M3FN, %c: f64) -> (bf16, f32, f8E5M2, f16) {
  %0 = arith.truncf %a : f32 to bf16
  %1 = arith.extf %b : f8E4M3FN to f32
  %2 = arith.truncf %c : f64 to f8E5M2
  %3 = arith.truncf %a : f32 to f16
  return %0, %1, %2, %3 : bf16, f32, f8E5M2, f16
}

// HOST-NOT: func.func
// HOST-NOT: linalg.
// HOST-DAG: llvm.func @_mlir_memref_to_llvm_alloc(i64) -> !llvm.ptr
