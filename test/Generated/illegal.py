"""Programs that look like a norm backward and aren't one, and legal ones beside something that must be left alone.

make(program) gives the functions of one program and sets program.groups.
"""
from emitter import Axis, Emitter, Tensor


def make(p):
    kind = p.rng.choice([batchnorm, column_first, column_then_norm, softmax, quotient, overlapping, strided, unrelated, effects, square_roots,
                         in_loop, in_helper, legal_and_decoy, whole_sum])
    p.dtypes = ["f32"]
    return kind(p)


def start(p, rows=None, cols=None):
    r = p.rng
    p.axes = [Axis(n, True) for n in rows or [r.choice([2, 4, 7, 16])]] + [Axis(n, False) for n in cols or [r.choice([3, 8, 16, 33])]]
    p.rows = [i for i, a in enumerate(p.axes) if a.row]
    p.cols = [i for i, a in enumerate(p.axes) if not a.row]
    p.e = Emitter(p.axes, r)
    p.layouts = [[(a,) for a in p.rows + p.cols]]
    p.full, p.row, p.col = p.layouts[0], [(a,) for a in p.rows], [(a,) for a in p.cols]
    return p.e


def sum_of(p, t, removed, name="arith.addf", expression=None, ins=None):
    return p.e.reduce(p.full, ins or [t], removed, name, 0.0, False, "f32", expression)


def op(name):
    return lambda b, xs: b.binary(f"arith.{name}", *xs)


def root(b, xs):
    return b.unary("math.rsqrt", b.binary("arith.addf", b.binary("arith.mulf", xs[0], xs[0]), b.constant(1.0)))


def finish(p, results, groups):
    p.groups = groups
    return p.e.function("main", results)


def batchnorm(p):
    """Columns' statistics come back into the space."""
    e = start(p)
    x, dy = e.argument(p.full, "f32"), e.argument(p.full, "f32")
    mean = e.point(p.col, [sum_of(p, x, p.rows)], "f32", lambda b, xs: b.binary("arith.mulf", xs[0], b.constant(1 / p.axes[0].extent)))
    centred = e.point(p.full, [x, mean], "f32", op("subf"))
    var = sum_of(p, None, p.rows, expression=lambda b, xs: b.binary("arith.mulf", xs[0], xs[0]), ins=[centred])
    xh = e.point(p.full, [centred, e.point(p.col, [var], "f32", root)], "f32", op("mulf"))
    results = [xh]
    if e.coin():
        s = sum_of(p, None, p.rows, expression=op("mulf"), ins=[dy, xh])
        results += [e.point(p.full, [dy, e.point(p.full, [xh, s], "f32", op("mulf"))], "f32", op("subf")), s]
    return finish(p, results, 0)


def column_first(p):
    """The rows' sum needs the finished columns."""
    e = start(p)
    x = e.argument(p.full, "f32")
    centred = e.point(p.full, [x, sum_of(p, x, p.rows)], "f32", op("subf"))
    s = sum_of(p, None, p.cols, expression=op("mulf"), ins=[centred, centred])
    return finish(p, [e.point(p.full, [centred, e.point(p.row, [s], "f32", root)], "f32", op("mulf"))], 0)


def column_then_norm(p):
    """The same, and then a norm backward of its own over the centred columns."""
    e = start(p)
    x, dy = e.argument(p.full, "f32"), e.argument(p.full, "f32")
    centred = e.point(p.full, [x, sum_of(p, x, p.rows)], "f32", op("subf"))
    s = sum_of(p, None, p.cols, expression=op("mulf"), ins=[dy, centred])
    dx = e.point(p.full, [dy, e.point(p.full, [centred, s], "f32", op("mulf"))], "f32", op("subf"))
    return finish(p, [dx, sum_of(p, None, p.rows, expression=op("mulf"), ins=[dy, centred])], 1)


def softmax(p):
    e = start(p)
    x = e.argument(p.full, "f32")
    top = e.reduce(p.full, [x], p.cols, "arith.maximumf", "-inf", False, "f32", None)
    t = e.point(p.full, [x, top], "f32", lambda b, xs: b.unary("math.exp", b.binary("arith.subf", *xs)))
    return finish(p, [e.point(p.full, [t, sum_of(p, t, p.cols)], "f32", op("divf"))], 0)


