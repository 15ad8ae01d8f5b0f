// What the module has already: the declaration is taken, a global of the name of a message leaves its name to nobody.
// RUN: norm-fusion-opt %s --split-input-file --verify-diagnostics --norm-fusion-assert-to-call | FileCheck %s
// CHECK:     llvm.mlir.global internal constant @[[TEXT:.*]]("no good\00")
// CHECK:     llvm.func @norm_fusion_assertion_failed(!llvm.ptr)
// CHECK-NOT: llvm.func @norm_fusion_assertion_failed
// CHECK:     llvm.mlir.global internal constant @norm_fusion_assertion_0("mine\00")
// CHECK:     llvm.mlir.addressof @[[TEXT]]
// CHECK:     llvm.call @norm_fusion_assertion_failed
llvm.func @norm_fusion_assertion_failed(!llvm.ptr)
llvm.mlir.global internal constant @norm_fusion_assertion_0("mine\00")
func.func @main(%c: i1) {
  cf.assert %c, "no good"
  return
}

// -----

// expected-error @+1 {{has the name of a function of the runtime, 'norm_fusion_assertion_failed'; expected another, or an llvm.func of type '!llvm.func<void (ptr)>'}}
llvm.func @norm_fusion_assertion_failed(i32)
func.func @main(%c: i1) {
  cf.assert %c, "no good"
  return
}
