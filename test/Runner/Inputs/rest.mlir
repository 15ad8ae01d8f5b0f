// Nothing here is fused: loops and branches of the host around linalg ops, every kind of element, gathers, slices,
// constants, reductions to one value, and an op that no plain kernel can have.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i, j) -> ()>

func.func @main(%x: tensor<?x?xf32>, %b: tensor<?x?xbf16>, %h: tensor<?x?xf16>, %d: tensor<?x?xf64>, %k: tensor<?x?xi32>)
    -> (tensor<?x?xf32>, tensor<?x?xbf16>, tensor<?x?xf16>, tensor<?x?xf64>, tensor<?x?xi32>, tensor<f32>, tensor<?x?xf32>,
        tensor<?xi8>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %zero8 = arith.constant 0 : i8
  %table = arith.constant dense<[1.0, -2.0, 0.5, 4.0]> : tensor<4xf32>
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>

  // Three times x := tanh(x) + table[(i + j) % 4], a launch of the loop each.
  %loop = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<?x?xf32> {
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = linalg.index 0 : index
      %q = linalg.index 1 : index
      %s = arith.addi %p, %q : index
      %c4 = arith.constant 4 : index
      %r = arith.remui %s, %c4 : index
      %t = tensor.extract %table[%r] : tensor<4xf32>
      %u = math.tanh %v : f32
      %w = arith.addf %u, %t : f32
      linalg.yield %w : f32
    } -> tensor<?x?xf32>
    scf.yield %next : tensor<?x?xf32>
  }

  %b2 = arith.addf %b, %b : tensor<?x?xbf16>
  %b3 = math.exp %b2 : tensor<?x?xbf16>
  %h2 = arith.mulf %h, %h : tensor<?x?xf16>
  %d2 = math.log1p %h2 : tensor<?x?xf16>
  %d3 = math.erf %d : tensor<?x?xf64>
  %k2 = arith.muli %k, %k : tensor<?x?xi32>

  %e0 = tensor.empty() : tensor<f32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]}
      ins(%loop : tensor<?x?xf32>) outs(%f0 : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<f32>

  // The host decides by a value of the device, until the sum of the absolutes is below 100.
  %while = scf.while (%a = %loop) : (tensor<?x?xf32>) -> tensor<?x?xf32> {
    %total = linalg.generic {indexing_maps = [#id, #one], iterator_types = ["reduction", "reduction"]}
        ins(%a : tensor<?x?xf32>) outs(%f0 : tensor<f32>) {
    ^bb0(%v: f32, %o: f32):
      %p = math.absf %v : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    %size = tensor.extract %total[] : tensor<f32>
    %limit = arith.constant 100.0 : f32
    %more = arith.cmpf ogt, %size, %limit : f32
    scf.condition(%more) %a : tensor<?x?xf32>
  } do {
  ^bb0(%a: tensor<?x?xf32>):
    %e = tensor.empty(%m, %n) : tensor<?x?xf32>
    %half = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
    ^bb0(%v: f32, %o: f32):
      %c = arith.constant 0.5 : f32
      %w = arith.mulf %v, %c : f32
      linalg.yield %w : f32
    } -> tensor<?x?xf32>
    scf.yield %half : tensor<?x?xf32>
  }

  %e8 = tensor.empty(%m) : tensor<?xi8>
  %f8 = linalg.fill ins(%zero8 : i8) outs(%e8 : tensor<?xi8>) -> tensor<?xi8>
  %counts = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%k : tensor<?x?xi32>) outs(%f8 : tensor<?xi8>) {
  ^bb0(%v: i32, %o: i8):
    %t = arith.trunci %v : i32 to i8
    %s = arith.addi %o, %t : i8
    linalg.yield %s : i8
  } -> tensor<?xi8>

  %padded = tensor.pad %while low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %es = tensor.empty(%m, %n) : tensor<?x?xf32>
  %sines = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = math.sin %v : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %loop, %b3, %d2, %d3, %k2, %sum, %padded, %counts, %sines
      : tensor<?x?xf32>, tensor<?x?xbf16>, tensor<?x?xf16>, tensor<?x?xf64>, tensor<?x?xi32>, tensor<f32>,
        tensor<?x?xf32>, tensor<?xi8>, tensor<?x?xf32>
}
