// An f64 column sum beside f32 ones and an odd number of columns: the partial
// rows of each are aligned. The emulator refuses misaligned accesses.

// RUN: norm-fusion-runner %s --device=emulator --emulator=sms=3 --check
// RUN: norm-fusion-runner %s --device=emulator --emulator=sms=3 --check --schedule=structure=plain

func.func @main(%x: tensor<7x9xf32>, %y: tensor<7x9xf64>) -> (tensor<7xf32>, tensor<9xf32>, tensor<9xf64>) {
  %zero = arith.constant 0.0 : f32
  %wide = arith.constant 0.0 : f64
  %er = tensor.empty() : tensor<7xf32>
  %ec = tensor.empty() : tensor<9xf32>
  %ed = tensor.empty() : tensor<9xf64>
  %e = tensor.empty() : tensor<7x9xf64>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<7xf32>) -> tensor<7xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<9xf32>) -> tensor<9xf32>
  %fd = linalg.fill ins(%wide : f64) outs(%ed : tensor<9xf64>) -> tensor<9xf64>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<7x9xf32>) outs(%fr : tensor<7xf32>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<7x9xf32>) outs(%fc : tensor<9xf32>) dimensions = [0]
  %p = linalg.map ins(%x, %y : tensor<7x9xf32>, tensor<7x9xf64>) outs(%e : tensor<7x9xf64>)
      (%a: f32, %b: f64, %o: f64) {
        %0 = arith.extf %a : f32 to f64
        %1 = arith.mulf %0, %b : f64
        linalg.yield %1 : f64
      }
  %d = linalg.reduce {arith.addf} ins(%p : tensor<7x9xf64>) outs(%fd : tensor<9xf64>) dimensions = [0]
  return %r, %c, %d : tensor<7xf32>, tensor<9xf32>, tensor<9xf64>
}
