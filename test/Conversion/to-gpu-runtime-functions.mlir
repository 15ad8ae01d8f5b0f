// Functions of the runtime that a module declares must be of the type that they are called with.
// RUN: norm-fusion-opt %s --split-input-file --verify-diagnostics --norm-fusion-fuse --one-shot-bufferize=bufferize-function-boundaries --norm-fusion-to-gpu | FileCheck %s
// CHECK-COUNT-1: func.func private @norm_fusion_multiprocessor_count() -> index
// CHECK-NOT:     func.func private @norm_fusion_multiprocessor_count
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func private @norm_fusion_multiprocessor_count() -> index
func.func @main(%x: tensor<6x40xf32>) -> (tensor<6xf32>, tensor<40xf32>, index) {
  %n = call @norm_fusion_multiprocessor_count() : () -> index
  %r0 = tensor.empty() : tensor<6xf32>
  %c0 = tensor.empty() : tensor<40xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<6x40xf32>) outs(%r0, %c0 : tensor<6xf32>, tensor<40xf32>) maps = [#e, #r, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %q = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %s, %q : f32, f32
  } -> tensor<6xf32>, tensor<40xf32>
  return %0#0, %0#1, %n : tensor<6xf32>, tensor<40xf32>, index
}

// -----

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
// expected-error @+1 {{has the name of a function of the runtime, 'norm_fusion_multiprocessor_count'; expected another, or a func.func of type '() -> index'}}
func.func private @norm_fusion_multiprocessor_count()
func.func @main(%x: tensor<6x40xf32>) -> (tensor<6xf32>, tensor<40xf32>) {
  call @norm_fusion_multiprocessor_count() : () -> ()
  %r0 = tensor.empty() : tensor<6xf32>
  %c0 = tensor.empty() : tensor<40xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<6x40xf32>) outs(%r0, %c0 : tensor<6xf32>, tensor<40xf32>) maps = [#e, #r, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %q = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %s, %q : f32, f32
  } -> tensor<6xf32>, tensor<40xf32>
  return %0#0, %0#1 : tensor<6xf32>, tensor<40xf32>
}
