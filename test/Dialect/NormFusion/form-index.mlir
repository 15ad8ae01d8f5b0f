// Indices of loops: masks, positions, and ops that read nothing else.
// RUN: norm-fusion-opt %s --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form --norm-fusion-form | FileCheck %s
// RUN: norm-fusion-opt %s --norm-fusion-form --norm-fusion-partial-accumulate --norm-fusion-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: norm-fusion-opt %s --norm-fusion-form -o %t --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: norm-fusion-runner %s --entry=mask --device=emulator --check --input=40x64xf32 --input=i32=17
// RUN: norm-fusion-runner %s --entry=iota --device=emulator --check --input=40x65xf32 --input=40xi32=17
// RUN: norm-fusion-runner %s --entry=flattened --device=emulator --check
// RUN: norm-fusion-runner %s --entry=unit --device=emulator --check
// RUN: norm-fusion-runner %s --entry=finished --device=emulator --check

#e = affine_map<(m, n) -> (m, n)>
#r = affine_map<(m, n) -> (m)>
#c = affine_map<(m, n) -> (n)>
#s = affine_map<(m, n) -> ()>
#e3 = affine_map<(a, b, n) -> (a, b, n)>
#b3 = affine_map<(a, b, n) -> (b)>
#r3 = affine_map<(a, b, n) -> (a, b)>
#c3 = affine_map<(a, b, n) -> (n)>

// Rows from `length` on are padding.

