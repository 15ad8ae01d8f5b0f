// What is too large for the result's type is infinity in the reference, too.
// RUN: norm-fusion-runner %s --check --input=4x64xf16=300

func.func @main(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
 %e = tensor.empty() : tensor<4x64xf16>
 %z = linalg.generic {indexing_maps = [affine_map<(m,n)->(m,n)>, affine_map<(m,n)->(m,n)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf16>) outs(%e : tensor<4x64xf16>) {
 ^bb0(%a: f16, %o: f16):
   %1 = arith.mulf %a, %a : f16
   linalg.yield %1 : f16
 } -> tensor<4x64xf16>
 return %z : tensor<4x64xf16>
}
