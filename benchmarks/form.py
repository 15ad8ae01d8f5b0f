"""How long norm-fusion-form takes on whole models, and how that grows: modules of 10,000 and of 100,000 linalg ops.

usage: form.py OPT [--models stream,functions,...] [--ops 10000,100000] [--repeat 3]
       form.py ir MODEL OPS > model.mlir

Every model is made of layers of 20 linalg ops (attention: 23, mirrored: 25) with one norm backward each:
  stream       one function; every norm's dx is added to the residual stream and goes through a matmul to the next
  gradients    one function; one residual stream without a matmul on it: matmuls only feed the norms
  functions    functions of five layers
  independent  one function; norms of arguments of their own
  shared       one function; independent norms that share the weight and the rows' statistics
  attention    as stream, with a softmax backward in every layer, which must be left alone
  loop         as stream, in bodies of scf.for, five layers each
  late         as stream, with all weights' gradients at the end of the function
  mirrored     forward and then backward, without a residual stream: every norm's space is open from end to end
  plain        one function of elementwise ops and matmuls: nothing to fuse

Prints the seconds of the pass itself (the least of the runs, from --mlir-timing with --verify-each=0), the groups formed, and how often
the time of the small module the large one takes. Exits non-zero where groups are missing.
"""
import argparse, os, re, subprocess, sys, tempfile

M, N = 64, 96
FULL, ROW, COL = f"tensor<{M}x{N}xf32>", f"tensor<{M}xf32>", f"tensor<{N}xf32>"
WEIGHT = f"tensor<{N}x{N}xf32>"
OPS_PER_LAYER = 20


class Body:
    """Lines of one function or loop body."""

    def __init__(self, prefix=""):
        self.lines, self.prefix = [], prefix

    def value(self, text):
        name = f"%{self.prefix}{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def point(self, op, inputs, to=FULL):
        """An elementwise generic; an input's type says how it is read."""
        maps = {FULL: "#full", ROW: "#row", COL: "#col"}
        out = maps[to] if to == FULL else "#own"
        ins = ", ".join(name for name, _ in inputs)
        types = ", ".join(kind for _, kind in inputs)
        args = ", ".join(f"%a{i}: f32" for i in range(len(inputs)))
        used = ", ".join(f"%a{i}" for i in range(len(inputs)))
        indexing = ", ".join([maps[kind] if to == FULL else "#own" for _, kind in inputs] + [out])
        kinds = ", ".join(['"parallel"'] * (2 if to == FULL else 1))
        init = {FULL: "%full", ROW: "%row", COL: "%col"}[to]
        return self.value(f"linalg.generic {{indexing_maps = [{indexing}], iterator_types = [{kinds}]}} ins({ins} : {types}) "
                          f"outs({init} : {to}) {{\n^bb0({args}, %o: f32):\n  %r = arith.{op} {used} : f32\n"
                          f"  linalg.yield %r : f32\n}} -> {to}")

    def reduce(self, value, to, init=None):
        kinds = '"parallel", "reduction"' if to == ROW else '"reduction", "parallel"'
        if init is None:
            init = self.value(f"linalg.fill ins(%zero : f32) outs({'%row' if to == ROW else '%col'} : {to}) -> {to}")
        return self.value(f"linalg.generic {{indexing_maps = [#full, {'#row' if to == ROW else '#col'}], iterator_types = [{kinds}]}} "
                          f"ins({value} : {FULL}) outs({init} : {to}) {{\n^bb0(%a: f32, %o: f32):\n  %r = arith.addf %a, %o : f32\n"
                          f"  linalg.yield %r : f32\n}} -> {to}")

    def matmul(self, value):
        return self.value(f"linalg.matmul ins({value}, %mat : {FULL}, {WEIGHT}) outs(%full : {FULL}) -> {FULL}")

    def norm(self, dy, x, w="%w", mean="%mean", rstd="%rstd", late=None):
        """LayerNorm backward: 16 linalg ops. Returns dx, dw, db; with `late`, the columns' sums are left there."""
        F, R, C = FULL, ROW, COL
        centred = self.point("subf", [(x, F), (mean, R)])
        xh = self.point("mulf", [(centred, F), (rstd, R)])
        g = self.point("mulf", [(dy, F), (w, C)])
        s1 = self.reduce(g, R)
        s2 = self.reduce(self.point("mulf", [(g, F), (xh, F)]), R)
        m2 = self.point("divf", [(s2, R), ("%rows", R)], R)
        d = self.point("subf", [(g, F), (s1, R)])
        d = self.point("subf", [(d, F), (self.point("mulf", [(xh, F), (m2, R)]), F)])
        dx = self.point("mulf", [(d, F), (rstd, R)])
        if late is not None:
            late.append((dy, xh))
            return dx, None, None
        dw = self.reduce(self.point("mulf", [(dy, F), (xh, F)]), C, "%zeros")
        db = self.reduce(dy, C, "%zeros")
        return dx, dw, db


