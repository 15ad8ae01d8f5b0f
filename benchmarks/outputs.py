"""Norms that write more than y, or dx and dgamma: ours beside a plain kernel that moves the same bytes, and beside whichever peers are installed.

A cell is a case (outputs_ir.py) and a shape. Inputs, clock, poisoning and resuming are those of peers.py. `plain` is the fastest of several
Triton kernels (moves.py) that read arrays of the same number, type and size and write such, in the same run; a transposed copy counts as a
plain array. All take turns, --rounds times, and the best round counts: what is timed first in a process takes up to 0.5 us less. A cell passes
where ours takes at most 1.05 times that plus 2.5 us, with a transposed copy 1.15 times plus 2.5 us, and every result is right: the relative
error (2-norm) from float64 within LIMITS, fp8 at most one code off.

Bundles are compiled before anything is timed, --jobs at once; --schedules ends there, needs no GPU, and prints what each cell runs.
"""
import argparse, concurrent.futures, functools, json, os, sys, tempfile, time
from harness import Skip, count_sets, find_device, get_versions, is_fatal, need, read_report, run_tool, save, shorten, time_calls, torch
from outputs_ir import CASES, EPS, LARGEST, TINY, make_ir

SHAPES = "4096x4096 16384x4096 8192x8192 2048x16384".split()
SCALE = 80.0  # a given one, so that few elements are clamped
LIMITS = {"bf16": 8e-3, "f32": 1e-4}


class Case:
    """Inputs and outputs of the size of x, by type; the results' names, in order."""

    def __init__(self, reads, writes, results):
        self.reads, self.writes, self.results = reads.split(), writes.split(), results.split()
        self.is_transposed = any(result.endswith("t") for result in self.results)

    def get_limit(self, plain):
        return (1.15 if self.is_transposed else 1.05) * plain + 2.5


TABLE = {
    "forward": Case("bf16", "bf16", "y rstd"),
    "forward_residual": Case("bf16 bf16", "bf16 bf16", "y sum rstd"),
    "fp8_given": Case("bf16", "fp8", "q amax rstd"),
    "fp8_row": Case("bf16", "fp8", "q scale rstd"),
    "fp8_transposed": Case("bf16", "fp8 fp8", "q qt rstd"),
    "bf16_transposed": Case("bf16", "bf16 bf16", "y yt rstd"),
    "backward_residual": Case("bf16 bf16 bf16", "bf16", "dx dw"),
    "backward_fp8": Case("bf16 bf16", "fp8", "q scale dw"),
    "fp8_amax_transposed": Case("bf16", "fp8 fp8", "q qt amax rstd"),
    "backward_transposed": Case("bf16 bf16", "bf16 bf16", "dx dxt dw"),
    "backward_fp8_transposed": Case("bf16 bf16", "fp8 fp8", "q qt dw"),
}
assert list(TABLE) == list(CASES)
BYTES = {"bf16": 2, "fp8": 1}


# ---- Inputs, functions and reference -----------------------------------------------------------------------------------------------------

def make_inputs(case, m, n):
    """One set, in the order of the case's function."""
    random = lambda *shape: torch.randn(*shape, device="cuda")
    x, w = (random(m, n) * 1.5 + 0.25).bfloat16(), (1 + 0.2 * random(n)).bfloat16()
    if case.startswith("backward"):
        rstd = torch.rsqrt(x.float().square().mean(1, keepdim=True) + EPS)
        more = {"backward_residual": lambda: random(m, n).bfloat16(), "backward_fp8_transposed": lambda: torch.tensor(SCALE, device="cuda")}
        return [random(m, n).bfloat16(), x, rstd, w] + ([more[case]()] if case in more else [])
    if case == "forward_residual":
        return [x, random(m, n).bfloat16(), w]
    return [x, w] + ([torch.tensor(SCALE, device="cuda")] if case in ("fp8_given", "fp8_transposed", "fp8_amax_transposed") else [])


