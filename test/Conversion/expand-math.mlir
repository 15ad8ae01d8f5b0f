// Functions become arithmetic in f64 and intrinsics that are instructions; the
// values are compared in test/Runner/math.test.
// RUN: norm-fusion-opt %s --norm-fusion-expand-math | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-expand-math | norm-fusion-opt --norm-fusion-expand-math | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-expand-math=ops=exp | FileCheck %s --check-prefix=OPS
// OPS-LABEL: func.func @exp
// OPS-NOT:   math.exp
// OPS-LABEL: func.func @instructions
// OPS:       math.rsqrt

// CHECK-LABEL: func.func @exp
// CHECK:       arith.extf %{{.*}} : f32 to f64
// CHECK:       llvm.call_intrinsic "llvm.roundeven"(%{{.*}}) : (f64) -> f64
// CHECK-NOT:   math.
// CHECK:       arith.truncf %{{.*}} : f64 to f32
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: func.func @instructions
// CHECK-NOT:   f64
// CHECK:       %[[ROOT:.*]] = llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f32) -> f32
// CHECK:       arith.divf %{{.*}}, %[[ROOT]]
// CHECK:       llvm.call_intrinsic "llvm.ctlz"(%{{.*}}, %false
// CHECK:       %[[SIZE:.*]] = llvm.call_intrinsic "llvm.fabs"
// CHECK:       arith.cmpf olt, %[[SIZE]]
func.func @instructions(%x: f32, %i: i32) -> (f32, i32, i1) {
  %0 = math.rsqrt %x : f32
  %1 = math.ctlz %i : i32
  %2 = math.isfinite %x : f32
  return %0, %1, %2 : f32, i32, i1
}

// What has no expansion, and what isn't a scalar of f32 or f64, stays.
// CHECK-LABEL: func.func @stays
// CHECK:       math.sin
// CHECK:       math.exp %{{.*}} : f16
// CHECK:       math.exp %{{.*}} : vector<4xf32>
func.func @stays(%x: f32, %h: f16, %v: vector<4xf32>) -> (f32, f16, vector<4xf32>) {
  %0 = math.sin %x : f32
  %1 = math.exp %h : f16
  %2 = math.exp %v : vector<4xf32>
  return %0, %1, %2 : f32, f16, vector<4xf32>
}

// The least normal f16 and the infinities of f32, in which they are compared.
// CHECK-LABEL: func.func @classes
// CHECK-DAG:   %[[LEAST:.*]] = arith.constant 6.10351563E-5 : f32
// CHECK-DAG:   arith.extf %{{.*}} : f16 to f32
// CHECK:       arith.cmpf oge, %{{.*}}, %[[LEAST]]
// CHECK:       arith.cmpf olt
// CHECK:       arith.andi
// CHECK:       %[[MOST:.*]] = arith.maximumf %{{.*}}, %{{.*}} : bf16
// CHECK:       arith.minimumf %[[MOST]], %{{.*}} : bf16
func.func @classes(%h: f16, %x: bf16, %low: bf16, %high: bf16) -> (i1, bf16) {
  %0 = math.isnormal %h : f16
  %1 = math.clampf %x to [%low, %high] : bf16
  return %0, %1 : i1, bf16
}

// The sign is the exponent's parity; a narrow float is widened, for a constant exponent, too.
// CHECK-LABEL: func.func @integer_power
// CHECK-SAME:  %[[X:.*]]: f16, %[[N:.*]]: i64
// CHECK:       %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK:       arith.sitofp %[[N]] : i64 to f32
// CHECK:       arith.andi %[[N]], %
// CHECK:       %[[SIGNED:.*]] = llvm.call_intrinsic "llvm.copysign"(%{{.*}}, %[[WIDE]])
// CHECK:       arith.select %{{.*}}, %[[SIGNED]], %
// CHECK:       arith.truncf %{{.*}} : f32 to f16
// CHECK:       math.fpowi %{{.*}}, %c5{{.*}} : f32, i64
// CHECK:       math.fpowi %{{.*}}, %c5{{.*}} : f32, i64
func.func @integer_power(%x: f16, %n: i64, %w: f32) -> (f16, f16, f32) {
  %five = arith.constant 5 : i64
  %0 = math.fpowi %x, %n : f16, i64
  %1 = math.fpowi %x, %five : f16, i64
  %2 = math.fpowi %w, %five : f32, i64
  return %0, %1, %2 : f16, f16, f32
}

// The larger and the smaller number, whatever NaN there is, are instructions.
// CHECK-LABEL: func.func @numbers
// CHECK: llvm.call_intrinsic "llvm.maxnum"
// CHECK: llvm.call_intrinsic "llvm.minnum"
// CHECK: arith.maximumf
func.func @numbers(%x: f32, %y: f32, %d: f64) -> (f32, f64, f32) {
  %0 = arith.maxnumf %x, %y : f32
  %1 = arith.minnumf %d, %d : f64
  %2 = arith.maximumf %x, %y : f32
  return %0, %1, %2 : f32, f64, f32
}

// Neither loops nor intrinsics stand in a mixed reduction: only what becomes
// arithmetic does.

// CHECK-LABEL: func.func @fused
// CHECK:         norm_fusion.row_reduce
// CHECK-NEXT:    arith.maximumf
// CHECK-NEXT:    arith.minimumf
// CHECK-NEXT:    math.rsqrt
// CHECK-NEXT:    math.erf
func.func @fused(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %c: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%y, %c : tensor<4x8xf32>, tensor<8xf32>)
      maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>] {
  ^bb0(%a: f32):
    %low = arith.constant 1.0 : f32
    %high = arith.constant 9.0 : f32
    %s = norm_fusion.row_reduce add, %a : f32
    %t = math.clampf %s to [%low, %high] : f32
    %r = math.rsqrt %t : f32
    %e = math.erf %a : f32
    %p = arith.mulf %e, %r : f32
    %q = norm_fusion.column_reduce add, %p : f32
    norm_fusion.yield %p, %q : f32, f32
  } -> tensor<4x8xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<8xf32>
}
