// A result materialized in an argument, which callers keep: it goes to a buffer of its own. Source and destination may be the same.
// RUN: norm-fusion-opt %s --norm-fusion-lower=target=emulator -o %t
// RUN: norm-fusion-runner %s --device=emulator --dims=9x9 --check --repeat=2 --bitwise
func.func @main(%x: tensor<?x96xf32>, %dest: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x96xf32>
  %y = linalg.add ins(%x, %dest : tensor<?x96xf32>, tensor<?x96xf32>) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %0 = bufferization.materialize_in_destination %y in %dest : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  %1 = bufferization.materialize_in_destination %dest in %dest : (tensor<?x96xf32>, tensor<?x96xf32>) -> tensor<?x96xf32>
  return %0, %1, %dest : tensor<?x96xf32>, tensor<?x96xf32>, tensor<?x96xf32>
}
