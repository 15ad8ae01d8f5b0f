#e = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<?x4096xf32>, %o: tensor<?x4096xf32>) -> tensor<?x4096xf32> {
  %0 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<?x4096xf32>) outs(%o : tensor<?x4096xf32>) maps = [#e, #e] {
  ^bb0(%a: f32):
    %w = arith.extf %a : f32 to f64
    %s = norm_fusion.row_reduce add, %w : f64
    %n = arith.truncf %s : f64 to f32
    %d = arith.subf %a, %n : f32
    norm_fusion.yield %d : f32
  } -> tensor<?x4096xf32>
  return %0 : tensor<?x4096xf32>
}
