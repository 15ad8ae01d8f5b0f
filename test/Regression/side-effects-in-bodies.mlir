// A body may store, assert or call beside what it yields: such an op stays as it is, and so does what it does.
// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/buffers.mlir --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-opt %t/calls.mlir --norm-fusion-form | FileCheck %s --check-prefix=CALL
// RUN: norm-fusion-opt %t/calls.mlir --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: norm-fusion-runner %t/buffers.mlir --entry=stores --device=emulator --check --input=1xf32=7 --input=24x64xf32=2 --input=24x64xf32=3
// RUN: %python %S/../Runner/Inputs/exits.py 2 norm-fusion-runner %t/buffers.mlir --entry=asserts --device=emulator | FileCheck %s --check-prefix=ASSERT

// REMARK: [Missed] side-effect | {{.*}}Function=reduces{{.*}}found="a body with a side effect"
// ASSERT: the module asserts: too small

//--- buffers.mlir
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func @stores
// CHECK:         memref.store
func.func @stores(%buffer: memref<1xf32>, %x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<24x64xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    memref.store %0, %buffer[%c0] : memref<1xf32>
    linalg.yield %0 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

// CHECK-LABEL: func @asserts
// CHECK:         cf.assert
func.func @asserts(%x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %large = arith.constant 1.0e30 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<24x64xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.cmpf ogt, %0, %large : f32
    cf.assert %1, "too small"
    linalg.yield %0 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

//--- calls.mlir
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

func.func private @log(f32)

// CALL-LABEL: func @calls
// CALL:         call @log
func.func @calls(%x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<24x64xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    func.call @log(%0) : (f32) -> ()
    linalg.yield %0 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

// CALL-LABEL: func @reduces
// CALL:         call @log
func.func @reduces(%x: tensor<24x64xf32>) -> tensor<24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<24x64xf32>) outs(%f : tensor<24xf32>) {
  ^bb0(%a: f32, %o: f32):
    func.call @log(%a) : (f32) -> ()
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<24xf32>
  return %s : tensor<24xf32>
}
