"""usage: grid.py BUNDLE MULTIPROCESSORS CLUSTERS: prints the grids that a bundle launches for 100 rows, on such a device."""
import json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../benchmarks"))
from formula import FUNCTIONS, compile_formula

manifest = json.load(open(os.path.join(sys.argv[1], "manifest.json")))
v = {**FUNCTIONS, "multiprocessors": int(sys.argv[2]), "max_active_clusters": lambda cluster, threads: int(sys.argv[3])}
for i, argument in enumerate(manifest["arguments"]):
    v[f"arg{i}"] = 4096 * (i + 1)
    v.update({f"arg{i}.dim{d}": 100 if size is None else size for d, size in enumerate(argument["shape"])})
v.update({buffer["name"]: 1 << 20 for buffer in manifest["buffers"]})
assert all(compile_formula(c["condition"])(v) for c in manifest["requires"])
for kernel in manifest["kernels"]:
    if compile_formula(kernel["when"])(v):
        print(kernel["name"], [compile_formula(size)(v) for size in kernel["grid"]])
