"""What the benchmarks beside PyTorch share: the clock, the input sets, running norm-fusion-runner, results that outlive a run."""
import importlib, importlib.metadata, json, os, subprocess

try:
    import torch
except ImportError:
    torch = None  # --help and --list work all the same

MIN_CALLS, MAX_SETS = 24, 256


class Skip(Exception):
    """Says why a provider has nothing to measure here."""


def need(module):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Skip(f"not installed: {error}")


def run_tool(command):
    if not command[0]:
        raise Skip("needs --runner")
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(f"exit {p.returncode}: {p.stderr.strip()[-300:]}")


# ---- Measuring ---------------------------------------------------------------------------------------------------------------------------

def count_sets(nbytes):
    """Input sets that together are larger than four times the L2 cache."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    return max(2, min(4 * l2 // nbytes + 1, torch.cuda.mem_get_info()[0] // 4 // nbytes, MAX_SETS))


def time_calls(call, sets, batches=30):
    """Captures the calls, replays until the median of all samples is stable, and keeps the results of every set."""
    calls = -(-MIN_CALLS // sets) * sets
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # compiles, allocates
        for i in range(sets):
            call(i)
    torch.cuda.synchronize()
    graph, results = torch.cuda.CUDAGraph(), [None] * sets
    with torch.cuda.graph(graph, stream=stream):
        for i in range(calls):
            results[i % sets] = call(i % sets)
    if not hasattr(call, "restore"):
        for result in results:
            for tensor in result:
                if tensor is not None:
                    tensor.fill_(float("nan"))
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    samples, previous = [], 0.0

    def replay():
        start.record()
        graph.replay()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) * 1e3 / calls

    for _ in range(3):
        replay()
    for batch in range(batches):
        samples += [replay() for _ in range(10)]
        samples.sort()
        us = samples[len(samples) // 2]
        if batch >= 2 and abs(us - previous) <= 0.002 * us:
            break
        previous = us
    return dict(us=us, min_us=samples[0], p95_us=samples[int(0.95 * len(samples))], calls=calls, results=results, graph=graph)


def shorten(error):
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def is_fatal():
    """True if the device's context is lost, so that nothing more can be measured in this process."""
    try:
        torch.cuda.synchronize()
        return False
    except Exception:
        return True


# ---- Results -----------------------------------------------------------------------------------------------------------------------------

def get_versions():
    names = ("torch", "triton", "nvidia-cudnn-cu13", "nvidia-cudnn-frontend", "liger-kernel", "quack-kernels", "transformer-engine")
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return versions


def read_report(options):
    """What --json holds; with --again, without what was skipped or wrong."""
    report = json.load(open(options.json)) if options.json and os.path.exists(options.json) else {"rows": []}
    if options.again:
        report["rows"] = [row for row in report["rows"] if "us" in row and not row.get("wrong")]
    return report


def save(path, report):
    if path:
        with open(path + ".tmp", "w") as f:
            json.dump(report, f, indent=1)
        os.replace(path + ".tmp", path)


def find_device():
    """Why nothing can be measured here, or nothing."""
    if torch and torch.cuda.is_available():
        return ""
    return "no CUDA device that PyTorch sees" if torch else "PyTorch isn't installed"
