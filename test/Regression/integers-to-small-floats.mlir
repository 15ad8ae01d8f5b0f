// Integers that become 8-bit floats: through f32, which rounds no other way, also of what overflows and of midpoints.
// RUN: norm-fusion-opt %s --norm-fusion-fuse=chip=sm_90a | FileCheck %s
// RUN: norm-fusion-runner %s --entry=signed --device=emulator --dims=7 --check
// RUN: norm-fusion-runner %s --entry=signed --device=emulator --input=2x96xi32=1 --check
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" -o /dev/null
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_80 format=isa" -o /dev/null
// RUN: norm-fusion-runner %s --entry=powers --device=emulator --dims=7 --check
// RUN: norm-fusion-runner %s --entry=unsigned --device=emulator --dims=7 --check

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func @signed
// CHECK:         structure=
// CHECK:         arith.sitofp {{.*}} : i32 to f8E4M3FN
func.func @signed(%x: tensor<?x96xi32>) -> (tensor<?x96xf8E4M3FN>, tensor<96xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x96xi32>
  %a = tensor.empty(%m) : tensor<?xi32>
  %fa = linalg.fill ins(%z : i32) outs(%a : tensor<?xi32>) -> tensor<?xi32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x96xi32>) outs(%fa : tensor<?xi32>) {
  ^bb0(%i: i32, %o: i32):
    %t = arith.addi %o, %i : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  %ee = tensor.empty(%m) : tensor<?x96xf8E4M3FN>
  %d = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x96xi32>, tensor<?xi32>) outs(%ee : tensor<?x96xf8E4M3FN>) {
  ^bb0(%i: i32, %j: i32, %o: f8E4M3FN):
    %p = arith.subi %i, %j : i32
    %t = arith.sitofp %p : i32 to f8E4M3FN
    linalg.yield %t : f8E4M3FN
  } -> tensor<?x96xf8E4M3FN>
  %g = tensor.empty() : tensor<96xi32>
  %fg = linalg.fill ins(%z : i32) outs(%g : tensor<96xi32>) -> tensor<96xi32>
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x96xi32>) outs(%fg : tensor<96xi32>) {
  ^bb0(%i: i32, %o: i32):
    %t = arith.addi %o, %i : i32
    linalg.yield %t : i32
  } -> tensor<96xi32>
  return %d, %1 : tensor<?x96xf8E4M3FN>, tensor<96xi32>
}

// CHECK-LABEL: func @unsigned
// CHECK:         structure=
// CHECK:         arith.uitofp {{.*}} : i32 to f8E5M2
func.func @unsigned(%x: tensor<?x96xi32>) -> (tensor<?x96xf8E5M2>, tensor<96xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x96xi32>
  %a = tensor.empty(%m) : tensor<?xi32>
  %fa = linalg.fill ins(%z : i32) outs(%a : tensor<?xi32>) -> tensor<?xi32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x96xi32>) outs(%fa : tensor<?xi32>) {
  ^bb0(%i: i32, %o: i32):
    %t = arith.addi %o, %i : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  %ee = tensor.empty(%m) : tensor<?x96xf8E5M2>
  %d = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x96xi32>, tensor<?xi32>) outs(%ee : tensor<?x96xf8E5M2>) {
  ^bb0(%i: i32, %j: i32, %o: f8E5M2):
    %p = arith.subi %i, %j : i32
    %t = arith.uitofp %p : i32 to f8E5M2
    linalg.yield %t : f8E5M2
  } -> tensor<?x96xf8E5M2>
  %g = tensor.empty() : tensor<96xi32>
  %fg = linalg.fill ins(%z : i32) outs(%g : tensor<96xi32>) -> tensor<96xi32>
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x96xi32>) outs(%fg : tensor<96xi32>) {
  ^bb0(%i: i32, %o: i32):
    %t = arith.addi %o, %i : i32
    linalg.yield %t : i32
  } -> tensor<96xi32>
  return %d, %1 : tensor<?x96xf8E5M2>, tensor<96xi32>
}

// CHECK-LABEL: func @powers
// CHECK-NOT:     structure=
// CHECK:         arith.uitofp {{.*}} : i32 to f8E8M0FNU
func.func @powers(%x: tensor<?x96xi32>) -> (tensor<?x96xf8E8M0FNU>, tensor<96xi32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %m = tensor.dim %x, %c0 : tensor<?x96xi32>
  %a = tensor.empty(%m) : tensor<?xi32>
  %fa = linalg.fill ins(%z : i32) outs(%a : tensor<?xi32>) -> tensor<?xi32>
  %s = linalg.generic {indexing_maps = [#e, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x96xi32>) outs(%fa : tensor<?xi32>) {
  ^bb0(%i: i32, %o: i32):
    %t = arith.addi %o, %i : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  %ee = tensor.empty(%m) : tensor<?x96xf8E8M0FNU>
  %d = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<?x96xi32>, tensor<?xi32>) outs(%ee : tensor<?x96xf8E8M0FNU>) {
  ^bb0(%i: i32, %j: i32, %o: f8E8M0FNU):
    %p = arith.subi %i, %j : i32
    %t = arith.uitofp %p : i32 to f8E8M0FNU
    linalg.yield %t : f8E8M0FNU
  } -> tensor<?x96xf8E8M0FNU>
  %g = tensor.empty() : tensor<96xi32>
  %fg = linalg.fill ins(%z : i32) outs(%g : tensor<96xi32>) -> tensor<96xi32>
  %1 = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<?x96xi32>) outs(%fg : tensor<96xi32>) {
  ^bb0(%i: i32, %o: i32):
    %t = arith.addi %o, %i : i32
    linalg.yield %t : i32
  } -> tensor<96xi32>
  return %d, %1 : tensor<?x96xf8E8M0FNU>, tensor<96xi32>
}
