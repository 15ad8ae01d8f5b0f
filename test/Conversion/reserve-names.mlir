// Private functions make way for those that lowered code calls by name; a public one of such a name is an error.
// RUN: norm-fusion-opt %s --split-input-file --verify-diagnostics --norm-fusion-reserve-names | FileCheck %s
// Again, nothing is left to do.
// RUN: norm-fusion-opt %s --split-input-file --verify-diagnostics --norm-fusion-reserve-names --norm-fusion-reserve-names | FileCheck %s

// math.exp becomes a call of the C library's expf, not of this one.
// CHECK:       func.func private @own_expf_(
// CHECK:       func.func private @own___truncsfbf2(
// CHECK:       func.func private @own_norm_fusion_workspace(
// CHECK:       func.func private @own_expf(
// A declaration is what it says.
// CHECK:       func.func private @cosf(f32) -> f32
// CHECK-LABEL: func.func @main
// CHECK:       call @own_expf_(
// CHECK:       call @cosf(
func.func private @expf(%a: f32) -> f32 { return %a : f32 }
func.func private @__truncsfbf2(%a: f32) -> f32 { return %a : f32 }
func.func private @norm_fusion_workspace(%a: f32) -> f32 { return %a : f32 }
func.func private @own_expf(%a: f32) -> f32 { return %a : f32 }
func.func private @cosf(f32) -> f32
func.func @main(%a: f32) -> (f32, f32) {
  %0 = call @expf(%a) : (f32) -> f32
  %1 = call @cosf(%a) : (f32) -> f32
  return %0, %1 : f32, f32
}

// -----

// expected-error @+1 {{has the name of a function that lowered code calls, 'sinf'; expected another, or a private one}}
func.func @sinf(%a: f32) -> f32 { return %a : f32 }

// -----

// expected-error @+1 {{has the name of a function that lowered code calls, 'mgpuStreamCreate'}}
func.func @mgpuStreamCreate(%a: f32) -> f32 { return %a : f32 }

// -----

// expected-error @+1 {{has a NUL in its name, which no object file can have}}
func.func private @"a\00b"() { return }

// -----

// expected-error @+1 {{in a module, which isn't lowered; expected one module}}
module @inner {
  func.func @main() { return }
}
func.func @main() { return }

// -----

// What is declared takes nobody's place.
// CHECK-LABEL: llvm.func @malloc(i64)
llvm.func @malloc(i64) -> !llvm.ptr

// -----

// Code that was lowered before comes with wrappers.
// CHECK-LABEL: llvm.func @_mlir_ciface_lowered()
llvm.func @lowered() { llvm.return }
llvm.func @_mlir_ciface_lowered() { llvm.return }

// -----

// expected-error @+1 {{has the name of a function that lowered code calls, '_mlir_ciface_main'}}
func.func @_mlir_ciface_main() { return }
func.func @main() { return }
