"""Runs norm-fusion-fuzz in rounds until it has seen so many inputs, and adds up what the rounds say.

usage: run.py FUZZ SEEDS FOUND --inputs 1000000 [--round 50000] [--seed 1] [--seconds S]

SEEDS is a folder of seeds (seeds.py), FOUND one for what grows from them; inputs that end a round stay in FOUND/../crashes with what was printed.
A round ends early where something of ours crashes or the pipeline fails; the next one goes on. What counts of a round is what it last said.
Crashes of upstream leave locks held and memory behind: a round that hangs without using the processor is ended and counted apart. Exits non-zero
if something of ours ended a round.
"""
import argparse, os, re, subprocess, sys, time

ap = argparse.ArgumentParser(usage=__doc__)
ap.add_argument("fuzz")
ap.add_argument("seeds")
ap.add_argument("found")
ap.add_argument("--inputs", type=int, default=1_000_000)
ap.add_argument("--round", type=int, default=50_000)
ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--seconds", type=float, default=float("inf"))
a = ap.parse_args()
crashes = os.path.join(os.path.dirname(os.path.abspath(a.found)), "crashes")
os.makedirs(a.found, exist_ok=True)
os.makedirs(crashes, exist_ok=True)
# Contexts given up after upstream's crashes are leaks; the parser's SmallVectors cross into a library that isn't instrumented.
# The sanitizer must be the first library.
sanitizer = re.search(r"=> (\S*libclang_rt\.asan\S*)", subprocess.run(["ldd", a.fuzz], capture_output=True, text=True).stdout)
if not sanitizer:
    sys.exit(f"{a.fuzz} needs a sanitizer's library that isn't there: install libclang-rt-22-dev, or see `ldd {a.fuzz}`")
env = dict(os.environ, LD_PRELOAD=sanitizer[1], ASAN_OPTIONS="detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:detect_odr_violation=0:"
                      "allocator_may_return_null=1:max_allocation_size_mb=2000:alloc_dealloc_mismatch=0:halt_on_error=0:quarantine_size_mb=8")
total, ended, broken, stuck, start, number = [0] * 5, 0, 0, 0, time.time(), 0
NAMES = ["text", "bytecode", "parsed", "with groups", "upstream crashes"]
while total[0] + total[1] < a.inputs and time.time() - start < a.seconds:
    # The limits on time and memory are the harness's own: libFuzzer's would run threads that take its signals, and each input again to look for leaks.
    # One mutation of one input at a time: else hardly anything parses.
    command = [a.fuzz, f"-runs={a.round}", f"-seed={a.seed + number}", "-max_len=8192", "-mutate_depth=1", "-cross_over=0", "-entropic=0", "-timeout=0", "-rss_limit_mb=0",
               "-malloc_limit_mb=1000000", "-detect_leaks=0", "-purge_allocator_interval=-1", f"-artifact_prefix={crashes}/", a.found, a.seeds]
    number += 1
    with open(f"{crashes}/round.log", "w+", errors="replace") as log:
        p = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=log)
        used, hangs = 0, False
        while p.poll() is None and not hangs:
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                fields = open(f"/proc/{p.pid}/stat").read().rpartition(")")[2].split()
                before, used = used, int(fields[11]) + int(fields[12])
                hangs = used - before < 10
        p.kill()
        p.wait()
        log.seek(0)
        text = log.read()
    counts = re.findall(r"inputs: (\d+) text, (\d+) bytecode, (\d+) parsed, (\d+) with groups, (\d+) upstream", text)
    if counts:
        total = [x + int(y) for x, y in zip(total, counts[-1])]
    stuck += hangs
    if p.returncode and not hangs:
        artifact = re.search(r"Test unit written to (\S+)", text)
        why = re.findall(r"(the pipeline failed.*|ERROR: a crash of ours|SUMMARY:.*|CHECK failed.*)", text)
        # Anything else is met between inputs, in a heap that upstream left broken.
        ours = "the pipeline failed" in text or "a crash of ours" in text
        ended += ours
        broken += not ours
        print(f"round {number}, {'ours' if ours else 'broken'}: {why[0] if why else p.returncode}: {artifact[1] if artifact else '?'}", flush=True)
        open(artifact[1] + ".log" if artifact else f"{crashes}/round-{number}.log", "w").write(text[-20000:])
    print(f"{number} rounds, {time.time() - start:.0f} s: " + ", ".join(f"{n} {name}" for n, name in zip(total, NAMES)), flush=True)
print(f"{total[0] + total[1]} inputs, {ended} rounds ended by something of ours, {broken} broken by upstream, {stuck} hung")
sys.exit(1 if ended else 0)
