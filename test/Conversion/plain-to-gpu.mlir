// What isn't fused becomes launches; what a device can't do stays, with a remark.
// RUN: norm-fusion-opt %s --norm-fusion-plain-to-gpu --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t.yaml | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.yaml
// RUN: norm-fusion-opt %s --norm-fusion-plain-to-gpu --gpu-kernel-outlining | FileCheck %s --check-prefix=OUTLINED
// RUN: norm-fusion-opt %s --norm-fusion-plain-to-gpu > %t.once
// RUN: norm-fusion-opt %t.once --norm-fusion-plain-to-gpu | diff %t.once -

// OUTLINED: gpu.module @norm_fusion_plain_kernels
// OUTLINED: gpu.func @columns_plain_0
// OUTLINED: gpu.func @total_plain_1

// A thread a column, however many rows: the reduction is a loop of the thread, and no grid is empty.
// CHECK-LABEL: func.func @columns
// CHECK-SAME:  %[[X:.*]]: memref<?x?xf32>, %{{.*}}: memref<?xf32>
// CHECK:       %[[N:.*]] = memref.dim %[[X]], %{{.*}}
// CHECK:       %[[BLOCKS:.*]] = arith.ceildivui %{{.*}}, %{{.*}}
// CHECK:       %[[GRID:.*]] = arith.maxui %[[BLOCKS]], %{{.*}}
// CHECK:       gpu.launch blocks(%{{.*}}) in (%{{.*}} = %[[GRID]], %{{.*}}) threads{{.*}} module(@norm_fusion_plain_kernels) function(@columns_plain_0)
// CHECK:         arith.cmpi ult
// CHECK-NEXT:    scf.if
// CHECK:           scf.for
// CHECK:             memref.load %[[X]]
// CHECK:         gpu.terminator
func.func @columns(%x: memref<?x?xf32>, %o: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>],
      iterator_types = ["reduction", "parallel"]} ins(%x : memref<?x?xf32>) outs(%o : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// A sum to one value is shared by many threads: neutral elements, shares, and their combination.
// CHECK-LABEL: func.func @total
// CHECK:       %[[SHARES:.*]] = memref.alloc() : memref<2048xf32>
// CHECK:       gpu.launch {{.*}}function(@total_plain_1)
// CHECK:         memref.store %{{.*}}, %[[SHARES]]
// CHECK:       gpu.launch {{.*}}function(@total_plain_2)
// CHECK:         %[[OWN:.*]] = memref.subview %[[SHARES]]
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c2048
// CHECK:           memref.store %{{.*}}, %[[OWN]]
// CHECK:       gpu.launch {{.*}}function(@total_plain_3)
// CHECK:         memref.load %[[SHARES]]
func.func @total(%x: memref<?x8xf32>, %o: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>],
      iterator_types = ["reduction", "reduction"]} ins(%x : memref<?x8xf32>) outs(%o : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// A short one isn't; one whose combiner is unknown can't be.
// CHECK-LABEL: func.func @short
// CHECK-NOT:   memref.alloc
// CHECK:       gpu.launch
// CHECK-NOT:   gpu.launch
func.func @short(%x: memref<8xf32>, %o: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> ()>],
      iterator_types = ["reduction"]} ins(%x : memref<8xf32>) outs(%o : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
// CHECK-LABEL: func.func @unknown
// CHECK-NOT:   memref.alloc
// CHECK:       gpu.launch
// CHECK-NOT:   gpu.launch
func.func @unknown(%x: memref<?xf32>, %o: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> ()>],
      iterator_types = ["reduction"]} ins(%x : memref<?xf32>) outs(%o : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %b : f32
    linalg.yield %1 : f32
  }
  return
}

// The driver copies packed buffers, a kernel the others.
// CHECK-LABEL: func.func @copies
// CHECK:       gpu.memcpy async
// CHECK:       gpu.wait [
// CHECK:       gpu.launch
// CHECK-NOT:   memref.copy
func.func @copies(%x: memref<8x8xf32>, %y: memref<8x8xf32>, %z: memref<8x8xf32, strided<[16, 1]>>) {
  memref.copy %x, %y : memref<8x8xf32> to memref<8x8xf32>
  memref.copy %x, %z : memref<8x8xf32> to memref<8x8xf32, strided<[16, 1]>>
  return
}

// REMARK:      !Missed
// REMARK:      Name: plain
// REMARK:      stays on the host: a plain kernel can''t have ''math.sin''
// CHECK-LABEL: func.func @host
// CHECK-NOT:   gpu.launch
// CHECK:       math.sin
func.func @host(%x: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m) -> (m)>], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
  ^bb0(%a: f32):
    %0 = math.sin %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Nothing of the device pipeline knows this float.
// REMARK:      !Missed
// REMARK:      stays on the host: a plain kernel can''t have ''memref<8xf8E4M3FNUZ>''
// CHECK-LABEL: func.func @type
// CHECK-NOT:   gpu.launch
// CHECK:       linalg.generic
func.func @type(%x: memref<8xf8E4M3FNUZ>) {
  linalg.generic {indexing_maps = [affine_map<(m) -> (m)>], iterator_types = ["parallel"]} outs(%x : memref<8xf8E4M3FNUZ>) {
  ^bb0(%a: f8E4M3FNUZ):
    %0 = arith.negf %a : f8E4M3FNUZ
    linalg.yield %0 : f8E4M3FNUZ
  }
  return
}
