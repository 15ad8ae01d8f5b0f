// The size of a result is an input's: what can't be is bad input, and said as what it is.
// RUN: %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator --input=i64=-5 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator --plain=device --input=i64=-5 | FileCheck %s
// CHECK: error: the module asserts: memref.alloc in line 13: sizes must not be negative, nor multiply to more bytes than an index can say; check the sizes of the inputs
// RUN: %python %S/../Runner/Inputs/exits.py 5 norm-fusion-runner %s --device=emulator --input=i64=100000000000000 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: out of memory
// So is one whose bytes wrap around: 4 * 2^62 are 0, and 4 * (2^62 + 1) are 4.
// RUN: %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator --input=i64=4611686018427387904 | FileCheck %s
// RUN: %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator --plain=device --input=i64=4611686018427387905 | FileCheck %s

func.func @main(%n: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
