// Views, shapes and windows that are beyond their buffers: exit code 2, wherever what isn't fused runs.
// DEFINE: %{fails} = %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator
// RUN: %{fails} --plain=device --entry=slice --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: %{fails} --plain=host --entry=slice --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: %{fails} --plain=device --entry=insert --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: %{fails} --plain=device --entry=reshape --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: %{fails} --plain=host --entry=reshape --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: %{fails} --plain=device --entry=window --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: %{fails} --plain=host --entry=window --input=8xf32 --input=9xf32 2>&1 | FileCheck %s --check-prefix=WINDOW
// RUN: norm-fusion-runner %s --device=emulator --plain=device --entry=slice --input=8xf32 --input=4xf32 --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --entry=insert --input=8xf32 --input=4xf32 --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --entry=reshape --input=8xf32 --input=2xf32 --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --entry=window --input=8xf32 --input=3xf32 --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --entry=dynamic_window --input=3xf32 --input=9xf32 --input=0xf32 --check
// RUN: %{fails} --plain=device --entry=dynamic_window --input=3xf32 --input=9xf32 --input=1xf32
// RUN: %{fails} --plain=host --entry=missing_dimension --input=8xf32 --input=i64=8 2>&1 | FileCheck %s --check-prefix=MISSING

// VIEW: the module asserts: memref.subview in line
// SHAPE: the module asserts: memref.reshape in line {{.*}}: the sizes of the shape must multiply to the number of elements
// MISSING: index is out of bounds
// WINDOW: the module asserts: linalg.{{.*}} in line {{.*}}: dimension 0 of operand 0 is too small for the loops

func.func @slice(%x: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %s = tensor.extract_slice %x[4][%d][1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

func.func @insert(%x: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %s = tensor.insert_slice %n into %x[4][%d][1] : tensor<?xf32> into tensor<?xf32>
  return %s : tensor<?xf32>
}

func.func @reshape(%x: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %n, %c0 : tensor<?xf32>
  %shape = tensor.from_elements %d, %c4 : tensor<2xindex>
  %r = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %s = linalg.add ins(%r, %r : tensor<?x4xf32>, tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %s : tensor<?x4xf32>
}

func.func @window(%x: tensor<?xf32>, %n: tensor<?xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.conv_1d ins(%x, %n : tensor<?xf32>, tensor<?xf32>) outs(%f : tensor<6xf32>) -> tensor<6xf32>
  return %s : tensor<6xf32>
}

// With no results nothing is read.
func.func @dynamic_window(%x: tensor<?xf32>, %n: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %s = linalg.conv_1d ins(%x, %n : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// A dimension that isn't there.
func.func @missing_dimension(%x: tensor<?xf32>, %k: index) -> tensor<?xf32> {
  %c7 = arith.constant 99999999 : index
  %e = tensor.empty(%k) : tensor<?xf32>
  %d = tensor.dim %e, %c7 : tensor<?xf32>
  %o = tensor.empty(%d) : tensor<?xf32>
  %s = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}
