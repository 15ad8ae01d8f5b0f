// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file -o %t \
// RUN:   --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Which reductions belong together, by the remarks.

// Two norms that share a weight alone are two groups, even over equal extents.

// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=1
// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=1
// CHECK-LABEL: func @shared_weight
func.func @shared_weight(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>, %w: tensor<16xf32>,
                         %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %b = linalg.broadcast ins(%w : tensor<16xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [0]
  %p = linalg.map {arith.mulf} ins(%x, %b : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %b2 = linalg.broadcast ins(%w : tensor<16xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [0]
  %q = linalg.map {arith.mulf} ins(%y, %b2 : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %r0 = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c0 = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  %r1 = linalg.reduce {arith.addf} ins(%q : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c1 = linalg.reduce {arith.addf} ins(%q : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r0, %c0, %r1, %c1 : tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>
}

// -----

// So are two that share what was broadcast of it, as CSE leaves them.

// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=1
// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=1
// CHECK-LABEL: func @shared_broadcast
func.func @shared_broadcast(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>, %w: tensor<16xf32>,
                            %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %b = linalg.broadcast ins(%w : tensor<16xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [0]
  %p = linalg.map {arith.mulf} ins(%x, %b : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %q = linalg.map {arith.mulf} ins(%y, %b : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %r0 = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c0 = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  %r1 = linalg.reduce {arith.addf} ins(%q : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c1 = linalg.reduce {arith.addf} ins(%q : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r0, %c0, %r1, %c1 : tensor<8xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>
}

// -----

// A row reduction that depends on another one, and a column sum of what comes
// out, are in the group of the first.

// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=2
// CHECK-LABEL: func @dependent
func.func @dependent(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%r : tensor<8xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [1]
  %d = linalg.map {arith.subf} ins(%x, %b : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %s = linalg.reduce {arith.mulf} ins(%d : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%d : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<8xf32>, tensor<16xf32>
}

// -----

// What only another block's ops use is in the block of the loop: groups form
// inside it. Dead reductions count for nothing.

// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=1
// CHECK-LABEL: func @in_loop
// CHECK:         scf.for
// CHECK:           norm_fusion.mixed_reduction
func.func @in_loop(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>,
                   %n: index) -> (tensor<8xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %fr, %b = %fc)
      -> (tensor<8xf32>, tensor<16xf32>) {
    %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
        outs(%a : tensor<8xf32>) dimensions = [1]
    %dead = linalg.reduce {arith.mulf} ins(%x : tensor<8x16xf32>)
        outs(%a : tensor<8xf32>) dimensions = [1]
    %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
        outs(%b : tensor<16xf32>) dimensions = [0]
    scf.yield %r, %c : tensor<8xf32>, tensor<16xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<16xf32>
}

// -----

// A column sum whose operand is there early waits for the row reductions that
// read the same operand later.

// REMARK:      formed{{.*}}column-reductions=1,{{.*}}row-reductions=2
// CHECK-LABEL: func @waits
func.func @waits(%dy: tensor<8x16xf32>, %x: tensor<8x16xf32>, %w: tensor<16x16xf32>,
                 %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%r : tensor<8xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [1]
  %h = linalg.matmul ins(%b, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.map {arith.mulf} ins(%dy, %h : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %s = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %t = linalg.reduce {arith.mulf} ins(%h : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %u = linalg.map {arith.addf} ins(%s, %t : tensor<8xf32>, tensor<8xf32>)
      outs(%fr : tensor<8xf32>)
  %db = linalg.reduce {arith.addf} ins(%dy : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %u, %db : tensor<8xf32>, tensor<16xf32>
}
