"""Random programs around the mixed-order reduction, legal and not, each with the number of groups that it has.

usage: generate.py SEED        prints one program; its first line, a comment, is {"groups": ..., "options": ..., "dims": ...} as JSON

A program is a random graph of values over one rows x columns space (full-size values, values a row, values a column), written by
emitter.py in random spellings. What is fused together follows from the graph alone: count() ties reductions through the full-size inputs
that they share and the row values that pass between them. Illegal programs are made so that nothing may form, or just what stands apart from
the illegal part.

Made are: rows and columns of one to four and one to two axes (rank up to six), dynamic and empty extents, layouts with collapsed, unit and
permuted dims, transposes and reshapes in between; f16, bf16, f32, f64 and integers; sums (fma bodies too), products, minima and maxima of floats
and integers, of one operand or two at a time, with keepdim, carried and shared inits, boxed scalars; segmented columns; several phases of
rows; masks; indices; broadcasts, maps, named and generic ops; matmuls between groups; loops, helpers, norms that share a weight. Not made are: sums in two
steps, gathers that are the identity, i32 shape tensors, tensor.cast, sums written as contractions, 8-bit floats, more than one space a
function but for the illegal kinds.
"""
import json, math, random, sys
from dataclasses import dataclass, field

from emitter import Axis, Emitter

FULL, ROW, COL = "full", "row", "column"
INTEGER_COMBINERS = {"arith.addi": 0, "arith.maxsi": -2**31, "arith.minsi": 2**31 - 1, "arith.maxui": 0, "arith.ori": 0, "arith.xori": 0, "arith.andi": -1}
COMBINERS = {"arith.addf": 0.0, "arith.maximumf": "-inf", "arith.minimumf": "inf", "arith.maxnumf": "-inf", "arith.mulf": 1.0}


@dataclass(eq=False)
class Value:
    """A node of the graph: what count() needs, and the tensor that holds it."""
    tensor: object
    level: str
    parents: list = field(default_factory=list)
    reduction: str = None  # FULL: none; ROW or COL
    phase: int = 0
    inside: bool = False

    def __post_init__(self):
        self.phase = max([p.phase for p in self.parents], default=0)
        self.inside = any(p.inside and p.phase == self.phase for p in self.parents) or self.reduction == ROW


def one_space(live):
    """True if ops tie all full-size values together: else nothing says that their columns are the same ones."""
    full = {id(v) for v in live if v.level == FULL}
    sets = []
    for v in live:
        joined = {id(w) for w in [v, *v.parents] if id(w) in full}
        apart = []
        for s in sets:
            if s & joined:
                joined |= s
            else:
                apart.append(s)
        sets = apart + ([joined] if joined else [])
    return len(sets) <= 1


def count(results, row_only):
    """The groups of a graph whose live values are what `results` need; None if it isn't settled by the rules alone."""
    live, stack = [], list(results)
    while stack:
        v = stack.pop()
        if v not in live:
            live.append(v)
            stack += v.parents
    reductions = [v for v in live if v.reduction]
    if not one_space(live):
        return None

    def nodes(v, phase, found, seen):
        if id(v) in seen:
            return
        seen.add(id(v))
        here = v.inside and v.phase == phase
        if v.level == COL or (v.level == ROW and not here):
            return
        if v.reduction == ROW:
            found.add(id(v))
        elif v.level == FULL and (not v.parents or (v.inside and not here)):
            found.add(id(v))
        else:
            for p in v.parents:
                nodes(p, phase, found, seen)

    groups, waiting, alone = 0, [], []
    for phase in sorted({v.phase for v in reductions}):
        roots = [v for v in reductions if v.phase == phase] + waiting
        sets = []
        for v in roots:
            found = {id(v)}
            for p in v.parents:
                nodes(p, phase, found, set())
            members = [v]
            for other in [s for s in sets if s[0] & found]:
                found |= other[0]
                members += other[1]
                sets.remove(other)
            sets.append((found, members))
        waiting = []
        for found, members in sets:
            rows = sum(v.reduction == ROW for v in members)
            if rows and (rows != len(members) or row_only):
                groups += 1
            elif not rows:
                waiting += members
                # Rows of an earlier phase that don't lead to this one may join.
                if any(inputs & found for inputs in alone):
                    return None
            else:
                alone.append(found)
    if waiting and row_only:
        return None  # seen the other way round, columns alone are rows alone
    return groups


