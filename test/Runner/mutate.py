"""Removes one barrier, fence or wait of a generated kernel at a time: the emulator must notice each.

usage: mutate.py IR DIMS|- SCHEDULE MULTIPROCESSORS

Lowers IR to kernels, checks that the kernel as generated runs, then runs one mutant for each synchronising op of the
kernels that are launched (not of the variant for unaligned pointers). Prints the mutants that nothing noticed.
"""
import re, subprocess, sys, tempfile

ir, dims, schedule, sms = sys.argv[1:]
pipeline = ("builtin.module(norm-fusion-fuse{schedule=\"" + schedule + "\"},canonicalize,norm-fusion-protect-arguments,"
            "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},"
            "norm-fusion-to-gpu)")
p = subprocess.run(["norm-fusion-opt", ir, f"--pass-pipeline={pipeline}"], capture_output=True, text=True)
if p.returncode:
    sys.exit(p.stderr)
lines = p.stdout.splitlines()


def run(mutant, seed=3):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
        f.write("\n".join(mutant) + "\n")
        f.flush()
        return subprocess.run(["norm-fusion-runner", f.name, "--entry=main", "--device=emulator",
                               f"--emulator=sms={sms} order-seed={seed}", *([] if dims == "-" else [f"--dims={dims}"])],
                              capture_output=True, text=True)


p = run(lines)
if p.returncode:
    sys.exit(f"the kernel as generated fails: {p.stderr}")
kernel, tags, mutants, unnoticed, relaxed = "", False, 0, 0, {}
for i, line in enumerate(lines):
    if match := re.search(r"gpu\.func @(\w+)", line):
        kernel, tags = match.group(1), "combine=tags" in line
    if "_plain" in kernel:
        continue
    if re.search(r"nvvm\.(barrier|bar\.warp|cluster|mbarrier|fence)|llvm\.fence|cp\.async\.(wait|commit)|(try|test)_wait", line):
        mutant = lines[:i] + lines[i + 1:]
    elif ".relaxed.gpu" in line and tags and relaxed.setdefault(text := line.split('"')[1], 0) < 2:
        relaxed[text] += 1  # the others are the same instruction, unrolled
        mutant = lines[:i] + [line.replace(".relaxed.gpu", "")] + lines[i + 1:]
    elif "llvm.load" in line and "acquire" in line:
        mutant = lines[:i] + [line.replace("acquire", "monotonic")] + lines[i + 1:]
    else:
        continue
    mutants += 1
    if all(run(mutant, seed).returncode != 5 for seed in (3, 5, 8)):
        unnoticed += 1
        print(f"unnoticed in {kernel}, mutant {mutants}: {line.strip()}")
print(f"{mutants} mutants, {unnoticed} unnoticed")
