// No kernel for few rows where there are known to be more; none for more where there are known to be fewer still.
// RUN: sed s/ROWS/?/g %s | norm-fusion-opt --norm-fusion-partial-accumulate --norm-fusion-schedule=chip=sm_90a | FileCheck %s --check-prefix=ANY
// RUN: sed s/ROWS/20/g %s | norm-fusion-opt --norm-fusion-partial-accumulate --norm-fusion-schedule=chip=sm_90a | FileCheck %s --check-prefix=ANY
// RUN: sed s/ROWS/500/g %s | norm-fusion-opt --norm-fusion-partial-accumulate --norm-fusion-schedule=chip=sm_90a | FileCheck %s --check-prefix=SOME
// RUN: sed s/ROWS/5000/g %s | norm-fusion-opt --norm-fusion-partial-accumulate --norm-fusion-schedule=chip=sm_90a | FileCheck %s --check-prefix=MANY
// ANY: few_rows = [#norm_fusion.few_rows<rows = 32, {{.*}}>, #norm_fusion.few_rows<rows = 610, {{.*}}>]
// SOME: few_rows = [#norm_fusion.few_rows<rows = 610, {{.*}}>]
// MANY-NOT: few_rows

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<ROWSx8192xf32>, %y: tensor<ROWSx8192xf32>, %o: tensor<ROWSx8192xf32>, %t: tensor<8192xf32>) -> (tensor<ROWSx8192xf32>, tensor<8192xf32>, tensor<8192xf32>) {
  %0:3 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<ROWSx8192xf32>, tensor<ROWSx8192xf32>)
    outs(%o, %t, %t : tensor<ROWSx8192xf32>, tensor<8192xf32>, tensor<8192xf32>) maps = [#e, #e, #e, #c, #c] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    %s = norm_fusion.row_reduce add, %p : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %p : f32
    %l = norm_fusion.column_reduce add, %a : f32
    norm_fusion.yield %d, %k, %l : f32, f32, f32
  } -> tensor<ROWSx8192xf32>, tensor<8192xf32>, tensor<8192xf32>
  return %0#0, %0#1, %0#2 : tensor<ROWSx8192xf32>, tensor<8192xf32>, tensor<8192xf32>
}