class Program:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.functions, self.groups, self.results, self.option = [], 0, [], ""
        self.dims = []

    # ---- a space and its layouts

    def space(self):
        r = self.rng
        rows = [r.choice([2, 3, 4, 5, 8]) for _ in range(r.choice([1, 1, 1, 2, 2, 3, 4]))]
        cols = [r.choice([2, 3, 4, 6])] * (r.random() < 0.15 and len(rows) < 4) + [r.choice([2, 3, 7, 8, 16, 31, 32, 48, 64, 100, 128, 130])]
        if len(rows) == 1:
            rows = [r.choice([2, 3, 7, 16, 33, 40, 64])]
            if r.random() < 0.05:
                cols = [r.choice([256, 512, 1024, 2048, 3000, 4100])]
        self.axes = [Axis(n, True) for n in rows] + [Axis(n, False) for n in cols]
        self.rows, self.cols = list(range(len(rows))), list(range(len(rows), len(rows) + len(cols)))
        if r.random() < 0.25 and not self.static:
            a = self.axes[r.choice(self.rows)]
            a.dynamic = True
            a.extent = r.choice([0, 1, 1, 2, 5, 17]) if r.random() < 0.5 else a.extent
        if r.random() < 0.06 and len(cols) == 1 and not self.static:
            self.axes[self.cols[0]].dynamic = True
        self.e = Emitter(self.axes, r)
        self.e.named = r.random() < 0.6
        self.e.indexed = r.random() < 0.25
        base = [(a,) for a in self.rows + self.cols]
        self.layouts = [base]
        if len(rows) > 1 and r.random() < 0.5:
            cut = r.randrange(len(rows) - 1)
            flat = [(a,) for a in self.rows[:cut]] + [tuple(self.rows[cut:])] + [(a,) for a in self.cols]
            self.layouts.append(flat)
        if len(cols) > 1 and r.random() < 0.3:
            self.layouts.append([(a,) for a in self.rows] + [tuple(self.cols)])
        if r.random() < 0.2:
            unit = list(r.choice(self.layouts))
            unit.insert(r.randrange(len(unit) + 1), ())
            self.layouts.append(unit)
        if r.random() < 0.2:
            mixed = list(r.choice(self.layouts))
            r.shuffle(mixed)
            self.layouts.append(mixed)

    def layout(self, level=FULL):
        dims = self.rng.choice(self.layouts)
        if level == FULL:
            return dims
        keep = self.rows if level == ROW else self.cols
        unit = self.rng.random() < 0.25
        return [d if set(d) <= set(keep) else () for d in dims if set(d) <= set(keep) or unit]

    def float(self):
        return self.rng.choice(self.dtypes)

    def argument(self, level, dtype=None):
        dims = [d for d in self.layout(level)] if level != FULL or self.rng.random() < 0.4 else self.layouts[0]
        # An axis needs someone that knows its size.
        return Value(self.e.argument(dims, dtype or self.float()), level)

    # ---- expressions

    def expression(self, values):
        """A function that builds a body; mild, so that no rounding is blown up."""
        r = self.rng
        steps = []
        for v in values[1:]:
            steps.append("select" if v.tensor.dtype == "i1" else r.choice(["add", "sub", "mul", "mul", "mul", "max", "1+mul"]))
        after = [r.choice(["none", "none", "none", "neg", "scale", "tanh", "rsqrt", "abs", "exp", "log", "shift", "square", "div", "pow", "powi", "sqrt", "clamp", "relu"])
                 for _ in values]

        def build(b, xs):
            total = xs[0]
            total = self.unary(b, after[0], total)
            for x, step, then in zip(xs[1:], steps, after[1:]):
                if step == "select":
                    zero = b.constant(0.0)
                    total = b.op(f"arith.select {x}, {total}, {zero} : {b.compute}")
                    continue
                if step == "1+mul":
                    x = b.binary("arith.addf", b.constant(1.0), x)
                name = {"add": "addf", "sub": "subf", "mul": "mulf", "1+mul": "mulf", "max": "maximumf"}[step]
                total = self.unary(b, then, b.binary(f"arith.{name}", *((total, x) if step in ("sub", "1+mul") else (x, total))))
            return total

        return build

    @staticmethod
    def unary(b, kind, x):
        if kind == "neg":
            return b.unary("arith.negf", x)
        if kind == "scale":
            return b.binary("arith.mulf", x, b.constant(0.125))
        if kind == "shift":
            return b.binary("arith.addf", b.constant(0.5), x)
        if kind in ("tanh",):
            return b.unary("math.tanh", x)
        if kind == "abs":
            return b.unary("math.absf", x)
        if kind == "square":
            return b.binary("arith.mulf", x, x)
        if kind in ("rsqrt", "log", "div", "pow"):
            y = b.binary("arith.addf", b.binary("arith.mulf", x, x), b.constant(1.0))
            if kind == "pow":
                return b.binary("math.powf", y, b.constant(-0.5))
            return b.binary("arith.divf", x, y) if kind == "div" else b.unary(f"math.{kind}", y)
        if kind == "powi":
            return b.op(f"math.fpowi {x}, {b.op('arith.constant 2 : i64')} : {b.compute}, i64")
        if kind == "sqrt":
            return b.unary("math.sqrt", b.binary("arith.addf", b.binary("arith.mulf", x, x), b.constant(1.0)))
        if kind == "clamp":
            return b.binary("arith.minimumf", b.binary("arith.maximumf", x, b.constant(-1.0)), b.constant(1.0))
        if kind == "relu":
            zero = b.constant(0.0)
            return b.op(f"arith.select {b.op(f'arith.cmpf ogt, {x}, {zero} : {b.compute}')}, {x}, {zero} : {b.compute}")
        if kind == "exp":
            return b.unary("math.exp", b.unary("math.tanh", x))
        return x

    def pick(self, pool, n, level):
        """Values for one op; the first is of `level`, so that the result varies over all of it."""
        allowed = {FULL: (FULL, ROW, COL), ROW: (ROW,), COL: (COL,)}[level]
        first = self.rng.choice([v for v in pool if v.level == level and v.tensor.dtype != "i1"][-6:])
        rest = [v for v in pool if v.level in allowed and v is not first]
        return [first] + self.rng.sample(rest, min(n - 1, len(rest)))

    def point(self, pool, level):
        values = self.pick(pool, self.rng.choice([1, 2, 2, 3, 3, 4]), level)
        dtype = self.float()
        if len(values) == 2 and self.rng.random() < 0.15 and not any(v.tensor.dtype[0] == "i" for v in values):
            t = self.e.named_op(self.rng.choice(["add", "sub", "mul", "max"]), self.layout(level), [v.tensor for v in values], dtype)
            return Value(t, level, values)
        t = self.e.point(self.layout(level), [v.tensor for v in values], dtype, self.expression(values))
        return Value(t, level, values)

    def reduce(self, pool, kind):
        r, values = self.rng, self.pick(pool, self.rng.choice([1, 1, 2, 2, 3]), FULL)
        integer = next((v for v in pool if v.level == FULL and v.tensor.dtype == "i32"), None)
        if integer and not self.segments and r.random() < 0.3:
            combiner = r.choice(list(INTEGER_COMBINERS))
            t = self.e.reduce(self.layout(), [integer.tensor], self.cols if kind == ROW else self.rows, combiner, INTEGER_COMBINERS[combiner], r.random() < 0.25,
                              "i32", None)
            return Value(t, kind, [integer], kind)
        removed = self.cols if kind == ROW else self.rows
        dims = self.layout()
        dtype = r.choice([d for d in self.dtypes if d in ("f32", "f64")] or ["f32"]) if r.random() < 0.85 else self.float()
        combiner = "arith.addf" if r.random() < 0.8 else r.choice(list(COMBINERS))
        expression = self.expression(values)
        if combiner == "arith.mulf":
            mild = expression
            expression = lambda b, xs: b.binary("arith.addf", b.constant(1.0), b.binary("arith.mulf", b.constant(0.01), b.unary("math.tanh", mild(b, xs))))
        elif len(values) == 1 and values[0].tensor.dtype == dtype and r.random() < 0.6:
            expression = None
        keep = r.random() < 0.25
        init, parents = None, list(values)
        if r.random() < 0.12 and combiner in ("arith.addf", "arith.maximumf"):
            carried = self.argument(kind, dtype)
            init = carried.tensor
            parents.append(carried)
        if kind == COL and len(self.rows) > 1 and self.segments:
            kept = self.kept
            removed, init, dims = [a for a in self.rows if a not in kept], None, self.layouts[0]
            parents = list(values)
        t = self.e.reduce(dims, [v.tensor for v in values], removed, combiner, COMBINERS[combiner], keep, dtype, expression, init)
        # Few rounds of growth: sums come back as means.
        v = Value(t, kind, parents, kind)
        if kind == COL and self.segments:
            v.level = "segment"
        return v

    def mean(self, v):
        n = 1
        for a in (self.cols if v.level == ROW else self.rows):
            n *= max(1, self.axes[a].extent)
        if v.tensor.dtype == "i32":
            n *= 64
        dtype = "f32" if v.tensor.dtype == "i32" else v.tensor.dtype
        t = self.e.point(v.tensor.dims, [v.tensor], dtype, lambda b, xs: b.binary("arith.mulf", xs[0], b.constant(1.0 / n)))
        return Value(t, v.level, [v])

    # ---- graphs

    def graph(self, kinds=(ROW, COL), barriers=True):
        """A random graph whose reductions are of `kinds`; appends its results."""
        r = self.rng
        self.segments = r.random() < 0.08
        self.kept = self.rows[:1] if r.random() < 0.7 else self.rows[-1:]
        pool = [self.argument(FULL) for _ in range(r.choice([1, 2, 2, 3]))]
        pool += [self.argument(ROW) for _ in range(r.choice([0, 1, 2]))] + [self.argument(COL) for _ in range(r.choice([0, 1, 1, 2]))]
        if r.random() < 0.15:
            pool.append(Value(self.e.argument(self.layouts[0], "i1"), FULL))
        for i, a in enumerate(self.axes):
            if a.dynamic and i not in self.e.sources:
                pool.append(Value(self.e.argument(self.layouts[0], "f32"), FULL))
        if r.random() < 0.12:
            small = self.argument(FULL, "i8")
            pool.append(Value(self.e.point(self.layouts[0], [small.tensor], "i32", lambda b, xs: b.op(f"arith.shrsi {xs[0]}, {b.op('arith.constant 5 : i32')} : i32")), FULL, [small]))
        for level in (ROW, COL):
            if self.e.indexed and r.random() < 0.3:
                pool.append(Value(self.e.iota(self.layouts[0][:len(self.rows)] if level == ROW else self.layouts[0][len(self.rows):], "f32"), level))
        seen, columns, steps = set(), [], r.randrange(3, 12)
        while steps > 0 or (seen != set(kinds) and self.rng.random() < 0.97):
            steps -= 1
            todo = [k for k in kinds if k not in seen]
            kind = r.choice(todo) if todo and r.random() < 0.4 else r.choice([FULL, FULL, FULL, ROW if any(v.level == ROW for v in pool) else FULL, *kinds])
            rows = any(v.level == ROW for v in pool)
            if kind == FULL or (kind == ROW and rows and (kind not in kinds or r.random() < 0.4)):
                pool.append(self.point(pool, kind))
            elif r.random() < 0.12 and not self.segments:
                two = self.pick(pool, 1, FULL) + self.pick(pool, 1, FULL)
                same = [v for v in two if v.tensor.dtype == "f32"]
                if len(same) == 2:
                    removed = self.cols if kind == ROW else self.rows
                    for t in self.e.reduce_two(self.layouts[0], [v.tensor for v in same], removed, "arith.addf", 0.0, "f32"):
                        v = Value(t, kind, same, kind)
                        if kind == ROW:
                            pool += [v, self.mean(v)]
                        else:
                            columns.append(v)
                    seen.add(kind)
            else:
                v = self.reduce(pool, kind)
                seen.add(kind)
                if kind == ROW:
                    pool.append(v)
                    pool.append(self.mean(v) if r.random() < 0.9 else v)
                else:
                    columns.append(v)
            square = len(self.rows) == len(self.cols) == 1 and not self.axes[1].dynamic
            if barriers and square and r.random() < 0.03:
                pool.append(self.barrier(pool))
        live = [v for v in pool if v.parents]
        results = [v for v in live if r.random() < 0.25] + [v for v in columns if r.random() < 0.9 or v.tensor.name.find("#") >= 0]
        for v in list(columns):
            if v.level == COL and r.random() < 0.3:
                v = self.point([v] + [p for p in pool if p.level == COL], COL)
                results.append(v)
        if live and r.random() < 0.8:
            results.append([v for v in live if v.level == FULL][-1] if any(v.level == FULL for v in live) else live[-1])
        return list(dict.fromkeys(results))

    def barrier(self, pool):
        """A matmul: its result is a new full-size input, later if what it reads waits for a reduction."""
        v = self.pick(pool, 1, FULL)[0]
        t = self.e.point(self.layouts[0], [v.tensor], "f32", lambda b, xs: b.binary("arith.mulf", xs[0], b.constant(0.1)))
        n = self.axes[1].extent
        w = self.e.argument([], "f32")
        w.type = f"tensor<{n}x{n}xf32>"
        out = self.e.fill(self.layouts[0], "f32", 0.0)
        typ = self.e.typeof(out)
        name = self.e.emit(f"linalg.matmul ins({t.name}, {w.name} : {typ}, {w.type}) outs({out.name} : {typ}) -> {typ}")
        new = Value(self.e.note(type(t)(name, t.dims, "f32")), FULL)
        new.parents, new.phase = [], v.phase + v.inside
        new.hidden = v
        return new

    def legal(self):
        self.dtypes = self.rng.choice([["f32"], ["f32"], ["f32"], ["bf16", "f32"], ["f16", "f32"], ["f32", "f64"], ["bf16"], ["bf16", "f16", "f32", "f64"]])
        results, row_only = [], self.rng.random() < 0.1
        while not results:
            self.space()
            self.groups = 0
            kinds = (ROW,) if row_only and self.rng.random() < 0.5 else self.rng.choice([(ROW, COL)] * 12 + [(ROW,), (COL,)])
            results = self.graph(kinds)
            self.groups = count_hidden(results, row_only) if results else None
            if self.groups is None or max([len(v.tensor.dims) for v in results], default=0) > 6:
                results = []
        self.option = "row-only=true" if row_only else ""
        return results

    # ---- output

    def text(self):
        illegal = self.rng.random() < 0.15
        self.static = illegal
        if illegal:
            from illegal import make
            body = make(self)
        else:
            results = self.legal()
            body = self.e.function("main", [v.tensor for v in results])
            self.dims = [math.prod(self.axes[a].extent for a in d) for t in self.e.arguments for d in t.dims
                         if any(self.axes[a].dynamic for a in d)]
        header = {"groups": self.groups, "options": self.option, "dims": "x".join(map(str, self.dims))}
        return f"// {json.dumps(header)}\n{body}"


def count_hidden(results, row_only):
    """count(), with the values that barriers read alive too."""
    roots, stack, seen = list(results), list(results), set()
    while stack:
        v = stack.pop()
        if id(v) in seen:
            continue
        seen.add(id(v))
        if getattr(v, "hidden", None) is not None:
            roots.append(v.hidden)
            stack.append(v.hidden)
        stack += v.parents
    return count(roots, row_only)


def generate(seed):
    return Program(seed).text()


if __name__ == "__main__":
    sys.stdout.write(generate(int(sys.argv[1])))