def get_function(case, wide=None):
    """The case as a function of PyTorch's ops, computing in f32 or `wide`."""
    wide = wide or torch.float32

    def normalise(x):
        rstd = torch.rsqrt(x.to(wide).square().mean(1, keepdim=True) + EPS)
        return x.to(wide) * rstd, rstd

    def to_fp8(y):
        return y.clamp(-LARGEST, LARGEST).to(torch.float8_e4m3fn)

    def quantize(y):
        scale = y.abs().amax(1, keepdim=True).clamp(min=TINY) / LARGEST
        return to_fp8(y / scale), scale

    def forward(x, w):
        xh, rstd = normalise(x)
        return (xh * w.to(wide)).bfloat16(), rstd

    def forward_residual(x, r, w):
        total = (x.float() + r.float()).bfloat16()
        xh, rstd = normalise(total)
        return (xh * w.to(wide)).bfloat16(), total, rstd

    def fp8_given(x, w, scale):
        xh, rstd = normalise(x)
        y = xh * w.to(wide)
        return to_fp8(y * scale), y.abs().amax(), rstd

    def fp8_row(x, w):
        xh, rstd = normalise(x)
        return *quantize(xh * w.to(wide)), rstd

    def fp8_transposed(x, w, scale):
        xh, rstd = normalise(x)
        q = to_fp8(xh * w.to(wide) * scale)
        return q, q.t().contiguous(), rstd

    def fp8_amax_transposed(x, w, scale):
        q, amax, rstd = fp8_given(x, w, scale)
        return q, q.t().contiguous(), amax, rstd

    def bf16_transposed(x, w):
        xh, rstd = normalise(x)
        y = (xh * w.to(wide)).bfloat16()
        return y, y.t().contiguous(), rstd

    def backward(dy, x, rstd, w):
        xh, g = x.to(wide) * rstd, dy.to(wide) * w.to(wide)
        return (g - xh * (g * xh).mean(1, keepdim=True)) * rstd, (dy.to(wide) * xh).sum(0).bfloat16()

    def backward_residual(dy, x, rstd, w, dres):
        dx, dw = backward(dy, x, rstd, w)
        return (dx + dres.to(wide)).bfloat16(), dw

    def backward_fp8(dy, x, rstd, w):
        dx, dw = backward(dy, x, rstd, w)
        return *quantize(dx), dw

    def backward_transposed(dy, x, rstd, w):
        dx, dw = backward(dy, x, rstd, w)
        dx = dx.bfloat16()
        return dx, dx.t().contiguous(), dw

    def backward_fp8_transposed(dy, x, rstd, w, scale):
        dx, dw = backward(dy, x, rstd, w)
        q = to_fp8(dx * scale)
        return q, q.t().contiguous(), dw
    return locals()[case]


