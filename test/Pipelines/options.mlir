// What isn't an option's value is refused, and nothing is compiled.
// RUN: not norm-fusion-opt %s --norm-fusion-lower=format=foo 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: Cannot find option named 'foo'
// FORMAT-NOT: module
// RUN: not norm-fusion-opt %s --norm-fusion-lower=plain=foo 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: Cannot find option named 'foo'
// RUN: not norm-fusion-opt %s --norm-fusion-lower=target=foo 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'foo', expected nvvm or emulator
// RUN: not norm-fusion-opt %s --norm-fusion-fuse=chip=sm_70 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'sm_70', expected sm_80
// RUN: not norm-fusion-opt %s --norm-fusion-fuse=bogus=1 2>&1 | FileCheck %s --check-prefix=BOGUS
// BOGUS: no such option bogus
