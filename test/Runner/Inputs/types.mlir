// Every type goes in and comes out; the results alias arguments and each other.
func.func @main(%a: tensor<2xbf16>, %b: tensor<2xf8E4M3FN>, %c: tensor<2xi1>, %d: f64, %e: tensor<i64>)
    -> (tensor<2xbf16>, tensor<2xf8E4M3FN>, tensor<2xi1>, f64, tensor<i64>, tensor<2xbf16>, tensor<2xf32>) {
  %k = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = arith.addf %d, %d : f64
  return %a, %b, %c, %t, %e, %a, %k
      : tensor<2xbf16>, tensor<2xf8E4M3FN>, tensor<2xi1>, f64, tensor<i64>, tensor<2xbf16>, tensor<2xf32>
}
