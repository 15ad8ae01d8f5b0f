// Narrow floats that nothing converts are an error that names them, also where a
// module is lowered without being run.
// RUN: not norm-fusion-runner %s --device=emulator --dims=5 2>&1 | FileCheck %s
// RUN: not norm-fusion-opt %s --norm-fusion-lower="chip=sm_90a format=isa" 2>&1 | FileCheck %s
// RUN: sed 's/f8E4M3FNUZ/f4E2M1FN/' %s > %t.mlir
// RUN: not norm-fusion-runner %t.mlir --device=emulator --dims=5 2>&1 | FileCheck %s --check-prefix=F4
// CHECK: conversions of 'f8E4M3FNUZ' aren't supported, expected f64, f32, f16, bf16, f8E4M3FN, f8E5M2 or f8E8M0FNU
// F4: conversions of 'f4E2M1FN' aren't supported
func.func @f(%arg0: tensor<?x64xf32>) -> (tensor<?xf32>, tensor<64xf32>) {
  %zz1 = arith.constant 0 : index
  %zz2 = tensor.dim %arg0, %zz1 : tensor<?x64xf32>
  %zz3 = tensor.empty(%zz2) : tensor<?xf32>
  %zz4 = arith.constant 0.0 : f32
  %zz5 = linalg.fill ins(%zz4 : f32) outs(%zz3 : tensor<?xf32>) -> tensor<?xf32>
  %zz6 = linalg.generic {indexing_maps = [affine_map<(d0,d1) -> (d0,d1)>, affine_map<(d0,d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<?x64xf32>) outs(%zz5 : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.truncf %a : f32 to f8E4M3FNUZ
    %1 = arith.extf %t : f8E4M3FNUZ to f32
    %4 = arith.addf %o, %1 : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  %zz7 = tensor.empty() : tensor<64xf32>
  %zz8 = arith.constant 0.0 : f32
  %zz9 = linalg.fill ins(%zz8 : f32) outs(%zz7 : tensor<64xf32>) -> tensor<64xf32>
  %zz10 = linalg.generic {indexing_maps = [affine_map<(d0,d1) -> (d0,d1)>, affine_map<(d0,d1) -> (d0)>, affine_map<(d0,d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%arg0, %zz6 : tensor<?x64xf32>, tensor<?xf32>) outs(%zz9 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.truncf %a : f32 to f8E4M3FNUZ
    %1 = arith.extf %t : f8E4M3FNUZ to f32
    %2 = arith.mulf %1, %b : f32
    %4 = arith.addf %o, %2 : f32
    linalg.yield %4 : f32
  } -> tensor<64xf32>
  return %zz6, %zz10 : tensor<?xf32>, tensor<64xf32>
}
