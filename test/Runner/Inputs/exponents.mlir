// To powers of two and back; a row reduction makes it a group.
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
func.func @main(%x: tensor<16x256xf32>) -> (tensor<16x256xf8E8M0FNU>, tensor<16x256xf32>, tensor<16xi32>) {
  %0 = tensor.empty() : tensor<16x256xf8E8M0FNU>
  %1 = tensor.empty() : tensor<16x256xf32>
  %2 = tensor.empty() : tensor<16xi32>
  %r:3 = norm_fusion.mixed_reduction dims = [row, column]
    ins(%x : tensor<16x256xf32>)
    outs(%0, %1, %2 : tensor<16x256xf8E8M0FNU>, tensor<16x256xf32>, tensor<16xi32>)
    maps = [#e, #e, #e, #r] {
  ^bb0(%a: f32):
    %p = arith.truncf %a : f32 to f8E8M0FNU
    %back = arith.extf %p : f8E8M0FNU to f32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %isNumber = arith.cmpf ord, %back, %back : f32
    %count = arith.select %isNumber, %one, %zero : i32
    %numbers = norm_fusion.row_reduce add, %count : i32
    norm_fusion.yield %p, %back, %numbers : f8E8M0FNU, f32, i32
  } -> tensor<16x256xf8E8M0FNU>, tensor<16x256xf32>, tensor<16xi32>
  return %r#0, %r#1, %r#2 : tensor<16x256xf8E8M0FNU>, tensor<16x256xf32>, tensor<16xi32>
}
