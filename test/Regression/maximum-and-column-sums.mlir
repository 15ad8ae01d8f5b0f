// A block's maximum over everything and its row groups' column sums go through
// the same shared memory: those of steps ahead of their sums, which lie behind
// the ring, too.
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=4 order-seed=5" --dims=64 --check --schedule="ahead=1 warps=4 row-groups=2 chunks=1"
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=4 order-seed=3 weak=2" --dims=64 --check --schedule="cluster=2 ahead=1 warps=2 row-groups=2 chunks=1"
// RUN: norm-fusion-runner %s --device=emulator --emulator="sms=4 order-seed=3 weak=2" --dims=64 --check --schedule="ahead=0 warps=4 row-groups=2 chunks=1"

#element = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
func.func @rms_backward(%dy: tensor<?x1024xbf16>, %x: tensor<?x1024xbf16>, %w: tensor<1024xf32>, %rstd: tensor<?xf32>) -> (tensor<?x1024xbf16>, tensor<1024xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %columns = arith.constant 1024.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %empty = tensor.empty(%rows) : tensor<?x1024xf32>
  %g = linalg.generic {indexing_maps = [#element, #column, #element], iterator_types = ["parallel", "parallel"]} ins(%dy, %w : tensor<?x1024xbf16>, tensor<1024xf32>) outs(%empty : tensor<?x1024xf32>) {
  ^bb0(%a: bf16, %b: f32, %out: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x1024xf32>
  %xh = linalg.generic {indexing_maps = [#element, #row, #element], iterator_types = ["parallel", "parallel"]} ins(%x, %rstd : tensor<?x1024xbf16>, tensor<?xf32>) outs(%empty : tensor<?x1024xf32>) {
  ^bb0(%a: bf16, %b: f32, %out: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x1024xf32>
  %row_empty = tensor.empty(%rows) : tensor<?xf32>
  %row_zero = linalg.fill ins(%zero : f32) outs(%row_empty : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#element, #element, #row], iterator_types = ["parallel", "reduction"]} ins(%g, %xh : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%row_zero : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %0, %sum : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %dx_empty = tensor.empty(%rows) : tensor<?x1024xbf16>
  %dx = linalg.generic {indexing_maps = [#element, #element, #row, #row, #element], iterator_types = ["parallel", "parallel"]} ins(%g, %xh, %s, %rstd : tensor<?x1024xf32>, tensor<?x1024xf32>, tensor<?xf32>, tensor<?xf32>) outs(%dx_empty : tensor<?x1024xbf16>) {
  ^bb0(%a: f32, %b: f32, %sum: f32, %r: f32, %out: bf16):
    %0 = arith.divf %sum, %columns : f32
    %1 = arith.mulf %b, %0 : f32
    %2 = arith.subf %a, %1 : f32
    %3 = arith.mulf %2, %r : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<?x1024xbf16>
  %column_empty = tensor.empty() : tensor<1024xf32>
  %column_zero = linalg.fill ins(%zero : f32) outs(%column_empty : tensor<1024xf32>) -> tensor<1024xf32>
  %dw = linalg.generic {indexing_maps = [#element, #element, #column], iterator_types = ["reduction", "parallel"]} ins(%dy, %xh : tensor<?x1024xbf16>, tensor<?x1024xf32>) outs(%column_zero : tensor<1024xf32>) {
  ^bb0(%a: bf16, %b: f32, %sum: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %b : f32
    %2 = arith.addf %1, %sum : f32
    linalg.yield %2 : f32
  } -> tensor<1024xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%ninf : f32) outs(%se : tensor<f32>) -> tensor<f32>
  %amax = linalg.generic {indexing_maps = [#element, affine_map<(m, n) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%dy : tensor<?x1024xbf16>) outs(%s0 : tensor<f32>) {
  ^bb0(%a: bf16, %m: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = math.absf %0 : f32
    %2 = arith.maximumf %1, %m : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %dx, %dw, %amax : tensor<?x1024xbf16>, tensor<1024xf32>, tensor<f32>
}
