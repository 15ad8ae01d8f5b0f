// Forming changes no op but those of its groups: a function without a group is
// printed as it was, dead code and all.

// RUN: norm-fusion-opt %s > %t.before
// RUN: norm-fusion-opt %s --norm-fusion-form > %t.after
// RUN: diff %t.before %t.after

func.func private @observe(tensor<8xf32>)

func.func @others(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %e: tensor<8x16xf32>, %fr: tensor<8xf32>,
                  %fc: tensor<16xf32>, %m: memref<4xf32>, %n: index) -> (tensor<8x16xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %dead = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>) outs(%fc : tensor<16xf32>) dimensions = [0]
  %same = arith.addf %x, %x : tensor<8x16xf32>
  %again = arith.addf %x, %x : tensor<8x16xf32>
  %s = linalg.softmax dimension(1) ins(%same : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %h = linalg.matmul ins(%s, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.reduce {arith.addf} ins(%h : tensor<8x16xf32>) outs(%fr : tensor<8xf32>) dimensions = [1]
  func.call @observe(%r) : (tensor<8xf32>) -> ()
  %v = memref.load %m[%c0] : memref<4xf32>
  memref.store %v, %m[%c1] : memref<4xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %h) -> (tensor<8x16xf32>) {
    %b = linalg.broadcast ins(%r : tensor<8xf32>) outs(%e : tensor<8x16xf32>) dimensions = [1]
    %d = linalg.map {arith.subf} ins(%a, %b : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>)
    scf.yield %d : tensor<8x16xf32>
  }
  return %y, %r : tensor<8x16xf32>, tensor<8xf32>
}

// Around a group: what has nothing to do with it stays, in its order.

// RUN: norm-fusion-opt %s --norm-fusion-form=row-only=true | FileCheck %s
// CHECK-LABEL: func @others
// CHECK:         linalg.reduce
// CHECK:         %[[SAME:.+]] = arith.addf
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    %[[S:.+]] = linalg.softmax dimension(1) ins(%[[SAME]]
// CHECK-NEXT:    linalg.matmul ins(%[[S]]
// CHECK:         %[[R:.+]] = norm_fusion.mixed_reduction
// CHECK:         call @observe(%[[R]])
// CHECK-NEXT:    memref.load
// CHECK-NEXT:    memref.store
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      linalg.broadcast ins(%[[R]]
// CHECK:           linalg.map
