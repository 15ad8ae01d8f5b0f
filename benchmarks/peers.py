"""Norm backward, ours and whichever peers are installed, side by side on one GPU: the same inputs, the same clock, one process.

A cell is a norm, a dtype and a shape. Each provider of a cell computes (dx, dgamma[, dbeta]) from dy, x, the statistics in f32 and the
weight, on several sets of inputs that together are larger than four times the L2 cache. One CUDA graph holds at least 24 calls that take the
sets in turn, each with results of its own, so that nothing is found in the cache and no host time counts; its replay time over its calls is
the time of a call. Ours (`ours`) is the bundle that norm-fusion-runner makes of PyTorch's exported IR with dynamic rows, called like
the others are. `runner` is the runner's own benchmark, in a process beside: the same rules and its own triad, to compare. `triad` reads two
arrays and writes one of the size of x: the limit.

Results are poisoned, then compared with float64 after the replays: the relative error (2-norm) of every result must be within LIMITS.
A peer that isn't installed, refuses or fails is skipped with its reason. Every result goes to --json at once; what is there already isn't
measured again, so that a run that ends early can be resumed. benchmarks/plot.py makes tables and plots of that file.
"""
import argparse, functools, json, shlex, sys, tempfile, time
from harness import Skip, count_sets, find_device, get_versions, is_fatal, need, read_report, run_tool, save, shorten, time_calls, torch
from norm import SHAPES, ir

# Nothing was tuned on these.
UNTUNED = """20011x5120 9973x10240 31249x3072 1000003x100 1562501x64 140001x720 6667x15000 5003x20480 100003x1001 11111x17389""".split()
LIMITS = {"bf16": (8e-3, 8e-3), "f16": (1e-3, 1e-3), "f32": (1e-5, 1e-4)}  # of dx, of dgamma and dbeta
CUDNN_PLANS = 12


# ---- Inputs and reference --------------------------------------------------------------------------------------------------------------

def make_inputs(norm, dtype, m, n):
    """One set; `args` is the order of PyTorch's exported functions."""
    random = lambda *shape: torch.randn(*shape, device="cuda")
    x, dy, w = (random(m, n) * 1.5 + 0.25).to(dtype), random(m, n).to(dtype), (1 + 0.2 * random(n)).to(dtype)
    xf = x.float()
    s = argparse.Namespace(dy=dy, x=x, w=w, mean=None, b=None)
    if norm == "layer":
        s.mean, s.b = xf.mean(1, keepdim=True), torch.zeros_like(w)
        xf = xf - s.mean
    s.rstd = torch.rsqrt(xf.square().mean(1, keepdim=True) + 1e-6)
    s.args = [dy, x, s.rstd, w] if norm == "rms" else [dy, x, s.mean, s.rstd, w, s.b]
    return s


def get_reference(norm, s):
    """float64, some rows at a time."""
    m, n = s.x.shape
    dx = torch.empty(m, n, dtype=torch.float64, device="cuda")
    dw, db = torch.zeros(2, n, dtype=torch.float64, device="cuda")
    rows = max(1, (1 << 26) // n)
    for r in (slice(i, i + rows) for i in range(0, m, rows)):
        x, dy, rstd = s.x[r].double(), s.dy[r].double(), s.rstd[r].double()
        xh = (x if norm == "rms" else x - s.mean[r].double()) * rstd
        g = dy * s.w.double()
        d = g - xh * (g * xh).mean(1, keepdim=True)
        dx[r] = (d if norm == "rms" else d - g.mean(1, keepdim=True)) * rstd
        dw += (dy * xh).sum(0)
        db += dy.sum(0)
    return [dx, dw] if norm == "rms" else [dx, dw, db]


def get_errors(results, reference):
    """Relative errors, at most 1e9: also where a NaN is, which a result that isn't written still holds."""
    errors = [float((result.double() - expected).norm() / expected.norm()) for result, expected in zip(results, reference)]
    return [error if error < 1e9 else 1e9 for error in errors]


# ---- Providers: (cell's norm, input sets, options) -> call(set's number) -> results ------------------------------------------------------

def ours(norm, sets, options):
    from bundle import Bundle, get_target_options
    with tempfile.TemporaryDirectory() as folder:
        source = write_ir(folder, norm, sets[0])
        run_tool([options.runner, source, f"--emit-bundle={folder}/bundle"] + get_target_options() + options.runner_options)
        bundle = Bundle(f"{folder}/bundle")
    call = lambda i: bundle(*sets[i].args)
    call(0)
    call.note = bundle.schedule + "; " + ", ".join(f"grid {g} block {b} cluster {c} shared {s}" for g, b, c, s in bundle.launches)
    return call


def write_ir(folder, norm, s):
    dtype = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}[s.x.dtype]
    with open(f"{folder}/norm.mlir", "w") as f:
        f.write(ir(norm, dtype, s.x.shape[1]))
    return f.name


