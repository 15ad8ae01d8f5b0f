// Ops that front ends emit and that nothing lowered: integer powers, and values that are never used.
// RUN: norm-fusion-runner %s --entry=powers --device=emulator --input=4x8xi32=3 --input=4x8xi32=4 --output=%t.npy --check
// RUN: %python -c "import numpy; y = numpy.load('%t.npy'); assert (y == 81).all(), y"
// RUN: norm-fusion-runner %s --entry=poison --device=emulator --input=4x8xf32=3 --output=%t.npy
// RUN: %python -c "import numpy; y = numpy.load('%t.npy'); assert (y == 3).all(), y"

#id = affine_map<(i, j) -> (i, j)>
func.func @powers(%x: tensor<?x8xi32>, %y: tensor<?x8xi32>) -> tensor<?x8xi32> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xi32>) outs(%y : tensor<?x8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %p = math.ipowi %a, %b : i32
    linalg.yield %p : i32
  } -> tensor<?x8xi32>
  return %r : tensor<?x8xi32>
}

func.func @poison(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32):
    %p = ub.poison : f32
    %always = arith.cmpf oeq, %a, %a : f32
    %s = arith.select %always, %a, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