def layer(model, body, dy, x, sink):
    """One layer of 20 linalg ops; returns the next layer's dy."""
    F = FULL
    if model == "plain":
        for _ in range(9):
            dy = body.point("addf", [(body.point("mulf", [(dy, F), (x, F)]), F), (x, F)])
        return body.point("addf", [(body.matmul(dy), F), (x, F)])
    if model == "gradients":
        dx, dw, db = body.norm(body.matmul(body.point("mulf", [(dy, F), (x, F)])), x)
        sink += [(dw, COL), (db, COL)]
        return body.point("addf", [(body.point("addf", [(dy, F), (dx, F)]), F), (x, F)])
    if model in ("independent", "shared"):
        dx, dw, db = body.norm(dy, x)
        for _ in range(4):
            dx = body.point("addf", [(dx, F), (dy, F)])
        sink += [(dx, F), (dw, COL), (db, COL)]
        return dy
    if model == "attention":
        # A softmax backward in place of some elementwise ops.
        p = body.matmul(dy)
        s = body.reduce(body.point("mulf", [(p, F), (x, F)]), ROW)
        dy = body.matmul(body.point("subf", [(p, F), (s, ROW)]))
    dx, dw, db = body.norm(dy, x)
    sink += [(dw, COL), (db, COL)]
    if model == "attention":
        return body.point("addf", [(dx, F), (dy, F)])
    dx = body.point("addf", [(dx, F), (dy, F)])
    dx = body.matmul(dx)
    dx = body.point("mulf", [(dx, F), (x, F)])
    return body.point("addf", [(dx, F), (dy, F)])


PROLOGUE = f"""%full = tensor.empty() : {FULL}
%row = tensor.empty() : {ROW}
%col = tensor.empty() : {COL}
%zero = arith.constant 0.0 : f32
%rows = arith.constant dense<{N}.0> : {ROW}
%zeros = arith.constant dense<0.0> : {COL}"""


