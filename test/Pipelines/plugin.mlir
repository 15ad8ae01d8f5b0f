// Debian's own mlir-opt with the plugin prints what norm-fusion-opt prints.
// RUN: norm-fusion-opt %docs/example.mlir --norm-fusion-fuse="chip=sm_90a" > %t.opt
// RUN: mlir-opt %docs/example.mlir --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --pass-pipeline="builtin.module(norm-fusion-fuse{chip=sm_90a})" > %t.plugin
// RUN: cmp %t.opt %t.plugin
// RUN: FileCheck %s < %t.plugin

// CHECK: norm_fusion.mixed_reduction
