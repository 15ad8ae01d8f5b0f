"""Row reductions other than floating sums, with rows that are hard for them: NaNs of both signs, zeros of both signs, infinities.

usage: warp_reductions.py f32|i32 COLUMNS FOLDER: writes program.mlir, x.npy and, of each result, N.npy.
       warp_reductions.py --compare FOLDER: whether each out_N.npy has N.npy's bits, any NaN for a NaN.
"""
import functools, glob, math, os, sys
import numpy as np

TYPES = {"f32": np.float32, "i32": np.int32}


def maximum(a, b):
    if a != a or b != b:
        return math.nan
    return max(a, b, key=lambda v: (v, math.copysign(1, v)))


COMBINERS = {
    "f32": {"maximum": maximum, "minimum": lambda a, b: -maximum(-a, -b)},
    "i32": {"add": np.add, "maxs": max, "mins": min, "maxu": lambda a, b: max(a, b, key=np.uint32), "minu": lambda a, b: min(a, b, key=np.uint32),
            "andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor},
}


def make_rows(kind, columns):
    draw = np.random.default_rng(1)
    if kind == "i32":
        full = draw.integers(-2**31, 2**31, (6, columns))
        return [*full, *abs(full[:2]), *-abs(full[:2]), [7] * columns, [-1 if k == 5 else 2**31 - 1 - k for k in range(columns)]]
    some = draw.normal(size=(4, columns))
    rows = [*some, -abs(some[0]), abs(some[1]), [0.0] * columns, [-0.0] * columns, [-math.inf] * columns]
    rows += [[0.0 if k == columns - 1 else -0.0 for k in range(columns)], [-0.0 if k == 3 else 0.0 for k in range(columns)]]
    for special in (math.nan, -math.nan, math.inf, -math.inf, 1e-45, -1e-45):
        rows.append([special if k == columns // 2 else v for k, v in enumerate(some[2])])
    return rows + [[math.inf if k % 2 else -math.nan for k in range(columns)]]


def main():
    kind, columns, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    x = np.array(make_rows(kind, columns), TYPES[kind])
    np.save(f"{folder}/x.npy", x)
    names = list(COMBINERS[kind])
    with np.errstate(over="ignore"):
        for i, name in enumerate(names):
            np.save(f"{folder}/{i}.npy", np.array([functools.reduce(COMBINERS[kind][name], row) for row in x], TYPES[kind]))
    space, row = f"tensor<?x{columns}x{kind}>", f"tensor<?x{kind}>"
    types = ", ".join([row] * len(names))
    maps = ", ".join(["affine_map<(m, n) -> (m, n)>"] + ["affine_map<(m, n) -> (m)>"] * len(names))
    results = ", ".join(f"%r{i}" for i in range(len(names)))
    reductions = "\n".join(f"    %r{i} = norm_fusion.row_reduce {name}, %e : {kind}" for i, name in enumerate(names))
    open(f"{folder}/program.mlir", "w").write(f"""func.func @main(%x: {space}) -> ({types}) {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : {space}
  %o = tensor.empty(%m) : {row}
  %results:{len(names)} = norm_fusion.mixed_reduction dims = [row, column]
    ins(%x : {space}) outs({', '.join(['%o'] * len(names))} : {types}) maps = [{maps}] {{
  ^bb0(%e: {kind}):
{reductions}
    norm_fusion.yield {results} : {', '.join([kind] * len(names))}
  }} -> {types}
  return {', '.join(f'%results#{i}' for i in range(len(names)))} : {types}
}}
""")


def compare(folder):
    files = glob.glob(f"{folder}/[0-9]*.npy")
    assert files
    for name in files:
        expected, found = np.load(name), np.load(f"{folder}/out_{os.path.basename(name)}")
        assert expected.dtype == found.dtype and expected.shape == found.shape, name
        for row, (a, b) in enumerate(zip(expected, found)):
            if a.tobytes() != b.tobytes() and (a == a or b == b):
                sys.exit(f"{name}: row {row}: found {b}, expected {a}")
    print(f"{len(files)} results alike")


if __name__ == "__main__":
    compare(sys.argv[2]) if sys.argv[1] == "--compare" else main()
