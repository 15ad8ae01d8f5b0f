// Results of columns that hang on two accumulators, on one of these, and on two others; COLUMNS is a number, KIND a combiner.
func.func @main(%x: tensor<?xCOLUMNSxbf16>, %y: tensor<?xCOLUMNSxbf16>) -> (tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xCOLUMNSxbf16>
  %e = tensor.empty(%m) : tensor<?xCOLUMNSxbf16>
  %s = tensor.empty() : tensor<COLUMNSxf32>
  %t = tensor.empty() : tensor<COLUMNSxbf16>
  %r:5 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>) outs(%e, %s, %s, %s, %t : tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxbf16>)
   maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>] {
  ^bb0(%a: bf16, %b: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %pq = arith.mulf %p, %q : f32
    %u = norm_fusion.row_reduce add, %pq : f32
    %v = arith.addf %q, %u : f32
    %o = arith.truncf %v : f32 to bf16
    %k = norm_fusion.column_reduce add, %p : f32
    %l = norm_fusion.column_reduce add, %q : f32
    %z = norm_fusion.column_reduce KIND, %pq : f32
    %w = norm_fusion.column_reduce add, %v : f32
    %kl = arith.subf %k, %l : f32
    %wt = arith.truncf %w : f32 to bf16
    norm_fusion.yield %o, %l, %z, %kl, %wt : bf16, f32, f32, f32, bf16
  } -> tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxbf16>
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>, tensor<COLUMNSxbf16>
}
