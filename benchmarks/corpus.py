"""Norms of all forms at large sizes: the corpus' modules (test/Corpus), as PyTorch, JAX and IREE exported them, with other static sizes.

usage: corpus.py --runner RUNNER [--columns 768,4096] [--mb 67] [--cases SUBSTRING,...] [--check] [--json results.json]
       corpus.py scale CASE.mlir COLUMNS [--mb 67] > scaled.mlir

`scale` gives every module COLUMNS columns, and its largest array MB megabytes by more rows in the last row dimension: sizes in types, reshapes
and constants that were the size of a dimension, a product of neighbouring ones, or the number of columns, its reciprocal or its root. What has
dynamic sizes, or sizes that are alike, is left out, and so is what doesn't parse then or isn't fused as a whole.

A run compiles all bundles, --jobs at once, and times them on random inputs in CUDA graphs by the clock of peers.py; the triad moves the bytes
of all arguments that are used and of all results. --check compares the results with those of the plain kernels. Prints a line a case, the
lowest share of the triad first. Exits non-zero where a case fails or is wrong.
"""
import argparse, concurrent.futures, glob, json, math, os, re, subprocess, sys, tempfile
from harness import find_device, run_tool, save, shorten, time_calls, torch

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test", "Corpus")
BYTES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1, "f8E5M2": 1, "i64": 8, "i32": 4, "i8": 1, "i1": 1}
SHAPE = re.compile(r"((?:tensor|memref)<)((?:[\d?]+x)+)(\w+)")


class NotScaled(Exception):
    """Says why a module has no other sizes."""


# ---- Sizes -------------------------------------------------------------------------------------------------------------------------------

