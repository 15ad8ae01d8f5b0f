// A column sum that begins with another one of the same rows is later than the group: the remark says what it begins with, not that there are
// no row reductions. Added up afterwards, both fuse.
// RUN: norm-fusion-opt %s --norm-fusion-form --remarks-filter='norm-fusion.*' --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: norm-fusion-runner %s --entry=begins --device=emulator --check
// RUN: norm-fusion-runner %s --entry=added --device=emulator --check
// CHECK:     [Passed] formed {{.*}}Function=begins{{.*}}column-reductions=1,
// CHECK:     [Missed] no-row-reduction {{.*}}Function=begins{{.*}}found="a column reduction that begins with the result of a group of the same operands"
// CHECK-NOT: [Missed]
// CHECK:     [Passed] formed {{.*}}Function=added{{.*}}column-reductions=2,
// CHECK-NOT: [Missed]

#id = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>
func.func @begins(%dy: tensor<20x64xf32>, %x: tensor<20x64xf32>, %a: tensor<64xf32>, %r: tensor<20xf32>) -> (tensor<20x64xf32>, tensor<64xf32>) {
  %s = linalg.generic {indexing_maps = [#id, #id, #m], iterator_types = ["parallel", "reduction"]} ins(%dy, %x : tensor<20x64xf32>, tensor<20x64xf32>) outs(%r : tensor<20xf32>) {
  ^bb0(%d: f32, %h: f32, %o: f32):
    %1 = arith.mulf %d, %h : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<20xf32>
  %w = tensor.empty() : tensor<20x64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #m, #id], iterator_types = ["parallel", "parallel"]} ins(%dy, %s : tensor<20x64xf32>, tensor<20xf32>) outs(%w : tensor<20x64xf32>) {
  ^bb0(%d: f32, %u: f32, %o: f32):
    %1 = arith.subf %d, %u : f32
    linalg.yield %1 : f32
  } -> tensor<20x64xf32>
  %b = linalg.reduce {arith.addf} ins(%x : tensor<20x64xf32>) outs(%a : tensor<64xf32>) dimensions = [0]
  %c = linalg.reduce {arith.addf} ins(%dy : tensor<20x64xf32>) outs(%b : tensor<64xf32>) dimensions = [0]
  return %dx, %c : tensor<20x64xf32>, tensor<64xf32>
}

func.func @added(%dy: tensor<20x64xf32>, %x: tensor<20x64xf32>, %a: tensor<64xf32>, %r: tensor<20xf32>) -> (tensor<20x64xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id, #m], iterator_types = ["parallel", "reduction"]} ins(%dy, %x : tensor<20x64xf32>, tensor<20x64xf32>) outs(%r : tensor<20xf32>) {
  ^bb0(%d: f32, %h: f32, %o: f32):
    %1 = arith.mulf %d, %h : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<20xf32>
  %w = tensor.empty() : tensor<20x64xf32>
  %dx = linalg.generic {indexing_maps = [#id, #m, #id], iterator_types = ["parallel", "parallel"]} ins(%dy, %s : tensor<20x64xf32>, tensor<20xf32>) outs(%w : tensor<20x64xf32>) {
  ^bb0(%d: f32, %u: f32, %o: f32):
    %1 = arith.subf %d, %u : f32
    linalg.yield %1 : f32
  } -> tensor<20x64xf32>
  %b = linalg.reduce {arith.addf} ins(%x : tensor<20x64xf32>) outs(%a : tensor<64xf32>) dimensions = [0]
  %t = linalg.reduce {arith.addf} ins(%dy : tensor<20x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
  %c = linalg.add ins(%b, %t : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %dx, %c : tensor<20x64xf32>, tensor<64xf32>
}
