// Inputs whose sizes don't belong together are exit code 2, fused or not, on the host or in plain kernels, though the
// module itself asserts nothing.
// RUN: %python %S/Inputs/exits.py 2 norm-fusion-runner %s --entry=plain --device=emulator --dims=4x5 | FileCheck %s --check-prefix=PLAIN
// RUN: %python %S/Inputs/exits.py 2 norm-fusion-runner %s --entry=plain --device=emulator --dims=4x5 --plain=device | FileCheck %s --check-prefix=PLAIN
// PLAIN: error: the module asserts: linalg.generic in line {{[0-9]+}}: dimension 0 of operand 1 must have the size of dimension 0 of operand 0; check the sizes of the inputs
// RUN: norm-fusion-runner %s --entry=plain --device=emulator --dims=4x4 --check
// RUN: norm-fusion-runner %s --entry=plain --device=emulator --dims=0x0 --plain=device --check
// RUN: %python %S/Inputs/exits.py 2 norm-fusion-runner %s --entry=fused --device=emulator --dims=6x7x6 | FileCheck %s --check-prefix=FUSED
// RUN: %python %S/Inputs/exits.py 2 norm-fusion-runner %s --entry=fused --device=emulator --dims=6x6x5 | FileCheck %s --check-prefix=FUSED
// FUSED: error: the module asserts: norm_fusion.mixed_reduction{{.*}}: dimension 0 of operand {{[0-9]}} must have the size of dimension 0 of operand {{[0-9]}}; check the sizes of the inputs
// RUN: norm-fusion-runner %s --entry=fused --device=emulator --dims=6x6x6 --check | FileCheck %s --check-prefix=RIGHT
// RIGHT: 1 group fused

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

func.func @plain(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @fused(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %r: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %dy, %c0 : tensor<?x64xf32>
  %ef = tensor.empty(%m) : tensor<?x64xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#full, #full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %x, %r : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?xf32>) outs(%ef : tensor<?x64xf32>) {
  ^bb0(%g: f32, %v: f32, %s: f32, %o: f32):
    %0 = arith.mulf %v, %s : f32
    %1 = arith.mulf %g, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %rows = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%p : tensor<?x64xf32>) outs(%fr : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = arith.addf %o, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %columns = linalg.generic {indexing_maps = [#full, #column], iterator_types = ["reduction", "parallel"]}
      ins(%p : tensor<?x64xf32>) outs(%fc : tensor<64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %0 = arith.addf %o, %v : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  %dx = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %rows : tensor<?x64xf32>, tensor<?xf32>) outs(%ef : tensor<?x64xf32>) {
  ^bb0(%g: f32, %s: f32, %o: f32):
    %0 = arith.subf %g, %s : f32
    linalg.yield %0 : f32
  } -> tensor<?x64xf32>
  return %dx, %columns : tensor<?x64xf32>, tensor<64xf32>
}
