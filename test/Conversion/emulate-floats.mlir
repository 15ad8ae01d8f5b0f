// Narrow floats are rounded after every op: no conversion that this takes may be folded, but for those that may be already.
// RUN: norm-fusion-opt %s --norm-fusion-emulate-floats --canonicalize | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-emulate-floats --norm-fusion-emulate-floats --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @bf16
// CHECK:         %[[A:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK:         %[[S:.*]] = arith.addf %[[A]]
// CHECK-NEXT:    %[[T:.*]] = arith.truncf %[[S]] : f32 to bf16
// CHECK-NEXT:    %[[U:.*]] = arith.extf %[[T]] : bf16 to f32
// CHECK-NEXT:    arith.subf %[[U]]
func.func @bf16(%a: bf16) -> bf16 {
  %c = arith.constant 256.0 : bf16
  %0 = arith.addf %a, %c : bf16
  %1 = arith.subf %0, %c : bf16
  return %1 : bf16
}

// CHECK-LABEL: func.func @math
// CHECK:         %[[E:.*]] = math.exp %{{.*}} : f32
// CHECK-NEXT:    %[[T:.*]] = arith.truncf %[[E]] : f32 to f16
// CHECK-NEXT:    %[[U:.*]] = arith.extf %[[T]] : f16 to f32
// CHECK-NEXT:    math.sqrt %[[U]]
func.func @math(%a: f16) -> f16 {
  %0 = math.exp %a : f16
  %1 = math.sqrt %0 : f16
  return %1 : f16
}

// CHECK-LABEL: func.func @contracted(
// CHECK-SAME:      %[[A:.*]]: f32
// CHECK-NEXT:    return %[[A]]
func.func @contracted(%a: f32) -> f32 {
  %0 = arith.truncf %a fastmath<contract> : f32 to bf16
  %1 = arith.extf %0 fastmath<contract> : bf16 to f32
  return %1 : f32
}
