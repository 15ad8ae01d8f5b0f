"""Graph replays on several streams at once: every result of every replay must have the bits of the first call.

usage: replays.py RUNNER [--replays 10000] [--streams 4] [--shapes MxN,...] [--norms rms,layer] [--dtype bf16] [--seconds S]

Each stream has a priority and a bundle of its own (so its own workspace) and a CUDA graph of five calls: two in a row, one that reads what the
call before wrote, one whose input the kernel before writes and the kernel after overwrites, and one behind that. All streams replay at once;
after each round the results are compared and overwritten. Prints a line a shape and exits non-zero at the first difference; a kernel that hangs
ends the run at --seconds. (Launches that aren't cooperative hang within seconds: blocks of one priority wait for others of their launch,
whose places those of another have taken.)
"""
import argparse, os, sys, tempfile, threading, time
from harness import find_device, run_tool, torch
from norm import ir
from peers import make_inputs

# A ring in one block, in clusters of 2 to 16, with and without pacing, several rows a warp, rows at any address, also as one piece and of two shifts.
SHAPES = "131x50001 512x4096 4096x1024 4096x256 8192x128 20011x384 10007x4096 1031x8192 301x16384 67x65536 29x17389 513x1001 2047x100 3001x65 2047x131".split()
ROUNDS = 20


def call_all(bundle, sets):
    """The results of a graph's calls. A launch starts while the one before it ends, whose results it must wait for."""
    first, second = (list(s.args) for s in sets)
    results = [bundle(*first), bundle(*second)]
    results.append(bundle(results[-1][0], *second[1:]))  # dy is dx
    x = torch.empty_like(first[1])
    torch.mul(first[1], 1, out=x)  # a kernel, which clone() isn't
    results.append(bundle(first[0], x, *first[2:]))
    x.fill_(float("nan"))
    results.append(bundle(*second))
    return results


def call_one_by_one(bundle, sets):
    def call(*arguments):
        results = bundle(*arguments)
        torch.cuda.synchronize()
        return [t.clone() for t in results]
    return call_all(call, sets)


def prepare(norm, dtype, m, n, folder, priority):
    """A graph, its results, and the results that they must be."""
    from bundle import Bundle
    bundle = Bundle(folder)
    sets = [make_inputs(norm, dtype, m, n) for _ in range(2)]
    stream = torch.cuda.Stream(priority=priority)
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        expected = call_one_by_one(bundle, sets)
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        results = call_all(bundle, sets)
    return stream, graph, results, expected, sets, bundle


def count_wrong(results, expected):
    bits = lambda t: t.contiguous().view(torch.uint8)
    return sum(not torch.equal(bits(got), bits(want))
               for calls in zip(results, expected) for got, want in zip(*calls))


def check(norm, dtype, shape, options):
    from bundle import get_target_options
    m, n = map(int, shape.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/norm.mlir", "w") as f:
            f.write(ir(norm, dtype, n))
        run_tool([options.runner, f.name, f"--emit-bundle={folder}/bundle"] + get_target_options())
        streams = [prepare(norm, {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[dtype], m, n, f"{folder}/bundle",
                           -(k % 3)) for k in range(options.streams)]
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
    print(f"{norm:6}{dtype:5}{shape:>12} {replays} replays of 5 calls on {options.streams} streams, {time.time() - start:.1f} s: the same bits",
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
