// Rows taken apart into two dimensions of dynamic size run; sizes that don't multiply to the rows are an error.
// RUN: norm-fusion-opt %s --norm-fusion-lower -o %t.device
// RUN: norm-fusion-runner %s --device=emulator --input=12x16xf32 --input=i64=3 --input=i64=4 --check
// RUN: norm-fusion-runner %s --device=emulator --plain=device --input=12x16xf32 --input=i64=3 --input=i64=4 --check
// RUN: %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %s --device=emulator --input=12x16xf32 --input=i64=3 --input=i64=5 | FileCheck %s
// CHECK: error: the module asserts: {{.*}}the sizes that dimension 0 is taken apart into must multiply to its own
func.func @main(%x: tensor<?x16xf32>, %a: index, %b: index) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%a, %b) : tensor<?x?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = tensor.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 16] : tensor<?x16xf32> into tensor<?x?x16xf32>
  %r = linalg.reduce {arith.addf} ins(%y : tensor<?x?x16xf32>) outs(%fr : tensor<?x?xf32>) dimensions = [2]
  return %r : tensor<?x?xf32>
}
