// Two arrays of different widths, a sum of rows and one of columns.
func.func @main(%x: tensor<?x1024xf32>, %y: tensor<?x1024xbf16>) -> (tensor<?x1024xf32>, tensor<1024xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %empty = tensor.empty(%m) : tensor<?xf32>
  %rows = linalg.fill ins(%zero : f32) outs(%empty : tensor<?xf32>) -> tensor<?xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x1024xf32>, tensor<?x1024xbf16>) outs(%rows : tensor<?xf32>) {
  ^bb0(%a: f32, %c: bf16, %acc: f32):
    %e = arith.extf %c : bf16 to f32
    %p = arith.mulf %a, %e : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %out = tensor.empty(%m) : tensor<?x1024xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %sums : tensor<?x1024xf32>, tensor<?x1024xbf16>, tensor<?xf32>) outs(%out : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %c: bf16, %s: f32, %o: f32):
    %e = arith.extf %c : bf16 to f32
    %p = arith.mulf %e, %s : f32
    %q = arith.addf %a, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x1024xf32>
  %columns = tensor.empty() : tensor<1024xf32>
  %none = linalg.fill ins(%zero : f32) outs(%columns : tensor<1024xf32>) -> tensor<1024xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (m, n)>, affine_map<(n, m) -> (n)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : tensor<?x1024xf32>, tensor<?x1024xbf16>) outs(%none : tensor<1024xf32>) {
  ^bb0(%a: f32, %c: bf16, %acc: f32):
    %e = arith.extf %c : bf16 to f32
    %p = arith.mulf %a, %e : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %d, %t : tensor<?x1024xf32>, tensor<1024xf32>
}
