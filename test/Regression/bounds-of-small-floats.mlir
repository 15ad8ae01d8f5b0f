// Floats without an infinity: maxima start from the least value that there is, not from NaN.
// RUN: norm-fusion-runner %s --device=emulator --check
// RUN: sed 's/maximumf/minimumf/; s/-448.0/448.0/' %s > %t.minimum.mlir
// RUN: norm-fusion-runner %t.minimum.mlir --device=emulator --check
// RUN: sed 's/f8E4M3FN/f8E8M0FNU/g; s/-448.0/0.00390625/' %s > %t.unsigned.mlir
// RUN: norm-fusion-runner %t.unsigned.mlir --device=emulator --check

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
#n = affine_map<(m, n) -> (n)>
func.func @f(%x: tensor<16x64xf8E4M3FN>) -> (tensor<16xf8E4M3FN>, tensor<64xf8E4M3FN>) {
  %z = arith.constant -448.0 : f8E4M3FN
  %e1 = tensor.empty() : tensor<16xf8E4M3FN>
  %f1 = linalg.fill ins(%z : f8E4M3FN) outs(%e1 : tensor<16xf8E4M3FN>) -> tensor<16xf8E4M3FN>
  %s = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x64xf8E4M3FN>) outs(%f1 : tensor<16xf8E4M3FN>) {
  ^bb0(%a: f8E4M3FN, %c: f8E4M3FN):
    %q = arith.maximumf %c, %a : f8E4M3FN
    linalg.yield %q : f8E4M3FN
  } -> tensor<16xf8E4M3FN>
  %e3 = tensor.empty() : tensor<64xf8E4M3FN>
  %f3 = linalg.fill ins(%z : f8E4M3FN) outs(%e3 : tensor<64xf8E4M3FN>) -> tensor<64xf8E4M3FN>
  %w = linalg.generic {indexing_maps = [#mn, #n], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<16x64xf8E4M3FN>) outs(%f3 : tensor<64xf8E4M3FN>) {
  ^bb0(%a: f8E4M3FN, %c: f8E4M3FN):
    %q = arith.maximumf %c, %a : f8E4M3FN
    linalg.yield %q : f8E4M3FN
  } -> tensor<64xf8E4M3FN>
  return %s, %w : tensor<16xf8E4M3FN>, tensor<64xf8E4M3FN>
}
