// The pass alone asserts what views need, of sizes that aren't known, and nothing of reshapes whose sizes are.
// RUN: norm-fusion-opt %s --norm-fusion-check-shapes | FileCheck %s

// CHECK-LABEL: func @view
// CHECK:         cf.assert {{.*}}"memref.subview in line [[# @LINE + 3]]:
// CHECK:         memref.subview
func.func @view(%m: memref<?xf32>, %n: index) -> memref<?xf32, strided<[1], offset: 4>> {
  %s = memref.subview %m[4][%n][1] : memref<?xf32> to memref<?xf32, strided<[1], offset: 4>>
  return %s : memref<?xf32, strided<[1], offset: 4>>
}

// CHECK-LABEL: func @reshape
// CHECK-NOT:     cf.assert
// CHECK-NOT:     memref.load
func.func @reshape(%m: memref<8x4xf32>, %shape: memref<2xindex>) -> memref<4x8xf32> {
  %s = memref.reshape %m(%shape) : (memref<8x4xf32>, memref<2xindex>) -> memref<4x8xf32>
  return %s : memref<4x8xf32>
}
