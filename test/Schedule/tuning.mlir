// Schedules of a database of tuned ones: taken for the problem, chip and version that they were found for.
// RUN: rm -rf %t && mkdir %t
// RUN: sed "s/VERSION/%version/" %S/Inputs/tuned.json > %t/tuned.json
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/tuned.json" --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t/remarks.yaml | FileCheck %s --check-prefixes=CHECK,TUNED
// RUN: FileCheck %s --check-prefix=REMARK < %t/remarks.yaml

// Fields of the command line come on top.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/tuned.json schedule='combine=grid'" | FileCheck %s --check-prefixes=CHECK,OVER
// A schedule that is there stays.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule | norm-fusion-opt --norm-fusion-schedule="tuning=%t/tuned.json" | FileCheck %s --check-prefixes=CHECK,OWN
// The pipelines take a database too.
// RUN: norm-fusion-opt %s --norm-fusion-fuse="tuning=%t/tuned.json" | FileCheck %s --check-prefixes=CHECK,TUNED

// Other chips and versions don't count, and what isn't possible isn't taken.
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="chip=sm_100 tuning=%t/tuned.json" --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t/other.yaml | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: FileCheck %s --check-prefix=CHIP < %t/other.yaml
// RUN: sed "s/VERSION/0.0.9/" %S/Inputs/tuned.json > %t/old.json
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/old.json" --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t/old.yaml | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: FileCheck %s --check-prefix=OLD < %t/old.yaml
// RUN: sed "s/cluster=1 warps=8/cluster=1 warps=2/" %t/tuned.json > %t/few.json
// RUN: norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/few.json" --remarks-filter='norm-fusion.*' --remark-format=yaml --remarks-output-file=%t/few.yaml | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: FileCheck %s --check-prefix=FEW < %t/few.yaml

// What isn't a database is an error that says where.
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed "s/warps=8 row/warps=eight row/" %t/tuned.json > %t/field.json
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/field.json" 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=/dev/zero" 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: error: '/dev/zero' is a device, expected a file or a pipe
// Of an entry that no op here asks for, too.
// RUN: sed "s/warps=8\"/warps=eight\"/" %t/tuned.json > %t/unused.json
// RUN: not norm-fusion-opt %s --norm-fusion-fuse="tuning=%t/unused.json" 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: sed "s/entries/entry/" %t/tuned.json > %t/key.json
// RUN: not norm-fusion-opt %s --norm-fusion-partial-accumulate --norm-fusion-schedule="tuning=%t/key.json" 2>&1 | FileCheck %s --check-prefix=KEY

// CHECK-LABEL: func @bf16
// TUNED: schedule<"structure=ring cluster=1 warps=8 row-groups=2 slots=3 chunks=2 vector=8 copy=cp-async combine=kernel pace=0 grid=0">
// OVER: schedule<"structure=ring cluster=1 warps=8 row-groups=2 slots=3 chunks=2 vector=8 copy=cp-async combine=grid pace=0 grid=0">
// OWN-NOT: cluster=1 {{.*}} slots=3 {{.*}} combine=kernel
// OWN: schedule<"structure=ring {{.*}} combine=tags

// REMARK: Name: {{ *}}schedule
// REMARK: tuned: 51.50 us, untuned 53.25, with 8192 rows on a GPU
// CHIP: Name: {{ *}}tuning
// CHIP: tuned for sm_90a with version [[VERSION:[0-9.]+]], not for sm_100 with version [[VERSION]]; tune again with norm-fusion-runner --tune
// OLD: Name: {{ *}}tuning
// OLD: tuned for sm_90a with version 0.0.9, not for sm_90a with version
// FEW: Name: {{ *}}tuning
// FEW: the tuned schedule isn''t possible: cluster=1 warps=2 {{.*}} hold 1024 columns, the problem has 4096

// NONE: error: tuning database {{.*}}none.json: No such file or directory
// FIELD: error: tuning database {{.*}}field.json: entries[1].schedule: schedule field 'warps' is 'eight'
// UNUSED: error: tuning database {{.*}}unused.json: entries[0].schedule: schedule field 'warps' is 'eight'
// KEY: error: tuning database {{.*}}key.json: entries: expected an array

#e = affine_map<(m, n) -> (m, n)>
#c = affine_map<(m, n) -> (n)>
func.func @bf16(%x: tensor<?x4096xbf16>, %o: tensor<?x4096xbf16>, %t: tensor<4096xf32>) -> (tensor<?x4096xbf16>, tensor<4096xf32>) {
  %0:2 = norm_fusion.mixed_reduction dims = [row, column] ins(%x : tensor<?x4096xbf16>) outs(%o, %t : tensor<?x4096xbf16>, tensor<4096xf32>) maps = [#e, #e, #c] {
  ^bb0(%a: bf16):
    %f = arith.extf %a : bf16 to f32
    %s = norm_fusion.row_reduce add, %f : f32
    %d = arith.subf %f, %s : f32
    %b = arith.truncf %d : f32 to bf16
    %k = norm_fusion.column_reduce add, %f : f32
    norm_fusion.yield %b, %k : bf16, f32
  } -> tensor<?x4096xbf16>, tensor<4096xf32>
  return %0#0, %0#1 : tensor<?x4096xbf16>, tensor<4096xf32>
}