def measure_with_runner(norm, s, options):
    with tempfile.TemporaryDirectory() as folder:
        run_tool([options.runner, write_ir(folder, norm, s), f"--dims={s.x.shape[0]}", "--device=cuda", "--benchmark",
                  f"--json={folder}/report.json"] + options.runner_options)
        b = json.load(open(f"{folder}/report.json"))["benchmark"]
    return dict(us=b["median_us"], min_us=b["min_us"], p95_us=b["p95_us"], runner_triad_us=b["triad_us"])


def eager(norm, sets, options):
    n, aten = sets[0].x.shape[1], torch.ops.aten
    if norm == "rms":
        return lambda i: aten._fused_rms_norm_backward(sets[i].dy, sets[i].x, [n], sets[i].rstd, sets[i].w, [True, True])
    return lambda i: aten.native_layer_norm_backward(sets[i].dy, sets[i].x, [n], sets[i].mean, sets[i].rstd, sets[i].w, sets[i].b, [True] * 3)


def inductor(mode, norm, sets, options):
    def rms(dy, x, rstd, w):
        xh, g = x.float() * rstd, dy.float() * w.float()
        dx = (g - xh * (g * xh).mean(1, keepdim=True)) * rstd
        return dx.to(x.dtype), (dy.float() * xh).sum(0).to(w.dtype)

    def layer(dy, x, mean, rstd, w, b):
        xh, g = (x.float() - mean) * rstd, dy.float() * w.float()
        dx = (g - xh * (g * xh).mean(1, keepdim=True) - g.mean(1, keepdim=True)) * rstd
        return dx.to(x.dtype), (dy.float() * xh).sum(0).to(w.dtype), dy.float().sum(0).to(w.dtype)

    torch._dynamo.reset()
    compiled = torch.compile(rms if norm == "rms" else layer, dynamic=False, mode=mode)
    return lambda i: compiled(*sets[i].args)


def liger(norm, sets, options):
    """RMSNorm writes dx over dy, as is its default: into a copy of dy, whose values the timing doesn't depend on."""
    utils = need("liger_kernel.ops.utils")
    stats = [(s.mean.flatten() if s.mean is not None else None, s.rstd.flatten()) for s in sets]
    if norm == "layer":
        from liger_kernel.ops.layer_norm import layer_norm_backward
        return lambda i: layer_norm_backward(sets[i].dy, sets[i].x, sets[i].w, sets[i].b, *stats[i])
    from liger_kernel.ops.rms_norm import _CASTING_MODE_LLAMA, rms_norm_backward
    block, warps = utils.calculate_settings(sets[0].x.shape[1])
    dys = [s.dy.clone() for s in sets]
    call = lambda i: rms_norm_backward(dys[i], sets[i].x, sets[i].w, stats[i][1], 0.0, _CASTING_MODE_LLAMA.value, block, warps, True, None)
    call.restore = lambda i: dys[i].copy_(sets[i].dy)
    return call


def quack(norm, sets, options):
    module = need("quack.rmsnorm")
    stats = [(s.rstd.flatten(), s.mean.flatten() if s.mean is not None else None) for s in sets]
    if norm == "rms":
        return lambda i: module.rmsnorm_bwd(sets[i].x, sets[i].w, sets[i].dy, stats[i][0])[:2]
    return lambda i: module.layernorm_bwd(sets[i].x, sets[i].w, sets[i].dy, *stats[i], has_bias=True)


