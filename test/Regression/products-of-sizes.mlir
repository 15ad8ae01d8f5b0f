// The sizes of a reshape multiply without wrapping around, and none is negative: 2^32 x 2^32 was taken for the shape of 0 elements, -8 x -8 for that of 64.
// DEFINE: %{fails} = %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator
// RUN: %{fails} --entry=expand --input=0xf32 --input=i64=4294967296 --input=i64=4294967296 | FileCheck %s --check-prefix=EXPAND
// RUN: %{fails} --entry=expand --input=64xf32 --input=i64=-8 --input=i64=-8 | FileCheck %s --check-prefix=EXPAND
// RUN: %{fails} --entry=expand --plain=device --input=64xf32 --input=i64=-8 --input=i64=-8 | FileCheck %s --check-prefix=EXPAND
// RUN: %{fails} --entry=reshape --input=0xf32 --input=2xi64=4294967296 | FileCheck %s --check-prefix=RESHAPE
// RUN: %{fails} --entry=reshape --input=64xf32 --input=2xi64=-8 | FileCheck %s --check-prefix=RESHAPE
// RUN: %{fails} --entry=fifths --input=4xf32 --input=i64=3689348814741910324 | FileCheck %s --check-prefix=EXPAND
// RUN: norm-fusion-runner %s --device=emulator --entry=expand --input=64xf32 --input=i64=8 --input=i64=8 --check
// RUN: norm-fusion-runner %s --device=emulator --entry=expand --input=0xf32 --input=i64=8 --input=i64=0 --check
// RUN: norm-fusion-runner %s --device=emulator --entry=reshape --input=64xf32 --input=2xi64=8 --check
// RUN: norm-fusion-runner %s --device=emulator --entry=fifths --input=10xf32 --input=i64=2 --check
// EXPAND: the module asserts: memref.expand_shape in line {{.*}}: the sizes that dimension 0 is taken apart into must multiply to its own
// RESHAPE: the module asserts: memref.reshape in line {{.*}}: the sizes of the shape must multiply to the number of elements

func.func @expand(%x: tensor<?xf32>, %a: i64, %b: i64) -> tensor<?x?xf32> {
  %m = arith.index_cast %a : i64 to index
  %n = arith.index_cast %b : i64 to index
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%m, %n] : tensor<?xf32> into tensor<?x?xf32>
  %1 = arith.addf %0, %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

func.func @reshape(%x: tensor<?xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = arith.addf %0, %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// 3689348814741910324 * 5 is 2^64 + 4.
func.func @fifths(%x: tensor<?xf32>, %a: i64) -> tensor<?x5xf32> {
  %m = arith.index_cast %a : i64 to index
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [%m, 5] : tensor<?xf32> into tensor<?x5xf32>
  %1 = arith.addf %0, %0 : tensor<?x5xf32>
  return %1 : tensor<?x5xf32>
}
