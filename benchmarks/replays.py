"""Graph replays on several streams at once: every result of every replay must have the bits of the first call.

usage: replays.py RUNNER [--replays 10000] [--streams 4] [--shapes MxN,...] [--norms rms,layer] [--dtype bf16] [--seconds S]

Each stream has a bundle of its own (so its own workspace) and a CUDA graph of CALLS calls. All streams replay at once; after each round the
results are compared and overwritten. Prints a line a shape and exits non-zero at the first difference; a kernel that hangs ends the run
at --seconds.
"""
import argparse, os, sys, tempfile, threading, time
from harness import find_device, run_tool, torch
from norm import ir
from peers import make_inputs

# A ring in one block, in clusters of 2 to 16, with and without pacing, several rows a warp, rows at any address.
SHAPES = "512x4096 4096x1024 4096x256 8192x128 20011x384 10007x4096 1031x8192 301x16384 67x65536 29x17389 513x1001 2047x100".split()
CALLS, ROUNDS = 5, 20


def prepare(norm, dtype, m, n, folder):
    """A graph, its results, and the results that they must be."""
    from bundle import Bundle
    bundle = Bundle(folder)
    sets = [make_inputs(norm, dtype, m, n) for _ in range(2)]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        expected = [[t.clone() for t in bundle(*s.args)] for s in sets]
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        results = [bundle(*sets[i % 2].args) for i in range(CALLS)]
    return stream, graph, results, expected, sets, bundle


def count_wrong(results, expected):
    bits = lambda t: t.contiguous().view(torch.uint8)
    return sum(not torch.equal(bits(got), bits(want))
               for i, call in enumerate(results) for got, want in zip(call, expected[i % 2]))


def check(norm, dtype, shape, options):
    m, n = map(int, shape.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/norm.mlir", "w") as f:
            f.write(ir(norm, dtype, n))
        major, minor = torch.cuda.get_device_capability()
        run_tool([options.runner, f.name, f"--emit-bundle={folder}/bundle", f"--chip=sm_{major}{minor}" + "a" * (major >= 9)])
        streams = [prepare(norm, {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[dtype], m, n, f"{folder}/bundle")
                   for _ in range(options.streams)]
    start, replays = time.time(), 0
    a_round = max(1, options.replays // options.streams // ROUNDS)
    while replays < options.replays:
        for _, _, results, *_ in streams:
            for call in results:
                for tensor in call:
                    tensor.view(torch.uint8).fill_(0xA5)
        torch.cuda.synchronize()
        for _ in range(a_round):
            for stream, graph, *_ in streams:
                with torch.cuda.stream(stream):
                    graph.replay()
        torch.cuda.synchronize()
        replays += a_round * options.streams
        wrong = sum(count_wrong(results, expected) for _, _, results, expected, *_ in streams)
        if wrong:
            print(f"{norm:6}{dtype:5}{shape:>12} WRONG: {wrong} results after {replays} replays", flush=True)
            return False
    print(f"{norm:6}{dtype:5}{shape:>12} {replays} replays of {CALLS} calls on {options.streams} streams, {time.time() - start:.1f} s: the same bits",
          flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("--replays", type=int, default=10_000)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--norms", default="rms,layer")
    parser.add_argument("--dtype", default="bf16", choices=["bf16", "f16", "f32"])
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    if reason := find_device():
        print(reason, file=sys.stderr)
        return 4
    # A kernel that hangs can't be interrupted: the process goes.
    def give_up():
        print(f"hangs, or needs more than {options.seconds:.0f} s", flush=True)
        os._exit(1)
    watchdog = threading.Timer(options.seconds, give_up)
    watchdog.daemon = True
    watchdog.start()
    right = [check(norm, options.dtype, shape, options) for shape in options.shapes.split(",") for norm in options.norms.split(",")]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
