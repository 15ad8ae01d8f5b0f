// Views and vectors of memrefs that are beyond their buffers: exit code 2; they crashed, or read what lies behind.
// DEFINE: %{fails} = %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator
// RUN: %{fails} --entry=view --input=64xi8 --input=i64=1 --input=i64=16 | FileCheck %s --check-prefix=VIEW
// RUN: %{fails} --entry=view --input=64xi8 --input=i64=-4 --input=i64=8 | FileCheck %s --check-prefix=VIEW
// RUN: %{fails} --entry=view --input=64xi8 --input=i64=0 --input=i64=4611686018427387904 | FileCheck %s --check-prefix=VIEW
// RUN: norm-fusion-runner %s --device=emulator --entry=view --input=64xi8 --input=i64=32 --input=i64=8
// RUN: %{fails} --entry=static_view --input=64xi8 | FileCheck %s --check-prefix=VIEW
// VIEW: the module asserts: memref.view in line {{.*}}: the view must be within its buffer
// RUN: %{fails} --entry=cast --input=64xf32 --input=i64=0 --input=i64=9 --input=i64=8 | FileCheck %s --check-prefix=CAST
// RUN: %{fails} --entry=cast --input=64xf32 --input=i64=60 --input=i64=2 --input=i64=8 | FileCheck %s --check-prefix=CAST
// RUN: %{fails} --entry=cast --input=64xf32 --input=i64=0 --input=i64=2 --input=i64=-1 | FileCheck %s --check-prefix=CAST
// RUN: %{fails} --entry=cast --input=64xf32 --input=i64=0 --input=i64=4294967297 --input=i64=4294967296 | FileCheck %s --check-prefix=CAST
// RUN: %{fails} --entry=cast --input=64xf32 --input=i64=0 --input=i64=-1 --input=i64=1 | FileCheck %s --check-prefix=CAST
// RUN: norm-fusion-runner %s --device=emulator --entry=cast --input=64xf32 --input=i64=0 --input=i64=8 --input=i64=9
// RUN: norm-fusion-runner %s --device=emulator --entry=cast --input=64xf32 --input=i64=63 --input=i64=8 --input=i64=-9
// RUN: norm-fusion-runner %s --device=emulator --entry=cast --input=64xf32 --input=i64=64 --input=i64=0 --input=i64=8
// RUN: %{fails} --entry=static_cast --input=10xf32 | FileCheck %s --check-prefix=CAST
// CAST: the module asserts: memref.reinterpret_cast in line {{.*}}: the view must be within its buffer
// RUN: %{fails} --entry=load --input=7x10xf32 --input=i64=3 --input=i64=3 | FileCheck %s --check-prefix=LOAD
// RUN: %{fails} --entry=load --input=7x10xf32 --input=i64=7 --input=i64=2 | FileCheck %s --check-prefix=LOAD
// RUN: %{fails} --entry=load --input=7x10xf32 --input=i64=0 --input=i64=-1 | FileCheck %s --check-prefix=LOAD
// RUN: norm-fusion-runner %s --device=emulator --entry=load --input=7x10xf32 --input=i64=6 --input=i64=2
// LOAD: the module asserts: vector.load in line {{.*}}: the vector must be within its buffer
// RUN: %{fails} --entry=transfer --input=7x10xf32 --input=i64=0 --input=i64=3 | FileCheck %s --check-prefix=TRANSFER
// RUN: norm-fusion-runner %s --device=emulator --entry=transfer --input=7x10xf32 --input=i64=6 --input=i64=2
// RUN: norm-fusion-runner %s --device=emulator --entry=padded --input=7x10xf32 --input=i64=6 --input=i64=5
// RUN: %{fails} --entry=padded --input=7x10xf32 --input=i64=7 --input=i64=5 | FileCheck %s --check-prefix=TRANSFER
// TRANSFER: the module asserts: vector.transfer_read in line {{.*}}: the vector must be within its buffer

func.func @view(%m: memref<?xi8>, %shift_int: i64, %size_int: i64) -> f32 {
  %shift = arith.index_cast %shift_int : i64 to index
  %size = arith.index_cast %size_int : i64 to index
  %c0 = arith.constant 0 : index
  %v = memref.view %m[%shift][%size] : memref<?xi8> to memref<?xf32>
  %0 = memref.load %v[%c0] : memref<?xf32>
  return %0 : f32
}

func.func @static_view(%m: memref<64xi8>) -> f32 {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %v = memref.view %m[%c8][] : memref<64xi8> to memref<15xf32>
  %0 = memref.load %v[%c0] : memref<15xf32>
  return %0 : f32
}

func.func @cast(%m: memref<?xf32>, %offset_int: i64, %size_int: i64, %stride_int: i64) -> i64 {
  %offset = arith.index_cast %offset_int : i64 to index
  %size = arith.index_cast %size_int : i64 to index
  %stride = arith.index_cast %stride_int : i64 to index
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %m to offset: [%offset], sizes: [%size], strides: [%stride] : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
  %0 = memref.dim %v, %c0 : memref<?xf32, strided<[?], offset: ?>>
  %1 = arith.index_cast %0 : index to i64
  return %1 : i64
}

func.func @static_cast(%m: memref<10xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %m to offset: [0], sizes: [100], strides: [1] : memref<10xf32> to memref<100xf32>
  %0 = memref.load %v[%c0] : memref<100xf32>
  return %0 : f32
}

func.func @load(%m: memref<?x?xf32>, %i_int: i64, %j_int: i64) -> f32 {
  %i = arith.index_cast %i_int : i64 to index
  %j = arith.index_cast %j_int : i64 to index
  %v = vector.load %m[%i, %j] : memref<?x?xf32>, vector<8xf32>
  %0 = vector.extract %v[7] : f32 from vector<8xf32>
  return %0 : f32
}

func.func @transfer(%m: memref<?x?xf32>, %i_int: i64, %j_int: i64) -> f32 {
  %i = arith.index_cast %i_int : i64 to index
  %j = arith.index_cast %j_int : i64 to index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %j], %zero {in_bounds = [true]} : memref<?x?xf32>, vector<8xf32>
  %0 = vector.extract %v[7] : f32 from vector<8xf32>
  return %0 : f32
}

// What isn't there is padded, in dimensions of the vector alone.
func.func @padded(%m: memref<?x?xf32>, %i_int: i64, %j_int: i64) -> f32 {
  %i = arith.index_cast %i_int : i64 to index
  %j = arith.index_cast %j_int : i64 to index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %j], %zero {in_bounds = [false]} : memref<?x?xf32>, vector<8xf32>
  %0 = vector.extract %v[7] : f32 from vector<8xf32>
  return %0 : f32
}
