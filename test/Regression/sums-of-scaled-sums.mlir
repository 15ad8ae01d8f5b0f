// A value added to itself, or to a multiple of itself, again and again: forms that would double each time. Adding a value to itself is exact.
// RUN: norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" | wc -c | FileCheck %s --check-prefix=SIZE
// RUN: norm-fusion-runner %s --entry=doubled --device=emulator --input=24x64xf32 --input=24x64xf32 --check --repeat=2 --bitwise
// RUN: norm-fusion-runner %s --entry=scaled --device=emulator --input=24x64xf32=1 --input=24x64xf32=0.001 --check

// Less than a million bytes.
// SIZE: {{^[0-9]{5,6}$}}

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

func.func @doubled(%x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
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
    %1 = arith.addf %0, %0 : f32
    %2 = arith.addf %1, %1 : f32
    %3 = arith.addf %2, %2 : f32
    %4 = arith.addf %3, %3 : f32
    %5 = arith.addf %4, %4 : f32
    %6 = arith.addf %5, %5 : f32
    %7 = arith.addf %6, %6 : f32
    %8 = arith.addf %7, %7 : f32
    %9 = arith.addf %8, %8 : f32
    %10 = arith.addf %9, %9 : f32
    %11 = arith.addf %10, %10 : f32
    %12 = arith.addf %11, %11 : f32
    %13 = arith.addf %12, %12 : f32
    %14 = arith.addf %13, %13 : f32
    %15 = arith.addf %14, %14 : f32
    %16 = arith.addf %15, %15 : f32
    %17 = arith.addf %16, %16 : f32
    %18 = arith.addf %17, %17 : f32
    %19 = arith.addf %18, %18 : f32
    %20 = arith.addf %19, %19 : f32
    %21 = arith.addf %20, %20 : f32
    %22 = arith.addf %21, %21 : f32
    %23 = arith.addf %22, %22 : f32
    %24 = arith.addf %23, %23 : f32
    %25 = arith.addf %24, %24 : f32
    %26 = arith.addf %25, %25 : f32
    %27 = arith.addf %26, %26 : f32
    %28 = arith.addf %27, %27 : f32
    %29 = arith.addf %28, %28 : f32
    %30 = arith.addf %29, %29 : f32
    %31 = arith.addf %30, %30 : f32
    %32 = arith.addf %31, %31 : f32
    %33 = arith.addf %32, %32 : f32
    %34 = arith.addf %33, %33 : f32
    %35 = arith.addf %34, %34 : f32
    %36 = arith.addf %35, %35 : f32
    %37 = arith.addf %36, %36 : f32
    %38 = arith.addf %37, %37 : f32
    %39 = arith.addf %38, %38 : f32
    %40 = arith.addf %39, %39 : f32
    linalg.yield %40 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}

func.func @scaled(%x: tensor<24x64xf32>, %dy: tensor<24x64xf32>) -> (tensor<24x64xf32>, tensor<64xf32>) {
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
    %r0 = arith.mulf %0, %b : f32
    %1 = arith.addf %0, %r0 : f32
    %r1 = arith.mulf %1, %b : f32
    %2 = arith.addf %1, %r1 : f32
    %r2 = arith.mulf %2, %b : f32
    %3 = arith.addf %2, %r2 : f32
    %r3 = arith.mulf %3, %b : f32
    %4 = arith.addf %3, %r3 : f32
    %r4 = arith.mulf %4, %b : f32
    %5 = arith.addf %4, %r4 : f32
    %r5 = arith.mulf %5, %b : f32
    %6 = arith.addf %5, %r5 : f32
    %r6 = arith.mulf %6, %b : f32
    %7 = arith.addf %6, %r6 : f32
    %r7 = arith.mulf %7, %b : f32
    %8 = arith.addf %7, %r7 : f32
    %r8 = arith.mulf %8, %b : f32
    %9 = arith.addf %8, %r8 : f32
    %r9 = arith.mulf %9, %b : f32
    %10 = arith.addf %9, %r9 : f32
    %r10 = arith.mulf %10, %b : f32
    %11 = arith.addf %10, %r10 : f32
    %r11 = arith.mulf %11, %b : f32
    %12 = arith.addf %11, %r11 : f32
    %r12 = arith.mulf %12, %b : f32
    %13 = arith.addf %12, %r12 : f32
    %r13 = arith.mulf %13, %b : f32
    %14 = arith.addf %13, %r13 : f32
    %r14 = arith.mulf %14, %b : f32
    %15 = arith.addf %14, %r14 : f32
    %r15 = arith.mulf %15, %b : f32
    %16 = arith.addf %15, %r15 : f32
    %r16 = arith.mulf %16, %b : f32
    %17 = arith.addf %16, %r16 : f32
    %r17 = arith.mulf %17, %b : f32
    %18 = arith.addf %17, %r17 : f32
    %r18 = arith.mulf %18, %b : f32
    %19 = arith.addf %18, %r18 : f32
    %r19 = arith.mulf %19, %b : f32
    %20 = arith.addf %19, %r19 : f32
    linalg.yield %20 : f32
  } -> tensor<24x64xf32>
  %dw = linalg.reduce {arith.addf} ins(%p : tensor<24x64xf32>) outs(%fc : tensor<64xf32>) dimensions = [0]
  return %dx, %dw : tensor<24x64xf32>, tensor<64xf32>
}
