// A splat of dynamic size is a scalar to the group, not a tensor of one element.
// RUN: norm-fusion-opt %s --norm-fusion-fuse | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-fuse --one-shot-bufferize=bufferize-function-boundaries=1 -o %t
// RUN: norm-fusion-runner %s --device=emulator --input=7x96xf32 --input=f32 --check
// CHECK-NOT: tensor.collapse_shape
// CHECK:     norm_fusion.mixed_reduction
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<?x96xf32>, %scale: f32) -> (tensor<?x96xf32>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %splat = tensor.splat %scale[%m] : tensor<?xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %ec = tensor.empty() : tensor<96xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<96xf32>) -> tensor<96xf32>
  %ex = tensor.empty(%m) : tensor<?x96xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<?x96xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r, %splat : tensor<?x96xf32>, tensor<?xf32>, tensor<?xf32>) outs(%ex : tensor<?x96xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.mulf %0, %s : f32
    linalg.yield %1 : f32
  } -> tensor<?x96xf32>
  %c = linalg.reduce {arith.addf} ins(%y : tensor<?x96xf32>) outs(%fc : tensor<96xf32>) dimensions = [0]
  return %y, %c : tensor<?x96xf32>, tensor<96xf32>
}
