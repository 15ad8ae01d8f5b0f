"""Removes one barrier, fence or wait of a generated kernel at a time: the emulator must notice each.

usage: mutate.py IR DIMS|- SCHEDULE MULTIPROCESSORS [weak]

Lowers IR to kernels, checks that the kernel as generated runs, then runs one mutant for each synchronising op of the
kernels that are launched (not of the variant for unaligned pointers). Prints the mutants that nothing noticed.

weak: without the race detector and with stores that others see late. The mutants are those without an order of stores, with
one that is for the block alone, or that don't look at the tag of one of the words that they load; what they compute must be wrong.
"""
import json, re, subprocess, sys, tempfile

ir, dims, schedule, sms = sys.argv[1:5]
weak = sys.argv[5:] == ["weak"]
pipeline = ("builtin.module(norm-fusion-fuse{schedule=\"" + schedule + "\"},canonicalize,norm-fusion-protect-arguments,"
            "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map},"
            "norm-fusion-to-gpu)")
p = subprocess.run(["norm-fusion-opt", ir, f"--pass-pipeline={pipeline}"], capture_output=True, text=True)
if p.returncode:
    sys.exit(p.stderr)
lines = p.stdout.splitlines()


SECONDS = 30  # a run takes one or two; a mutant may wait for what it never sees


def run(mutant, seed=3, options="", *more):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as f:
        f.write("\n".join(mutant) + "\n")
        f.flush()
        return subprocess.run(["norm-fusion-runner", f.name, "--entry=main", "--device=emulator", *more,
                               f"--emulator=sms={sms} order-seed={seed} {options}", *([] if dims == "-" else [f"--dims={dims}"])],
                              capture_output=True, text=True, timeout=SECONDS)


folder = tempfile.TemporaryDirectory()
p = run(lines, 3, "", f"--json={folder.name}/report.json")
if p.returncode:
    sys.exit(f"the kernel as generated fails: {p.stderr}")
results = [f"{folder.name}/{o['index']}.npy" for o in json.load(open(f"{folder.name}/report.json"))["outputs"]]
run(lines, 3, "", *(f"--output={r}" for r in results))


def notices(mutant, seed):
    try:
        if not weak:
            return run(mutant, seed).returncode == 5
        return run(mutant, seed, f"weak={seed} races=0", *(f"--expected={r}" for r in results)).returncode in (1, 5)
    except subprocess.TimeoutExpired:
        return True


if weak and any(notices(lines, seed) for seed in (1, 2, 3)):
    sys.exit("the kernel as generated fails where stores are seen late")
kernel, tags, mutants, unnoticed, relaxed, looked = "", False, 0, 0, {}, set()
for i, line in enumerate(lines):
    if match := re.search(r"gpu\.func @(\w+)", line):
        kernel, tags = match.group(1), "combine=tags" in line
    if "_plain" in kernel or "norm_fusion.scheduling" in line:  # the latter orders instructions, no accesses
        continue
    if weak:
        changed = []
        if re.search(r"acq_rel|release", line):
            changed = [re.sub("acq_rel|release", "acquire", line), line.replace('"device"', '"block"')]
        elif tags and "xor.b32 $0, $2, $1;" in line and kernel not in looked:
            # The tags of an item's words: of these the first two; of the first item, for there may be no others.
            looked.add(kernel)
            changed = [line.replace("xor.b32 $0, $2, $1;", "xor.b32 $0, $1, $1;")]
            if "$3" in line:
                changed.append(re.sub(r"xor\.b32 u, \$3, \$1;\\0Aor\.b32 \$0, \$0, u;\\0A", "", line))
            if line in changed:
                sys.exit(f"can't change what looks at tags: {line}")
        for text in changed:
            mutants += 1
            if not any(notices(lines[:i] + [text] + lines[i + 1:], seed) for seed in range(1, 41)):
                unnoticed += 1
                print(f"unnoticed in {kernel}, mutant {mutants}: {text.strip()}")
        continue
    if re.search(r"nvvm\.(barrier|bar\.warp|cluster|mbarrier|fence|griddepcontrol wait)|llvm\.fence|cp\.async\.(wait|commit)|(try|test)_wait", line):
        mutant = lines[:i] + lines[i + 1:]
    elif ".relaxed.gpu" in line and tags and relaxed.setdefault(text := re.sub(r"\+\d+(?=\])", "", line.split('"')[1]), 0) < (1 if "setp.ne" in line else 2):
        relaxed[text] += 1  # the others are the same instruction, unrolled; of partial rows some aren't there
        mutant = lines[:i] + [line.replace(".relaxed.gpu", "")] + lines[i + 1:]
    elif "llvm.load" in line and "acquire" in line:
        mutant = lines[:i] + [line.replace("acquire", "monotonic")] + lines[i + 1:]
    else:
        continue
    mutants += 1
    if not any(notices(mutant, seed) for seed in (3, 5, 8)):
        unnoticed += 1
        print(f"unnoticed in {kernel}, mutant {mutants}: {line.strip()}")
print(f"{mutants} mutants, {unnoticed} unnoticed")
