// Constants that a kernel reads were memory of the host program alone, which
// the emulator takes for out of bounds.
// RUN: norm-fusion-runner %s --device=emulator --check
// RUN: norm-fusion-runner %s --device=emulator --check --plain=device

func.func @main(%x: tensor<37x48xf32>, %dy: tensor<37x48xf32>, %r: tensor<37xf32>) -> (tensor<37x48xf32>, tensor<48xf32>) {
  %w = arith.constant dense<[-3.000000e+00, -2.750000e+00, -2.500000e+00, -2.250000e+00, -2.000000e+00, -1.750000e+00, -1.500000e+00, -1.250000e+00, -1.000000e+00, -7.500000e-01, -5.000000e-01, -2.500000e-01, 0.000000e+00, 2.500000e-01, 5.000000e-01, 7.500000e-01, 1.000000e+00, 1.250000e+00, 1.500000e+00, 1.750000e+00, 2.000000e+00, 2.250000e+00, 2.500000e+00, 2.750000e+00, 3.000000e+00, 3.250000e+00, 3.500000e+00, 3.750000e+00, 4.000000e+00, 4.250000e+00, 4.500000e+00, 4.750000e+00, 5.000000e+00, 5.250000e+00, 5.500000e+00, 5.750000e+00, 6.000000e+00, 6.250000e+00, 6.500000e+00, 6.750000e+00, 7.000000e+00, 7.250000e+00, 7.500000e+00, 7.750000e+00, 8.000000e+00, 8.250000e+00, 8.500000e+00, 8.750000e+00]> : tensor<48xf32>
  %z = arith.constant 0.0 : f32
  %eM = tensor.empty() : tensor<37xf32>
  %eN = tensor.empty() : tensor<48xf32>
  %eMN = tensor.empty() : tensor<37x48xf32>
  %fM = linalg.fill ins(%z : f32) outs(%eM : tensor<37xf32>) -> tensor<37xf32>
  %fN = linalg.fill ins(%z : f32) outs(%eN : tensor<48xf32>) -> tensor<48xf32>
  %as = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x, %dy, %w : tensor<37x48xf32>, tensor<37x48xf32>, tensor<48xf32>) outs(%fM : tensor<37xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p0 = arith.mulf %b, %c : f32
    %p1 = arith.mulf %p0, %a : f32
    %p2 = arith.addf %o, %p1 : f32
    linalg.yield %p2 : f32
  } -> tensor<37xf32>
  %adx = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x, %dy, %w, %r, %as : tensor<37x48xf32>, tensor<37x48xf32>, tensor<48xf32>, tensor<37xf32>, tensor<37xf32>) outs(%eMN : tensor<37x48xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %q: f32, %t: f32, %o: f32):
    %p0 = arith.mulf %b, %c : f32
    %p1 = arith.mulf %t, %a : f32
    %p2 = arith.subf %p0, %p1 : f32
    %p3 = arith.mulf %p2, %q : f32
    linalg.yield %p3 : f32
  } -> tensor<37x48xf32>
  %adw = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]} ins(%x, %dy, %r : tensor<37x48xf32>, tensor<37x48xf32>, tensor<37xf32>) outs(%fN : tensor<48xf32>) {
  ^bb0(%a: f32, %b: f32, %q: f32, %o: f32):
    %p0 = arith.mulf %b, %a : f32
    %p1 = arith.mulf %p0, %q : f32
    %p2 = arith.addf %p1, %o : f32
    linalg.yield %p2 : f32
  } -> tensor<48xf32>
  return %adx, %adw : tensor<37x48xf32>, tensor<48xf32>
}
