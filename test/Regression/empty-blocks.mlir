// Sums of blocks without columns, beside a row and a column sum, are their initial value; what the body makes of them is stored, too.
// RUN: split-file %s %t
// RUN: norm-fusion-runner %t/dynamic.mlir --device=emulator --check --input=4x3x0xf32 --input=4x3xf32=7 --input=4xf32=8 --input=3x0xf32=9 --json=%t/report.json
// RUN: FileCheck %s --input-file=%t/report.json
// RUN: norm-fusion-runner %t/dynamic.mlir --device=emulator --check --input=4x3x5xf32 --input=4x3xf32=7 --input=4xf32=8 --input=3x5xf32=9
// RUN: norm-fusion-runner %t/dynamic.mlir --device=emulator --check --input=4x0x5xf32 --input=4x0xf32=7 --input=4xf32=8 --input=0x5xf32=9
// RUN: norm-fusion-runner %t/dynamic.mlir --device=emulator --check --input=0x3x0xf32 --input=0x3xf32=7 --input=0xf32=8 --input=3x0xf32=9
// RUN: norm-fusion-runner %t/static.mlir --device=emulator --check --form-options="row-only=true profit=always"
// CHECK: "fused": 1

//--- dynamic.mlir
#full = affine_map<(m, b, k) -> (m, b, k)>
#block = affine_map<(m, b, k) -> (m, b)>
func.func @main(%x: tensor<?x?x?xf32>, %blocks0: tensor<?x?xf32>, %rows0: tensor<?xf32>, %columns0: tensor<?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %blocks = linalg.reduce { arith.addf } ins(%x : tensor<?x?x?xf32>) outs(%blocks0 : tensor<?x?xf32>) dimensions = [2]
  %rows = linalg.reduce { arith.addf } ins(%x : tensor<?x?x?xf32>) outs(%rows0 : tensor<?xf32>) dimensions = [1, 2]
  %columns = linalg.reduce { arith.addf } ins(%x : tensor<?x?x?xf32>) outs(%columns0 : tensor<?x?xf32>) dimensions = [0]
  %more = linalg.generic {indexing_maps = [affine_map<(m, b) -> (m, b)>, affine_map<(m, b) -> (m)>, affine_map<(m, b) -> (m, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%blocks, %rows : tensor<?x?xf32>, tensor<?xf32>) outs(%blocks0 : tensor<?x?xf32>) {
  ^bb0(%s: f32, %r: f32, %o: f32):
    %0 = arith.mulf %s, %r : f32
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  return %blocks, %rows, %columns, %more : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

//--- static.mlir
func.func @main(%x: tensor<4x3x0xi8>, %blocks0: tensor<4x3xi8>, %rows0: tensor<4xi8>) -> (tensor<4x3xi8>, tensor<4xi8>) {
  %blocks = linalg.reduce { arith.addi } ins(%x : tensor<4x3x0xi8>) outs(%blocks0 : tensor<4x3xi8>) dimensions = [2]
  %rows = linalg.reduce { arith.addi } ins(%x : tensor<4x3x0xi8>) outs(%rows0 : tensor<4xi8>) dimensions = [1, 2]
  return %blocks, %rows : tensor<4x3xi8>, tensor<4xi8>
}
