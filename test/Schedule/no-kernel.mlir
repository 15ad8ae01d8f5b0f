// What no kernel can be generated for gets no schedule, a remark that says why, and the same results through linalg.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t.yaml | FileCheck %s --implicit-check-not=schedule
// RUN: FileCheck %s --check-prefix=REMARK < %t.yaml
// RUN: norm-fusion-runner %s --entry=total_to_column --device=emulator --check
// RUN: norm-fusion-runner %s --entry=indices --device=emulator --check

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func @total_to_column
// REMARK:      Name: {{ *}}schedule
// REMARK:      Function: {{ *}}total_to_column
// REMARK:      found: {{ *}}a column result that needs a reduction of everything
func.func @total_to_column(%x: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %d = tensor.empty() : tensor<6x40xf32>
  %q = tensor.empty() : tensor<40xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<6x40xf32>) outs(%d, %q : tensor<6x40xf32>, tensor<40xf32>) maps = [#e, #e, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %t = norm_fusion.column_reduce add, %s : f32
    norm_fusion.yield %a, %t : f32, f32
  } -> tensor<6x40xf32>, tensor<40xf32>
  return %0#0, %0#1 : tensor<6x40xf32>, tensor<40xf32>
}

// CHECK-LABEL: func @indices
// REMARK:      Name: {{ *}}schedule
// REMARK:      Function: {{ *}}indices
// REMARK:      found: {{ *}}'output #1 has elements of index over columns'
func.func @indices(%x: tensor<6x40xindex>) -> (tensor<6xindex>, tensor<40xindex>) {
  %d = tensor.empty() : tensor<6xindex>
  %q = tensor.empty() : tensor<40xindex>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<6x40xindex>) outs(%d, %q : tensor<6xindex>, tensor<40xindex>) maps = [#e, #r, #c] {
  ^bb0(%a: index):
    %s = norm_fusion.row_reduce add, %a : index
    %t = norm_fusion.column_reduce add, %a : index
    norm_fusion.yield %s, %t : index, index
  } -> tensor<6xindex>, tensor<40xindex>
  return %0#0, %0#1 : tensor<6xindex>, tensor<40xindex>
}
