// The schedule is a function of the problem and the chip alone.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_90a" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_100" | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="schedule='structure=plain combine=kernel'" | FileCheck %s --check-prefix=PLAIN
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_90a" > %t.once
// RUN: norm-fusion-opt %t.once --norm-fusion-schedule="chip=sm_100" | diff %t.once -
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_70" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="schedule='warps=1'" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_80 schedule='cluster=2'" 2>&1 | FileCheck %s --check-prefix=CLUSTER
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="schedule='speed=11'" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: echo 'module {}' | not norm-fusion-opt --norm-fusion-schedule="schedule='speed=11'" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="schedule='warps=many'" 2>&1 | FileCheck %s --check-prefix=NUMBER

// CHIP: unknown chip 'sm_70', expected sm_80
// FEW: schedule isn't possible: {{.*}}warps=1 {{.*}} hold {{.*}} columns, the problem has 4096
// CLUSTER: schedule isn't possible: cluster=2, the target has clusters of up to 1 blocks
// FIELD: unknown schedule field 'speed'
// NUMBER: schedule field 'warps' is 'many', expected a number from 1 to 32

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>

// CHECK-LABEL: func @bf16
// PLAIN-LABEL: func @bf16
func.func @bf16(%x: tensor<?x4096xbf16>, %o: tensor<?x4096xbf16>, %t: tensor<4096xf32>) -> (tensor<?x4096xbf16>, tensor<4096xf32>) {
  // SM90: structure=ring cluster=2 warps=4 row-groups=3 slots={{[0-9]}} chunks=2 vector=8 copy=cp-async combine=tags
  // SM80: structure=ring cluster=1 warps=8 row-groups=2 slots=2 chunks=2 vector=8 copy=cp-async combine=tags
  // PLAIN: structure=plain {{.*}} vector=1 copy=load combine=kernel
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<?x4096xbf16>) outs(%o, %t : tensor<?x4096xbf16>, tensor<4096xf32>) maps = [#e, #e, #c] {
  ^bb0(%a: bf16):
    %f = arith.extf %a : bf16 to f32
    %s = norm_fusion.row_reduce add, %f : f32
    %d = arith.subf %f, %s : f32
    %b = arith.truncf %d : f32 to bf16
    %k = norm_fusion.column_reduce add, %f : f32
    norm_fusion.yield %b, %k : bf16, f32
  } -> tensor<?x4096xbf16>, tensor<4096xf32>
  return %0#0, %0#1 : tensor<?x4096xbf16>, tensor<4096xf32>
}

// Rows of a number of columns that no vector divides begin anywhere: aligned (half) vectors in frames, two rows a warp.
// CHECK-LABEL: func @odd
func.func @odd(%x: tensor<?x257xbf16>, %o: tensor<?xbf16>, %t: tensor<257xbf16>) -> (tensor<?xbf16>, tensor<257xbf16>) {
  // CHECK: structure=small {{.*}} chunks=5 vector=4 copy=cp-async {{.*}} lanes=16
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<?x257xbf16>) outs(%o, %t : tensor<?xbf16>, tensor<257xbf16>) maps = [#e, affine_map<(m, n) -> (m)>, #c] {
  ^bb0(%a: bf16):
    %f = arith.extf %a : bf16 to f32
    %s = norm_fusion.row_reduce add, %f : f32
    %b = arith.truncf %s : f32 to bf16
    %k = norm_fusion.column_reduce add, %f : f32
    %kb = arith.truncf %k : f32 to bf16
    norm_fusion.yield %b, %kb : bf16, bf16
  } -> tensor<?xbf16>, tensor<257xbf16>
  return %0#0, %0#1 : tensor<?xbf16>, tensor<257xbf16>
}

// Values of 64 bits take two registers each: one vector a lane, for which sm_90a has the registers. (Of four 184 bytes were spilled.)
// SM90-LABEL: func @f64
func.func @f64(%x: tensor<?x12288xbf16>, %y: tensor<?x12288xf64>, %w: tensor<12288xf64>, %o: tensor<?x12288xf64>, %t: tensor<12288xf64>) -> (tensor<?x12288xf64>, tensor<12288xf64>) {
  // SM90: structure=ring cluster=8 warps=6 row-groups=2 slots=2 chunks=1 vector=8 copy=cp-async combine=grid
  // SM90: structure=columns {{.*}} row-groups=8 slots=1 chunks=1 vector=8 {{.*}} rows=4
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y, %w : tensor<?x12288xbf16>, tensor<?x12288xf64>, tensor<12288xf64>) outs(%o, %t : tensor<?x12288xf64>, tensor<12288xf64>) maps = [#e, #e, #c, #e, #c] {
  ^bb0(%a: bf16, %b: f64, %c: f64):
    %f = arith.extf %a : bf16 to f64
    %p = arith.mulf %f, %c : f64
    %s = norm_fusion.row_reduce add, %p : f64
    %q = arith.mulf %f, %b : f64
    %d = arith.mulf %q, %s : f64
    %k = norm_fusion.column_reduce add, %q : f64
    norm_fusion.yield %d, %k : f64, f64
  } -> tensor<?x12288xf64>, tensor<12288xf64>
  return %0#0, %0#1 : tensor<?x12288xf64>, tensor<12288xf64>
}

