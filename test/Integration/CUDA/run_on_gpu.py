"""Runs the tests of this folder on a machine with a GPU that has neither lit nor LLVM.

usage: run_on_gpu.py BIN_DIR [--only SUBSTR]

BIN_DIR holds the tools: those of the default preset, or `norm-fusion` and `norm-fusion-runtime-tests` of the static one. Needs this
repository's test and benchmarks folders, bash and Python 3. Prints ok or FAILED, with the output, for each test; exits with 1 if one failed and
with 4 if there is no GPU. The RUN lines mean what they mean to lit; other tools than ours aren't used in these tests.
"""
import argparse, ctypes, glob, os, re, subprocess, sys, tempfile, time


def has_cuda():
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    except OSError:
        return False
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def get_script(test, scratch):
    """The RUN lines, with what DEFINE and REDEFINE say at each; split-file is done here."""
    lines, defined, parts = [], {}, None
    for line in open(test):
        if define := re.search(r"DEFINE: (%\{[\w-]+\}) *=(.*)", line):
            defined[define[1]] = define[2].strip()
        elif "RUN: split-file" in line:
            parts = os.path.join(scratch, os.path.basename(test) + ".tmp")
            os.makedirs(parts, exist_ok=True)
        elif "RUN:" in line:
            line = line.split("RUN:", 1)[1].strip()
            while names := [name for name in defined if name in line]:
                for name in names:
                    line = line.replace(name, defined[name])
            lines.append(line)
    if parts:
        for part in re.split(r"^//--- ", open(test).read(), flags=re.M)[1:]:
            name, text = part.split("\n", 1)
            open(os.path.join(parts, name.strip()), "w").write(text)
    name = os.path.join(scratch, os.path.basename(test) + ".tmp")
    for key, value in (("%python", sys.executable), ("%S", os.path.dirname(test)), ("%s", test), ("%t", name)):
        lines = [line.replace(key, value) for line in lines]
    return "\n".join(["set -e -o pipefail", *lines])


def get_environment(folder, scratch):
    """With our tools first in PATH. The static file acts by the name that it's called by."""
    folder, both = os.path.abspath(folder), os.path.join(scratch, "bin")
    os.mkdir(both)
    for tool in ("norm-fusion-opt", "norm-fusion-runner"):
        whole = os.path.join(folder, tool)
        os.symlink(whole if os.path.exists(whole) else os.path.join(folder, "norm-fusion"), os.path.join(both, tool))
    return {**os.environ, "PATH": os.pathsep.join([both, folder, os.environ.get("PATH", "")]), "LC_ALL": "C"}


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("bin")
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    if not has_cuda():
        print("no CUDA device")
        return 4
    tests = sorted(t for t in glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.test")) if a.only in t)
    failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        environment = get_environment(a.bin, scratch)
        for test in tests:
            start = time.time()
            p = subprocess.run(["bash", "-c", get_script(test, scratch)], env=environment, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
            print(f"{'FAILED' if p.returncode else 'ok    '} {os.path.basename(test)} exit {p.returncode} "
                  f"({time.time() - start:.0f} s)", flush=True)
            if p.returncode:
                failed += 1
                print(p.stdout[-8000:], flush=True)
    print(f"{len(tests)} tests, {failed} failed")
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
