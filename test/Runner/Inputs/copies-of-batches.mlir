// Three copies of two types of rows of two dimensions, (batch, row): of each batch, of all columns first.
func.func @main(%dy: tensor<?x?x200xbf16>, %x: tensor<?x?x200xbf16>, %r: tensor<?x?xf32>) -> (tensor<200x?x?xf8E4M3FN>, tensor<?x200x?xbf16>, tensor<?x?x200xbf16>, tensor<200xf32>) {
%z = arith.constant 0.0 : f32
%cb = arith.constant 0 : index
%nb = tensor.dim %dy, %cb : tensor<?x?x200xbf16>
%cs = arith.constant 1 : index
%ns = tensor.dim %dy, %cs : tensor<?x?x200xbf16>
%e1 = tensor.empty(%nb, %ns) : tensor<?x?xf32>
%f2 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
%s = linalg.generic {indexing_maps=[affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types=["parallel", "parallel", "reduction"]} ins(%dy,%x,%r : tensor<?x?x200xbf16>,tensor<?x?x200xbf16>,tensor<?x?xf32>) outs(%f2 : tensor<?x?xf32>) {
^bb0(%a: bf16, %b: bf16, %rr: f32, %o: f32):
 %1 = arith.extf %a : bf16 to f32
 %2 = arith.extf %b : bf16 to f32
 %3 = arith.mulf %2, %rr : f32
 %4 = arith.mulf %1, %3 : f32
 %5 = arith.addf %4, %o : f32
 linalg.yield %5 : f32 } -> tensor<?x?xf32>
%e3 = tensor.empty() : tensor<200xf32>
%f4 = linalg.fill ins(%z : f32) outs(%e3 : tensor<200xf32>) -> tensor<200xf32>
%w = linalg.generic {indexing_maps=[affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d2)>], iterator_types=["reduction", "reduction", "parallel"]} ins(%dy,%x,%r : tensor<?x?x200xbf16>,tensor<?x?x200xbf16>,tensor<?x?xf32>) outs(%f4 : tensor<200xf32>) {
^bb0(%a: bf16, %b: bf16, %rr: f32, %o: f32):
 %1 = arith.extf %a : bf16 to f32
 %2 = arith.extf %b : bf16 to f32
 %3 = arith.mulf %2, %rr : f32
 %4 = arith.mulf %1, %3 : f32
 %5 = arith.addf %4, %o : f32
 linalg.yield %5 : f32 } -> tensor<200xf32>
%e5 = tensor.empty(%nb, %ns) : tensor<200x?x?xf8E4M3FN>
%o0 = linalg.generic {indexing_maps=[affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d2, d0, d1)>], iterator_types=["parallel", "parallel", "parallel"]} ins(%dy,%x,%r,%s : tensor<?x?x200xbf16>,tensor<?x?x200xbf16>,tensor<?x?xf32>,tensor<?x?xf32>) outs(%e5 : tensor<200x?x?xf8E4M3FN>) {
^bb0(%a: bf16, %b: bf16, %rr: f32, %ss: f32, %oo: f8E4M3FN):
 %lo = arith.constant -448.0 : f32
 %hi = arith.constant 448.0 : f32
 %1 = arith.extf %a : bf16 to f32
 %2 = arith.extf %b : bf16 to f32
 %nn = arith.constant 200.0 : f32
 %3 = arith.mulf %2, %rr : f32
 %5 = arith.divf %ss, %nn : f32
 %6 = arith.mulf %3, %5 : f32
 %7 = arith.subf %1, %6 : f32
 %c = arith.constant 1.0 : f32
 %8 = arith.mulf %7, %c : f32
 %9 = arith.maximumf %8, %lo : f32
 %10 = arith.minimumf %9, %hi : f32
 %out = arith.truncf %10 : f32 to f8E4M3FN
 linalg.yield %out : f8E4M3FN } -> tensor<200x?x?xf8E4M3FN>
%e6 = tensor.empty(%nb, %ns) : tensor<?x200x?xbf16>
%o1 = linalg.generic {indexing_maps=[affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d0, d2, d1)>], iterator_types=["parallel", "parallel", "parallel"]} ins(%dy,%x,%r,%s : tensor<?x?x200xbf16>,tensor<?x?x200xbf16>,tensor<?x?xf32>,tensor<?x?xf32>) outs(%e6 : tensor<?x200x?xbf16>) {
^bb0(%a: bf16, %b: bf16, %rr: f32, %ss: f32, %oo: bf16):
 %1 = arith.extf %a : bf16 to f32
 %2 = arith.extf %b : bf16 to f32
 %nn = arith.constant 200.0 : f32
 %3 = arith.mulf %2, %rr : f32
 %5 = arith.divf %ss, %nn : f32
 %6 = arith.mulf %3, %5 : f32
 %7 = arith.subf %1, %6 : f32
 %c = arith.constant 1.5 : f32
 %8 = arith.mulf %7, %c : f32
 %out = arith.truncf %8 : f32 to bf16
 linalg.yield %out : bf16 } -> tensor<?x200x?xbf16>
%e7 = tensor.empty(%ns, %nb) : tensor<?x?x200xbf16>
%o2 = linalg.generic {indexing_maps=[affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1, d2)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d0, d1)>,affine_map<(d0, d1, d2) -> (d1, d0, d2)>], iterator_types=["parallel", "parallel", "parallel"]} ins(%dy,%x,%r,%s : tensor<?x?x200xbf16>,tensor<?x?x200xbf16>,tensor<?x?xf32>,tensor<?x?xf32>) outs(%e7 : tensor<?x?x200xbf16>) {
^bb0(%a: bf16, %b: bf16, %rr: f32, %ss: f32, %oo: bf16):
 %1 = arith.extf %a : bf16 to f32
 %2 = arith.extf %b : bf16 to f32
 %nn = arith.constant 200.0 : f32
 %3 = arith.mulf %2, %rr : f32
 %5 = arith.divf %ss, %nn : f32
 %6 = arith.mulf %3, %5 : f32
 %7 = arith.subf %1, %6 : f32
 %c = arith.constant 2.0 : f32
 %8 = arith.mulf %7, %c : f32
 %out = arith.truncf %8 : f32 to bf16
 linalg.yield %out : bf16 } -> tensor<?x?x200xbf16>
return %o0, %o1, %o2, %w : tensor<200x?x?xf8E4M3FN>, tensor<?x200x?xbf16>, tensor<?x?x200xbf16>, tensor<200xf32>
}