// Rows that are rounded to multiples of a step of their own: (y + m) - m isn't y, nor is it where both are scaled, or m is made twice.
// RUN: %python -c "import numpy as n, sys; r=n.random.default_rng(1); f='f4'; k=2.0**r.integers(-2,4,24); x=r.normal(size=(24,64)).astype(f); d=r.normal(size=(24,64)).astype(f); m=(1.5*2.0**23*k).astype(f); n.save('%t.k.npy',k); n.save('%t.m.npy',m); n.save('%t.x.npy',x); n.save('%t.d.npy',d)"
// RUN: norm-fusion-runner %s --entry=added --device=emulator --input=%t.m.npy --input=%t.x.npy --input=%t.d.npy --output=%t.0.npy | FileCheck %s
// RUN: norm-fusion-runner %s --entry=made_twice --device=emulator --input=%t.m.npy --input=%t.x.npy --input=%t.d.npy --output=%t.1.npy | FileCheck %s
// RUN: norm-fusion-runner %s --entry=scaled --device=emulator --input=%t.m.npy --input=%t.x.npy --input=%t.d.npy --output=%t.2.npy | FileCheck %s
// RUN: norm-fusion-runner %s --entry=scaled_by_input --device=emulator --input=%t.m.npy --input=f32=4 --input=%t.x.npy --input=%t.d.npy --output=%t.3.npy | FileCheck %s
// RUN: norm-fusion-runner %s --entry=added_in_parts --device=emulator --input=%t.m.npy --input=%t.x.npy --input=%t.d.npy --output=%t.4.npy | FileCheck %s
// RUN: %python -c "import numpy as n; k=n.load('%t.k.npy')[:,None]; q=[n.load('%t.'+str(i)+'.npy')/k for i in range(5)]; assert all((a == n.rint(a)).all() and a.any() for a in q)"
// CHECK: 5 groups fused

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

func.func @added(%magic: tensor<24xf32>, %x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %magic : tensor<24x64xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %m: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %m : f32
    %2 = arith.subf %1, %m : f32
    linalg.yield %2 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

func.func @made_twice(%magic: tensor<24xf32>, %x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %magic : tensor<24x64xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %m: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %half = arith.constant 0.5 : f32
    %two = arith.constant 2.0 : f32
    %h = arith.mulf %m, %half : f32
    %d = arith.mulf %h, %two : f32
    %n = arith.negf %m : f32
    %1 = arith.addf %0, %d : f32
    %2 = arith.addf %n, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

func.func @scaled(%magic: tensor<24xf32>, %x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %magic : tensor<24x64xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %m: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %m : f32
    %four = arith.constant 4.0 : f32
    %2 = arith.mulf %1, %four : f32
    %3 = arith.mulf %m, %four : f32
    %4 = arith.subf %2, %3 : f32
    %5 = arith.divf %4, %four : f32
    linalg.yield %5 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

// By a number that only a run knows; and of sums of two.
func.func @scaled_by_input(%magic: tensor<24xf32>, %u: f32, %x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %magic : tensor<24x64xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %m: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %m : f32
    %2 = arith.mulf %1, %u : f32
    %3 = arith.mulf %m, %u : f32
    %4 = arith.subf %2, %3 : f32
    %5 = arith.divf %4, %u : f32
    linalg.yield %5 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

func.func @added_in_parts(%magic: tensor<24xf32>, %x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<24xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<24x64xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<24xf32>) -> tensor<24xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.mul ins(%x, %dy : tensor<24x64xf32>, tensor<24x64xf32>) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fr : tensor<24xf32>) dimensions = [1]
  %dx = linalg.generic {indexing_maps = [#full, #row, #row, #full], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s, %magic : tensor<24x64xf32>, tensor<24xf32>, tensor<24xf32>) outs(%e : tensor<24x64xf32>) {
  ^bb0(%a: f32, %b: f32, %m: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %m : f32
    %2 = arith.addf %1, %b : f32
    %3 = arith.addf %m, %b : f32
    %5 = arith.subf %2, %3 : f32
    linalg.yield %5 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}
