// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form --split-input-file -o %t \
// RUN:   --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// One case a rule that keeps reductions apart, with the remark that names it.

// REMARK:      no-row-reduction
// CHECK-LABEL: func @columns_alone
// CHECK-NOT:     norm_fusion
func.func @columns_alone(%x: tensor<8x16xf32>, %f: tensor<16xf32>) -> tensor<16xf32> {
  %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%f : tensor<16xf32>) dimensions = [0]
  return %c : tensor<16xf32>
}

// -----

// REMARK:      no-column-reduction
// CHECK-LABEL: func @rows_alone
// CHECK-NOT:     norm_fusion
func.func @rows_alone(%x: tensor<8x16xf32>, %f: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%f : tensor<8xf32>) dimensions = [1]
  return %r : tensor<8xf32>
}

// -----

// The row sum reads what the finished column sum gives.

// REMARK:      column-result-used-in-space
// CHECK-LABEL: func @column_first
// CHECK-NOT:     norm_fusion
func.func @column_first(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> tensor<8x16xf32> {
  %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  %e = tensor.empty() : tensor<8x16xf32>
  %b = linalg.broadcast ins(%c : tensor<16xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [0]
  %d = linalg.map {arith.subf} ins(%x, %b : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %r = linalg.reduce {arith.addf} ins(%d : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %br = linalg.broadcast ins(%r : tensor<8xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [1]
  %y = linalg.map {arith.divf} ins(%d, %br : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  return %y : tensor<8x16xf32>
}

// -----

// REMARK:      unsupported-combiner
// CHECK-LABEL: func @quotient
// CHECK-NOT:     norm_fusion
func.func @quotient(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c = linalg.reduce {arith.divf} ins(%x : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r, %c : tensor<8xf32>, tensor<16xf32>
}

// -----

// Every second row: no projection of the space.

// REMARK:      non-projected-operand
// CHECK-LABEL: func @strided
// CHECK-NOT:     norm_fusion
func.func @strided(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %shape = tensor.empty() : tensor<4xf32>
  %c = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m * 2, n)>,
                       affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x, %shape : tensor<8x16xf32>, tensor<4xf32>) outs(%fc : tensor<16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  return %r, %c : tensor<8xf32>, tensor<16xf32>
}

// -----

// The sums run over (rows, groups) and over (groups, columns): no space has
// both as rows and columns.

// REMARK:      no-common-space
// CHECK-LABEL: func @overlapping
// CHECK-NOT:     norm_fusion
func.func @overlapping(%x: tensor<4x6x16xf32>, %fr: tensor<4xf32>, %fc: tensor<16xf32>)
    -> (tensor<4xf32>, tensor<16xf32>) {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<4x6x16xf32>)
      outs(%fr : tensor<4xf32>) dimensions = [1, 2]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<4x6x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0, 1]
  return %r, %c : tensor<4xf32>, tensor<16xf32>
}

// -----

// The column sum's operand needs the row sum through a matmul.

// REMARK:      cycle
// REMARK-SAME:   found="2 row and 1 column reductions", needed="no op outside the group between its reductions"
// CHECK-LABEL: func @through_matmul
// CHECK-NOT:     norm_fusion
func.func @through_matmul(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>,
                          %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<8x16xf32>
  %b = linalg.broadcast ins(%r : tensor<8xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [1]
  %mm = linalg.matmul ins(%b, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p = linalg.map {arith.mulf} ins(%mm, %x : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %s = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %q = linalg.broadcast ins(%s : tensor<8xf32>)
      outs(%e : tensor<8x16xf32>) dimensions = [1]
  %m2 = linalg.matmul ins(%q, %w : tensor<8x16xf32>, tensor<16x16xf32>)
      outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p2 = linalg.map {arith.mulf} ins(%m2, %x : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %c = linalg.reduce {arith.addf} ins(%p2 : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %s, %c : tensor<8xf32>, tensor<16xf32>
}

// -----

// A call has the finished row sum before the column sum's operand exists, and
// may not move behind the group.

// REMARK:      side-effect-between
// CHECK-LABEL: func @call_between
// CHECK-NOT:     norm_fusion
func.func private @observe(tensor<8xf32>)
func.func private @produce() -> tensor<8x16xf32>
func.func @call_between(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> tensor<16xf32> {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  func.call @observe(%r) : (tensor<8xf32>) -> ()
  %y = func.call @produce() : () -> tensor<8x16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %p = linalg.map {arith.mulf} ins(%x, %y : tensor<8x16xf32>, tensor<8x16xf32>)
      outs(%e : tensor<8x16xf32>)
  %c = linalg.reduce {arith.addf} ins(%p : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %c : tensor<16xf32>
}

// -----

// REMARK:      [Passed] formed
// REMARK-SAME:   bytes-after=704, bytes-before={{[0-9]+}}, column-reductions=1, columns=16, row-reductions=1, rows=8
// CHECK-LABEL: func @formed
// CHECK:         norm_fusion.mixed_reduction
func.func @formed(%x: tensor<8x16xf32>, %fr: tensor<8xf32>, %fc: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<16xf32>) {
  %r = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fr : tensor<8xf32>) dimensions = [1]
  %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>)
      outs(%fc : tensor<16xf32>) dimensions = [0]
  return %r, %c : tensor<8xf32>, tensor<16xf32>
}

// -----

// What is added up is a result, too: beside sums of columns.
// REMARK:      unreduced-result{{.*}}found="a reduction with a result that varies over a dimension that is reduced"
// REMARK:      no-column-reduction
// CHECK-LABEL: func @second_result
// CHECK-NOT:     norm_fusion
func.func @second_result(%x: tensor<8x16xf32>, %r: tensor<8xf32>, %e: tensor<8x16xf32>, %f: tensor<16xf32>) -> (tensor<16xf32>, tensor<8x16xf32>, tensor<8xf32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["reduction", "parallel"]} ins(%x : tensor<8x16xf32>) outs(%f, %e : tensor<16xf32>, tensor<8x16xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t, %p : f32, f32
  } -> (tensor<16xf32>, tensor<8x16xf32>)
  %c = linalg.reduce {arith.addf} ins(%0#1 : tensor<8x16xf32>) outs(%r : tensor<8xf32>) dimensions = [1]
  return %0#0, %0#1, %c : tensor<16xf32>, tensor<8x16xf32>, tensor<8xf32>
}

// -----

// REMARK-DAG:  no-column-reduction{{.*}}needed="a column reduction of the same operands in this block"
// REMARK-DAG:  no-row-reduction{{.*}}needed="a row reduction of the same operands in this block"
// CHECK-LABEL: func @branch
// CHECK-NOT:     norm_fusion
func.func @branch(%x: tensor<8x16xf32>, %r: tensor<8xf32>, %f: tensor<16xf32>, %b: i1) -> (tensor<8xf32>, tensor<16xf32>) {
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>) outs(%r : tensor<8xf32>) dimensions = [1]
  %1 = scf.if %b -> tensor<16xf32> {
    %c = linalg.reduce {arith.addf} ins(%x : tensor<8x16xf32>) outs(%f : tensor<16xf32>) dimensions = [0]
    scf.yield %c : tensor<16xf32>
  } else {
    scf.yield %f : tensor<16xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<16xf32>
}
