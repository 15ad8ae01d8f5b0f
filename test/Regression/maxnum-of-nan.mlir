// maxnumf of -inf and of NaN alone is -inf, in every structure.
// RUN: norm-fusion-runner %s --check --input=6x64xf32=nan
// RUN: norm-fusion-runner %s --check --input=6x64xf32=nan --schedule=structure=plain
// RUN: norm-fusion-runner %s --check --input=6x64xf32=nan --schedule="structure=ring lanes=32"
// RUN: norm-fusion-runner %s --check

#a = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<6x64xf32>) -> (tensor<6xf32>, tensor<64xf32>) {
  %id = arith.constant 0xFF800000 : f32
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%id : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%id : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.reduce {arith.maxnumf} ins(%x : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %q = linalg.reduce {arith.maxnumf} ins(%x : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %s, %q : tensor<6xf32>, tensor<64xf32>
}
