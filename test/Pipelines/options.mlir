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
// RUN: not norm-fusion-opt %s --norm-fusion-plain-host=chip=sm_80 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: no such option chip
// RUN: not norm-fusion-opt %s --norm-fusion-expand-float-conversions=chip=foo 2>&1 | FileCheck %s --check-prefix=FLOATS
// FLOATS: error: unknown chip 'foo', expected sm_80
// RUN: not norm-fusion-opt %s --norm-fusion-expand-math=ops=exp,nope 2>&1 | FileCheck %s --check-prefix=MATH
// MATH: error: unknown op 'nope', expected ops of the math dialect, maxnumf or minnumf
// RUN: norm-fusion-opt %s --norm-fusion-expand-math=ops=exp,maxnumf --norm-fusion-expand-float-conversions=chip=sm_90a
// A pipeline is for a module; under another op upstream's passes ended the process.
// RUN: not norm-fusion-opt %s --pass-pipeline='builtin.module(func.func(norm-fusion-fuse))' 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: not norm-fusion-opt %s --pass-pipeline='builtin.module(func.func(norm-fusion-lower{chip=sm_80}))' 2>&1 | FileCheck %s --check-prefix=NESTED
// NESTED: error: 'norm-fusion-{{fuse|lower}}' is nested under 'func.func', expected 'builtin.module'
// RUN: norm-fusion-opt %s --pass-pipeline='any(norm-fusion-fuse)'