def quotient(p):
    """A combiner that isn't commutative."""
    e = start(p)
    x = e.argument(p.full, "f32")
    return finish(p, [sum_of(p, x, p.cols), sum_of(p, x, p.rows, "arith.divf")], 0)


def overlapping(p):
    """Sums over (b, c) and over (a, b) have no common rows and columns."""
    e = start(p, [3, 4], [8])
    x = e.argument(p.full, "f32")
    return finish(p, [sum_of(p, x, [1, 2]), sum_of(p, x, [0, 1])], 0)


def strided(p):
    """Every second row alone goes into the columns."""
    e = start(p, [8], [16])
    x = e.argument(p.full, "f32")
    shape, init = e.emit("tensor.empty() : tensor<4xf32>"), e.fill(p.col, "f32", 0.0)
    name = e.emit("linalg.generic {indexing_maps = [affine_map<(m, n) -> (m * 2, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>], "
                  f"iterator_types = [\"reduction\", \"parallel\"]}} ins({x.name}, {shape} : tensor<8x16xf32>, tensor<4xf32>) "
                  f"outs({init.name} : tensor<16xf32>) {{\n^bb0(%a: f32, %s: f32, %o: f32):\n  %0 = arith.addf %a, %o : f32\n"
                  "  linalg.yield %0 : f32\n} -> tensor<16xf32>")
    return finish(p, [sum_of(p, x, p.cols), Tensor(name, tuple(p.col), "f32")], 0)


def unrelated(p):
    """Rows of one array, columns of another one that only looks alike; they share a weight at most."""
    n = p.rng.choice([8, 16])
    e = start(p, [n], [n])
    x, y, w = e.argument(p.full, "f32"), e.argument(p.full, "f32"), e.argument(p.col, "f32")
    if e.coin():
        x, y = e.point(p.full, [x, w], "f32", op("mulf")), e.point(p.full, [y, w], "f32", op("mulf"))
    return finish(p, [sum_of(p, x, p.cols), sum_of(p, y, p.rows)], 0)


def effects(p):
    """The finished row sum goes through memory before the columns' operand can be read."""
    e = start(p)
    x = e.argument(p.full, "f32")
    s = sum_of(p, x, p.cols)
    zero = e.emit("arith.constant 0 : index")
    v = e.emit(f"tensor.extract {s.name}[{zero}] : {e.typeof(s)}")
    box = e.emit("memref.alloc() : memref<1xf32>")
    e.lines.append(f"memref.store {v}, {box}[{zero}] : memref<1xf32>")
    back = e.emit(f"memref.load {box}[{zero}] : memref<1xf32>")
    scale = Tensor(e.emit(f"tensor.from_elements {back} : tensor<f32>"), (), "f32")
    y = e.point(p.full, [x, scale], "f32", op("mulf"))
    return finish(p, [sum_of(p, y, p.rows), y], 0)


def square_roots(p):
    """Columns of rows' statistics: the second sum is over another space."""
    e = start(p)
    x = e.argument(p.full, "f32")
    s = sum_of(p, None, p.cols, expression=op("mulf"), ins=[x, x])
    init = e.fill([], "f32", 0.0)
    total = e.emit(f"linalg.reduce {{arith.addf}} ins({s.name} : {e.typeof(s)}) outs({init.name} : tensor<f32>) dimensions = [0]")
    return finish(p, [e.point(p.row, [s], "f32", root), Tensor(total, (), "f32")], 0)


def norm(p, e, x, dy, r, init=None):
    xh = e.point(p.full, [x, r], "f32", op("mulf"))
    s = sum_of(p, None, p.cols, expression=op("mulf"), ins=[dy, xh])
    s = e.point(p.row, [s], "f32", lambda b, xs: b.binary("arith.mulf", xs[0], b.constant(0.1)))
    dx = e.point(p.full, [dy, e.point(p.full, [xh, s], "f32", op("mulf"))], "f32", op("subf"))
    dw = e.reduce(p.full, [dy, xh], p.rows, "arith.addf", 0.0, False, "f32", op("mulf"), init)
    return dx, dw


