"""Norms that write more than y, or dx and dgamma: linalg on tensors with dynamic rows, an op of PyTorch's a generic as torch-mlir writes them.

usage: outputs_ir.py CASE N > norm.mlir
"""
import math, sys

FULL, ROW, COLUMN, SCALAR = "full", "row", "column", "scalar"
EPS, TINY, LARGEST = 1e-6, 1e-12, 448.0  # of rsqrt's argument; below every scale; of f8E4M3FN


class Function:
    """Builds a function over a rows x columns space. A value is (name, level, element type)."""

    def __init__(self, columns):
        self.columns, self.arguments, self.lines, self.count = columns, [], [], 0

    def type(self, level, dtype):
        shape = {FULL: f"?x{self.columns}x", ROW: "?x1x", COLUMN: f"{self.columns}x", SCALAR: ""}[level]
        return f"tensor<{shape}{dtype}>"

    def add(self, text):
        self.count += 1
        self.lines.append(f"    %{self.count} = {text}")
        return f"%{self.count}"

    def argument(self, level, dtype):
        self.arguments.append((f"%arg{len(self.arguments)}", level, dtype))
        return self.arguments[-1]

    def empty(self, level, dtype):
        return self.add(f"tensor.empty({'%rows' if level in (FULL, ROW) else ''}) : {self.type(level, dtype)}")

    def generic(self, inputs, level, dtype, body, kinds="parallel", init=None):
        """`body` gets the inputs' names and %out, and gives (operation, its type as text)."""
        maps = {FULL: "(d0, d1) -> (d0, d1)", ROW: "(d0, d1) -> (d0, 0)", COLUMN: "(d0, d1) -> (d1)", SCALAR: "(d0, d1) -> ()"}
        first = inputs[0][1] if kinds != "parallel" else level
        if first == ROW:  # d1 is of extent 1
            maps[ROW] = maps[FULL]
        elif first in (COLUMN, SCALAR):
            maps = {FULL: "", ROW: "", COLUMN: "(d0) -> (d0)", SCALAR: f"({'d0' if first == COLUMN else ''}) -> ()"}
        loops = {FULL: 2, ROW: 2, COLUMN: 1, SCALAR: 0}[first]
        iterators = [kinds] * loops if isinstance(kinds, str) else kinds
        init = init or self.empty(level, dtype)
        names = [f"%in{i}" for i in range(len(inputs))]
        operation = body(*names)
        result = self.add(
            f"linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{maps[l]}>' for l in [i[1] for i in inputs] + [level])}], "
            f"iterator_types = [{', '.join(f'{chr(34)}{i}{chr(34)}' for i in iterators)}]}} "
            f"ins({', '.join(i[0] for i in inputs)} : {', '.join(self.type(*i[1:]) for i in inputs)}) outs({init} : {self.type(level, dtype)}) {{")
        self.lines += [f"    ^bb0({', '.join(f'{name}: {i[2]}' for name, i in zip(names, inputs))}, %out: {dtype}):",
                       f"      %value = {operation}", f"      linalg.yield %value : {dtype}", f"    }} -> {self.type(level, dtype)}"]
        return result, level, dtype

    def map(self, operation, *inputs):
        """An elementwise operation of f32; numbers become constants."""
        values = [i for i in inputs if isinstance(i, tuple)]
        level = min((i[1] for i in values), key=[FULL, ROW, COLUMN, SCALAR].index)

        def body(*names):
            names = iter(names)
            return f"{operation} {', '.join(next(names) if isinstance(i, tuple) else self.constant(i) for i in inputs)} : f32"
        return self.generic(values, level, "f32", body)

    def constant(self, number):
        self.lines.append(f"    %c{self.count}_{len(self.lines)} = arith.constant {f'{number:.9e}' if math.isfinite(number) else '0xFF800000'} : f32")
        return self.lines[-1].split()[0]

    def convert(self, value, dtype):
        widen = dtype == "f32"
        return self.generic([value], value[1], dtype, lambda name: f"arith.{'extf' if widen else 'truncf'} {name} : {value[2]} to {dtype}")

    def reduce(self, operation, value, level=ROW):
        start = self.constant(-math.inf if operation == "arith.maximumf" else 0.0)
        init = self.empty(level, "f32")
        init = self.add(f"linalg.fill ins({start} : f32) outs({init} : {self.type(level, 'f32')}) -> {self.type(level, 'f32')}")
        kinds = {ROW: ["parallel", "reduction"], COLUMN: ["reduction", "parallel"], SCALAR: ["reduction"] * 2}[level]
        return self.generic([value], level, "f32", lambda name: f"{operation} {name}, %out : f32", kinds, init)

    def transpose(self, value):
        to = f"tensor<{self.columns}x?x{value[2]}>"
        init = self.add(f"tensor.empty(%rows) : {to}")
        return self.add(f"linalg.transpose ins({value[0]} : {self.type(*value[1:])}) outs({init} : {to}) permutation = [1, 0]"), to

    def print(self, *results):
        """Results are values, or (name, type)."""
        types = [r[1] if len(r) == 2 else self.type(*r[1:]) for r in results]
        first = self.arguments[0]
        head = [f"func.func @main({', '.join(f'{a[0]}: {self.type(*a[1:])}' for a in self.arguments)}) -> ({', '.join(types)}) {{",
                "    %zero = arith.constant 0 : index", f"    %rows = tensor.dim {first[0]}, %zero : {self.type(*first[1:])}"]
        return "\n".join(head + self.lines + [f"    return {', '.join(r[0] for r in results)} : {', '.join(types)}", "}", ""])


