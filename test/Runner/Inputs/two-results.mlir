// Two results of 16 bits, which fill the slots that two inputs came through; COLUMNS is a number.
func.func @main(%x: tensor<?xCOLUMNSxbf16>, %y: tensor<?xCOLUMNSxbf16>) -> (tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xCOLUMNSxbf16>
  %e0 = tensor.empty(%m) : tensor<?xCOLUMNSxbf16>
  %e1 = tensor.empty(%m) : tensor<?xCOLUMNSxbf16>
  %s0 = tensor.empty() : tensor<COLUMNSxf32>
  %s1 = tensor.empty() : tensor<COLUMNSxf32>
  %r:4 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>) outs(%e0, %e1, %s0, %s1 : tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>)
   maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (n)>] {
  ^bb0(%a: bf16, %b: bf16):
    %p = arith.extf %a : bf16 to f32
    %q = arith.extf %b : bf16 to f32
    %pq = arith.mulf %p, %q : f32
    %s = norm_fusion.row_reduce add, %pq : f32
    %z = norm_fusion.column_reduce add, %pq : f32
    %w = norm_fusion.column_reduce add, %p : f32
    %g0 = arith.constant 0.5 : f32
    %u0 = arith.mulf %q, %g0 : f32
    %t0 = arith.addf %u0, %s : f32
    %o0 = arith.truncf %t0 : f32 to bf16
    %g1 = arith.constant 1.5 : f32
    %u1 = arith.mulf %q, %g1 : f32
    %t1 = arith.addf %u1, %s : f32
    %o1 = arith.truncf %t1 : f32 to bf16
    norm_fusion.yield %o0, %o1, %z, %w : bf16, bf16, f32, f32
  } -> tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>
  return %r#0, %r#1, %r#2, %r#3 : tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>, tensor<COLUMNSxf32>, tensor<COLUMNSxf32>
}

