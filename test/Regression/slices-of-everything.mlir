// Slices of a whole tensor that drop or insert dimensions of extent 1, which upstream's
// linalg-fold-unit-extent-dims{use-rank-reducing-slices=true} writes, are reshapes: they stood between the reductions of
// a norm. Other slices aren't.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/static.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/static.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/dynamic.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/dynamic.mlir --device=emulator --check --emulator=sms=3 --dims=5x4
// RUN: norm-fusion-opt %t/parts.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: norm-fusion-runner %t/parts.mlir --entry=fewer --device=emulator --check --emulator=sms=3 --dims=9x7

// CHECK:     norm_fusion.row_reduce add
// CHECK:     norm_fusion.column_reduce add
// CHECK-NOT: linalg.reduce

// PARTS-COUNT-4: [Missed] no-column-reduction
// PARTS-NOT:     norm_fusion.mixed_reduction

//--- static.mlir
func.func @static(%x: tensor<2x12x64xf32>) -> (tensor<2x12x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %full = tensor.empty() : tensor<2x12x64xf32>
  %er = tensor.empty() : tensor<2x12xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<2x12xf32>) -> tensor<2x12xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<2x12x64xf32>) outs(%fr : tensor<2x12xf32>) dimensions = [2]
  %ek = tensor.empty() : tensor<2x12x1xf32>
  %k = tensor.insert_slice %s into %ek[0, 0, 0] [2, 12, 1] [1, 1, 1] : tensor<2x12xf32> into tensor<2x12x1xf32>
  %d = tensor.extract_slice %k[0, 0, 0] [2, 12, 1] [1, 1, 1] : tensor<2x12x1xf32> to tensor<2x12xf32>
  %b = linalg.broadcast ins(%d : tensor<2x12xf32>) outs(%full : tensor<2x12x64xf32>) dimensions = [2]
  %dx = linalg.map {arith.mulf} ins(%x, %b : tensor<2x12x64xf32>, tensor<2x12x64xf32>) outs(%full : tensor<2x12x64xf32>)
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%dx : tensor<2x12x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0, 1]
  return %dx, %c : tensor<2x12x64xf32>, tensor<64xf32>
}

//--- dynamic.mlir
func.func @dynamic(%x: tensor<?x1x?x64xf32>) -> (tensor<?x?x64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x1x?x64xf32>
  %k = tensor.dim %x, %c2 : tensor<?x1x?x64xf32>
  %full = tensor.empty(%m, %k) : tensor<?x?x64xf32>
  %er = tensor.empty(%m, %k) : tensor<?x?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = tensor.extract_slice %x[0, 0, 0, 0] [%m, 1, %k, 64] [1, 1, 1, 1] : tensor<?x1x?x64xf32> to tensor<?x?x64xf32>
  %s = linalg.reduce {arith.addf} ins(%r : tensor<?x?x64xf32>) outs(%fr : tensor<?x?xf32>) dimensions = [2]
  %e = tensor.empty(%m, %k) : tensor<?x?x1xf32>
  %i = tensor.insert_slice %s into %e[0, 0, 0] [%m, %k, 1] [1, 1, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
  %dx = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, b, 0)>,
                                         affine_map<(a, b, c) -> (a, b, c)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r, %i : tensor<?x?x64xf32>, tensor<?x?x1xf32>) outs(%full : tensor<?x?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x?x64xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%dx : tensor<?x?x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0, 1]
  return %dx, %c : tensor<?x?x64xf32>, tensor<64xf32>
}

//--- parts.mlir
// From the second row on, every other row, as many rows as another tensor has, into a larger one: none is x.
func.func @offset(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %n = arith.subi %m, %c1 : index
  %part = tensor.extract_slice %x[1, 0] [%n, 16] [1, 1] : tensor<?x16xf32> to tensor<?x16xf32>
  %p = tensor.dim %part, %c0 : tensor<?x16xf32>
  %er = tensor.empty(%p) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<?x16xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  %ec = tensor.empty() : tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<16xf32>) -> tensor<16xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>) outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<?xf32>, tensor<16xf32>
}
func.func @stride(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %n = arith.ceildivui %m, %c2 : index
  %part = tensor.extract_slice %x[0, 0] [%n, 16] [2, 1] : tensor<?x16xf32> to tensor<?x16xf32>
  %p = tensor.dim %part, %c0 : tensor<?x16xf32>
  %er = tensor.empty(%p) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<?x16xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  %ec = tensor.empty() : tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<16xf32>) -> tensor<16xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>) outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<?xf32>, tensor<16xf32>
}
func.func @fewer(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %n = tensor.dim %y, %c0 : tensor<?x16xf32>
  %part = tensor.extract_slice %x[0, 0] [%n, 16] [1, 1] : tensor<?x16xf32> to tensor<?x16xf32>
  %p = tensor.dim %part, %c0 : tensor<?x16xf32>
  %er = tensor.empty(%p) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<?x16xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  %ec = tensor.empty() : tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<16xf32>) -> tensor<16xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>) outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<?xf32>, tensor<16xf32>
}
func.func @larger(%x: tensor<?x16xf32>, %y: tensor<?x16xf32>) -> (tensor<?xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x16xf32>
  %n = arith.addi %m, %c1 : index
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  %part = tensor.insert_slice %x into %f[0, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x16xf32>
  %p = tensor.dim %part, %c0 : tensor<?x16xf32>
  %er = tensor.empty(%p) : tensor<?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<?x16xf32>) outs(%fr : tensor<?xf32>) dimensions = [1]
  %ec = tensor.empty() : tensor<16xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<16xf32>) -> tensor<16xf32>
  %c = linalg.reduce {arith.addf} ins(%x : tensor<?x16xf32>) outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<?xf32>, tensor<16xf32>
}