def cudnn(best, norm, sets, options):
    """cuDNN's graph: the first plan of its heuristics, or the fastest of the first CUDNN_PLANS."""
    cudnn = need("cudnn")
    handle = get_cudnn_handle(cudnn)
    m, n = sets[0].x.shape
    kind = {torch.bfloat16: cudnn.data_type.BFLOAT16, torch.float16: cudnn.data_type.HALF, torch.float32: cudnn.data_type.FLOAT}
    io, f32 = kind[sets[0].x.dtype], cudnn.data_type.FLOAT
    graph = cudnn.pygraph(handle=handle, io_data_type=io, intermediate_data_type=f32, compute_data_type=f32)

    def tensor(name, uid, rows, columns, dtype):
        return graph.tensor(name=name, uid=uid, dim=[rows, columns, 1, 1], stride=[columns, 1, columns, columns], data_type=dtype)

    dy, x, w = tensor("dy", 1, m, n, io), tensor("x", 2, m, n, io), tensor("w", 3, 1, n, io)
    rstd = tensor("rstd", 4, m, 1, f32)
    if norm == "rms":
        outputs = graph.rmsnorm_backward(grad=dy, input=x, scale=w, inv_variance=rstd, has_dbias=False)[:2]
    else:
        outputs = graph.layernorm_backward(grad=dy, input=x, scale=w, mean=tensor("mean", 5, m, 1, f32), inv_variance=rstd)
    for uid, output in enumerate(outputs, 10):
        output.set_uid(uid).set_output(True).set_data_type(io)
    graph.validate()
    graph.build_operation_graph()
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])

    def call(i):
        s = sets[i]
        cudnn.set_stream(handle=handle, stream=torch.cuda.current_stream().cuda_stream)
        results = [torch.empty_like(s.x)] + [torch.empty_like(s.w) for _ in outputs[1:]]
        workspace = torch.empty(max(1, graph.get_workspace_size()), dtype=torch.uint8, device="cuda")
        values = {1: s.dy, 2: s.x, 3: s.w, 4: s.rstd, **({5: s.mean} if norm == "layer" else {})}
        graph.execute({**values, **dict(enumerate(results, 10))}, workspace, handle=handle)
        return results

    count = graph.get_execution_plan_count()
    if not best:
        graph.check_support()
        graph.build_plans()
        call.note = f"first of {count} plans"
        return call
    times = []
    for plan in range(min(CUDNN_PLANS, count)):
        try:
            graph.build_plan_at_index(plan)
            times.append((time_calls(call, len(sets), batches=1)["us"], plan))
        except Exception as error:  # a plan that cuDNN lists and can't run
            if is_fatal():
                raise
            print(f"  cudnn plan {plan}: {shorten(error)}", file=sys.stderr)
    if not times:
        raise Skip("no plan runs")
    graph.build_plan_at_index(min(times)[1])
    call.note = f"{graph.get_plan_name_at_index(min(times)[1])}, plan {min(times)[1]} of {count}; timed {len(times)}"
    return call


@functools.lru_cache(maxsize=None)
def get_cudnn_handle(cudnn):
    return cudnn.create_handle()


PROVIDERS = {"ours": ours, "runner": None, "eager": eager, "inductor": functools.partial(inductor, None),
             "inductor_max": functools.partial(inductor, "max-autotune-no-cudagraphs"), "liger": liger, "quack": quack,
             "cudnn": functools.partial(cudnn, False), "cudnn_best": functools.partial(cudnn, True)}


# ---- Measuring ---------------------------------------------------------------------------------------------------------------------------

def measure(provider, norm, sets, reference, options):
    if provider == "runner":
        return measure_with_runner(norm, sets[0], options)
    started = time.time()
    call = PROVIDERS[provider](norm, sets, options)
    call(0)
    torch.cuda.synchronize()
    first = time.time() - started
    row = time_calls(call, len(sets))
    results = row.pop("results")[-1]
    del row["graph"]
    if hasattr(call, "restore"):
        call.restore(len(sets) - 1)
        results = call(len(sets) - 1)
    return dict(row, first_s=round(first, 2), errors=get_errors(results, reference), note=getattr(call, "note", ""))


@functools.lru_cache(maxsize=None)
def time_triad(elements, itemsize):
    """The fastest of several kernels that read two arrays and write one: PyTorch's, and Triton's in several sizes."""
    dtype = {2: torch.bfloat16, 4: torch.float32}[itemsize]
    sets = [[torch.randn(elements, device="cuda").to(dtype) for _ in range(2)] for _ in range(count_sets(3 * elements * itemsize))]
    times = [time_calls(lambda i: [torch.add(*sets[i], alpha=3)], len(sets), batches=3)["us"]]
    try:
        from triad import launch
        for block in (1024, 4096):
            for blocks in (None, 8):
                times.append(time_calls(lambda i: [launch(*sets[i], block, blocks)], len(sets), batches=3)["us"])
    except Exception as error:
        print(f"the triad is PyTorch's add alone: {shorten(error)}", file=sys.stderr)
    return min(times)


# ---- The run -----------------------------------------------------------------------------------------------------------------------------

def get_key(row):
    return tuple(row[k] for k in ("norm", "dtype", "shape", "provider"))


