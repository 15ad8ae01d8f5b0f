// Column inputs of types that LLVM doesn't have, beside short rows of an odd
// number of 16-bit elements: no kernel could be compiled.
// RUN: split-file %s %t
// RUN: norm-fusion-runner %t/f8.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/maximum.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/index.mlir --device=emulator --check

//--- f8.mlir
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m) -> (m)>
#mr = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<129x17xbf16>, %w: tensor<17xf8E4M3FN>) -> (tensor<129xf32>, tensor<17xf32>) {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<129xf32>
  %e1 = tensor.empty() : tensor<17xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<129xf32>) -> tensor<129xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<17xf32>) -> tensor<17xf32>
  %s = linalg.generic {indexing_maps = [#e, #c, #mr], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<129x17xbf16>, tensor<17xf8E4M3FN>) outs(%f0 : tensor<129xf32>) {
  ^bb0(%a: bf16, %b: f8E4M3FN, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : f8E4M3FN to f32
    %p = arith.mulf %a1, %b1 : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<129xf32>
  %t = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<129x17xbf16>) outs(%f1 : tensor<17xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %q = arith.addf %o, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<17xf32>
  return %s, %t : tensor<129xf32>, tensor<17xf32>
}

//--- maximum.mlir
#e = affine_map<(m, n) -> (m, n)>
#mr = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<129x17xbf16>, %w: tensor<17xf8E4M3FN>) -> (tensor<129xf32>, tensor<17xbf16>) {
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 0xFF80 : bf16
  %e0 = tensor.empty() : tensor<129xf32>
  %e1 = tensor.empty() : tensor<17xbf16>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<129xf32>) -> tensor<129xf32>
  %f1 = linalg.fill ins(%zi : bf16) outs(%e1 : tensor<17xbf16>) -> tensor<17xbf16>
  %s = linalg.generic {indexing_maps = [#e, #c, #mr], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<129x17xbf16>, tensor<17xf8E4M3FN>) outs(%f0 : tensor<129xf32>) {
  ^bb0(%a: bf16, %b: f8E4M3FN, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %b1 = arith.extf %b : f8E4M3FN to f32
    %p = arith.mulf %a1, %b1 : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<129xf32>
  %t = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<129x17xbf16>) outs(%f1 : tensor<17xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %q = arith.maximumf %o, %a : bf16
    linalg.yield %q : bf16
  } -> tensor<17xbf16>
  return %s, %t : tensor<129xf32>, tensor<17xbf16>
}

//--- index.mlir
#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m) -> (m)>
#mr = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<129x17xbf16>, %w: tensor<17xindex>) -> (tensor<129xf32>, tensor<17xf32>) {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<129xf32>
  %e1 = tensor.empty() : tensor<17xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<129xf32>) -> tensor<129xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<17xf32>) -> tensor<17xf32>
  %s = linalg.generic {indexing_maps = [#e, #c, #mr], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<129x17xbf16>, tensor<17xindex>) outs(%f0 : tensor<129xf32>) {
  ^bb0(%a: bf16, %b: index, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.sitofp %b0 : i32 to f32
    %p = arith.mulf %a1, %b1 : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<129xf32>
  %t = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<129x17xbf16>) outs(%f1 : tensor<17xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %a1 = arith.extf %a : bf16 to f32
    %q = arith.addf %o, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<17xf32>
  return %s, %t : tensor<129xf32>, tensor<17xf32>
}
