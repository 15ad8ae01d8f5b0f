// Positions as elements: reductions of indices along rows and columns, in a kernel whose warps have several rows side by side.
// RUN: norm-fusion-runner %s --device=emulator --check --json=%t.json
// RUN: FileCheck %s --check-prefix=SMALL < %t.json
// SMALL: "structure": "small"
// RUN: norm-fusion-runner %s --device=emulator --check --schedule="lanes=8 vector=1 chunks=3"
// RUN: norm-fusion-runner %s --device=emulator --check --schedule="structure=ring lanes=32 warps=1 row-groups=2 chunks=1 vector=4 combine=grid"
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
#v = affine_map<(n) -> (n)>
func.func @main(%x: tensor<37x24xf32>) -> (tensor<37xf32>, tensor<24xi32>, tensor<37xi32>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0 : index
  %re = tensor.empty() : tensor<37xf32>
  %rf = linalg.fill ins(%z : f32) outs(%re : tensor<37xf32>) -> tensor<37xf32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<37x24xf32>) outs(%rf : tensor<37xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<37xf32>
  %ri = tensor.empty() : tensor<37xindex>
  %rfi = linalg.fill ins(%zi : index) outs(%ri : tensor<37xindex>) -> tensor<37xindex>
  %am = linalg.generic {indexing_maps = [#e, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<37x24xf32>, tensor<37xf32>) outs(%rfi : tensor<37xindex>) {
  ^bb0(%a: f32, %b: f32, %o: index):
    %i = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %q = arith.cmpf oeq, %a, %b : f32
    %p = arith.select %q, %i, %c0 : index
    %0 = arith.maxui %p, %o : index
    linalg.yield %0 : index
  } -> tensor<37xindex>
  %ce = tensor.empty() : tensor<24xindex>
  %cf = linalg.fill ins(%zi : index) outs(%ce : tensor<24xindex>) -> tensor<24xindex>
  %ci = linalg.generic {indexing_maps = [#e, #r, #c], iterator_types = ["reduction", "parallel"]} ins(%x, %s : tensor<37x24xf32>, tensor<37xf32>) outs(%cf : tensor<24xindex>) {
  ^bb0(%a: f32, %b: f32, %o: index):
    %i = linalg.index 0 : index
    %c0 = arith.constant 0 : index
    %q = arith.cmpf oeq, %a, %b : f32
    %p = arith.select %q, %i, %c0 : index
    %0 = arith.maxui %p, %o : index
    linalg.yield %0 : index
  } -> tensor<24xindex>
  %ie = tensor.empty() : tensor<24xi32>
  %ic = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%ci : tensor<24xindex>) outs(%ie : tensor<24xi32>) {
  ^bb0(%a: index, %o: i32):
    %0 = arith.index_cast %a : index to i32
    linalg.yield %0 : i32
  } -> tensor<24xi32>
  %rie = tensor.empty() : tensor<37xi32>
  %ric = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%am : tensor<37xindex>) outs(%rie : tensor<37xi32>) {
  ^bb0(%a: index, %o: i32):
    %0 = arith.index_cast %a : index to i32
    linalg.yield %0 : i32
  } -> tensor<37xi32>
  return %s, %ic, %ric : tensor<37xf32>, tensor<24xi32>, tensor<37xi32>
}
