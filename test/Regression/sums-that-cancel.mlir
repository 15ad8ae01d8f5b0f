// (x * s + 0x1.8p23) - 0x1.8p23 rounds: the constants aren't added to each other.
// RUN: norm-fusion-runner %s --check --output=%t.a0.npy --output=%t.a1.npy --output=%t.a2.npy
// RUN: norm-fusion-runner %s --form-options=profit=never --output=%t.b0.npy --output=%t.b1.npy --output=%t.b2.npy
// RUN: cmp %t.a1.npy %t.b1.npy
// RUN: cmp %t.a2.npy %t.b2.npy

#a = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<6x64xf32>) -> (tensor<6xf32>, tensor<6x64xi8>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %C = arith.constant 12582912.0 : f32
  %e = tensor.empty() : tensor<6x64xi8>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x64xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.absf %a : f32
    %2 = arith.maximumf %1, %o : f32
    linalg.yield %2 : f32
  } -> tensor<6xf32>
  %d = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<6x64xf32>, tensor<6xf32>) outs(%e : tensor<6x64xi8>) {
  ^bb0(%a: f32, %k: f32, %o: i8):
    %c127 = arith.constant 127.0 : f32
    %i = arith.divf %c127, %k : f32
    %1 = arith.mulf %a, %i : f32
    %2 = arith.addf %1, %C : f32
    %z = arith.subf %2, %C : f32
    %zi = arith.fptosi %z : f32 to i8
    linalg.yield %zi : i8
  } -> tensor<6x64xi8>
  %q = linalg.generic {indexing_maps = [#a, #c], iterator_types = ["reduction", "parallel"]} ins(%d : tensor<6x64xi8>) outs(%fc : tensor<64xf32>) {
  ^bb0(%b: i8, %o: f32):
    %a = arith.sitofp %b : i8 to f32
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  return %s, %d, %q : tensor<6xf32>, tensor<6x64xi8>, tensor<64xf32>
}
