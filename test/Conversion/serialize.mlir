// Modules become binaries in their order, the same bytes with and without threads, and as upstream's pass makes them but for how long it took.
// RUN: split-file %s %t
// RUN: norm-fusion-opt %t/two.mlir --norm-fusion-serialize | FileCheck %t/two.mlir
// RUN: norm-fusion-opt %t/two.mlir --norm-fusion-serialize -o %t/threads.mlir
// RUN: norm-fusion-opt %t/two.mlir --norm-fusion-serialize --mlir-disable-threading | diff - %t/threads.mlir
// RUN: norm-fusion-opt %t/two.mlir --gpu-module-to-binary=format=isa | sed "s/[A-Za-z]*TimeInMs = [0-9]* : i64, //" | diff - %t/threads.mlir
// RUN: not norm-fusion-opt %t/two.mlir --norm-fusion-serialize=format=elf 2>&1 | FileCheck %t/two.mlir --check-prefix=FORMAT
// RUN: norm-fusion-opt %t/none.mlir --norm-fusion-serialize --verify-diagnostics

//--- two.mlir
// FORMAT: error: unknown format 'elf', expected isa, bin or fatbin
// CHECK-NOT: gpu.module
// CHECK: gpu.binary @a
// CHECK-SAME: .entry ka
// CHECK: gpu.binary @b
// CHECK-SAME: .entry kb
module attributes {gpu.container_module} {
  gpu.module @a [#nvvm.target<chip = "sm_90", features = "+ptx80">] {
    llvm.func @ka() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
  gpu.module @b [#nvvm.target<chip = "sm_90", features = "+ptx80">] {
    llvm.func @kb() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
}

//--- none.mlir
module attributes {gpu.container_module} {
  // expected-error @+1 {{has no target; run norm-fusion-attach-target first}}
  gpu.module @a {
    llvm.func @ka() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  }
}
