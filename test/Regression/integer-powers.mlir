// No kernel has the loop that a power of integers is: it is no op of a group.
// RUN: norm-fusion-opt %s --norm-fusion-form=profit=always --remarks-filter=norm-fusion --remark-format=emitRemark 2>&1 | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// CHECK:     [Missed] unsupported-operation
// CHECK-NOT: norm_fusion.mixed_reduction
func.func @main(%x: tensor<6x64xi32>) -> (tensor<6xi32>, tensor<64xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<6x64xi32>
  %er = tensor.empty() : tensor<6xi32>
  %fr = linalg.fill ins(%zero : i32) outs(%er : tensor<6xi32>) -> tensor<6xi32>
  %ec = tensor.empty() : tensor<64xi32>
  %fc = linalg.fill ins(%zero : i32) outs(%ec : tensor<64xi32>) -> tensor<64xi32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x64xi32>) outs(%fr : tensor<6xi32>) {
  ^bb0(%a: i32, %o: i32):
    %p = math.ipowi %a, %a : i32
    %v = arith.addi %p, %o : i32
    linalg.yield %v : i32
  } -> tensor<6xi32>
  %column = linalg.reduce {arith.addi} ins(%x : tensor<6x64xi32>) outs(%fc : tensor<64xi32>) dimensions = [0]
  return %sum, %column : tensor<6xi32>, tensor<64xi32>
}
