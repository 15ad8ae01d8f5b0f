// Which clamps let the hardware's saturating conversion stand for the IR's: those that leave nothing but the finite range and NaN.
// RUN: norm-fusion-opt %s --norm-fusion-expand-float-conversions=chip=sm_90a | FileCheck %s

// CHECK-LABEL: @numbers
// CHECK: cvt.rn.satfinite.e4m3x2.f32
func.func @numbers(%x: f32) -> f8E4M3FN {
  %lo = arith.constant -448.0 : f32
  %hi = arith.constant 448.0 : f32
  %above = arith.maxnumf %x, %lo : f32
  %in = arith.minnumf %above, %hi : f32
  %y = arith.truncf %in : f32 to f8E4M3FN
  return %y : f8E4M3FN
}

// What minnumf and maxnumf are given may be NaN, and then %x is what they give.
// CHECK-LABEL: @bound_that_may_be_nan
// CHECK-NOT: satfinite
func.func @bound_that_may_be_nan(%x: f32, %z: f32) -> f8E4M3FN {
  %lo = arith.constant -448.0 : f32
  %hi = arith.constant 448.0 : f32
  %most = arith.minimumf %z, %hi : f32
  %above = arith.maxnumf %x, %lo : f32
  %in = arith.minnumf %above, %most : f32
  %y = arith.truncf %in : f32 to f8E4M3FN
  return %y : f8E4M3FN
}

// The same of a comparison, which a NaN fails.
// CHECK-LABEL: @compared_with_what_may_be_nan
// CHECK-NOT: satfinite
func.func @compared_with_what_may_be_nan(%x: f32, %z: f32) -> f8E4M3FN {
  %lo = arith.constant -448.0 : f32
  %hi = arith.constant 448.0 : f32
  %most = arith.minimumf %z, %hi : f32
  %above = arith.maxnumf %x, %lo : f32
  %isAbove = arith.cmpf ogt, %above, %most : f32
  %in = arith.select %isAbove, %most, %above : f32
  %y = arith.truncf %in : f32 to f8E4M3FN
  return %y : f8E4M3FN
}

// NaN is NaN in both.
// CHECK-LABEL: @bound_that_keeps_nan
// CHECK: cvt.rn.satfinite.e4m3x2.f32
func.func @bound_that_keeps_nan(%x: f32, %z: f32) -> f8E4M3FN {
  %lo = arith.constant -448.0 : f32
  %hi = arith.constant 448.0 : f32
  %most = arith.minimumf %z, %hi : f32
  %in = arith.minimumf %x, %most : f32
  %above = arith.maximumf %in, %lo : f32
  %y = arith.truncf %above : f32 to f8E4M3FN
  return %y : f8E4M3FN
}
