// Types, constants and signatures become f64; conversions between floats go.
// RUN: norm-fusion-opt %s --norm-fusion-widen --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:  %[[X:.*]]: tensor<4xf64>, %[[S:.*]]: f64, %{{.*}}: tensor<4xi32>) -> tensor<4xf64>
// CHECK-DAG:   arith.constant dense<0.33203125> : tensor<4xf64>
// CHECK-DAG:   arith.constant 0xFFF0000000000000 : f64
// CHECK-NOT:   arith.extf
// CHECK-NOT:   arith.truncf
// CHECK:       linalg.yield %{{.*}} : f64
func.func @main(%x: tensor<4xbf16>, %s: f16, %i: tensor<4xi32>) -> tensor<4xf32> {
  %c = arith.constant dense<0.333> : tensor<4xbf16>
  %inf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %c : tensor<4xbf16>, tensor<4xbf16>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: bf16, %b: bf16, %out: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.truncf %1 : f32 to f16
    %3 = arith.addf %2, %s : f16
    %4 = arith.extf %3 : f16 to f32
    %5 = arith.maximumf %4, %inf : f32
    %6 = arith.extf %b : bf16 to f32
    %7 = arith.addf %5, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Bits are those of the type, and a power of two stays one.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME:  %[[X:.*]]: f64) -> (i32, f64, f64)
// CHECK:       %[[N:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK:       arith.bitcast %[[N]] : f32 to i32
// CHECK:       %[[F:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK:       %[[W:.*]] = arith.extf %[[F]] : f32 to f64
// CHECK:       %[[E:.*]] = arith.truncf %[[X]] : f64 to f8E8M0FNU
// CHECK:       %[[P:.*]] = arith.extf %[[E]] : f8E8M0FNU to f64
// CHECK:       %[[D:.*]] = arith.divf %[[X]], %[[P]] : f64
// CHECK:       return %{{.*}}, %[[W]], %[[D]]
func.func @scale(%x: f32) -> (i32, f32, f8E4M3FN) {
  %0 = arith.bitcast %x : f32 to i32
  %1 = arith.bitcast %0 : i32 to f32
  %2 = arith.scaling_truncf %x, %x : f32, f32 to f8E4M3FN
  return %0, %1, %2 : i32, f32, f8E4M3FN
}

// -----

func.func @bits(%x: tensor<2xf32>) -> tensor<2xi32> {
  // expected-error@+1 {{reads the bits of a float}}
  %0 = tensor.bitcast %x : tensor<2xf32> to tensor<2xi32>
  return %0 : tensor<2xi32>
}