def get_reference(case, inputs):
    """In float64, some rows at a time; narrow results are rounded once, but for fp8 only where they are compared as codes."""
    m, n = inputs[0].shape
    rows = max(1, (1 << 26) // n)
    function = get_function(case, torch.float64)
    parts = [function(*(i[start:start + rows] if i.dim() == 2 else i for i in inputs)) for start in range(0, m, rows)]
    together = {"amax": lambda p: torch.stack(p).amax(), "dw": lambda p: torch.stack(p).double().sum(0),
                "qt": lambda p: torch.cat([i.view(torch.uint8) for i in p], 1).view(torch.float8_e4m3fn), "yt": lambda p: torch.cat(p, 1),
                "dxt": lambda p: torch.cat(p, 1),
                "q": lambda p: torch.cat([i.view(torch.uint8) for i in p]).view(torch.float8_e4m3fn)}
    return [together.get(name, torch.cat)([part[i] for part in parts]) for i, name in enumerate(TABLE[case].results)]


def get_codes(tensor):
    """fp8 as integers in the order of the values; NaN far from all."""
    bits = tensor.view(torch.uint8).short()
    codes = torch.where(bits >= 128, 128 - bits, bits)
    return torch.where((bits & 127) == 127, codes * 100, codes)


def get_error(result, expected):
    """(error, whether it is too large): of fp8 the codes between, else the relative 2-norm; at most 1e9, also where a NaN is."""
    if result.shape != expected.shape:
        return 1e9, True
    if result.dtype == torch.float8_e4m3fn:
        error = int((get_codes(result) - get_codes(expected)).abs().max())
        return error, error > 1
    error = float((result.double() - expected.double()).norm() / expected.double().norm())
    return (error if error < 1e9 else 1e9), not error <= LIMITS["bf16" if result.dtype == torch.bfloat16 else "f32"]


# ---- Providers: (case, input sets, options) -> call(set's number) -> results, None where a provider hasn't one ----------------------------

def get_folder(options, case, columns, schedule):
    return os.path.join(options.folder, f"{case}_{columns}_{options.schedule.index(schedule) if schedule else 'own'}")


def make_bundle(options, case, columns, schedule):
    """Compiles a case, or says why not."""
    folder = get_folder(options, case, columns, schedule)
    try:
        with open(folder + ".mlir", "w") as f:
            f.write(make_ir(case, columns))
        run_tool([options.runner, f.name, "--form-options=row-only=true", f"--emit-bundle={folder}"] + options.target
                 + ([f"--schedule={schedule}"] if schedule else []))
    except (RuntimeError, Skip) as error:
        return str(error)
    return ""


def ours(schedule, case, sets, options):
    from bundle import Bundle
    columns = sets[0][0].shape[1]
    if error := options.bundles[case, columns, schedule]:
        raise Skip(error)
    bundle = Bundle(get_folder(options, case, columns, schedule))
    call = lambda i: bundle(*sets[i])
    call(0)
    call.note = "; ".join([bundle.schedule] + [f"grid {g} block {b} cluster {c} shared {s}"
                                                                        for g, b, c, s in bundle.launches])
    return call


def inductor(case, sets, options):
    torch._dynamo.reset()
    compiled = torch.compile(get_function(case), dynamic=False)
    return lambda i: compiled(*sets[i])


def eager(case, sets, options):
    if case != "forward":
        raise Skip("has no such function")
    n = [sets[0][0].shape[1]]
    return lambda i: torch.ops.aten._fused_rms_norm(sets[i][0], n, sets[i][1], EPS)


def liger(case, sets, options):
    """The backward takes the residual stream's sum for x, which it is."""
    if case == "forward":
        from_liger = need("liger_kernel.ops.rms_norm").rms_norm_forward
        return lambda i: [from_liger(*sets[i], EPS, 0.0, "llama", True)[k] for k in (0, 2)]
    module = need("liger_kernel.ops.fused_add_rms_norm")
    if case == "forward_residual":
        return lambda i: module.fused_add_rms_norm_forward(*sets[i], EPS, 0.0, "llama")[:3]
    if case != "backward_residual":
        raise Skip("has no such function")
    block, warps = module.calculate_settings(sets[0][0].shape[1])

    def call(i):
        dy, x, rstd, w, dres = sets[i]
        return module.fused_add_rms_norm_backward(dy, dres, x, w, rstd.flatten(), 0.0, module._CASTING_MODE_LLAMA.value, block, warps, 2,
                                                  False)[1:]
    return call


def quack(case, sets, options):
    if case not in ("forward", "forward_residual", "backward_residual"):
        raise Skip("has no such function")
    module = need("quack.rmsnorm")
    if case == "forward":
        return lambda i: [module.rmsnorm_fwd(*sets[i], eps=EPS, store_rstd=True)[k] for k in (0, 2)]
    if case == "forward_residual":
        return lambda i: module.rmsnorm_fwd(sets[i][0], sets[i][2], residual=sets[i][1], eps=EPS, store_rstd=True)

    def call(i):
        dy, x, rstd, w, dres = sets[i]
        return module.rmsnorm_bwd(x, w, dy, rstd.flatten(), dres)[:2]
    return call


def transformer_engine(case, sets, options):
    if case not in ("forward", "fp8_given", "fp8_transposed"):
        raise Skip("has no such function")
    need("transformer_engine.pytorch")
    tex = need("transformer_engine_torch")
    margin, zero_centred = 0, False
    if case == "forward":
        return lambda i: [tex.rmsnorm_fwd(*sets[i], EPS, None, None, tex.DType.kBFloat16, margin, zero_centred)[k] for k in (0, 2)]
    Quantizer = need("transformer_engine.pytorch.tensor.float8_tensor").Float8Quantizer
    transposed = case == "fp8_transposed"

    def call(i):
        x, w, scale = sets[i]
        amax = torch.zeros(1, device="cuda")
        quantizer = Quantizer(scale.view(1), amax, tex.DType.kFloat8E4M3, rowwise=True, columnwise=transposed)
        y, _, rstd = tex.rmsnorm_fwd(x, w, EPS, None, quantizer, tex.DType.kBFloat16, margin, zero_centred)
        fp8 = lambda data: data.view(torch.float8_e4m3fn)
        return [fp8(y._data), fp8(y._transpose) if transposed else amax.view(()), rstd]
    return call


PEERS = {"eager": eager, "inductor": inductor, "liger": liger, "quack": quack, "transformer_engine": transformer_engine}


# ---- The run -----------------------------------------------------------------------------------------------------------------------------

class Plain:
    """The fastest of the kernels that move the bytes of a case, and nothing else: one for all cases of the same arrays."""
    variants = {}

    def __init__(self, m, n, reads, writes):
        from moves import VARIANTS
        types = {"bf16": torch.bfloat16, "fp8": torch.float8_e4m3fn}
        nbytes = m * n * sum(BYTES[name] for name in reads + writes)
        self.sets = [[torch.randn(m, n, device="cuda").to(types[name]) for name in reads] for _ in range(count_sets(nbytes))]
        self.writes = [types[name] for name in writes]
        key = m, n, tuple(reads), tuple(writes)
        tried = [self.variants[key]] if key in self.variants else VARIANTS
        times = {variant: self.time(variant) for variant in tried}
        self.variant = self.variants[key] = min(times, key=times.get)
        self.us = times[self.variant]

    def time(self, variant):
        from moves import launch
        return time_calls(lambda i: launch(self.sets[i], self.writes, variant), len(self.sets), batches=3)["us"]

    def time_again(self):
        self.us = min(self.us, self.time(self.variant))


class Contender:
    """A provider's function in one cell: `row` has its best time, and how far its results were off at most."""

    def __init__(self, provider, case, sets, options):
        started = time.time()
        make = PEERS.get(provider) or functools.partial(ours, options.providers[provider])
        self.case, self.sets, self.call = case, sets, make(case, sets, options)
        self.call(0)
        torch.cuda.synchronize()
        self.row = dict(first_s=round(time.time() - started, 2), note=getattr(self.call, "note", ""), rounds=0, errors={}, wrong=False)

    def time(self, reference):
        timed = time_calls(self.call, len(self.sets))
        results = timed.pop("results")[-1]
        del timed["graph"]
        if timed["us"] < self.row.get("us", float("inf")):
            self.row.update(timed)
        self.row["rounds"] += 1
        for name, result, expected in zip(TABLE[self.case].results, results, reference):
            if result is None:
                continue
            if name in ("rstd", "scale"):
                result = result.reshape(expected.shape)
            error, wrong = get_error(result, expected)
            self.row["errors"][name] = max(error, self.row["errors"].get(name, 0))
            self.row["wrong"] |= wrong


def measure_cell(case, shape, providers, report, options, ends):
    """Adds a row for each provider that has none yet; after every round what is known by then is saved."""
    m, n = map(int, shape.split("x"))
    entry = TABLE[case]
    nbytes = m * n * sum(BYTES[name] for name in entry.reads + entry.writes)
    torch.manual_seed(0)
    plain = Plain(m, n, entry.reads, entry.writes)
    sets = [make_inputs(case, m, n) for _ in range(count_sets(nbytes))]
    reference = get_reference(case, sets[-1])
    contenders, skipped, fatal, first = {}, {}, False, len(report["rows"])

    def attempt(provider, work):
        nonlocal fatal
        try:
            return work()
        except Exception as error:
            fatal = is_fatal()
            skipped[provider] = str(error) if isinstance(error, Skip) else shorten(error)

    def make_row(provider):
        row = dict(case=case, shape=shape, provider=provider, bytes=nbytes, plain_us=plain.us, plain=list(plain.variant),
                   limit_us=entry.get_limit(plain.us))
        if provider in skipped:
            return dict(row, skipped=skipped[provider])
        row.update(contenders[provider].row)
        return dict(row, passed=not row["wrong"] and row["us"] <= row["limit_us"])

    for provider in providers:
        if time.time() < ends and not fatal:
            contenders[provider] = attempt(provider, lambda: Contender(provider, case, sets, options))
    for turn in range(options.rounds):
        if fatal or turn and time.time() > ends:
            break
        if turn:
            attempt("plain", plain.time_again)
        for provider, contender in contenders.items():
            if provider not in skipped and not fatal:
                attempt(provider, lambda: contender.time(reference))
        # Another one's failure may have come before a provider's first time.
        report["rows"][first:] = [make_row(p) for p, contender in contenders.items() if p in skipped or contender.row["rounds"]]
        save(options.json, report)
    limit = entry.get_limit(plain.us)
    print(f"{case:18}{shape:>12} {nbytes / 1e6:8.1f} MB x {len(sets):3}  plain {plain.us:8.2f} {plain.variant}  limit {limit:8.2f}")
    for row in report["rows"][first:]:
        if "skipped" in row:
            text = "skipped: " + row["skipped"]
        else:
            errors = " ".join(f"{name} {e if isinstance(e, int) else f'{e:.1e}'}" for name, e in row["errors"].items())
            text = (f"{row['us']:9.2f} us {row['us'] / plain.us:6.3f} x plain  {'WRONG' if row['wrong'] else 'pass' if row['passed'] else 'FAIL':6}"
                    f"{errors}  {row['note']}")
        print(f"    {row['provider']:13} {text}", flush=True)
    if fatal:
        sys.exit("the device's context is lost; run again with the same --json to go on behind this cell")


def print_schedules(options, cells):
    for case, shape, providers in cells:
        for provider in providers:
            if provider in PEERS:
                continue
            schedule, columns = options.providers[provider], int(shape.split("x")[1])
            if text := options.bundles[case, columns, schedule]:
                print(f"{case:18}{shape:>12} {provider}: {text}")
                continue
            manifest = json.load(open(os.path.join(get_folder(options, case, columns, schedule), "manifest.json")))
            kernel = next(k for k in manifest["kernels"] if "_few_rows_" not in k["name"])
            print(f"{case:18}{shape:>12} {provider}: {manifest['fused']} group, {kernel['schedule']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", default="", help="norm-fusion-runner; without it, ours is skipped")
    parser.add_argument("--chip", default="", help="to compile for; default: this device, or sm_90a")
    parser.add_argument("--schedule", action="append", default=[], metavar='"K=V ..."', help="try this schedule too; may be repeated")
    parser.add_argument("--shapes", default=",".join(SHAPES), help="MxN,...")
    parser.add_argument("--cases", default=",".join(TABLE))
    parser.add_argument("--providers", default=",".join(["ours", *PEERS]), help="ours stands for its schedules too")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is timed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="bundles compiled at once")
    parser.add_argument("--json", default="", help="results; read first, and written after each round of a cell")
    parser.add_argument("--budget", type=float, default=1e9, metavar="SECONDS", help="start nothing after so many seconds")
    parser.add_argument("--again", action="store_true", help="try again what was skipped, and what was wrong")
    parser.add_argument("--list", action="store_true", help="print what would be measured")
    parser.add_argument("--schedules", action="store_true", help="make the bundles, and print the schedule of each cell")
    options = parser.parse_args()
    cases, shapes, given = options.cases.split(","), options.shapes.split(","), options.providers.split(",")
    for values, known in ((cases, TABLE), (given, ["ours", *PEERS])):
        for value in values:
            if value not in known:
                parser.error(f"'{value}' is none of {', '.join(known)}")
    if options.rounds < 1:
        parser.error(f"--rounds={options.rounds}, expected 1 or more")
    options.providers = {"ours": None, **{f"ours {s}": s for s in options.schedule}} if "ours" in given else {}
    report = read_report(options)
    done = {(row["case"], row["shape"], row["provider"]) for row in report["rows"]}
    cells = []
    for case in cases:
        for shape in shapes:
            if missing := [p for p in [*options.providers, *(p for p in PEERS if p in given)] if (case, shape, p) not in done]:
                cells.append((case, shape, missing))
    if options.list:
        for case, shape, providers in cells:
            print(case, shape, ",".join(providers))
        return 0
    if not options.schedules and (reason := find_device()):
        print(reason, file=sys.stderr)
        return 4
    if options.chip or find_device():
        options.target = [f"--chip={options.chip or 'sm_90a'}"]
    else:
        from bundle import get_target_options
        options.target = get_target_options()
    if options.schedules:
        options.target.append("--device=emulator")  # whose kernels need no CUDA Toolkit
    ends = time.time() + options.budget
    with tempfile.TemporaryDirectory() as options.folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        needed = {(case, int(shape.split("x")[1]), options.providers[p])
                  for case, shape, providers in cells for p in providers if p in options.providers}
        made = {key: pool.submit(make_bundle, options, *key) for key in needed}
        options.bundles = {key: future.result() for key, future in made.items()}
        if options.schedules:
            print_schedules(options, cells)
            return 1 if any(options.bundles.values()) else 0
        report.update(device=torch.cuda.get_device_name(0), versions=get_versions())
        for number, (case, shape, missing) in enumerate(cells):
            if time.time() > ends:
                print(f"{len(cells) - number} of {len(cells)} cells are left; run again with the same --json")
                break
            try:
                measure_cell(case, shape, missing, report, options, ends)
            except torch.OutOfMemoryError as error:
                print(f"{case} {shape}: {shorten(error)}", file=sys.stderr)
            torch.cuda.empty_cache()
    return 1 if any(not row.get("passed") for row in report["rows"] if row["provider"] == "ours") else 0


if __name__ == "__main__":
    sys.exit(main())
