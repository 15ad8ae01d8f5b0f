// Before sm_90 nothing is asked for ahead of a launch, and kernels don't say that they wait; what isn't a kernel's stays.
// RUN: norm-fusion-opt %s --norm-fusion-attach-target="chip=sm_80" | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: norm-fusion-opt %s --norm-fusion-attach-target="chip=sm_90a" | FileCheck %s --check-prefixes=CHECK,SM90
// CHECK: gpu.module @kernels [#nvvm.target<{{.*}}chip = "sm_
// SM80-NOT: @k_dependent
// SM90: @k_dependent
// CHECK: @mine_dependent
// SM80-NOT: nvvm.griddepcontrol
// SM90: nvvm.griddepcontrol
module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global external constant @k_dependent(1 : i32) {addr_space = 1 : i32} : i32
    llvm.mlir.global external constant @mine_dependent(1 : i32) {addr_space = 1 : i32} : i32
    llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
      nvvm.griddepcontrol wait
      llvm.return
    }
  }
}
