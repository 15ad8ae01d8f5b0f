// A norm with an assertion in a branch, of a quotient that only the branch can compute.
#map = affine_map<(d0, d1) -> (d0, d1)>
#rowm = affine_map<(d0, d1) -> (d0)>
#colm = affine_map<(d0, d1) -> (d1)>
func.func @main(%x: tensor<?x256xf32>, %dy: tensor<?x256xf32>) -> (tensor<?x256xf32>, tensor<256xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x256xf32>
  %er = tensor.empty(%d) : tensor<?xf32>
  %ec = tensor.empty() : tensor<256xf32>
  %e = tensor.empty(%d) : tensor<?x256xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %fc = linalg.fill ins(%z : f32) outs(%ec : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {indexing_maps = [#map, #map, #rowm], iterator_types = ["parallel", "reduction"]} ins(%x, %dy : tensor<?x256xf32>, tensor<?x256xf32>) outs(%fr : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %dx = linalg.generic {indexing_maps = [#map, #rowm, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x256xf32>, tensor<?xf32>) outs(%e : tensor<?x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %v0 = arith.mulf %a, %b : f32
    linalg.yield %v0 : f32
  } -> tensor<?x256xf32>
  %c = linalg.generic {indexing_maps = [#map, #map, #colm], iterator_types = ["reduction", "parallel"]} ins(%x, %dy : tensor<?x256xf32>, tensor<?x256xf32>) outs(%fc : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<256xf32>
  %c1024 = arith.constant 1024 : index
  %nz = arith.cmpi ne, %d, %c0 : index
  scf.if %nz {
    %q = arith.divui %c1024, %d : index
    %ok = arith.cmpi ne, %q, %c0 : index
    cf.assert %ok, "no share of a row"
  }
  return %dx, %c : tensor<?x256xf32>, tensor<256xf32>
}