def function(name, model, layers):
    body, sink, arguments = Body(), [], []
    dy, x = "%dy", "%x"
    if model == "loop":
        body.lines.append("%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index")
        for start in range(0, layers, 5):
            inner, inner_sink, carried = Body(f"i{start}_"), [], "%carried"
            for _ in range(min(5, layers - start)):
                carried = layer("stream", inner, carried, x, inner_sink)
            types = ", ".join([FULL] + [COL] * len(inner_sink))
            names = ["%carried"] + [f"%d{k}" for k in range(len(inner_sink))]
            inits = [dy] + ["%zeros"] * len(inner_sink)
            pairs = ", ".join(f"{a} = {b}" for a, b in zip(names, inits))
            total = body.value("scf.for %i = %c0 to %c4 step %c1 iter_args(" + pairs + ") -> (" + types + ") {\n" + "\n".join(inner.lines)
                               + "\nscf.yield " + ", ".join([carried] + [n for n, _ in inner_sink]) + f" : {types}\n}}")
            body.lines[-1] = body.lines[-1].replace(f"{total} = ", f"{total}:{1 + len(inner_sink)} = ", 1)
            dy = f"{total}#0"
            sink += [(f"{total}#{k + 1}", COL) for k in range(len(inner_sink))]
    elif model == "late":
        late = []
        for _ in range(layers):
            dx = body.norm(dy, x, late=late)[0]
            dx = body.matmul(body.point("addf", [(dx, FULL), (dy, FULL)]))
            dy = body.point("addf", [(body.point("mulf", [(dx, FULL), (x, FULL)]), FULL), (dy, FULL)])
        for d, xh in late:
            sink.append((body.reduce(body.point("mulf", [(d, FULL), (xh, FULL)]), COL, "%zeros"), COL))
            sink.append((body.reduce(d, COL, "%zeros"), COL))
    elif model == "mirrored":
        saved = []
        for _ in range(layers):
            mean = body.reduce(x, ROW)
            rstd = body.reduce(body.point("subf", [(x, FULL), (mean, ROW)]), ROW)
            saved.append((x, mean, rstd))
            x = body.matmul(body.point("mulf", [(x, FULL), (rstd, ROW)]))
        for x, mean, rstd in reversed(saved):
            dx, dw, db = body.norm(body.matmul(dy), x, mean=mean, rstd=rstd)
            dy = dx
            sink += [(dw, COL), (db, COL)]
    else:
        for i in range(layers):
            if model in ("independent", "shared"):
                arguments += [f"%dy{i}: {FULL}", f"%x{i}: {FULL}"]
                dy, x = f"%dy{i}", f"%x{i}"
            dy = layer(model, body, dy, x, sink)
    results = [(dy, FULL)] + sink
    arguments = [f"%dy: {FULL}", f"%x: {FULL}", f"%w: {COL}", f"%mean: {ROW}", f"%rstd: {ROW}", f"%mat: {WEIGHT}"] + arguments
    types = ", ".join(kind for _, kind in results)
    return (f"func.func @{name}({', '.join(arguments)}) -> ({types}) {{\n{PROLOGUE}\n" + "\n".join(body.lines)
            + f"\nreturn {', '.join(n for n, _ in results)} : {types}\n}}\n")


def module(model, ops):
    layers = ops // OPS_PER_LAYER
    text = "#full = affine_map<(m, n) -> (m, n)>\n#row = affine_map<(m, n) -> (m)>\n#col = affine_map<(m, n) -> (n)>\n#own = affine_map<(d) -> (d)>\n"
    if model == "functions":
        return text + "".join(function(f"f{i}", "stream", 5) for i in range(layers // 5))
    return text + function("main", model, layers)


MODELS = ["stream", "gradients", "functions", "independent", "shared", "attention", "loop", "late", "mirrored", "plain"]


def measure(opt, path, repeat):
    best, formed = float("inf"), 0
    for _ in range(repeat):
        p = subprocess.run([opt, path, "--norm-fusion-form", "--verify-each=0", "--mlir-timing", "--mlir-timing-display=list",
                            "--mlir-disable-threading", "--emit-bytecode", "-o", path + "bc"], capture_output=True, text=True)
        if p.returncode:
            sys.exit(f"{path}: exit {p.returncode}: {p.stderr[:300]}")
        best = min(best, float(re.search(r"([\d.]+) \([^)]*\)  NormFusionForm", p.stderr).group(1)))
    p = subprocess.run([opt, path + "bc"], stdout=subprocess.PIPE, text=True)
    return best, p.stdout.count(" norm_fusion.mixed_reduction ")


def main():
    if sys.argv[1:2] == ["ir"]:
        sys.stdout.write(module(sys.argv[2], int(sys.argv[3])))
        return 0
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("opt")
    ap.add_argument("--models", default=",".join(MODELS))
    ap.add_argument("--ops", default="10000,100000")
    ap.add_argument("--repeat", type=int, default=3)
    a = ap.parse_args()
    sizes, failed = [int(n) for n in a.ops.split(",")], 0
    print("model       " + "".join(f"{n:>9} ops" for n in sizes) + "   growth   groups")
    for model in a.models.split(","):
        seconds, groups = [], []
        with tempfile.TemporaryDirectory() as t:
            for n in sizes:
                path = os.path.join(t, "model.mlir")
                open(path, "w").write(module(model, n))
                time, formed = measure(a.opt, path, a.repeat)
                seconds.append(time)
                groups.append(formed)
                failed += formed != (0 if model == "plain" else n // OPS_PER_LAYER)
        growth = seconds[-1] / max(seconds[0], 1e-4)
        print(f"{model:12}" + "".join(f"{s:11.3f} s" for s in seconds) + f"{growth:9.1f}   {' '.join(map(str, groups))}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
