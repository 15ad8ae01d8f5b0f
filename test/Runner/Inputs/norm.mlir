// RMSNorm backward: dx and dw share dy and x.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#col = affine_map<(i, j) -> (j)>
func.func @main(%dy: tensor<12x64xf32>, %x: tensor<12x64xf32>, %r: tensor<12xf32>) -> (tensor<12x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %es = tensor.empty() : tensor<12xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<12xf32>) -> tensor<12xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%dy, %x, %r : tensor<12x64xf32>, tensor<12x64xf32>, tensor<12xf32>) outs(%fs : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %p = arith.mulf %b, %c : f32
    %q = arith.mulf %a, %p : f32
    %v = arith.addf %q, %out : f32
    linalg.yield %v : f32
  } -> tensor<12xf32>
  %ed = tensor.empty() : tensor<12x64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%dy, %x, %r, %s : tensor<12x64xf32>, tensor<12x64xf32>, tensor<12xf32>, tensor<12xf32>) outs(%ed : tensor<12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %out: f32):
    %h = arith.mulf %b, %c : f32
    %m = arith.divf %d, %n : f32
    %t = arith.mulf %h, %m : f32
    %u = arith.subf %a, %t : f32
    %v = arith.mulf %u, %c : f32
    linalg.yield %v : f32
  } -> tensor<12x64xf32>
  %ew = tensor.empty() : tensor<64xf32>
  %fw = linalg.fill ins(%zero : f32) outs(%ew : tensor<64xf32>) -> tensor<64xf32>
  %dw = linalg.generic {indexing_maps = [#id, #id, #row, #col], iterator_types = ["reduction", "parallel"]}
      ins(%dy, %x, %r : tensor<12x64xf32>, tensor<12x64xf32>, tensor<12xf32>) outs(%fw : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %out: f32):
    %p = arith.mulf %b, %c : f32
    %q = arith.mulf %a, %p : f32
    %v = arith.addf %q, %out : f32
    linalg.yield %v : f32
  } -> tensor<64xf32>
  return %dx, %dw : tensor<12x64xf32>, tensor<64xf32>
}
