"""Writes linalg on tensors in as many spellings as front ends have.

A Tensor is a value over axes of one rows x columns space. Its dims say how they lie in memory: every dimension is a tuple of axes, the
outermost first; () is a dimension of extent 1. An Emitter has the lines of one function and turns "this expression of those tensors" or "the
sum of those over these axes" into ops: generics with loops in any order, named ops, linalg.map, linalg.reduce, broadcasts, transposes,
reshapes in between, products inside a reduction's body or outside, sums that keep their dimensions, and so on, by the toss of a coin.
"""
from dataclasses import dataclass, field

FLOATS = ("f16", "bf16", "f32", "f64")
WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


@dataclass
class Axis:
    extent: int
    row: bool
    dynamic: bool = False


@dataclass(eq=False)
class Tensor:
    name: str
    dims: tuple
    dtype: str
    uniform: object = None  # the value that all elements have
    type: str = None  # where the axes don't say it

    @property
    def axes(self):
        return [a for d in self.dims for a in d]


@dataclass
class Emitter:
    axes: list
    rng: object
    lines: list = field(default_factory=list)
    arguments: list = field(default_factory=list)
    helpers: list = field(default_factory=list)
    sources: dict = field(default_factory=dict)  # axis -> tensors that have it as a dimension of its own
    fills: dict = field(default_factory=dict)
    count: int = 0
    named: bool = True
    indexed: bool = False  # bodies may use the indices of their loops

    # ---- names, types, sizes

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def coin(self, p=0.5):
        return self.rng.random() < p

    def emit(self, text):
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def extent(self, dim):
        n = 1
        for a in dim:
            if self.axes[a].dynamic:
                return "?"
            n *= self.axes[a].extent
        return n

    def type(self, dims, dtype):
        return "tensor<" + "".join(f"{self.extent(d)}x" for d in dims) + f"{dtype}>"

    def typeof(self, t):
        return t.type or self.type(t.dims, t.dtype)

    def argument(self, dims, dtype):
        t = Tensor(f"%arg{len(self.arguments)}", tuple(dims), dtype)
        self.arguments.append(t)
        self.note(t)
        return t

    def note(self, t):
        for i, d in enumerate(t.dims):
            if len(d) == 1:
                self.sources.setdefault(d[0], []).append((t, i))
        return t

    def size(self, dim):
        """An index value: the extent of a dynamic dimension."""
        total = None
        for a in dim:
            if self.axes[a].dynamic:
                t, i = self.rng.choice(self.sources[a][:3])
                c = self.emit(f"arith.constant {i} : index")
                n = self.emit(f"tensor.dim {t.name}, {c} : {self.typeof(t)}")
            else:
                n = self.emit(f"arith.constant {self.axes[a].extent} : index")
            total = n if total is None else self.emit(f"arith.muli {total}, {n} : index")
        return total

    def empty(self, dims, dtype):
        sizes = ", ".join(self.size(d) for d in dims if self.extent(d) == "?")
        return Tensor(self.emit(f"tensor.empty({sizes}) : {self.type(dims, dtype)}"), tuple(dims), dtype)

    def number(self, value, dtype):
        if dtype[0] == "i":
            return str(int(value))
        return {"inf": {"f16": "0x7C00", "bf16": "0x7F80", "f32": "0x7F800000", "f64": "0x7FF0000000000000"}[dtype],
                "-inf": {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}[dtype]}[value] \
            if isinstance(value, str) else f"{value:e}"

    def scalar(self, value, dtype):
        return self.emit(f"arith.constant {self.number(value, dtype)} : {dtype}")

    def fill(self, dims, dtype, value):
        """A tensor whose elements are all one constant."""
        key = (tuple(dims), dtype, value)
        if key in self.fills and self.coin():
            return self.fills[key]
        static = all(self.extent(d) != "?" for d in dims)
        kind, typ = self.rng.random(), self.type(dims, dtype)
        if static and kind < 0.25:
            name = self.emit(f"arith.constant dense<{self.number(value, dtype)}> : {typ}")
        else:
            c, e = self.scalar(value, dtype), self.empty(dims, dtype)
            if kind < 0.8 or not dims:
                name = self.emit(f"linalg.fill ins({c} : {dtype}) outs({e.name} : {typ}) -> {typ}")
            else:
                ids = f"affine_map<({self.loops(len(dims))}) -> ({self.loops(len(dims))})>"
                par = ", ".join(['"parallel"'] * len(dims))
                scalar_in = kind < 0.9
                maps = f"affine_map<({self.loops(len(dims))}) -> ()>, {ids}" if scalar_in else ids
                ins = f"ins({c} : {dtype}) " if scalar_in else ""
                args = f"%a: {dtype}, %o: {dtype}" if scalar_in else f"%o: {dtype}"
                name = self.emit(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{par}]}} {ins}outs({e.name} : {typ}) {{\n"
                                 f"^bb0({args}):\n  linalg.yield {'%a' if scalar_in else c} : {dtype}\n}} -> {typ}")
        t = Tensor(name, tuple(dims), dtype, value)
        self.fills[key] = t
        return t

    @staticmethod
    def loops(n):
        return ", ".join(f"d{i}" for i in range(n))

    # ---- layouts

    def expand(self, t, dims, groups):
        text = ", ".join("[" + ", ".join(map(str, g)) + "]" for g in groups)
        shape = ", ".join(str(self.extent(d)) if self.extent(d) != "?" else self.size(d) for d in dims)
        name = self.emit(f"tensor.expand_shape {t.name} [{text}] output_shape [{shape}] : {self.typeof(t)} into {self.type(dims, t.dtype)}")
        return Tensor(name, tuple(dims), t.dtype)

    def collapse(self, t, dims, groups):
        text = ", ".join("[" + ", ".join(map(str, g)) + "]" for g in groups)
        name = self.emit(f"tensor.collapse_shape {t.name} [{text}] : {self.typeof(t)} into {self.type(dims, t.dtype)}")
        return Tensor(name, tuple(dims), t.dtype)

    def transpose(self, t, dims):
        perm = [t.dims.index(d) for d in dims]
        if perm == list(range(len(perm))):
            return t
        e = self.empty(dims, t.dtype)
        if self.coin():
            name = self.emit(f"linalg.transpose ins({t.name} : {self.typeof(t)}) outs({e.name} : {self.typeof(e)}) permutation = {perm}")
            return Tensor(name, tuple(dims), t.dtype)
        return self.point(dims, [t], t.dtype, lambda b, xs: xs[0])

    def regroup(self, t, dims):
        """`t` with its axes, in the order that they have, in dimensions `dims`."""
        dims = tuple(dims)
        if t.dims == dims:
            return t
        wanted = {d for d in dims if d}
        if any(len(d) > 1 and d not in wanted for d in t.dims):
            finest, groups = [], []
            for d in t.dims:
                parts = [(a,) for a in d] if len(d) > 1 and d not in wanted else [d]
                groups.append(list(range(len(finest), len(finest) + len(parts))))
                finest += parts
            t = self.expand(t, finest, groups)
        bare = tuple(d for d in dims if d)
        if t.dims == dims:
            return t
        if t.dims != bare:
            groups, want = [], list(bare)
            merged, begun = [], False
            for i, d in enumerate(t.dims):
                starts = bool(d) and any(d[0] == w[0] for w in want)
                if not groups or (starts and begun):
                    groups.append([])
                    begun = False
                begun |= bool(d)
                groups[-1].append(i)
            t = self.collapse(t, bare, groups)
        if t.dims != dims:
            groups, out, used = [], [], 0
            for i, d in enumerate(dims):
                if not groups or (d and used):
                    groups.append([])
                used += bool(d)
                groups[-1].append(i)
            t = self.expand(t, dims, groups)
        return t

    def fit(self, t, loops):
        """`t` regrouped so that each of its dimensions is one of `loops` or has extent 1."""
        wanted = [d for d in loops if d]
        if all(not d or d in wanted for d in t.dims):
            return t
        axes = t.axes
        bare = []
        i = 0
        while i < len(axes):
            group = next((d for d in wanted if list(d) == axes[i:i + len(d)]), None)
            if group is None:
                break
            bare.append(group)
            i += len(group)
        else:
            return self.regroup(t, bare)
        # Another order: one by one, then sorted.
        t = self.regroup(t, [(a,) for a in axes])
        t = self.transpose(t, [(a,) for a in sorted(axes)])
        return self.fit(t, loops)

    # ---- elementwise

    def generic(self, loops, reduced, ins, outs, body):
        """`loops`: dims; `ins`, `outs`: fitted tensors; `body(args)` -> lines and yielded values."""
        # A loop of one step needs someone who is indexed by it.
        whole = any(t.dims == tuple(loops) for t in ins + outs)
        order = [d for d in loops if d or whole]
        if self.coin(0.3):
            self.rng.shuffle(order)
        n = len(order)

        def expr(t):
            units = [i for i, d in enumerate(order) if not d]
            parts = []
            for d in t.dims:
                if d:
                    parts.append(f"d{order.index(d)}")
                else:
                    parts.append(f"d{units.pop(0)}" if units and t.dims == tuple(loops) else "0")
            return f"affine_map<({self.loops(n)}) -> ({', '.join(parts)})>"

        maps = ", ".join(expr(t) for t in ins + outs)
        kinds = ", ".join('"reduction"' if d in reduced else '"parallel"' for d in order)
        args = [f"%a{i}" for i in range(len(ins))] + [f"%o{i}" for i in range(len(outs))]
        types = ", ".join(f"{a}: {t.dtype}" for a, t in zip(args, ins + outs))
        self.order = order
        lines, yielded = body(args[:len(ins)], args[len(ins):])
        result = ", ".join(self.typeof(t) for t in outs)
        inputs = f"ins({', '.join(t.name for t in ins)} : {', '.join(self.typeof(t) for t in ins)}) " if ins else ""
        name = self.fresh()
        self.lines.append(
            f"{name}{f':{len(outs)}' if len(outs) > 1 else ''} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {inputs}"
            f"outs({', '.join(t.name for t in outs)} : {result}) {{\n^bb0({types}):\n" + "".join(f"  {x}\n" for x in lines)
            + f"  linalg.yield {', '.join(yielded)} : {', '.join(t.dtype for t in outs)}\n}} -> {result if len(outs) == 1 else f'({result})'}")
        names = [name] if len(outs) == 1 else [f"{name}#{i}" for i in range(len(outs))]
        return [self.note(Tensor(x, t.dims, t.dtype)) for x, t in zip(names, outs)]

    def loop_index(self, block):
        """The index of a loop; None if none can be made of the op's dimensions."""
        fit = [i for i, d in enumerate(self.order) if d and not any(self.axes[a].dynamic for a in d[1:])]
        return block.op(f"linalg.index {self.rng.choice(fit)} : index") if fit else None

    def index(self, block):
        """The index of one of the loops of the op whose body is made, small and in the type of the block; None if it has no such loop."""
        i = self.loop_index(block)
        if not i:
            return None
        if self.coin():
            i = block.op(f"arith.remui {i}, {block.op(f'arith.constant {self.rng.choice([1, 2, 3, 5])} : index')} : index")
        else:
            bound = block.op(f"arith.constant {self.rng.choice([1, 2, 7, 50])} : index")
            i = block.op(f"arith.extui {block.op(f'arith.cmpi ult, {i}, {bound} : index')} : i1 to i32")
            return block.op(f"arith.sitofp {i} : i32 to {block.compute}")
        return block.op(f"arith.sitofp {block.op(f'arith.index_cast {i} : index to i32')} : i32 to {block.compute}")

    def with_index(self, block, value):
        """`value` times a small number that hangs on where it is, now and then."""
        if not self.indexed or block.compute[0] == "i" or not self.coin(0.3):
            return value
        if self.coin(0.15):
            # Folding takes the value away, and may take the dimensions that it varies over with it.
            i = self.loop_index(block) or block.op("arith.constant 3 : index")
            never = block.op(f"arith.cmpi ult, {i}, {i} : index")
            return block.op(f"arith.select {never}, {value}, {block.constant(0.5)} : {block.compute}")
        i = self.index(block)
        return block.binary("arith.mulf", value, i) if i else value

    def iota(self, dims, dtype):
        """A tensor whose elements hang on where they are alone."""
        def body(args, outs):
            block = Block(dtype)
            return block.lines, [block.finish(self.index(block) or block.constant(1.0), dtype)]

        return self.generic(dims, [], [], [self.empty(dims, dtype)], body)[0]

    def point(self, dims, ins, dtype, expression):
        """One elementwise op over `dims`; expression(block, values) builds the body from f32 or f64 values."""
        ins = [self.fit(t, dims) for t in ins]
        kind = self.rng.random()
        if self.named and kind < 0.25 and all(t.dims == tuple(dims) or self.broadcasts(t, dims) for t in ins) and dims:
            ins = [t if t.dims == tuple(dims) else self.broadcast(t, dims) for t in ins]
            out = self.empty(dims, dtype)
            block = Block(dtype)
            value = block.finish(expression(block, [block.widen(f"%a{i}", t.dtype) for i, t in enumerate(ins)]), dtype)
            args = ", ".join([f"%a{i}: {t.dtype}" for i, t in enumerate(ins)] + [f"%o: {dtype}"])
            name = self.emit(f"linalg.map ins({', '.join(t.name for t in ins)} : {', '.join(self.typeof(t) for t in ins)}) "
                             f"outs({out.name} : {self.typeof(out)}) ({args}) {{\n" + "".join(f"  {x}\n" for x in block.lines)
                             + f"  linalg.yield {value} : {dtype}\n}}")
            return self.note(Tensor(name, tuple(dims), dtype))
        out = self.empty(dims, dtype)

        def body(args, outs):
            block = Block(dtype)
            value = expression(block, [block.widen(a, t.dtype) for a, t in zip(args, ins)])
            return block.lines, [block.finish(self.with_index(block, value), dtype)]

        return self.generic(dims, [], ins, [out], body)[0]

    def named_op(self, name, dims, ins, dtype):
        """linalg.add and its like: of one shape and element type."""
        ins = [self.fit(t, dims) for t in ins]
        ins = [t if t.dims == tuple(dims) and t.dtype == dtype else self.point(dims, [t], dtype, lambda b, xs: xs[0]) for t in ins]
        out = self.empty(dims, dtype)
        typ = self.typeof(out)
        result = self.emit(f"linalg.{name} ins({', '.join(t.name for t in ins)} : {', '.join([typ] * len(ins))}) outs({out.name} : {typ}) -> {typ}")
        return self.note(Tensor(result, tuple(dims), dtype))

    def broadcasts(self, t, dims):
        rest = iter(dims)
        return all(d and any(d == e for e in rest) for d in t.dims)

    def broadcast(self, t, dims):
        e = self.empty(dims, t.dtype)
        missing = [i for i, d in enumerate(dims) if d not in t.dims]
        if self.coin():
            name = self.emit(f"linalg.broadcast ins({t.name} : {self.typeof(t)}) outs({e.name} : {self.typeof(e)}) dimensions = {missing}")
            return Tensor(name, tuple(dims), t.dtype)
        return self.generic(dims, [], [t], [e], lambda a, o: ([], [a[0]]))[0]

    # ---- reductions

    def reduce(self, dims, ins, removed, combiner, init_value, keepdim, dtype, expression, init=None):
        """Combines expression(ins), over `dims`, along the axes `removed`, from `init` or a fill with init_value."""
        ins = [self.fit(t, dims) for t in ins]
        gone = [d for d in dims if d and set(d) <= set(removed)]
        out_dims = tuple(() if d in gone else d for d in dims if keepdim or d not in gone)
        simple = len(ins) == 1 and ins[0].dtype == dtype and expression is None
        if not simple and self.coin(0.4):
            ins = [self.point(dims, ins, dtype, expression)]
            simple = True
        if init is None:
            init = self.fill(out_dims, dtype, init_value)
        elif init.axes == [a for d in out_dims for a in d]:
            init = self.regroup(init, out_dims)
        else:
            init = self.point(out_dims, [init], dtype, lambda b, xs: xs[0])
        if simple and not keepdim and self.coin(0.4) and ins[0].dims == tuple(dims):
            positions = [i for i, d in enumerate(dims) if d in gone]
            text = f"ins({ins[0].name} : {self.typeof(ins[0])}) outs({init.name} : {self.typeof(init)}) dimensions = {positions}"
            if self.coin():
                name = self.emit(f"linalg.reduce {{{combiner}}} {text}")
            else:
                a, o = ("%a", "%o") if self.coin() else ("%o", "%a")
                name = self.emit(f"linalg.reduce {text} (%a: {dtype}, %o: {dtype}) {{\n  %r = {combiner} {a}, {o} : {dtype}\n"
                                 f"  linalg.yield %r : {dtype}\n}}")
            return self.note(Tensor(name, out_dims, dtype))

        def body(args, outs):
            block = Block(dtype)
            if simple:
                value = args[0]
            else:
                value = expression(block, [block.widen(a, t.dtype) for a, t in zip(args, ins)])
                value = block.finish(value if combiner == "arith.mulf" else self.with_index(block, value), dtype)
            if combiner == "arith.addf" and self.coin(0.15):
                # The sum of a product, rounded once.
                factor = args[-1] if ins[-1].dtype == dtype else block.op(f"arith.constant 5.0e-1 : {dtype}")
                return block.lines, [block.op(f"math.fma {', '.join(self.rng.sample([value, factor], 2))}, {outs[0]} : {dtype}")]
            operands = [value, outs[0]]
            if self.coin():
                operands.reverse()
            if self.coin(0.1):
                boxed = []
                for v in operands:
                    box = block.op(f"tensor.from_elements {v} : tensor<{dtype}>")
                    boxed.append(block.op(f"tensor.extract {box}[] : tensor<{dtype}>"))
                operands = boxed
            return block.lines, [block.op(f"{combiner} {operands[0]}, {operands[1]} : {dtype}")]

        return self.generic(dims, gone, ins, [init], body)[0]

    def reduce_two(self, dims, ins, removed, combiner, init_value, dtype):
        """One linalg.reduce of two operands, or one generic of two results."""
        ins = [t if t.dims == tuple(dims) else self.point(dims, [t], dtype, lambda b, xs: xs[0]) for t in ins]
        gone = [d for d in dims if d and set(d) <= set(removed)]
        out_dims = tuple(d for d in dims if d not in gone)
        inits = [self.fill(out_dims, dtype, init_value) for _ in ins]
        positions = [i for i, d in enumerate(dims) if d in gone]
        if self.coin(0.4):
            return self.generic(dims, gone, ins, inits, lambda a, o: ([f"%x = {combiner} {a[0]}, {o[0]} : {dtype}",
                                                                       f"%y = {combiner} {o[1]}, {a[1]} : {dtype}"], ["%x", "%y"]))
        name, typ = self.fresh(), self.type(out_dims, dtype)
        self.lines.append(
            f"{name}:2 = linalg.reduce ins({', '.join(t.name for t in ins)} : {', '.join(self.typeof(t) for t in ins)}) "
            f"outs({', '.join(t.name for t in inits)} : {typ}, {typ}) dimensions = {positions} (%a: {dtype}, %b: {dtype}, %o: {dtype}, %p: {dtype}) {{\n"
            f"  %x = {combiner} %a, %o : {dtype}\n  %y = {combiner} %p, %b : {dtype}\n  linalg.yield %x, %y : {dtype}, {dtype}\n}}")
        return [self.note(Tensor(f"{name}#{i}", out_dims, dtype)) for i in range(2)]

    def function(self, name, results, private=False):
        args = ", ".join(f"{t.name}: {self.typeof(t)}" for t in self.arguments)
        types = ", ".join(self.typeof(t) for t in results)
        return (f"func.func {'private ' if private else ''}@{name}({args}) -> ({types}) {{\n" + "\n".join(self.lines)
                + f"\nreturn {', '.join(t.name for t in results)} : {types}\n}}\n")


class Block:
    """The lines of one body; values are computed in f32, or in f64 or integers where the result is that."""

    def __init__(self, dtype):
        self.lines, self.compute = [], dtype if dtype == "f64" or dtype[0] == "i" else "f32"

    def op(self, text):
        name = f"%t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def widen(self, value, dtype):
        if dtype == self.compute or dtype == "i1":
            return value
        if dtype[0] == self.compute[0] == "i":
            return self.op(f"arith.extsi {value} : {dtype} to {self.compute}")
        if dtype[0] == "i":
            return self.op(f"arith.sitofp {value} : {dtype} to {self.compute}")
        if WIDTH[dtype] > WIDTH[self.compute]:
            return self.op(f"arith.truncf {value} : {dtype} to {self.compute}")
        return self.op(f"arith.extf {value} : {dtype} to {self.compute}")

    def finish(self, value, dtype):
        return value if dtype == self.compute else self.op(f"arith.truncf {value} : {self.compute} to {dtype}")

    def constant(self, value):
        return self.op(f"arith.constant {value:e} : {self.compute}")

    def binary(self, name, a, b):
        return self.op(f"{name} {a}, {b} : {self.compute}")

    def unary(self, name, a):
        return self.op(f"{name} {a} : {self.compute}")
