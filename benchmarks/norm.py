"""Norm backward as PyTorch exports it, dynamic rows: prints the IR, or runs it over shapes on this machine's GPU.

usage: norm.py ir rms|layer bf16|f16|f32 N > norm.mlir
       norm.py run RUNNER [--norms rms,layer] [--dtypes bf16] [--shapes 8192x4096,...] [--check] [--benchmark]
               [--repeat N] [--schedule "k=v"] [--device cuda]

`run` compiles once a size and runs every number of rows, prints a table (median us, triad us, x of triad, GB/s, errors),
and exits non-zero if a run failed. Without --shapes: the 19 shapes of the peers' comparison.
"""
import argparse, json, os, subprocess, sys, tempfile

SHAPES = """29x17389 256x65536 1024x32768 2048x16384 4096x1024 4096x12288 8192x2048 8192x4096 8192x8192 16384x4096
576000x384 4096x256 65536x256 65536x2048 65536x8192 32768x4096 262144x128 2048x4096 512x4096""".split()


def ir(norm, dtype, n):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ir", f"{norm}_{dtype}.mlir.in")
    return open(path).read().replace("@NF@", f"{n:.6e}").replace("@N@", str(n))


def main():
    if sys.argv[1:2] == ["ir"]:
        sys.stdout.write(ir(sys.argv[2], sys.argv[3], int(sys.argv[4])))
        return 0
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("run")
    ap.add_argument("runner")
    ap.add_argument("--norms", default="rms,layer")
    ap.add_argument("--dtypes", default="bf16")
    ap.add_argument("--shapes", default=",".join(SHAPES))
    ap.add_argument("--check", action="store_true")
    ap.add_argument("--benchmark", action="store_true")
    ap.add_argument("--repeat", type=int)
    ap.add_argument("--schedule")
    ap.add_argument("--device", default="cuda")
    a = ap.parse_args()
    failed = 0
    print(f"{'norm':6}{'dtype':6}{'shape':>14}{'us':>9}{'triad':>9}{'x':>6}{'GB/s':>7}  checks; schedule")
    for shape in a.shapes.split(","):
        m, n = map(int, shape.split("x"))
        for norm in a.norms.split(","):
            for dtype in a.dtypes.split(","):
                with tempfile.TemporaryDirectory() as t:
                    open(f"{t}/norm.mlir", "w").write(ir(norm, dtype, n))
                    command = [a.runner, f"{t}/norm.mlir", f"--dims={m}", f"--device={a.device}", f"--json={t}/r.json"]
                    command += ["--check"] if a.check else []
                    command += ["--benchmark"] if a.benchmark else []
                    command += [f"--repeat={a.repeat}", "--bitwise"] if a.repeat else []
                    command += [f"--schedule={a.schedule}"] if a.schedule else []
                    p = subprocess.run(command, capture_output=True, text=True)
                    line = f"{norm:6}{dtype:6}{shape:>14}"
                    if p.returncode or not os.path.exists(f"{t}/r.json"):
                        failed += 1
                        print(line, f"FAILED: exit {p.returncode}: {p.stderr.strip().splitlines()[-1:]}", flush=True)
                        continue
                    r = json.load(open(f"{t}/r.json"))
                    b = r.get("benchmark")
                    line += (f"{b['median_us']:9.2f}{b['triad_us']:9.2f}{b['median_us'] / b['triad_us']:6.2f}{b['gb_per_s']:7.0f}"
                             if b else " " * 31)
                    errors = " ".join(f"{o['max_abs_error']:.1e}" for o in r.get("outputs") or []
                                      if o["max_abs_error"] is not None)
                    kernels = r.get("kernels") or []
                    k = kernels[0] if kernels else {}
                    print(line, f" {errors} bitwise={r.get('bitwise')}; regs={k.get('registers')} spills={k.get('spill_bytes')}",
                          k.get("schedule"), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
