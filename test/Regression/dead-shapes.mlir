// StableHLO's lowering of dynamic shapes leaves shapes that nothing uses: the runner didn't know their dialect.

// RUN: norm-fusion-runner %s --device=emulator --dims=5 --check --emulator=sms=3 --json=%t.json
// RUN: FileCheck %s --input-file=%t.json

// CHECK: "fused": 1

func.func @main(%x: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %shape = shape.shape_of %x : tensor<?x16xf32> -> tensor<2xindex>
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %er = tensor.empty(%m) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  %ec = tensor.empty() : tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<16xf32>) -> tensor<16xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>) outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<?xf32>, tensor<16xf32>
}
