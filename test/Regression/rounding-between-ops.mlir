// What isn't fused is rounded after every op, too: (0.3 + 256) - 256 is 0 in 16 bits, it was 0.3.
// RUN: split-file %s %t
// RUN: %python %S/../Runner/Inputs/npy.py %t.bf16.npy "<u2" 4 0 0 0 0
// RUN: %python %S/../Runner/Inputs/npy.py %t.f16.npy "<f2" 4 0 0 0 0
// RUN: norm-fusion-runner %t/ops.mlir --device=emulator --plain=host --input=4xbf16=0.3 --expected=%t.bf16.npy
// RUN: norm-fusion-runner %t/ops.mlir --device=emulator --plain=device --input=4xbf16=0.3 --expected=%t.bf16.npy
// RUN: sed 's/bf16/f16/g;s/256\.0/2048.0/' %t/ops.mlir > %t.f16.mlir
// RUN: norm-fusion-runner %t.f16.mlir --device=emulator --plain=host --input=4xf16=0.3 --expected=%t.f16.npy
// RUN: norm-fusion-runner %t.f16.mlir --device=emulator --plain=device --input=4xf16=0.3 --expected=%t.f16.npy
// The bounds of --check come from that path.
// RUN: norm-fusion-runner %t/fused.mlir --device=emulator --check --form-options=profit=always --input=9x24xbf16=0.3 --input=9x24xbf16=1 | FileCheck %s
// CHECK: 1 group fused

//--- ops.mlir
func.func @main(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %c = arith.constant dense<256.0> : tensor<4xbf16>
  %0 = arith.addf %x, %c : tensor<4xbf16>
  %1 = arith.subf %0, %c : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

//--- fused.mlir
func.func @main(%a0: tensor<9x24xbf16>, %a1: tensor<9x24xbf16>) -> (tensor<9x24xbf16>, tensor<9xbf16>, tensor<24xbf16>) {
  %v1 = tensor.empty() : tensor<9x24xbf16>
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<9x24xbf16>) outs(%v1 : tensor<9x24xbf16>) {
    ^bb0(%i0: bf16, %o0: bf16):
      %c = arith.constant 256.0 : bf16
%s = arith.addf %i0, %c : bf16
%t = arith.subf %s, %c : bf16
linalg.yield %t : bf16
    } -> tensor<9x24xbf16>
  %v3 = tensor.empty() : tensor<9xbf16>
  %v4 = arith.constant 0.0 : bf16
  %v5 = linalg.fill ins(%v4 : bf16) outs(%v3 : tensor<9xbf16>) -> tensor<9xbf16>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%v2, %a1 : tensor<9x24xbf16>, tensor<9x24xbf16>) outs(%v5 : tensor<9xbf16>) {
    ^bb0(%i0: bf16, %i1: bf16, %o0: bf16):
      %m = arith.mulf %i0, %i1 : bf16
%s = arith.addf %m, %o0 : bf16
linalg.yield %s : bf16
    } -> tensor<9xbf16>
  %v7 = tensor.empty() : tensor<24xbf16>
  %v8 = arith.constant 0.0 : bf16
  %v9 = linalg.fill ins(%v8 : bf16) outs(%v7 : tensor<24xbf16>) -> tensor<24xbf16>
  %v10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%v2, %a1 : tensor<9x24xbf16>, tensor<9x24xbf16>) outs(%v9 : tensor<24xbf16>) {
    ^bb0(%i0: bf16, %i1: bf16, %o0: bf16):
      %m = arith.mulf %i0, %i1 : bf16
%s = arith.addf %m, %o0 : bf16
linalg.yield %s : bf16
    } -> tensor<24xbf16>
  return %v2, %v6, %v10 : tensor<9x24xbf16>, tensor<9xbf16>, tensor<24xbf16>
}
