// A row a lane, where neighbouring rows are neighbours in memory (channels first): rows that don't fill a warp, columns that don't fill a warp's eight,
// all kinds of results.
// RUN: norm-fusion-runner %s --entry=layer --dims=3x37x3x37x3x37 --device=emulator --emulator="sms=4 weak=5 order-seed=3 races=1" --check --repeat=2 --bitwise --json=%t.json
// RUN: FileCheck %s --check-prefix=ACROSS < %t.json
// ACROSS: "lanes": 1
// ACROSS: "structure": "plain"
// RUN: norm-fusion-runner %s --entry=layer --dims=1x1x1x1x1x1 --device=emulator --emulator="sms=4" --check
// RUN: norm-fusion-runner %s --entry=layer --dims=2x0x2x0x2x0 --device=emulator --emulator="sms=4" --check
// RUN: norm-fusion-runner %s --entry=layer --dims=2x64x2x64x2x64 --device=emulator --emulator="sms=4" --check --schedule="warps=1"
// RUN: norm-fusion-runner %s --entry=layer --dims=2x64x2x64x2x64 --device=emulator --emulator="sms=4" --check --schedule="lanes=32 warps=8"
// RUN: norm-fusion-runner %s --entry=layer --dims=2x64x2x64x2x64 --device=emulator --emulator="sms=4" --check --schedule="combine=kernel grid=3"
// RUN: norm-fusion-runner %s --entry=mixed --dims=70x70 --device=emulator --emulator="sms=4 weak=5 order-seed=3 races=1" --check --repeat=2 --bitwise --json=%t.json
// RUN: FileCheck %s --check-prefix=ACROSS < %t.json
// RUN: norm-fusion-runner %s --entry=dynamic --dims=2x21x33 --device=emulator --emulator="sms=4 weak=5 order-seed=3 races=1" --check --repeat=2 --bitwise --json=%t.json
// RUN: FileCheck %s --check-prefix=ACROSS < %t.json
// RUN: norm-fusion-runner %s --entry=dynamic --dims=2x0x33 --device=emulator --emulator="sms=4" --check
// RUN: norm-fusion-runner %s --entry=kept --dims=5x19 --device=emulator --emulator="sms=4 weak=5 order-seed=3 races=1" --check --repeat=2 --bitwise --json=%t.json
// RUN: FileCheck %s --check-prefix=ACROSS < %t.json

#cf = affine_map<(n, m, c) -> (n, c, m)>
#cl = affine_map<(n, m, c) -> (n, m, c)>
#r = affine_map<(n, m, c) -> (n, m)>
#c = affine_map<(n, m, c) -> (c)>
#all = affine_map<(n, m, c) -> ()>
#k = affine_map<(n, m, c) -> (n, c)>

// bf16 dy and dx, sums of f32.
func.func @layer(%dy: tensor<?x21x?xbf16>, %x: tensor<?x21x?xf32>, %rstd: tensor<?x?xf32>) -> (tensor<?x21x?xbf16>, tensor<21xf32>, tensor<21xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x21x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x21x?xf32>
  %o = tensor.empty(%n, %m) : tensor<?x21x?xbf16>
  %t = tensor.empty() : tensor<21xf32>
  %0:3 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%dy, %x, %rstd : tensor<?x21x?xbf16>, tensor<?x21x?xf32>, tensor<?x?xf32>)
    outs(%o, %t, %t : tensor<?x21x?xbf16>, tensor<21xf32>, tensor<21xf32>) maps = [#cf, #cf, #r, #cf, #c, #c] {
  ^bb0(%d: bf16, %e: f32, %s: f32):
    %f = arith.extf %d : bf16 to f32
    %p = arith.mulf %f, %e : f32
    %sum = norm_fusion.row_reduce add, %f : f32
    %dot = norm_fusion.row_reduce add, %p : f32
    %a = arith.mulf %e, %dot : f32
    %b = arith.subf %f, %sum : f32
    %g = arith.subf %b, %a : f32
    %h = arith.mulf %g, %s : f32
    %i = arith.truncf %h : f32 to bf16
    %dg = norm_fusion.column_reduce add, %p : f32
    %db = norm_fusion.column_reduce add, %f : f32
    norm_fusion.yield %i, %dg, %db : bf16, f32, f32
  } -> tensor<?x21x?xbf16>, tensor<21xf32>, tensor<21xf32>
  return %0#0, %0#1, %0#2 : tensor<?x21x?xbf16>, tensor<21xf32>, tensor<21xf32>
}

