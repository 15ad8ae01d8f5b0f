// A pass that runs on one module after the other keeps nothing of the first: its symbols aren't the second's, nor is its count of kernels.
// RUN: norm-fusion-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(builtin.module(norm-fusion-assert-to-call,norm-fusion-to-gpu,norm-fusion-plain-to-gpu))' | FileCheck %s

// CHECK-LABEL: module @first
// CHECK-DAG:   llvm.mlir.global internal constant @norm_fusion_assertion_0("positive\00")
// CHECK-DAG:   gpu.func @main_mixed_reduction_0
// CHECK-DAG:   module(@norm_fusion_plain_kernels) function(@main_plain_0)
// CHECK-LABEL: module @second
// CHECK-DAG:   llvm.mlir.global internal constant @norm_fusion_assertion_0("positive\00")
// CHECK-DAG:   gpu.func @main_mixed_reduction_0
// CHECK-DAG:   module(@norm_fusion_plain_kernels) function(@main_plain_0)

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
module @first {
  func.func @main(%x: memref<4x8xf32>, %o: memref<4x8xf32>, %t: memref<8xf32>, %c: i1) {
    cf.assert %c, "positive"
    norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<4x8xf32>) outs(%o, %t : memref<4x8xf32>, memref<8xf32>) maps = [#e, #e, #c]
      schedule = #norm_fusion.schedule<"structure=plain warps=1"> {
    ^bb0(%a: f32):
      %s = norm_fusion.row_reduce add, %a : f32
      %d = arith.subf %a, %s : f32
      norm_fusion.partial_accumulate add, %a : f32
      norm_fusion.yield %d : f32
    } combine {
    ^bb0(%a: f32, %k: f32):
      norm_fusion.yield %k : f32
    }
    linalg.add ins(%x, %x : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
    return
  }
}
module @second {
  func.func @main(%x: memref<4x8xf32>, %o: memref<4x8xf32>, %t: memref<8xf32>, %c: i1) {
    cf.assert %c, "positive"
    norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<4x8xf32>) outs(%o, %t : memref<4x8xf32>, memref<8xf32>) maps = [#e, #e, #c]
      schedule = #norm_fusion.schedule<"structure=plain warps=1"> {
    ^bb0(%a: f32):
      %s = norm_fusion.row_reduce add, %a : f32
      %d = arith.subf %a, %s : f32
      norm_fusion.partial_accumulate add, %a : f32
      norm_fusion.yield %d : f32
    } combine {
    ^bb0(%a: f32, %k: f32):
      norm_fusion.yield %k : f32
    }
    linalg.add ins(%x, %x : memref<4x8xf32>, memref<4x8xf32>) outs(%o : memref<4x8xf32>)
    return
  }
}
