// Kernels are named after their function in what PTX takes for a name, whatever the function is called.
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" | FileCheck %s
// CHECK-DAG: .entry main_24_mixed_reduction_0(
// CHECK-DAG: .entry _1_a_b_mixed_reduction_{{[1-9][0-9]*}}(
// CHECK-DAG: .entry scale__it_plain_{{[0-9]+}}(
// RUN: norm-fusion-runner %s --entry=main.24 --device=emulator --check --json=%t.json
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// REPORT: "name": "main_24_mixed_reduction_0"
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @"main.24"(%x: tensor<6x40xf32>) -> (tensor<6xf32>, tensor<40xf32>) {
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
func.func @"1 a-b"(%x: tensor<6x40xf32>) -> (tensor<6xf32>, tensor<40xf32>) {
  %r0 = tensor.empty() : tensor<6xf32>
  %c0 = tensor.empty() : tensor<40xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<6x40xf32>) outs(%r0, %c0 : tensor<6xf32>, tensor<40xf32>) maps = [#e, #r, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %q = norm_fusion.column_reduce maximum, %a : f32
    norm_fusion.yield %s, %q : f32, f32
  } -> tensor<6xf32>, tensor<40xf32>
  return %0#0, %0#1 : tensor<6xf32>, tensor<40xf32>
}
func.func @"scale/\22it"(%x: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %e = tensor.empty() : tensor<6x40xf32>
  %0 = linalg.add ins(%x, %x : tensor<6x40xf32>, tensor<6x40xf32>) outs(%e : tensor<6x40xf32>) -> tensor<6x40xf32>
  return %0 : tensor<6x40xf32>
}
