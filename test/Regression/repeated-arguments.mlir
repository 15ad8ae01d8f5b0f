// Results that are arguments were overwritten between calls, which read them.
// RUN: split-file %s %t
// RUN: norm-fusion-runner %t/argument.mlir --device=emulator --repeat=3 --bitwise | FileCheck %s
// RUN: norm-fusion-runner %t/accumulator.mlir --device=emulator --repeat=3 --bitwise | FileCheck %s
// CHECK: bitwise: the same

//--- argument.mlir
func.func @main(%a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.add ins(%a, %a : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a, %s : tensor<64xf32>, tensor<64xf32>
}

//--- accumulator.mlir
func.func @main(%x: tensor<37x48xf32>, %dy: tensor<37x48xf32>, %w: tensor<48xf32>, %r: tensor<37xf32>, %acc: tensor<48xf32>) -> (tensor<37x48xf32>, tensor<48xf32>, tensor<48xf32>) {
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
  %adw = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>], iterator_types = ["reduction", "parallel"]} ins(%x, %dy, %r : tensor<37x48xf32>, tensor<37x48xf32>, tensor<37xf32>) outs(%acc : tensor<48xf32>) {
  ^bb0(%a: f32, %b: f32, %q: f32, %o: f32):
    %p0 = arith.mulf %b, %a : f32
    %p1 = arith.mulf %p0, %q : f32
    %p2 = arith.addf %p1, %o : f32
    linalg.yield %p2 : f32
  } -> tensor<48xf32>
  return %adx, %adw, %acc : tensor<37x48xf32>, tensor<48xf32>, tensor<48xf32>
}
