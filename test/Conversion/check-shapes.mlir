// Sizes that come from different places are compared; those from the same one aren't.
// RUN: norm-fusion-opt %s --norm-fusion-check-shapes | FileCheck %s

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// The result is allocated with %a's size; what was asserted isn't asserted again.
// CHECK-LABEL: func.func @operands
// CHECK-SAME:  %[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<?xf32>
// CHECK:       %[[DIM_B:.*]] = memref.dim %[[B]], %
// CHECK:       %[[DIM_A:.*]] = memref.dim %[[A]], %
// CHECK:       %[[SAME:.*]] = arith.cmpi eq, %[[DIM_B]], %[[DIM_A]]
// CHECK:       cf.assert %[[SAME]], "linalg.add in line {{[0-9]+}}: dimension 0 of operand 1 must have the size of dimension 0 of operand 0"
// CHECK-NOT:   cf.assert
func.func @operands(%a: memref<?xf32>, %b: memref<?xf32>) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %m = memref.dim %a, %c0 : memref<?xf32>
  %o = memref.alloc(%m) : memref<?xf32>
  linalg.add ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%o : memref<?xf32>)
  linalg.mul ins(%a, %b : memref<?xf32>, memref<?xf32>) outs(%o : memref<?xf32>)
  return %o : memref<?xf32>
}

// CHECK-LABEL: func.func @static
// CHECK-NOT:   cf.assert
func.func @static(%a: memref<4xf32>, %b: memref<4xf32>) {
  linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%a : memref<4xf32>)
  return
}

// CHECK-LABEL: func.func @cast
// CHECK:       cf.assert %{{.*}}, "memref.cast in line {{[0-9]+}}: dimension 0 must have size 4"
func.func @cast(%a: memref<?xf32>) -> memref<4xf32> {
  %0 = memref.cast %a : memref<?xf32> to memref<4xf32>
  return %0 : memref<4xf32>
}

// CHECK-LABEL: func.func @fused
// CHECK:       cf.assert %{{.*}}, "norm_fusion.mixed_reduction in line {{[0-9]+}}: dimension 0 of operand 1 must have the size of dimension 0 of operand 0"
// CHECK-NOT:   cf.assert
// CHECK:       norm_fusion.mixed_reduction
func.func @fused(%x: memref<?x5xf32>, %o: memref<?x5xf32>, %t: memref<5xf32>) {
  norm_fusion.mixed_reduction dims = [row, column] ins(%x : memref<?x5xf32>) outs(%o, %t : memref<?x5xf32>, memref<5xf32>) maps = [#e, #e, #c] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    norm_fusion.partial_accumulate add, %a : f32
    norm_fusion.yield %d : f32
  } combine {
  ^bb0(%a: f32, %k: f32):
    norm_fusion.yield %k : f32
  }
  return
}

// Of [m, 5] the product is asserted, and that it didn't wrap around, of [m] alone m, which is the size.
// CHECK-LABEL: func.func @expand
// CHECK-SAME:  %[[X:.*]]: memref<?x?xf32>, %[[SIZE:.*]]: index
// CHECK:       %[[PRODUCT:.*]], %[[HIGH:.*]] = arith.mulsi_extended %{{.*}}, %[[SIZE]]
// CHECK-DAG:   arith.cmpi sge, %[[SIZE]], %
// CHECK-DAG:   arith.cmpi eq, %[[HIGH]], %
// CHECK-DAG:   %[[DIM:.*]] = memref.dim %[[X]], %
// CHECK:       %[[EQUAL:.*]] = arith.cmpi eq, %[[DIM]], %[[PRODUCT]]
// CHECK:       %[[SAME:.*]] = arith.andi %{{.*}}, %[[EQUAL]]
// CHECK:       cf.assert %[[SAME]], "memref.expand_shape in line {{[0-9]+}}: the sizes that dimension 0 is taken apart into must multiply to its own"
// CHECK-NOT:   cf.assert
// CHECK:       memref.expand_shape
func.func @expand(%x: memref<?x?xf32>, %size: index) -> memref<?x5x?xf32> {
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%size, 5, %n] : memref<?x?xf32> into memref<?x5x?xf32>
  return %0 : memref<?x5x?xf32>
}

// An index has the bytes of what is allocated: of an argument's sizes in any case, of others if it is so.
// CHECK-LABEL: func.func @allocations
// CHECK-SAME:  %[[X:.*]]: memref<?x?xbf16>, %[[N:.*]]: index
// CHECK-NOT:   cf.assert
// CHECK:       memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?xf64>
// CHECK:       %[[MOST:.*]] = arith.constant 2305843009213693951 : index
// CHECK:       %[[FITS:.*]] = arith.cmpi ule, %[[N]], %[[MOST]]
// CHECK:       cf.assert %[[FITS]], "memref.alloc in line {{[0-9]+}}: sizes must not be negative, nor multiply to more bytes than an index can say"
// CHECK-NEXT:  memref.alloc(%[[N]]) : memref<?xf32>
// CHECK:       %[[M:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK:       %[[FITS_M:.*]] = arith.cmpi ule, %[[M]], %{{.*}}
// CHECK:       %[[OR_ONE:.*]] = arith.maxui %[[M]], %{{.*}}
// CHECK:       %[[LEFT:.*]] = arith.divui %{{.*}}, %[[OR_ONE]]
// CHECK:       %[[FITS_N:.*]] = arith.cmpi ule, %[[N]], %[[LEFT]]
// CHECK:       %[[BOTH:.*]] = arith.andi %[[FITS_M]], %[[FITS_N]]
// CHECK:       cf.assert %[[BOTH]], "memref.alloc in
// CHECK-NOT:   cf.assert
// CHECK:       memref.alloc(%[[N]]) : memref<0x?xf32>
func.func @allocations(%x: memref<?x?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = memref.dim %x, %c0 : memref<?x?xbf16>
  %d1 = memref.dim %x, %c1 : memref<?x?xbf16>
  %0 = memref.alloc(%d0, %d1) : memref<?x?xf64>
  %1 = memref.alloc(%n) : memref<?xf32>
  %2 = memref.alloc(%d0, %n) : memref<?x8x?xi16>
  %3 = memref.alloc(%n) : memref<0x?xf32>
  return
}

// Where they aren't in any case, it's an error only if it comes to that.
// CHECK-LABEL: func.func @too_large
// CHECK:       %[[FALSE:.*]] = arith.constant false
// CHECK:       cf.assert %[[FALSE]], "memref.alloc in line {{[0-9]+}}: sizes must not be negative, nor multiply to more bytes than an index can say"
func.func @too_large() {
  %0 = memref.alloc() : memref<16x288230376151711744xf32>
  return
}