def make_forward(n, residual=False, fp8="", transposed=False, amax=False):
    """RMSNorm of bf16, rstd returned; `fp8` is given (a scale) or row (the row's amax)."""
    f = Function(n)
    x = f.argument(FULL, "bf16")
    r = f.argument(FULL, "bf16") if residual else None
    w = f.argument(COLUMN, "bf16")
    scale = f.argument(SCALAR, "f32") if fp8 == "given" else None
    if residual:
        x = f.convert(f.map("arith.addf", f.convert(x, "f32"), f.convert(r, "f32")), "bf16")
    xf = f.convert(x, "f32")
    mean = f.map("arith.divf", f.reduce("arith.addf", f.map("arith.mulf", xf, xf)), float(n))
    rstd = f.map("math.rsqrt", f.map("arith.addf", mean, EPS))
    y = f.map("arith.mulf", f.map("arith.mulf", xf, rstd), f.convert(w, "f32"))
    results = []
    if not fp8:
        results.append(f.convert(y, "bf16"))
    else:
        results += quantize(f, y, scale)
    if transposed:
        results.insert(1, f.transpose(results[0]))
    if amax:
        results.append(f.reduce("arith.maximumf", f.map("math.absf", y), SCALAR))
    return f.print(*results, *([x] if residual else []), rstd)


def quantize(f, y, scale):
    """y times the given scale in fp8; or y over its row's scale, and that."""
    results = []
    if scale:
        scaled = f.map("arith.mulf", y, scale)
    else:
        most = f.map("arith.maximumf", f.reduce("arith.maximumf", f.map("math.absf", y)), TINY)
        results = [f.map("arith.divf", most, LARGEST)]
        scaled = f.map("arith.divf", y, results[0])
    clamped = f.map("arith.minimumf", f.map("arith.maximumf", scaled, -LARGEST), LARGEST)
    return [f.convert(clamped, "f8E4M3FN")] + results


def make_backward(n, residual=False, fp8="", transposed=False):
    """RMSNorm's from dy, x, rstd and w; the residual's gradient is added to dx, or dx is fp8 with a given scale, or one a row."""
    f = Function(n)
    dy, x = (f.convert(f.argument(FULL, "bf16"), "f32") for _ in range(2))
    rstd, w = f.argument(ROW, "f32"), f.convert(f.argument(COLUMN, "bf16"), "f32")
    xh = f.map("arith.mulf", x, rstd)
    g = f.map("arith.mulf", dy, w)
    mean = f.map("arith.divf", f.reduce("arith.addf", f.map("arith.mulf", g, xh)), float(n))
    dx = f.map("arith.mulf", f.map("arith.subf", g, f.map("arith.mulf", xh, mean)), rstd)
    if residual:
        dx = f.map("arith.addf", dx, f.convert(f.argument(FULL, "bf16"), "f32"))
    dw = f.convert(f.reduce("arith.addf", f.map("arith.mulf", dy, xh), COLUMN), "bf16")
    results = quantize(f, dx, f.argument(SCALAR, "f32") if fp8 == "given" else None) if fp8 else [f.convert(dx, "bf16")]
    if transposed:
        results.insert(1, f.transpose(results[0]))
    return f.print(*results, dw)


CASES = {
    "forward": lambda n: make_forward(n),
    "forward_residual": lambda n: make_forward(n, residual=True),
    "fp8_given": lambda n: make_forward(n, fp8="given", amax=True),
    "fp8_row": lambda n: make_forward(n, fp8="row"),
    "fp8_transposed": lambda n: make_forward(n, fp8="given", transposed=True),
    "bf16_transposed": lambda n: make_forward(n, transposed=True),
    "backward_residual": lambda n: make_backward(n, residual=True),
    "backward_fp8": lambda n: make_backward(n, fp8="row"),
    "fp8_amax_transposed": lambda n: make_forward(n, fp8="given", transposed=True, amax=True),
    "backward_transposed": lambda n: make_backward(n, transposed=True),
    "backward_fp8_transposed": lambda n: make_backward(n, fp8="given", transposed=True),
}


def make_ir(case, columns):
    return CASES[case](columns)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in CASES:
        sys.exit(f"{__doc__}CASE is one of {', '.join(CASES)}")
    sys.stdout.write(make_ir(sys.argv[1], int(sys.argv[2])))