// Few rows of 64-bit elements: four a lane in half as many warps, whose threads have the registers. (Of two, 96 bytes were spilled, and below 24.)
// SM90-LABEL: func @f64_two_sums
func.func @f64_two_sums(%x: tensor<?x4096xf64>, %y: tensor<?x4096xf64>, %o: tensor<?x4096xf64>, %t: tensor<4096xf64>) -> (tensor<?x4096xf64>, tensor<4096xf64>, tensor<4096xf64>) {
  // SM90: structure=columns {{.*}} row-groups=8 slots=1 chunks=1 vector=2 {{.*}} rows=4
  %0:3 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<?x4096xf64>, tensor<?x4096xf64>) outs(%o, %t, %t : tensor<?x4096xf64>, tensor<4096xf64>, tensor<4096xf64>) maps = [#e, #e, #e, #c, #c] {
  ^bb0(%a: f64, %b: f64):
    %s = norm_fusion.row_reduce add, %a : f64
    %q = arith.mulf %a, %b : f64
    %d = arith.mulf %q, %s : f64
    %k = norm_fusion.column_reduce add, %q : f64
    %l = norm_fusion.column_reduce add, %a : f64
    norm_fusion.yield %d, %k, %l : f64, f64, f64
  } -> tensor<?x4096xf64>, tensor<4096xf64>, tensor<4096xf64>
  return %0#0, %0#1, %0#2 : tensor<?x4096xf64>, tensor<4096xf64>, tensor<4096xf64>
}

// SM90-LABEL: func @f64_one_sum
func.func @f64_one_sum(%x: tensor<?x16384xf64>, %y: tensor<?x16384xf64>, %o: tensor<?x16384xf64>, %t: tensor<16384xf64>) -> (tensor<?x16384xf64>, tensor<16384xf64>) {
  // SM90: structure=columns {{.*}} row-groups=8 slots=1 chunks=2 vector=2 {{.*}} rows=4
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<?x16384xf64>, tensor<?x16384xf64>) outs(%o, %t : tensor<?x16384xf64>, tensor<16384xf64>) maps = [#e, #e, #e, #c] {
  ^bb0(%a: f64, %b: f64):
    %s = norm_fusion.row_reduce add, %a : f64
    %q = arith.mulf %a, %b : f64
    %d = arith.mulf %q, %s : f64
    %k = norm_fusion.column_reduce add, %q : f64
    norm_fusion.yield %d, %k : f64, f64
  } -> tensor<?x16384xf64>, tensor<16384xf64>
  return %0#0, %0#1 : tensor<?x16384xf64>, tensor<16384xf64>
}

// Too wide for that: the kernel for any number of rows alone. (160 bytes were spilled.)
// SM90-LABEL: func @f64_wide
func.func @f64_wide(%x: tensor<?x24576xf64>, %y: tensor<?x24576xf64>, %o: tensor<?x24576xf64>, %t: tensor<24576xf64>) -> (tensor<?x24576xf64>, tensor<24576xf64>, tensor<24576xf64>) {
  // SM90: structure=ring
  // SM90-NOT: structure=columns
  // SM90: norm_fusion.yield
  %0:3 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %y : tensor<?x24576xf64>, tensor<?x24576xf64>) outs(%o, %t, %t : tensor<?x24576xf64>, tensor<24576xf64>, tensor<24576xf64>) maps = [#e, #e, #e, #c, #c] {
  ^bb0(%a: f64, %b: f64):
    %s = norm_fusion.row_reduce add, %a : f64
    %q = arith.mulf %a, %b : f64
    %d = arith.mulf %q, %s : f64
    %k = norm_fusion.column_reduce add, %q : f64
    %l = norm_fusion.column_reduce add, %a : f64
    norm_fusion.yield %d, %k, %l : f64, f64, f64
  } -> tensor<?x24576xf64>, tensor<24576xf64>, tensor<24576xf64>
  return %0#0, %0#1, %0#2 : tensor<?x24576xf64>, tensor<24576xf64>, tensor<24576xf64>
}
