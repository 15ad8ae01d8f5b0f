// A failed assertion of the module is exit code 2 with its text, not a signal.
// RUN: %python %S/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator --dims=3x4 | FileCheck %s
// RUN: norm-fusion-runner %s --device=emulator --dims=4x4 --check
// CHECK: error: the module asserts: mismatched size; check the sizes of the inputs

func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?xf32>
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %m, %n : index
  cf.assert %same, "mismatched size"
  %0 = arith.addf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