def measure_cell(norm, name, shape, providers, report, options, ends):
    """Adds a row for each provider that has none yet."""
    m, n = map(int, shape.split("x"))
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[name]
    columns = 2 if norm == "rms" else 4  # w and dgamma; b and dbeta
    nbytes = 3 * m * n * dtype.itemsize + m * 4 * columns // 2 + n * dtype.itemsize * columns
    torch.manual_seed(0)
    triad = time_triad(m * n, dtype.itemsize)
    sets = [make_inputs(norm, dtype, m, n) for _ in range(count_sets(nbytes))]
    reference = get_reference(norm, sets[-1])
    print(f"{norm:6}{name:5}{shape:>14} {nbytes / 1e6:8.1f} MB x {len(sets):3}  triad {triad:8.2f}", flush=True)
    for provider in providers:
        if time.time() > ends:
            break
        row = dict(norm=norm, dtype=name, shape=shape, provider=provider, bytes=nbytes, triad_us=triad)
        fatal = False
        try:
            row.update(measure(provider, norm, sets, reference, options))
            limits = LIMITS[name][:1] + LIMITS[name][1:] * 2
            row["wrong"] = any(error > limit for error, limit in zip(row.get("errors", []), limits))
            text = f"{row['us']:9.2f} us {triad / row['us']:6.1%} of the triad  " + " ".join(f"{e:.1e}" for e in row.get("errors", []))
            if "runner_triad_us" in row:
                text += f"the runner's triad {row['runner_triad_us']:.2f}"
            text += " WRONG" if row["wrong"] else ""
        except Exception as error:
            fatal = is_fatal()
            row["skipped"] = str(error) if isinstance(error, Skip) else shorten(error)
            text = "skipped: " + row["skipped"]
        print(f"    {provider:13}{text}", flush=True)
        report["rows"].append(row)
        save(options.json, report)
        if fatal:
            sys.exit("the device's context is lost; run again with the same --json to go on behind this row")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", default="", help="norm-fusion-runner; without it, ours and runner are skipped")
    parser.add_argument("--runner-options", type=shlex.split, default=[], metavar='"--K=V ..."',
                        help="more options for it: --runner-options=\"--schedule='combine=grid'\"")
    parser.add_argument("--shapes", default=",".join(SHAPES + UNTUNED), help="MxN,...; tuned: the 19, untuned: the 10 others")
    parser.add_argument("--norms", default="rms,layer")
    parser.add_argument("--dtypes", default="bf16,f16,f32")
    parser.add_argument("--providers", default=",".join(PROVIDERS))
    parser.add_argument("--json", default="", help="results; read first, and written after each measurement")
    parser.add_argument("--budget", type=float, default=1e9, metavar="SECONDS", help="start nothing after so many seconds")
    parser.add_argument("--again", action="store_true", help="try again what was skipped, and what was wrong")
    parser.add_argument("--list", action="store_true", help="print what would be measured")
    options = parser.parse_args()
    shapes = {"tuned": SHAPES, "untuned": UNTUNED}.get(options.shapes) or options.shapes.split(",")
    providers = options.providers.split(",")
    for given, known in ((providers, PROVIDERS), (options.dtypes.split(","), LIMITS), (options.norms.split(","), ("rms", "layer"))):
        for value in given:
            if value not in known:
                parser.error(f"'{value}' is none of {', '.join(known)}")
    report = read_report(options)
    done = {get_key(row) for row in report["rows"]}
    cells = [(norm, dtype, shape, [p for p in providers if (norm, dtype, shape, p) not in done])
             for dtype in options.dtypes.split(",") for norm in options.norms.split(",") for shape in shapes]
    cells = [cell for cell in cells if cell[3]]
    if options.list:
        for cell in cells:
            print(*cell[:3], ",".join(cell[3]))
        return 0
    if reason := find_device():
        print(reason, file=sys.stderr)
        return 4
    report.update(device=torch.cuda.get_device_name(0), versions=get_versions())
    ends = time.time() + options.budget
    for number, (norm, dtype, shape, missing) in enumerate(cells):
        if time.time() > ends:
            print(f"{len(cells) - number} of {len(cells)} cells are left; run again with the same --json")
            break
        try:
            measure_cell(norm, dtype, shape, missing, report, options, ends)
        except torch.OutOfMemoryError as error:
            print(f"{norm} {dtype} {shape}: {shorten(error)}", file=sys.stderr)
        torch.cuda.empty_cache()
    return 1 if any(row.get("wrong") for row in report["rows"] if row["provider"] == "ours") else 0


if __name__ == "__main__":
    sys.exit(main())
