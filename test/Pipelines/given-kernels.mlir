// A module's own kernels are lowered, too: views, affine maps, vectors.
// RUN: norm-fusion-opt %s --norm-fusion-lower | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-lower=target=emulator | FileCheck %s
// CHECK: gpu.binary @mine
module attributes {gpu.container_module} {
  gpu.module @mine {
    gpu.func @kernel(%x: memref<64x64xf32>, %n: index) kernel {
      %i = gpu.thread_id x
      %j = affine.apply affine_map<(d0)[s0] -> (d0 * 2 + s0)>(%i)[%n]
      %row = memref.subview %x[%j, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
      %c0 = arith.constant 0 : index
      %v = vector.load %row[%c0] : memref<64xf32, strided<[1], offset: ?>>, vector<4xf32>
      %s = vector.reduction <add>, %v : vector<4xf32> into f32
      memref.store %s, %row[%i] : memref<64xf32, strided<[1], offset: ?>>
      gpu.return
    }
  }
  func.func @main(%x: memref<64x64xf32>, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @mine::@kernel blocks in (%c1, %c1, %c1) threads in (%n, %c1, %c1) args(%x : memref<64x64xf32>, %n : index)
    return
  }
}
