"""Runs on a GPU what tests run on the emulator: the runner's lines, with their checks against float64 and of the bits.

usage: emulated_on_gpu.py BIN_DIR TEST... [--jobs 4] [--seconds S]

BIN_DIR as for run_on_gpu.py. Takes the RUN lines that call norm-fusion-runner with --device=emulator and must succeed, and those that make their
inputs or compare their results; --emulator=... is dropped, and so is what FileCheck would read. Prints each line that fails and a count; exits
with 1 if one failed, with 4 if there is no GPU.
"""
import argparse, os, re, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

from run_on_gpu import get_environment, get_script, has_cuda


def get_lines(test, scratch):
    """The lines that make files, and (True) those to check, in order."""
    lines = []
    for line in get_script(test, scratch).replace("\\\n", " ").splitlines():
        named = line.replace(os.path.dirname(test), "")  # not the folder's name
        if "|" in line and not line.startswith("norm-fusion-runner "):
            continue
        line = re.sub(r"(2>&1 *)?\|.*", "", re.sub(r'--emulator=("[^"]*"|\S+)', "", line))
        if line.startswith(("rm ", "mkdir ", "cp ", "sed ")) or line.startswith("norm-fusion-opt ") and " -o " in line:
            lines.append((line, False))
        elif line.startswith(sys.executable) and not re.search("exits.py|mutate.py|norm-fusion-|assert|json.load", named):
            lines.append((line, False))
        elif line.startswith("norm-fusion-runner ") and "--emit-bundle" in line:
            lines.append((line.replace("--device=emulator", ""), False))
        elif line.startswith("norm-fusion-runner ") and "--device=emulator" in line and "--chip" not in line:
            lines.append((line.replace("--device=emulator", "--device=cuda"), True))
    return lines


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("bin")
    ap.add_argument("tests", nargs="+")
    ap.add_argument("--jobs", type=int, default=4)
    ap.add_argument("--seconds", type=float, default=1e9)
    a = ap.parse_args()
    if not has_cuda():
        print("no CUDA device")
        return 4
    ends = time.time() + a.seconds
    with tempfile.TemporaryDirectory() as scratch:
        env = get_environment(a.bin, scratch)

        def run(test):
            results = []
            for line, is_checked in get_lines(os.path.abspath(test), scratch):
                if time.time() > ends:
                    results += [None] * is_checked
                    continue
                p = subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True)
                if p.returncode:
                    print(f"FAILED ({p.returncode}): {line}\n{(p.stdout + p.stderr)[-600:]}", flush=True)
                if p.returncode or is_checked:
                    results.append(p.returncode == 0)
            if not results:
                print(f"FAILED: no line of {test} can be run so", flush=True)
            return results or [False]

        with ThreadPoolExecutor(a.jobs) as pool:
            results = sum(pool.map(run, a.tests), [])
    done = [r for r in results if r is not None]
    print(f"{sum(done)} of {len(done)} right, {len(results) - len(done)} not run")
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