def in_loop(p):
    """A norm backward in a loop that carries dx and adds up dw."""
    e = start(p)
    x, dy, r = e.argument(p.full, "f32"), e.argument(p.full, "f32"), e.argument(p.row, "f32")
    while_loop = e.coin()
    zeros = e.fill(p.col, "f32", 0.0)
    outside, e.lines, e.fills = e.lines, [], {}
    carried, total = Tensor("%carried", tuple(p.full), "f32"), Tensor("%total", tuple(p.col), "f32")
    dx, dw = norm(p, e, x, carried, r, total)
    types = f"{e.typeof(dx)}, {e.typeof(dw)}"
    inside, e.lines = e.lines, outside
    bounds = [e.emit(f"arith.constant {i} : index") for i in (0, 1, 2)]
    name = e.fresh()
    if while_loop:
        e.lines.append(f"{name}:3 = scf.while (%i = {bounds[0]}, %carried = {dy.name}, %total = {zeros.name}) : (index, {types}) -> (index, {types}) {{\n"
                       f"%more = arith.cmpi slt, %i, {bounds[2]} : index\nscf.condition(%more) %i, %carried, %total : index, {types}\n}} do {{\n"
                       f"^bb0(%i: index, %carried: {e.typeof(dx)}, %total: {e.typeof(dw)}):\n" + "\n".join(inside)
                       + f"\n%next = arith.addi %i, {bounds[1]} : index\nscf.yield %next, {dx.name}, {dw.name} : index, {types}\n}}")
        first = 1
    else:
        e.lines.append(f"{name}:2 = scf.for %i = {bounds[0]} to {bounds[2]} step {bounds[1]} iter_args(%carried = {dy.name}, %total = {zeros.name}) "
                       f"-> ({types}) {{\n" + "\n".join(inside) + f"\nscf.yield {dx.name}, {dw.name} : {types}\n}}")
        first = 0
    return finish(p, [Tensor(f"{name}#{first}", dx.dims, "f32"), Tensor(f"{name}#{first + 1}", dw.dims, "f32")], 1)


def in_helper(p):
    """A private function splits the pattern until it is inlined."""
    e = start(p)
    x, dy, r = e.argument(p.full, "f32"), e.argument(p.full, "f32"), e.argument(p.row, "f32")
    typ = e.typeof(x)
    called = Tensor(e.emit(f"func.call @helper({x.name}) : ({typ}) -> {typ}"), x.dims, "f32")
    dx, dw = norm(p, e, called, dy, r)
    text = finish(p, [dx, dw], 1)
    helper = start(p, [p.axes[0].extent], [p.axes[1].extent])
    y = helper.argument(p.full, "f32")
    return text + helper.function("helper", [helper.point(p.full, [y], "f32", lambda b, xs: b.unary("math.tanh", xs[0]))], private=True)


def legal_and_decoy(p):
    """Two norms that share the weight are two groups, whatever stands between them."""
    e = start(p)
    w, results = e.argument(p.col, "f32"), []
    norms = p.rng.choice([1, 2, 3])
    for _ in range(norms):
        x, dy, r = e.argument(p.full, "f32"), e.argument(p.full, "f32"), e.argument(p.row, "f32")
        results += norm(p, e, x, e.point(p.full, [dy, w], "f32", op("mulf")), r)
        z = e.argument(p.full, "f32")
        top = e.reduce(p.full, [z], p.cols, "arith.maximumf", "-inf", False, "f32", None)
        results.append(e.point(p.full, [z, top], "f32", op("subf")))
    if e.coin():
        results.append(e.point(p.col, results[1::3], "f32", lambda b, xs: xs[0]))
    return finish(p, results, norms)


def whole_sum(p):
    """A sum over everything beside a norm backward: another kind of reduction, left alone."""
    e = start(p)
    x, dy, r = e.argument(p.full, "f32"), e.argument(p.full, "f32"), e.argument(p.row, "f32")
    dx, dw = norm(p, e, x, dy, r)
    init = e.fill([], "f32", 0.0)
    total = e.emit(f"linalg.reduce {{arith.addf}} ins({x.name} : {e.typeof(x)}) outs({init.name} : tensor<f32>) dimensions = [0, 1]")
    return finish(p, [dx, dw, Tensor(total, (), "f32")], 1)
