// A dimension taken apart into two of dynamic size: by strides. Into one: left.
// RUN: norm-fusion-opt %s --norm-fusion-expand-reshapes | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-expand-reshapes --expand-strided-metadata | FileCheck %s --check-prefix=UPSTREAM

// UPSTREAM-NOT: memref.expand_shape

// CHECK-LABEL: func.func @packed
// CHECK-SAME:  %[[X:.*]]: memref<?x16xf32>, %[[A:.*]]: index, %[[B:.*]]: index
// CHECK-NOT:   memref.expand_shape
// CHECK:       %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:       memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[A]], %[[B]], 16], strides: [%{{.*}}, 16, 1]
// CHECK-SAME:    to memref<?x?x16xf32>
func.func @packed(%x: memref<?x16xf32>, %a: index, %b: index) -> memref<?x?x16xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 16] : memref<?x16xf32> into memref<?x?x16xf32>
  return %0 : memref<?x?x16xf32>
}

// CHECK-LABEL: func.func @strided
// CHECK-SAME:  %[[X:.*]]: memref<{{.*}}>, %[[A:.*]]: index, %[[B:.*]]: index
// CHECK:       %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
// CHECK:       %[[INNER:.*]] = arith.muli %[[STRIDES]]#0, %[[C3:.*]] :
// CHECK:       %[[OUTER:.*]] = arith.muli %[[INNER]], %[[B]]
// CHECK:       memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%[[A]], %[[B]], 3, 16],
// CHECK-SAME:    strides: [%[[OUTER]], %[[INNER]], %[[STRIDES]]#0, %[[STRIDES]]#1]
func.func @strided(%x: memref<?x16xf32, strided<[?, ?], offset: ?>>, %a: index, %b: index)
    -> memref<?x?x3x16xf32, strided<[?, ?, ?, ?], offset: ?>> {
  %0 = memref.expand_shape %x [[0, 1, 2], [3]] output_shape [%a, %b, 3, 16]
      : memref<?x16xf32, strided<[?, ?], offset: ?>> into memref<?x?x3x16xf32, strided<[?, ?, ?, ?], offset: ?>>
  return %0 : memref<?x?x3x16xf32, strided<[?, ?, ?, ?], offset: ?>>
}

// CHECK-LABEL: func.func @one
// CHECK-NEXT:  memref.expand_shape
func.func @one(%x: memref<?x16xf32>, %a: index) -> memref<?x5x16xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, 5, 16] : memref<?x16xf32> into memref<?x5x16xf32>
  return %0 : memref<?x5x16xf32>
}

// CHECK-LABEL: func.func @empty
// CHECK:       memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [1, 0], strides: [%{{.*}}, 1]
func.func @empty(%x: memref<0xf32>) -> memref<1x0xf32> {
  %0 = memref.expand_shape %x [[0, 1]] output_shape [1, 0] : memref<0xf32> into memref<1x0xf32>
  return %0 : memref<1x0xf32>
}
