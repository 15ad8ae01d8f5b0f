"""Runs norm-fusion-fuzz in rounds until it has seen so many inputs, and adds up what the rounds say.

usage: run.py FUZZ SEEDS FOUND --inputs 1000000 [--round 20000] [--seed 1] [--seconds S]

SEEDS is a folder of seeds (seeds.py), FOUND one for what grows from them; inputs that end a round stay in FOUND/../crashes with what was printed.
A round ends early where something of ours crashes or the pipeline fails; the next one goes on. Inputs of such a round count only if it could
still say how many there were. Exits non-zero if something of ours ended a round.
"""
import argparse, os, re, subprocess, sys, time

ap = argparse.ArgumentParser(usage=__doc__)
ap.add_argument("fuzz")
ap.add_argument("seeds")
ap.add_argument("found")
ap.add_argument("--inputs", type=int, default=1_000_000)
ap.add_argument("--round", type=int, default=20_000)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--seconds", type=float, default=float("inf"))
a = ap.parse_args()
crashes = os.path.join(os.path.dirname(os.path.abspath(a.found)), "crashes")
os.makedirs(a.found, exist_ok=True)
os.makedirs(crashes, exist_ok=True)
# Contexts given up after upstream's crashes are leaks; the parser's SmallVectors cross into a library that isn't instrumented.
# The sanitizer must be the first library.
sanitizer = re.search(r"=> (\S*libclang_rt\.asan\S*)", subprocess.run(["ldd", a.fuzz], capture_output=True, text=True).stdout)
env = dict(os.environ, LD_PRELOAD=sanitizer[1], ASAN_OPTIONS="detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0:"
                      "allocator_may_return_null=1:max_allocation_size_mb=2000:alloc_dealloc_mismatch=0")
total, ended, start, number = [0] * 5, 0, time.time(), 0
NAMES = ["text", "bytecode", "parsed", "with groups", "upstream crashes"]
while total[0] + total[1] < a.inputs and time.time() - start < a.seconds:
    p = subprocess.run([a.fuzz, f"-runs={a.round}", f"-seed={a.seed + number}", "-max_len=8192", "-timeout=3600", "-rss_limit_mb=4000", "-malloc_limit_mb=1000000",
                        f"-artifact_prefix={crashes}/", a.found, a.seeds], env=env, capture_output=True, text=True, errors="replace")
    number += 1
    counts = re.search(r"inputs: (\d+) text, (\d+) bytecode, (\d+) parsed, (\d+) with groups, (\d+) upstream", p.stderr)
    if counts:
        total = [x + int(y) for x, y in zip(total, counts.groups())]
    if p.returncode or not counts:
        artifact = re.search(r"Test unit written to (\S+)", p.stderr)
        why = re.search(r"(the pipeline failed.*|SUMMARY:.*|ERROR:.*)", p.stderr)
        ended += 1
        print(f"round {number}: {why[1] if why else p.returncode}: {artifact[1] if artifact else '?'}", flush=True)
        open(artifact[1] + ".log" if artifact else f"{crashes}/round-{number}.log", "w").write(p.stderr[-20000:])
    print(f"{number} rounds, {time.time() - start:.0f} s: " + ", ".join(f"{n} {name}" for n, name in zip(total, NAMES)), flush=True)
print(f"{total[0] + total[1]} inputs, {ended} rounds ended by something of ours")
sys.exit(1 if ended else 0)