def map_sizes(text, columns, mb):
    """Columns before, and each size that occurs with what it becomes."""
    main = re.search(r"func(?:\.func)?\s+(?:public |private )?@main\(.*?\{\s*$", text, re.S | re.M)
    shapes = [(m[2].split("x")[:-1], m[3]) for m in SHAPE.finditer(main[0])] if main else []
    if not shapes:
        raise NotScaled("no arguments")
    if any("?" in dims for dims, _ in shapes):
        raise NotScaled("dynamic sizes")
    dims, dtype = max(((list(map(int, dims)), dtype) for dims, dtype in shapes), key=lambda shape: math.prod(shape[0]))
    vectors = [int(d[0]) for d, _ in shapes if len(d) == 1]
    if len(dims) < 2 or (vectors and dims[-1] not in vectors):
        raise NotScaled("columns that aren't the last dimension")
    rows = int(mb * 1e6 / BYTES[dtype] / columns)
    before, after = dims, [*dims[:-2], max(1, rows // math.prod(dims[:-2])), columns]
    sizes = {}
    for i in range(len(dims)):
        for j in range(i + 1, len(dims) + 1):
            sizes.setdefault(math.prod(before[i:j]), set()).add(math.prod(after[i:j]))
    if any(len(sizes[d]) > 1 for d in dims if d > 1):
        raise NotScaled("sizes that are alike")
    return dims[-1], {size: new.pop() for size, new in sizes.items() if size > 1 and len(new) == 1}


def scale(text, columns, mb):
    old, sizes = map_sizes(text, columns, mb)
    number = lambda size: str(sizes.get(int(size[0]), int(size[0])))
    text = SHAPE.sub(lambda m: m[1] + re.sub(r"\d+(?=x)", number, m[2]) + m[3], text)
    text = re.sub(r"(output_shape \[)([^\]]*)", lambda m: m[1] + re.sub(r"\b\d+\b", number, m[2]), text)
    of_columns = [(f(old), f(columns)) for f in (float, lambda n: 1 / n, lambda n: 2 / n, lambda n: 0.5 / n, math.sqrt)]

    def constant(match):
        value = float(match[0])
        for before, after in of_columns:
            if abs(abs(value) - before) <= 4e-3 * before:  # bf16 constants are rounded
                return f"{math.copysign(after, value):.9e}"
        return match[0]

    return re.sub(r"-?\d\.\d{3,}e[+-]\d\d", constant, text)


def find_modules(cases):
    for path in sorted(glob.glob(os.path.join(CORPUS, "*", "*", "ir.mlir"))):
        name = os.path.relpath(os.path.dirname(path), CORPUS)
        if not os.path.basename(name).startswith("neg_") and (not cases or any(case in name for case in cases)):
            yield name, path


# ---- Measuring ---------------------------------------------------------------------------------------------------------------------------

def compile_case(options, folder, name, path, columns):
    """The bundle of the scaled module, and with --check that of plain kernels; or why there is none."""
    try:
        text = scale(open(path).read(), columns, options.mb)
    except NotScaled as why:
        return None, str(why)
    base = os.path.join(folder, f"{name.replace('/', '.')}.{columns}")
    with open(base + ".mlir", "w") as f:
        f.write(text)
    try:
        for schedule in [None] + ["structure=plain"] * options.check:
            run_tool([options.runner, base + ".mlir", f"--emit-bundle={base}" + (".plain" if schedule else "")] + options.target
                     + ([f"--schedule={schedule}"] if schedule else []))
    except RuntimeError as error:
        return None, shorten(error)
    return base, None


def make_arguments(manifest):
    from bundle import DTYPES
    arguments = []
    for argument in manifest["arguments"]:
        dtype = DTYPES.get(argument["dtype"])
        random = torch.randn(argument["shape"], device="cuda")
        if dtype is None or not dtype.is_floating_point:
            arguments.append((random > 0).to({"i64": torch.int64, "i32": torch.int32}.get(argument["dtype"], torch.uint8)))
        else:  # what has few elements may be a root's or a divisor
            arguments.append((random.abs() + 0.5 if random.numel() < 100000 else random).to(dtype))
    return arguments


def measure(base, check):
    from bundle import Bundle
    from peers import time_triad
    bundle = Bundle(base)
    arguments = bundle.manifest["arguments"]
    used = {a["value"] for kernel in bundle.manifest["kernels"] for a in kernel["arguments"]}
    size = sum(math.prod(a["shape"]) * BYTES[a["dtype"]] for i, a in enumerate(arguments) if f"arg{i}" in used)
    sets = [make_arguments(bundle.manifest) for _ in range(max(2, min(4, int(250e6 / size) + 1)))]
    results = bundle(*sets[0])
    size += sum(r.numel() * r.element_size() for r in results)
    error = 0.0
    if check:
        for ours, plain in zip(results, Bundle(base + ".plain")(*sets[0])):
            ours, plain = ours.double(), plain.double()
            error = max(error, float((ours - plain).norm() / plain.norm().clamp(min=1e-30)))
    us = time_calls(lambda i: bundle(*sets[i]), len(sets))["us"]
    return dict(us=us, triad_us=time_triad(int(size / 6) & ~1023, 2), mb=size / 1e6, error=error, schedule=bundle.schedule)


def run(options):
    if why := find_device():
        sys.exit(f"corpus.py: {why}")
    from bundle import get_target_options
    options.target = get_target_options()
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cells = [(name, path, columns) for columns in options.columns for name, path in find_modules(options.cases)]
        for (name, _, columns), (base, why) in zip(cells, pool.map(lambda cell: compile_case(options, folder, *cell), cells)):
            row = dict(case=name, columns=columns)
            if base:
                try:
                    row.update(measure(base, options.check))
                except Exception as error:
                    why = shorten(error)
                    failed += 1
                torch.cuda.empty_cache()
            rows.append({**row, "left_out": why} if why else row)
            save(options.json, dict(rows=rows))
    for row in sorted(rows, key=lambda row: row["triad_us"] / row["us"] if "us" in row else 2):
        if "us" not in row:
            print(f"{row['case']} {row['columns']}: left out: {row['left_out']}")
            continue
        wrong = row["error"] > 2e-2
        failed += wrong
        print(f"{row['case']} {row['columns']}: {row['us']:.1f} us, {100 * row['triad_us'] / row['us']:.0f}% of the triad, {row['mb']:.0f} MB"
              + (f", error {row['error']:.1e}" * options.check) + (" WRONG" * wrong) + f"; {row['schedule']}")
    return 1 if failed else 0


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--mb", type=float, default=67)
    if sys.argv[1:2] == ["scale"]:
        ap.add_argument("scale")
        ap.add_argument("module")
        ap.add_argument("columns", type=int)
        a = ap.parse_args()
        try:
            sys.stdout.write(scale(open(a.module).read(), a.columns, a.mb))
        except NotScaled as why:
            sys.exit(f"{a.module}: {why}")
        return 0
    ap.add_argument("--runner", required=True)
    ap.add_argument("--columns", type=lambda text: list(map(int, text.split(","))), default=[768, 4096])
    ap.add_argument("--cases", type=lambda text: text.split(","))
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--json")
    ap.add_argument("--jobs", type=int, default=os.cpu_count())
    return run(ap.parse_args())


if __name__ == "__main__":
    sys.exit(main())
