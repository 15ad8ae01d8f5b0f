// A row reduction in two steps, as a split one is or x.sum(-1).sum(-2), is one row reduction: both stood outside of the
// group, for a cycle or a column result that comes back.

// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/minor.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/minor.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/major.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-runner %t/major.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/shared.mlir --norm-fusion-form | FileCheck %s --check-prefix=APART
// RUN: norm-fusion-runner %t/shared.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/started.mlir --norm-fusion-form | FileCheck %s --check-prefix=APART
// RUN: norm-fusion-runner %t/started.mlir --device=emulator --check --emulator=sms=3
// RUN: norm-fusion-opt %t/columns.mlir --norm-fusion-form | FileCheck %s --check-prefix=COLUMNS
// RUN: norm-fusion-runner %t/columns.mlir --device=emulator --check --emulator=sms=3

// CHECK:     norm_fusion.mixed_reduction dims = [row, column]
// CHECK:     norm_fusion.row_reduce add
// CHECK-NOT: norm_fusion.row_reduce
// CHECK:     norm_fusion.column_reduce add
// CHECK-NOT: linalg

// The first step's result is needed, too, or the second starts from another value.
// APART-NOT: norm_fusion.row_reduce add, %{{.*}} : f32{{$}}

// Column sums in two steps beside row sums stay columns.
// COLUMNS:     norm_fusion.mixed_reduction dims = [row, column]
// COLUMNS:     norm_fusion.row_reduce add
// COLUMNS:     norm_fusion.column_reduce add
// COLUMNS-NOT: linalg

//--- minor.mlir
func.func @minor(%x: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<24x4xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<24x4xf32>) -> tensor<24x4xf32>
  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [24, 4, 16] : tensor<24x64xf32> into tensor<24x4x16xf32>
  %part = linalg.reduce {arith.addf} ins(%split : tensor<24x4x16xf32>) outs(%fp : tensor<24x4xf32>) dimensions = [2]
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<24x4xf32>) outs(%f : tensor<24xf32>) dimensions = [1]
  %full = tensor.empty() : tensor<24x64xf32>
  %b = linalg.broadcast ins(%s : tensor<24xf32>) outs(%full : tensor<24x64xf32>) dimensions = [1]
  %dx = linalg.map {arith.mulf} ins(%x, %b : tensor<24x64xf32>, tensor<24x64xf32>) outs(%full : tensor<24x64xf32>)
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%dx : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %c : tensor<24x64xf32>, tensor<64xf32>
}

//--- major.mlir
func.func @major(%x: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<24x16xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<24x16xf32>) -> tensor<24x16xf32>
  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [24, 4, 16] : tensor<24x64xf32> into tensor<24x4x16xf32>
  %part = linalg.reduce {arith.addf} ins(%split : tensor<24x4x16xf32>) outs(%fp : tensor<24x16xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<24x16xf32>) outs(%f : tensor<24xf32>) dimensions = [1]
  %full = tensor.empty() : tensor<24x64xf32>
  %b = linalg.broadcast ins(%s : tensor<24xf32>) outs(%full : tensor<24x64xf32>) dimensions = [1]
  %dx = linalg.map {arith.mulf} ins(%x, %b : tensor<24x64xf32>, tensor<24x64xf32>) outs(%full : tensor<24x64xf32>)
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%dx : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %c : tensor<24x64xf32>, tensor<64xf32>
}

//--- shared.mlir
func.func @shared(%x: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>, tensor<24x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<24x4xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<24x4xf32>) -> tensor<24x4xf32>
  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [24, 4, 16] : tensor<24x64xf32> into tensor<24x4x16xf32>
  %part = linalg.reduce {arith.addf} ins(%split : tensor<24x4x16xf32>) outs(%fp : tensor<24x4xf32>) dimensions = [2]
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<24x4xf32>) outs(%f : tensor<24xf32>) dimensions = [1]
  %full = tensor.empty() : tensor<24x64xf32>
  %b = linalg.broadcast ins(%s : tensor<24xf32>) outs(%full : tensor<24x64xf32>) dimensions = [1]
  %dx = linalg.map {arith.mulf} ins(%x, %b : tensor<24x64xf32>, tensor<24x64xf32>) outs(%full : tensor<24x64xf32>)
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%dx : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %c, %part : tensor<24x64xf32>, tensor<64xf32>, tensor<24x4xf32>
}

//--- started.mlir
func.func @started(%x: tensor<24x64xf32>, %start: tensor<24xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %ep = tensor.empty() : tensor<24x4xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<24x4xf32>) -> tensor<24x4xf32>
  %split = tensor.expand_shape %x [[0], [1, 2]] output_shape [24, 4, 16] : tensor<24x64xf32> into tensor<24x4x16xf32>
  %part = linalg.reduce {arith.addf} ins(%split : tensor<24x4x16xf32>) outs(%fp : tensor<24x4xf32>) dimensions = [2]
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.reduce {arith.addf} ins(%part : tensor<24x4xf32>) outs(%start : tensor<24xf32>) dimensions = [1]
  %full = tensor.empty() : tensor<24x64xf32>
  %b = linalg.broadcast ins(%s : tensor<24xf32>) outs(%full : tensor<24x64xf32>) dimensions = [1]
  %dx = linalg.map {arith.mulf} ins(%x, %b : tensor<24x64xf32>, tensor<24x64xf32>) outs(%full : tensor<24x64xf32>)
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%dx : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %c : tensor<24x64xf32>, tensor<64xf32>
}

//--- columns.mlir
func.func @columns(%x: tensor<3x8x64xf32>) -> (tensor<3x8xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<3x8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<3x8xf32>) -> tensor<3x8xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<3x8x64xf32>) outs(%fr : tensor<3x8xf32>) dimensions = [2]
  %ep = tensor.empty() : tensor<3x64xf32>
  %fp = linalg.fill ins(%zero : f32) outs(%ep : tensor<3x64xf32>) -> tensor<3x64xf32>
  %part = linalg.reduce {arith.addf} ins(%x : tensor<3x8x64xf32>) outs(%fp : tensor<3x64xf32>) dimensions = [1]
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.reduce {arith.addf} ins(%part : tensor<3x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %s, %c : tensor<3x8xf32>, tensor<64xf32>
}