// One array with contiguous columns, in vectors; two waves; a maximum of each column, one of everything, and one of each row; f64 sums.
func.func @mixed(%dy: tensor<2x24x?xf32>, %x: tensor<2x?x24xf16>, %w: tensor<24xf32>) -> (tensor<2x24x?xf32>, tensor<24xf32>, tensor<24xf64>, tensor<f32>, tensor<2x?xf32>) {
  %c2 = arith.constant 2 : index
  %m = tensor.dim %dy, %c2 : tensor<2x24x?xf32>
  %o = tensor.empty(%m) : tensor<2x24x?xf32>
  %t = tensor.empty() : tensor<24xf32>
  %u = tensor.empty() : tensor<24xf64>
  %v = tensor.empty() : tensor<f32>
  %q = tensor.empty(%m) : tensor<2x?xf32>
  %0:5 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%dy, %x, %w : tensor<2x24x?xf32>, tensor<2x?x24xf16>, tensor<24xf32>)
    outs(%o, %t, %u, %v, %q : tensor<2x24x?xf32>, tensor<24xf32>, tensor<24xf64>, tensor<f32>, tensor<2x?xf32>) maps = [#cf, #cl, #c, #cf, #c, #c, #all, #r] {
  ^bb0(%d: f32, %e: f16, %g: f32):
    %f = arith.extf %e : f16 to f32
    %dg = arith.mulf %d, %g : f32
    %dot = norm_fusion.row_reduce add, %dg : f32
    %a = arith.mulf %f, %dot : f32
    %abs = math.absf %a : f32
    %top = norm_fusion.row_reduce maximum, %abs : f32
    %h = arith.mulf %a, %top : f32
    %wide = arith.extf %h : f32 to f64
    %p = norm_fusion.column_reduce maximum, %a : f32
    %s = norm_fusion.column_reduce add, %wide : f64
    %all = norm_fusion.column_reduce maximum, %top : f32
    norm_fusion.yield %h, %p, %s, %all, %top : f32, f32, f64, f32, f32
  } -> tensor<2x24x?xf32>, tensor<24xf32>, tensor<24xf64>, tensor<f32>, tensor<2x?xf32>
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<2x24x?xf32>, tensor<24xf32>, tensor<24xf64>, tensor<f32>, tensor<2x?xf32>
}

func.func @dynamic(%x: tensor<?x?x?xi32>) -> (tensor<?x?x?xi32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x?xi32>
  %c = tensor.dim %x, %c1 : tensor<?x?x?xi32>
  %m = tensor.dim %x, %c2 : tensor<?x?x?xi32>
  %o = tensor.empty(%n, %c, %m) : tensor<?x?x?xi32>
  %t = tensor.empty(%c) : tensor<?xi32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<?x?x?xi32>) outs(%o, %t : tensor<?x?x?xi32>, tensor<?xi32>) maps = [#cf, #cf, #c] {
  ^bb0(%a: i32):
    %s = norm_fusion.row_reduce add, %a : i32
    %d = arith.subi %a, %s : i32
    %k = norm_fusion.column_reduce add, %d : i32
    norm_fusion.yield %d, %k : i32, i32
  } -> tensor<?x?x?xi32>, tensor<?xi32>
  return %0#0, %0#1 : tensor<?x?x?xi32>, tensor<?xi32>
}

// Column sums of each image.
func.func @kept(%x: tensor<?x40x?xf32>) -> (tensor<?x40x?xf32>, tensor<?x40xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?x40x?xf32>
  %m = tensor.dim %x, %c2 : tensor<?x40x?xf32>
  %o = tensor.empty(%n, %m) : tensor<?x40x?xf32>
  %t = tensor.empty(%n) : tensor<?x40xf32>
  %0:2 = norm_fusion.mixed_reduction dims = [row, row, column] ins(%x : tensor<?x40x?xf32>) outs(%o, %t : tensor<?x40x?xf32>, tensor<?x40xf32>) maps = [#cf, #cf, #k] {
  ^bb0(%a: f32):
    %s = norm_fusion.row_reduce add, %a : f32
    %d = arith.subf %a, %s : f32
    %k = norm_fusion.column_reduce add, %d over [1] : f32
    norm_fusion.yield %d, %k : f32, f32
  } -> tensor<?x40x?xf32>, tensor<?x40xf32>
  return %0#0, %0#1 : tensor<?x40x?xf32>, tensor<?x40xf32>
}
