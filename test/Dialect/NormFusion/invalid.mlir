// RUN: norm-fusion-opt %s --split-input-file --verify-diagnostics

// One case a constraint of the mixed reduction, in the order of their labels.

func.func @c1_count(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{C1: found 1 maps, expected one an operand: 2}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c1_projection(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{C1: map #0}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, m + n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c2(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{C2: operand #0 has rank 2, its map has 1 results}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    norm_fusion.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c3(%x: tensor<4x8xf32>, %o: tensor<5xf32>) {
  // expected-error @below {{C3: operand #1 has size 5 in dimension d0, another has 4}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<5xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<5xf32>
  return
}

// -----

func.func @c4(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{C4: no operand is indexed by dimension d1}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    norm_fusion.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c5(%x: tensor<4x8xbf16>, %o: tensor<4xf32>) {
  // expected-error @below {{C5: }}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xbf16>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c6(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  // expected-error @below {{C6: expected at least one row and one column dimension, found 2 and 0}}
  %0 = norm_fusion.mixed_reduction dims = [row, row]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>] {
  ^bb0(%a: f32):
    norm_fusion.yield %a : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @c7(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error @below {{C7: value for output #0 varies over dimension d1 that the output lacks}}
    norm_fusion.yield %a : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c8_reduction(%x: tensor<4x8xf32>, %o: tensor<f32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<f32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> ()>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.column_reduce add, %a : f32
    // expected-error @below {{C8: operand depends on a column reduction}}
    %2 = norm_fusion.row_reduce add, %1 : f32
    norm_fusion.yield %2 : f32
  } -> tensor<f32>
  return
}

// -----

func.func @c8_element(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.column_reduce add, %a : f32
    // expected-error @below {{C8: result of a column reduction meets a value that varies over the rows}}
    %2 = arith.subf %a, %1 : f32
    norm_fusion.yield %2 : f32
  } -> tensor<4x8xf32>
  return
}

// -----

func.func @c9(%x: tensor<4x8xf32>, %o: memref<4xf32>) {
  // expected-error @below {{C9: operands are tensors and memrefs}}
  norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : memref<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  }
  return
}

// -----

func.func @c10(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{C10: partial_accumulate without a combine region}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    norm_fusion.partial_accumulate add, %a : f32
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c11(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error @below {{C11: expected scalars, found 'tensor<1xf32>'}}
    %t = tensor.from_elements %a : tensor<1xf32>
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c12(%x: tensor<4x8xf32>, %o: tensor<4xbf16>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xbf16>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    // expected-error @below {{C12: value of type 'f32' for output #0 with elements 'bf16'}}
    norm_fusion.yield %1 : f32
  } -> tensor<4xbf16>
  return
}

// -----

func.func @c13(%x: tensor<4x8xf32>, %o: tensor<8xf32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<8xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>] {
  ^bb0(%a: f32):
    // expected-error @below {{C13: 'over' has 0, expected distinct column dimensions of a space of 2}}
    %1 = norm_fusion.row_reduce add, %a over [0] : f32
    norm_fusion.yield %1 : f32
  } -> tensor<8xf32>
  return
}

// -----

func.func @c14(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error @below {{C14: combiner 'maxs' doesn't fit 'f32'}}
    %1 = norm_fusion.row_reduce maxs, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c12_empty_body(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{empty block: expect at least a terminator}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
  } -> tensor<4xf32>
  return
}

// -----

func.func @c15(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error @below {{C15: found dimension 2, expected one of a space of 2}}
    %1 = norm_fusion.index 2 : index
    %2 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %2 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @c7_index(%x: tensor<4x8xf32>, %o: tensor<4xindex>) {
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xindex>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.index 1 : index
    // expected-error @below {{C7: value for output #0 varies over dimension d1 that the output lacks}}
    norm_fusion.yield %1 : index
  } -> tensor<4xindex>
  return
}

// -----

func.func @index_outside() -> index {
  // expected-error @below {{expects parent op 'norm_fusion.mixed_reduction'}}
  %0 = norm_fusion.index 0 : index
  return %0 : index
}

// -----

func.func @c16(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{C16: few_rows for 9 rows, expected at least 10}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
      few_rows = [#norm_fusion.few_rows<rows = 9, schedule = <"structure=plain">>,
                  #norm_fusion.few_rows<rows = 9, schedule = <"structure=plain">>] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @few_rows_of_another_kind(%x: tensor<4x8xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{schedules for few rows}}
  %0 = norm_fusion.mixed_reduction dims = [row, column]
      ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>)
      maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>]
      few_rows = [9] {
  ^bb0(%a: f32):
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @index_without_dimension(%x: tensor<4x8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>) maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error@+1 {{requires attribute 'dim'}}
    %i = "norm_fusion.index"() : () -> index
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @index_out_of_range(%x: tensor<4x8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>) maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error@+1 {{C15: found dimension 4000000000, expected one of a space of 2}}
    %i = norm_fusion.index 4000000000 : index
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @accumulate_without_operand(%x: tensor<4x8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<4x8xf32>) outs(%o : tensor<4xf32>) maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32):
    // expected-error@+1 {{requires a single operand}}
    "norm_fusion.partial_accumulate"() <{combiner = #norm_fusion<combiner add>}> : () -> ()
    %1 = norm_fusion.row_reduce add, %a : f32
    norm_fusion.yield %1 : f32
  } combine { ^bb0(%b: f32, %c: f32): norm_fusion.yield } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @vector_operand(%x: tensor<4x8xf32>, %v: vector<8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{C2: operand #1 is 'vector<8xf32>', expected a tensor, a memref or a scalar}}
  %0 = norm_fusion.mixed_reduction dims = [row, column] ins(%x, %v : tensor<4x8xf32>, vector<8xf32>) outs(%o : tensor<4xf32>) maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>] {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    %1 = norm_fusion.row_reduce add, %p : f32
    norm_fusion.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