// CHECK-LABEL: func @mask
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK-NEXT:      ins(%{{.+}}, %{{.+}} : tensor<40x64xf32>, i32)
// CHECK:         %[[I:.+]] = norm_fusion.index 0 : index
// CHECK:         %[[C:.+]] = arith.index_cast %[[I]] : index to i32
// CHECK:         arith.cmpi slt, %[[C]]
// CHECK:         norm_fusion.column_reduce add
// LINALG-LABEL: func @mask
// LINALG-NOT:     norm_fusion
// LINALG:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
// LINALG:         linalg.index 0 : index
func.func @mask(%x: tensor<40x64xf32>, %length: i32) -> (tensor<40xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %ec = tensor.empty() : tensor<64xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<64xf32>) -> tensor<64xf32>
  %row = linalg.reduce {arith.addf} ins(%x : tensor<40x64xf32>) outs(%fr : tensor<40xf32>) dimensions = [1]
  %column = linalg.generic {indexing_maps = [#e, #s, #c], iterator_types = ["reduction", "parallel"]}
      ins(%x, %length : tensor<40x64xf32>, i32) outs(%fc : tensor<64xf32>) {
  ^bb0(%a: f32, %l: i32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %p = arith.cmpi slt, %j, %l : i32
    %q = arith.select %p, %a, %zero : f32
    %t = arith.addf %o, %q : f32
    linalg.yield %t : f32
  } -> tensor<64xf32>
  return %row, %column : tensor<40xf32>, tensor<64xf32>
}

// The positions that an exporter writes to memory (one-hot labels) are none of
// the op's inputs.

// CHECK-LABEL: func @iota
// CHECK-NOT:     linalg.generic
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK-NEXT:      ins(%{{.+}}, %{{.+}} : tensor<40x65xf32>, tensor<40xi32>)
// CHECK:         norm_fusion.index 1 : index
// CHECK-NOT:     linalg.generic
// LINALG-LABEL: func @iota
// LINALG:         linalg.index {{[01]}} : index
func.func @iota(%x: tensor<40x65xf32>, %labels: tensor<40xi32>) -> (tensor<40x65xf32>, tensor<65xf32>) {
  %zero = arith.constant 0.0 : f32
  %ei = tensor.empty() : tensor<40x65xi32>
  %positions = linalg.generic {indexing_maps = [#e], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<40x65xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %t = arith.index_cast %j : index to i32
    linalg.yield %t : i32
  } -> tensor<40x65xi32>
  %er = tensor.empty() : tensor<40xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %ec = tensor.empty() : tensor<65xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<65xf32>) -> tensor<65xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<40x65xf32>) outs(%fr : tensor<40xf32>) dimensions = [1]
  %e = tensor.empty() : tensor<40x65xf32>
  %dx = linalg.generic {indexing_maps = [#e, #e, #r, #r, #e], iterator_types = ["parallel", "parallel"]}
      ins(%x, %positions, %labels, %sum : tensor<40x65xf32>, tensor<40x65xi32>, tensor<40xi32>, tensor<40xf32>)
      outs(%e : tensor<40x65xf32>) {
  ^bb0(%a: f32, %j: i32, %l: i32, %s: f32, %o: f32):
    %hot = arith.cmpi eq, %j, %l : i32
    %p = arith.subf %a, %s : f32
    %t = arith.select %hot, %p, %a : f32
    linalg.yield %t : f32
  } -> tensor<40x65xf32>
  %column = linalg.reduce {arith.addf} ins(%dx : tensor<40x65xf32>) outs(%fc : tensor<65xf32>) dimensions = [0]
  return %dx, %column : tensor<40x65xf32>, tensor<65xf32>
}

// A loop over two dimensions of the op, which another operand tells apart.

// CHECK-LABEL: func @flattened
// CHECK:         norm_fusion.mixed_reduction dims = [row, row, column]
// CHECK:           %[[I:.+]] = norm_fusion.index 0 : index
// CHECK-NEXT:      %[[SIZE:.+]] = arith.constant 6 : index
// CHECK-NEXT:      %[[K:.+]] = arith.muli %[[I]], %[[SIZE]] : index
// CHECK-NEXT:      %[[J:.+]] = norm_fusion.index 1 : index
// CHECK-NEXT:      arith.addi %[[K]], %[[J]] : index
func.func @flattened(%x: tensor<4x6x32xf32>, %scale: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<4x6xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x6xf32>) -> tensor<4x6xf32>
  %ec = tensor.empty() : tensor<32xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<32xf32>) -> tensor<32xf32>
  %row = linalg.generic {indexing_maps = [#e3, #b3, #r3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %scale : tensor<4x6x32xf32>, tensor<6xf32>) outs(%fr : tensor<4x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x6xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x6x32xf32> into tensor<24x32xf32>
  %column = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]}
      ins(%flat : tensor<24x32xf32>) outs(%fc : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %p = arith.mulf %a, %k : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  return %row, %column : tensor<4x6xf32>, tensor<32xf32>
}

// The same where the inner size isn't known.

// REMARK:      unknown-size
// CHECK-LABEL: func @dynamic
// CHECK-NOT:     norm_fusion
func.func @dynamic(%x: tensor<4x?x32xf32>, %scale: tensor<?xf32>) -> (tensor<4x?xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %size = tensor.dim %x, %one : tensor<4x?x32xf32>
  %er = tensor.empty(%size) : tensor<4x?xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %ec = tensor.empty() : tensor<32xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<32xf32>) -> tensor<32xf32>
  %row = linalg.generic {indexing_maps = [#e3, #b3, #r3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %scale : tensor<4x?x32xf32>, tensor<?xf32>) outs(%fr : tensor<4x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x?xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x?x32xf32> into tensor<?x32xf32>
  %column = linalg.generic {indexing_maps = [#e, #c], iterator_types = ["reduction", "parallel"]}
      ins(%flat : tensor<?x32xf32>) outs(%fc : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %p = arith.mulf %a, %k : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  return %row, %column : tensor<4x?xf32>, tensor<32xf32>
}

// A loop of one step is none of the space: its index is 0.

// CHECK-LABEL: func @unit
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK-NOT:       norm_fusion.index
// CHECK:         return
func.func @unit(%x: tensor<1x8x32xf32>) -> (tensor<1x8xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<1x8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1x8xf32>) -> tensor<1x8xf32>
  %ec = tensor.empty() : tensor<32xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<32xf32>) -> tensor<32xf32>
  %row = linalg.generic {indexing_maps = [#e3, #r3], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<1x8x32xf32>) outs(%fr : tensor<1x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %p = arith.addf %a, %k : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8xf32>
  %column = linalg.reduce {arith.addf} ins(%x : tensor<1x8x32xf32>) outs(%fc : tensor<32xf32>) dimensions = [0, 1]
  return %row, %column : tensor<1x8xf32>, tensor<32xf32>
}

// Of a finished column.

// CHECK-LABEL: func @finished
// CHECK:         norm_fusion.mixed_reduction dims = [row, column]
// CHECK:         norm_fusion.index 1 : index
// CHECK-NOT:     linalg.generic
// LINALG-LABEL: func @finished
func.func @finished(%x: tensor<8x33xf32>) -> (tensor<8xf32>, tensor<33xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<8xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<8xf32>) -> tensor<8xf32>
  %ec = tensor.empty() : tensor<33xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<33xf32>) -> tensor<33xf32>
  %row = linalg.reduce {arith.addf} ins(%x : tensor<8x33xf32>) outs(%fr : tensor<8xf32>) dimensions = [1]
  %column = linalg.reduce {arith.addf} ins(%x : tensor<8x33xf32>) outs(%fc : tensor<33xf32>) dimensions = [0]
  %even = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>], iterator_types = ["parallel"]}
      ins(%column : tensor<33xf32>) outs(%ec : tensor<33xf32>) {
  ^bb0(%a: f32, %o: f32):
    %j = linalg.index 0 : index
    %two = arith.constant 2 : index
    %odd = arith.remui %j, %two : index
    %k = arith.index_cast %odd : index to i1
    %t = arith.select %k, %zero, %a : f32
    linalg.yield %t : f32
  } -> tensor<33xf32>
  return %row, %even : tensor<8xf32>, tensor<33xf32>
}
