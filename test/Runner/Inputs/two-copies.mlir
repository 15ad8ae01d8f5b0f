// As outputs_ir.py's backward_transposed, with a second copy in f32.
func.func @main(%arg0: tensor<?x1024xbf16>, %arg1: tensor<?x1024xbf16>, %arg2: tensor<?x1xf32>, %arg3: tensor<1024xbf16>) -> (tensor<?x1024xbf16>, tensor<1024x?xbf16>, tensor<1024x?xf32>, tensor<1024xbf16>) {
    %zero = arith.constant 0 : index
    %rows = tensor.dim %arg0, %zero : tensor<?x1024xbf16>
    %1 = tensor.empty(%rows) : tensor<?x1024xf32>
    %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<?x1024xbf16>) outs(%1 : tensor<?x1024xf32>) {
    ^bb0(%in0: bf16, %out: f32):
      %value = arith.extf %in0 : bf16 to f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %3 = tensor.empty(%rows) : tensor<?x1024xf32>
    %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<?x1024xbf16>) outs(%3 : tensor<?x1024xf32>) {
    ^bb0(%in0: bf16, %out: f32):
      %value = arith.extf %in0 : bf16 to f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %5 = tensor.empty() : tensor<1024xf32>
    %6 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg3 : tensor<1024xbf16>) outs(%5 : tensor<1024xf32>) {
    ^bb0(%in0: bf16, %out: f32):
      %value = arith.extf %in0 : bf16 to f32
      linalg.yield %value : f32
    } -> tensor<1024xf32>
    %7 = tensor.empty(%rows) : tensor<?x1024xf32>
    %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%4, %arg2 : tensor<?x1024xf32>, tensor<?x1xf32>) outs(%7 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.mulf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %9 = tensor.empty(%rows) : tensor<?x1024xf32>
    %10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2, %6 : tensor<?x1024xf32>, tensor<1024xf32>) outs(%9 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.mulf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %11 = tensor.empty(%rows) : tensor<?x1024xf32>
    %12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%10, %8 : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%11 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.mulf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %c12_36 = arith.constant 0.000000000e+00 : f32
    %13 = tensor.empty(%rows) : tensor<?x1xf32>
    %14 = linalg.fill ins(%c12_36 : f32) outs(%13 : tensor<?x1xf32>) -> tensor<?x1xf32>
    %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>], iterator_types = ["parallel", "reduction"]} ins(%12 : tensor<?x1024xf32>) outs(%14 : tensor<?x1xf32>) {
    ^bb0(%in0: f32, %out: f32):
      %value = arith.addf %in0, %out : f32
      linalg.yield %value : f32
    } -> tensor<?x1xf32>
    %16 = tensor.empty(%rows) : tensor<?x1xf32>
    %c16_45 = arith.constant 1.024000000e+03 : f32
    %17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<?x1xf32>) outs(%16 : tensor<?x1xf32>) {
    ^bb0(%in0: f32, %out: f32):
      %value = arith.divf %in0, %c16_45 : f32
      linalg.yield %value : f32
    } -> tensor<?x1xf32>
    %18 = tensor.empty(%rows) : tensor<?x1024xf32>
    %19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%8, %17 : tensor<?x1024xf32>, tensor<?x1xf32>) outs(%18 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.mulf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %20 = tensor.empty(%rows) : tensor<?x1024xf32>
    %21 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%10, %19 : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%20 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.subf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %22 = tensor.empty(%rows) : tensor<?x1024xf32>
    %23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%21, %arg2 : tensor<?x1024xf32>, tensor<?x1xf32>) outs(%22 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.mulf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %24 = tensor.empty(%rows) : tensor<?x1024xf32>
    %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%2, %8 : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%24 : tensor<?x1024xf32>) {
    ^bb0(%in0: f32, %in1: f32, %out: f32):
      %value = arith.mulf %in0, %in1 : f32
      linalg.yield %value : f32
    } -> tensor<?x1024xf32>
    %c25_75 = arith.constant 0.000000000e+00 : f32
    %26 = tensor.empty() : tensor<1024xf32>
    %27 = linalg.fill ins(%c25_75 : f32) outs(%26 : tensor<1024xf32>) -> tensor<1024xf32>
    %28 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%25 : tensor<?x1024xf32>) outs(%27 : tensor<1024xf32>) {
    ^bb0(%in0: f32, %out: f32):
      %value = arith.addf %in0, %out : f32
      linalg.yield %value : f32
    } -> tensor<1024xf32>
    %29 = tensor.empty() : tensor<1024xbf16>
    %30 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%28 : tensor<1024xf32>) outs(%29 : tensor<1024xbf16>) {
    ^bb0(%in0: f32, %out: bf16):
      %value = arith.truncf %in0 : f32 to bf16
      linalg.yield %value : bf16
    } -> tensor<1024xbf16>
    %31 = tensor.empty(%rows) : tensor<?x1024xbf16>
    %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%23 : tensor<?x1024xf32>) outs(%31 : tensor<?x1024xbf16>) {
    ^bb0(%in0: f32, %out: bf16):
      %value = arith.truncf %in0 : f32 to bf16
      linalg.yield %value : bf16
    } -> tensor<?x1024xbf16>
    %33 = tensor.empty(%rows) : tensor<1024x?xbf16>
    %34 = linalg.transpose ins(%32 : tensor<?x1024xbf16>) outs(%33 : tensor<1024x?xbf16>) permutation = [1, 0]
    %35 = tensor.empty(%rows) : tensor<1024x?xf32>
    %36 = linalg.transpose ins(%23 : tensor<?x1024xf32>) outs(%35 : tensor<1024x?xf32>) permutation = [1, 0]
    return %32, %34, %36, %30 : tensor<?x1024xbf16>, tensor<1024x?xbf16>, tensor<1024x?xf32>, tensor<1024xbf16>
}
