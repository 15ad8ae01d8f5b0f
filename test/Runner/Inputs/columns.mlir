// Two row and two column dimensions, a product of columns beside a sum, and a
// row sum in f64.
func.func @main(%x: tensor<?x3x5x40xf32>, %w: tensor<5x40xf32>) -> (tensor<?x3x5x40xf32>, tensor<5x40xf32>, tensor<5x40xf32>, tensor<?x3xf64>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %zero64 = arith.constant 0.0 : f64
  %scale = arith.constant 0.01 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x3x5x40xf32>
  %er = tensor.empty(%rows) : tensor<?x3xf64>
  %ir = linalg.fill ins(%zero64 : f64) outs(%er : tensor<?x3xf64>) -> tensor<?x3xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x : tensor<?x3x5x40xf32>) outs(%ir : tensor<?x3xf64>) {
  ^bb0(%a: f32, %o: f64):
    %e = arith.extf %a : f32 to f64
    %s = arith.addf %o, %e : f64
    linalg.yield %s : f64
  } -> tensor<?x3xf64>
  %ex = tensor.empty(%rows) : tensor<?x3x5x40xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (c, d)>, affine_map<(a, b, c, d) -> (a, b)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %w, %r : tensor<?x3x5x40xf32>, tensor<5x40xf32>, tensor<?x3xf64>) outs(%ex : tensor<?x3x5x40xf32>) {
  ^bb0(%a: f32, %v: f32, %s: f64, %o: f32):
    %t = arith.truncf %s : f64 to f32
    %p = arith.mulf %a, %v : f32
    %q = arith.subf %p, %t : f32
    linalg.yield %q : f32
  } -> tensor<?x3x5x40xf32>
  %ec = tensor.empty() : tensor<5x40xf32>
  %is = linalg.fill ins(%zero : f32) outs(%ec : tensor<5x40xf32>) -> tensor<5x40xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b)>, affine_map<(a, b, c, d) -> (c, d)>],
      iterator_types = ["reduction", "reduction", "parallel", "parallel"]}
      ins(%x, %r : tensor<?x3x5x40xf32>, tensor<?x3xf64>) outs(%is : tensor<5x40xf32>) {
  ^bb0(%a: f32, %s: f64, %o: f32):
    %t = arith.truncf %s : f64 to f32
    %m = arith.mulf %a, %t : f32
    %n = arith.addf %o, %m : f32
    linalg.yield %n : f32
  } -> tensor<5x40xf32>
  %ip = linalg.fill ins(%one : f32) outs(%ec : tensor<5x40xf32>) -> tensor<5x40xf32>
  %products = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (c, d)>],
      iterator_types = ["reduction", "reduction", "parallel", "parallel"]}
      ins(%x : tensor<?x3x5x40xf32>) outs(%ip : tensor<5x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %scale : f32
    %u = arith.addf %t, %one : f32
    %n = arith.mulf %o, %u : f32
    linalg.yield %n : f32
  } -> tensor<5x40xf32>
  return %y, %sums, %products, %r : tensor<?x3x5x40xf32>, tensor<5x40xf32>, tensor<5x40xf32>, tensor<?x3xf64>
}
