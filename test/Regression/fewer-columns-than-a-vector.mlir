// Column inputs with fewer elements than a vector were read beyond their end.
// RUN: split-file %s %t
// RUN: norm-fusion-runner %t/three.mlir --device=emulator --check --schedule=vector=4
// RUN: norm-fusion-runner %t/one.mlir --device=emulator --check

//--- three.mlir
#e = affine_map<(m, n) -> (m, n)>
#mr = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<72x3xbf16>, %w: tensor<3xf32>) -> (tensor<72xf32>, tensor<3xf32>) {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<72xf32>
  %e1 = tensor.empty() : tensor<3xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<72xf32>) -> tensor<72xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<3xf32>) -> tensor<3xf32>
  %s = linalg.generic {indexing_maps = [#e, #c, #mr], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<72x3xbf16>, tensor<3xf32>) outs(%f0 : tensor<72xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %p = arith.mulf %a1, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<72xf32>
  %t = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<72x3xbf16>) outs(%f1 : tensor<3xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %q = arith.addf %o, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<3xf32>
  return %s, %t : tensor<72xf32>, tensor<3xf32>
}

//--- one.mlir
func.func @main(%a0: tensor<1000x1xbf16>, %a1: tensor<1000x1xf64>, %a2: tensor<1000xf32>, %a3: tensor<i32>, %a4: tensor<1xf16>, %a5: tensor<1000xf32>) -> (tensor<1000x1xf64>, tensor<1000x1xf64>) {
  %e0 = tensor.empty() : tensor<1000x1xf64>
  %e1 = tensor.empty() : tensor<1000x1xf64>
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%a0, %a1, %a2, %a3, %a4, %a5 : tensor<1000x1xbf16>, tensor<1000x1xf64>, tensor<1000xf32>, tensor<i32>, tensor<1xf16>, tensor<1000xf32>) outs(%e0, %e1 : tensor<1000x1xf64>, tensor<1000x1xf64>) maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>] {
  ^bb0(%b0: bf16, %b1: f64, %b2: f32, %b3: i32, %b4: f16, %b5: f32):
    %v1 = arith.sitofp %b3 : i32 to f32
    %v2 = arith.extf %b0 : bf16 to f32
    %v3 = arith.mulf %v1, %v2 : f32
    %v4 = arith.extf %b0 : bf16 to f32
    %v5 = arith.mulf %v4, %v3 : f32
    %v6 = arith.extf %b4 : f16 to f64
    %v7 = arith.maximumf %v6, %b1 : f64
    %v8 = arith.sitofp %b3 : i32 to f64
    %v9 = arith.subf %v7, %v8 : f64
    norm_fusion.yield %v7, %v9 : f64, f64
  } -> tensor<1000x1xf64>, tensor<1000x1xf64>
  return %0#0, %0#1 : tensor<1000x1xf64>, tensor<1000x1xf64>
}
