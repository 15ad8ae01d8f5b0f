// A factor over a difference was distributed where something else of full size
// was added: what the difference cancels was lost in rows that don't vary
// (first), or where a constant scales the element (second).
// RUN: split-file %s %t
// RUN: norm-fusion-runner %t/residual.mlir --device=emulator --check --input=6x64xf16=59999 --input=6x64xf16
// RUN: norm-fusion-runner %t/residual.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/scaled-max.mlir --device=emulator --check --input=6x64xf32=100000
// RUN: norm-fusion-runner %t/scaled-max.mlir --device=emulator --check

//--- residual.mlir
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<6x64xf16>, %res: tensor<6x64xf16>) -> (tensor<6x64xf16>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x64xf16>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %t = arith.addf %o, %w : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  %squares = linalg.generic {indexing_maps = [#e, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<6x64xf16>, tensor<6xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f16, %s: f32, %o: f32):
    %w = arith.extf %a : f16 to f32
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %w, %mean : f32
    %q = arith.mulf %d, %d : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  %ey = tensor.empty() : tensor<6x64xf16>
  %y = linalg.generic {indexing_maps = [#e, #r, #r, #e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %squares, %res : tensor<6x64xf16>, tensor<6xf32>, tensor<6xf32>, tensor<6x64xf16>) outs(%ey : tensor<6x64xf16>) {
  ^bb0(%a: f16, %s: f32, %q: f32, %b: f16, %o: f16):
    %w = arith.extf %a : f16 to f32
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %w, %mean : f32
    %v = arith.divf %q, %n : f32
    %ve = arith.addf %v, %eps : f32
    %rstd = math.rsqrt %ve : f32
    %xhat = arith.mulf %d, %rstd : f32
    %r = arith.extf %b : f16 to f32
    %t = arith.addf %xhat, %r : f32
    %h = arith.truncf %t : f32 to f16
    linalg.yield %h : f16
  } -> tensor<6x64xf16>
  %column = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<6x64xf16>) outs(%fc : tensor<64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %t = arith.addf %o, %w : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %y, %column : tensor<6x64xf16>, tensor<64xf32>
}

//--- scaled-max.mlir
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<6x64xf32>) -> (tensor<6xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %log2e = arith.constant 1.44269504 : f32
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x64xf32>) outs(%fm : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    %t = arith.maximumf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  %ee = tensor.empty() : tensor<6x64xf32>
  %exp = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %max : tensor<6x64xf32>, tensor<6xf32>) outs(%ee : tensor<6x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %s = arith.mulf %a, %scale : f32
    %d = arith.subf %s, %m : f32
    %l = arith.mulf %d, %log2e : f32
    %t = math.exp2 %l : f32
    linalg.yield %t : f32
  } -> tensor<6x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%exp : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %column = linalg.reduce {arith.addf} ins(%exp : tensor<6x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %sum, %column : tensor<6xf32>, tensor<64xf32>
}
