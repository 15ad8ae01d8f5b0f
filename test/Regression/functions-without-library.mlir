// Functions of a fused body that libdevice lacks; powers of narrow floats, whose exponents these can't hold, and the smallest normal one of them.
// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/functions.mlir --norm-fusion-fuse=profit=always --norm-fusion-lower -o %t/functions.out
// RUN: norm-fusion-runner %t/functions.mlir --device=emulator --dims=9x9 --check --form-options=profit=always --json=%t/report.json
// RUN: FileCheck %s --input-file=%t/report.json
// RUN: norm-fusion-runner %t/powers.mlir --device=emulator --input=9x40xf16=-1 --input=9x40xi32=2049 --check --form-options=profit=always
// RUN: norm-fusion-runner %t/powers.mlir --device=emulator --input=9x40xf16=-1 --input=9x40xi32=2048 --check --form-options=profit=always
// RUN: norm-fusion-runner %t/powers.mlir --device=emulator --input=9x40xf16=1.0009765625 --input=9x40xi32=3 --check --form-options=profit=always
// RUN: norm-fusion-runner %t/powers.mlir --device=emulator --input=9x40xf16=-1 --input=9x40xi32=2049 --check --plain=device --form-options=profit=never
// RUN: norm-fusion-runner %t/normal.mlir --device=emulator --input=9x40xf16=1.19e-07 --check --form-options=profit=always
// RUN: norm-fusion-runner %t/normal.mlir --device=emulator --input=9x40xf16=1.19e-07 --check --form-options=profit=never
// RUN: norm-fusion-runner %t/normal.mlir --device=emulator --input=9x40xf16=0.5 --check --form-options=profit=always
// CHECK: "fused": 1

//--- functions.mlir
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<?x40xf32>, %i: tensor<?x40xi64>) -> (tensor<?xf32>, tensor<40xi64>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x40xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %ec = tensor.empty() : tensor<40xi64>
  %fc = linalg.fill ins(%none : i64) outs(%ec : tensor<40xi64>) -> tensor<40xi64>
  %r = linalg.generic {indexing_maps = [#full, #full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %i : tensor<?x40xf32>, tensor<?x40xi64>) outs(%fr : tensor<?xf32>) {
  ^bb0(%a: f32, %b: i64, %o: f32):
    %0 = math.trunc %a : f32
    %1 = math.ctpop %b : i64
    %2 = arith.sitofp %1 : i64 to f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.addf %3, %o : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  %c = linalg.generic {indexing_maps = [#full, #full, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x, %i : tensor<?x40xf32>, tensor<?x40xi64>) outs(%fc : tensor<40xi64>) {
  ^bb0(%a: f32, %b: i64, %o: i64):
    %0 = math.absi %b : i64
    %1 = math.ctlz %0 : i64
    %2 = math.cttz %0 : i64
    %3 = math.ctpop %b : i64
    %4 = arith.xori %1, %2 : i64
    %5 = arith.xori %4, %3 : i64
    %6 = arith.addi %5, %o : i64
    linalg.yield %6 : i64
  } -> tensor<40xi64>
  return %r, %c : tensor<?xf32>, tensor<40xi64>
}

//--- powers.mlir
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<9x40xf16>, %i: tensor<9x40xi32>) -> (tensor<9x40xf16>, tensor<9xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %many = arith.constant 5000 : i32
  %er = tensor.empty() : tensor<9xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<9xf32>) -> tensor<9xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %ex = tensor.empty() : tensor<9x40xf16>
  %y = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %i : tensor<9x40xf16>, tensor<9x40xi32>) outs(%ex : tensor<9x40xf16>) {
  ^bb0(%a: f16, %n: i32, %o: f16):
    %0 = math.fpowi %a, %n : f16, i32
    %1 = math.fpowi %a, %many : f16, i32
    %2 = arith.addf %0, %1 : f16
    linalg.yield %2 : f16
  } -> tensor<9x40xf16>
  %r = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<9x40xf16>) outs(%fr : tensor<9xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<9xf32>
  %c = linalg.generic {indexing_maps = [#full, #column], iterator_types = ["reduction", "parallel"]}
      ins(%y : tensor<9x40xf16>) outs(%fc : tensor<40xf32>) {
  ^bb0(%a: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<40xf32>
  return %y, %r, %c : tensor<9x40xf16>, tensor<9xf32>, tensor<40xf32>
}

//--- normal.mlir
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<9x40xf16>) -> (tensor<9xi32>, tensor<40xi32>) {
  %zero = arith.constant 0 : i32
  %er = tensor.empty() : tensor<9xi32>
  %fr = linalg.fill ins(%zero : i32) outs(%er : tensor<9xi32>) -> tensor<9xi32>
  %ec = tensor.empty() : tensor<40xi32>
  %fc = linalg.fill ins(%zero : i32) outs(%ec : tensor<40xi32>) -> tensor<40xi32>
  %r = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x40xf16>) outs(%fr : tensor<9xi32>) {
  ^bb0(%a: f16, %o: i32):
    %0 = math.isnormal %a : f16
    %1 = arith.extui %0 : i1 to i32
    %2 = arith.addi %1, %o : i32
    linalg.yield %2 : i32
  } -> tensor<9xi32>
  %c = linalg.generic {indexing_maps = [#full, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<9x40xf16>) outs(%fc : tensor<40xi32>) {
  ^bb0(%a: f16, %o: i32):
    %0 = math.isnormal %a : f16
    %1 = arith.extui %0 : i1 to i32
    %2 = arith.addi %1, %o : i32
    linalg.yield %2 : i32
  } -> tensor<40xi32>
  return %r, %c : tensor<9xi32>, tensor<40xi32>
}
