// Tensors of a buffer that is written to between what would be a group, in ways that don't show it: not formed across the write.
// RUN: split-file %s %t
// RUN: norm-fusion-runner %t/slice.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/uniform.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/sink.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/sink_nested.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/gather.mlir --device=emulator --check
// RUN: norm-fusion-runner %t/iter.mlir --device=emulator --check

//--- slice.mlir
// A slice of one.
func.func @main(%mx: memref<8x40xf32>, %y: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %x0 = bufferization.to_tensor %mx restrict : memref<8x40xf32> to tensor<8x40xf32>
  %x = tensor.extract_slice %x0[1,0][6,40][1,1] : tensor<8x40xf32> to tensor<6x40xf32>
  %p = linalg.mul ins(%x, %y : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  memref.store %seven, %mx[%c1, %c0] : memref<8x40xf32>
  %d = linalg.mul ins(%y, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q : tensor<6x40xf32>, tensor<40xf32>
}
//--- uniform.mlir
// A number that the group computes again.
#a = affine_map<(m, n) -> (m, n)>
#s = affine_map<(m, n) -> ()>
func.func @main(%ms: memref<f32>, %x: tensor<6x40xf32>, %y: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %t = bufferization.to_tensor %ms restrict : memref<f32> to tensor<f32>
  %es = tensor.empty() : tensor<f32>
  %u = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%t : tensor<f32>) outs(%es : tensor<f32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %a : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  %p = linalg.mul ins(%x, %y : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  memref.store %seven, %ms[] : memref<f32>
  %d = linalg.mul ins(%y, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %d2 = linalg.generic {indexing_maps = [#a, #s, #a], iterator_types = ["parallel", "parallel"]} ins(%d, %u : tensor<6x40xf32>, tensor<f32>) outs(%ef : tensor<6x40xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %1 = arith.mulf %a, %k : f32
    linalg.yield %1 : f32
  } -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d2 : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q : tensor<6x40xf32>, tensor<40xf32>
}
//--- sink.mlir
// What reads one and has to move behind the group.
func.func @main(%mx: memref<6x40xf32>, %x: tensor<6x40xf32>, %y: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>, tensor<6xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %bx = bufferization.to_tensor %mx restrict : memref<6x40xf32> to tensor<6x40xf32>
  %p = linalg.mul ins(%x, %y : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  %g = linalg.generic {indexing_maps = [affine_map<(m)->(m)>, affine_map<(m)->(m, 0)>, affine_map<(m)->(m)>], iterator_types = ["parallel"]} ins(%s, %bx : tensor<6xf32>, tensor<6x40xf32>) outs(%er : tensor<6xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %1 = arith.mulf %a, %k : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  memref.store %seven, %mx[%c0, %c0] : memref<6x40xf32>
  %d = linalg.mul ins(%y, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q, %g : tensor<6x40xf32>, tensor<40xf32>, tensor<6xf32>
}
//--- sink_nested.mlir
// The same within another op.
func.func @main(%mx: memref<6xf32>, %x: tensor<6x40xf32>, %cond: i1) -> (tensor<6x40xf32>, tensor<40xf32>, tensor<6xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %t = bufferization.to_tensor %mx restrict : memref<6xf32> to tensor<6xf32>
  %s = linalg.reduce {arith.addf} ins(%x : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  %h = scf.if %cond -> tensor<6xf32> {
    %m = linalg.mul ins(%s, %t : tensor<6xf32>, tensor<6xf32>) outs(%er : tensor<6xf32>) -> tensor<6xf32>
    scf.yield %m : tensor<6xf32>
  } else {
    %m = linalg.add ins(%s, %t : tensor<6xf32>, tensor<6xf32>) outs(%er : tensor<6xf32>) -> tensor<6xf32>
    scf.yield %m : tensor<6xf32>
  }
  memref.store %seven, %mx[%c0] : memref<6xf32>
  %d = linalg.mul ins(%x, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q, %h : tensor<6x40xf32>, tensor<40xf32>, tensor<6xf32>
}
//--- gather.mlir
// Read within a body.
#a = affine_map<(m, n) -> (m, n)>
func.func @main(%mx: memref<6x40xf32>, %y: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<40xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %x = bufferization.to_tensor %mx restrict : memref<6x40xf32> to tensor<6x40xf32>
  %p = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) {
  ^bb0(%k: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<6x40xf32>
    %1 = arith.mulf %v, %k : f32
    linalg.yield %1 : f32
  } -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  memref.store %seven, %mx[%c0, %c0] : memref<6x40xf32>
  %d = linalg.mul ins(%p, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%fc : tensor<40xf32>) dimensions = [0]
  return %d, %q : tensor<6x40xf32>, tensor<40xf32>
}
//--- iter.mlir
// Through a loop.
func.func @main(%mx: memref<6x40xf32>, %y: tensor<6x40xf32>) -> (tensor<40xf32>, tensor<6x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %seven = arith.constant 7.0 : f32
  %ef = tensor.empty() : tensor<6x40xf32>
  %er = tensor.empty() : tensor<6xf32>
  %ec = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<40xf32>) -> tensor<40xf32>
  %x0 = bufferization.to_tensor %mx restrict : memref<6x40xf32> to tensor<6x40xf32>
  %acc:3 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a0 = %fc, %x = %x0, %dd = %ef) -> (tensor<40xf32>, tensor<6x40xf32>, tensor<6x40xf32>) {
  %p = linalg.mul ins(%x, %y : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x40xf32>) outs(%fr : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%ef : tensor<6x40xf32>) dimensions = [1]
  memref.store %seven, %mx[%i, %c0] : memref<6x40xf32>
  %d = linalg.mul ins(%y, %b : tensor<6x40xf32>, tensor<6x40xf32>) outs(%ef : tensor<6x40xf32>) -> tensor<6x40xf32>
  %q = linalg.reduce {arith.addf} ins(%d : tensor<6x40xf32>) outs(%a0 : tensor<40xf32>) dimensions = [0]
  scf.yield %q, %x, %d : tensor<40xf32>, tensor<6x40xf32>, tensor<6x40xf32>
  }
  return %acc#0, %acc#2 : tensor<40xf32>, tensor<6x40xf32>
}
