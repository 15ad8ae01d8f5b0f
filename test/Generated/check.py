"""Runs generated programs: fused on the emulator, or on a GPU, against f64 on the plain path, and as many groups as the generator knows there are.

usage: check.py RUNNER --seeds FIRST:LAST [--device emulator|cuda] [--jobs 2] [--keep FOLDER] [--seconds S] [--schedule S]

Prints a line for every program that is wrong, crashes, or has another number of groups; exits non-zero if there is one.
"""
import argparse, json, os, re, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

import generate


def check(runner, seed, device, keep, schedule):
    text = generate.generate(seed)
    header = json.loads(text.splitlines()[0][3:])
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/program.mlir"
        open(path, "w").write(text)
        command = [runner, path, f"--device={device}", "--verify-each", "--check", f"--seed={seed}", f"--json={folder}/report.json"]
        command += [f"--emulator=sms={seed % 5 + 1} order-seed={seed % 3}"] if device == "emulator" else ["--repeat=3", "--bitwise"]
        command += [f"--form-options={header['options']}"] if header["options"] else []
        command += [f"--dims={header['dims']}"] if header["dims"] else []
        command += [f"--schedule={schedule}"] if schedule else []
        try:
            p = subprocess.run(command, capture_output=True, text=True, timeout=1800)
        except subprocess.TimeoutExpired:
            p = subprocess.CompletedProcess(command, "timeout", "", "more than 1800 s")
        wrong = None
        error = re.search(r"found (\S+), expected (\S+) ", p.stderr) if p.returncode == 1 else None
        if error and abs(float(error[1]) - float(error[2])) <= abs(float(error[2])) * (3e-2 if "f16" in text else 1e-4):
            # Rounding that the graph blows up.
            return header["groups"], None, 1
        if p.returncode:
            wrong = f"exit {p.returncode}: {(p.stderr.strip().splitlines() or ['?'])[0][:200]}"
        else:
            formed = json.load(open(f"{folder}/report.json"))["fused"]
            if formed != header["groups"]:
                wrong = f"formed {formed} groups, the generator knows {header['groups']}"
    if wrong and keep:
        os.makedirs(keep, exist_ok=True)
        open(f"{keep}/{seed}.mlir", "w").write(text)
    return header["groups"], wrong, 0


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("runner")
    ap.add_argument("--seeds", default="0:100")
    ap.add_argument("--device", choices=["emulator", "cuda"], default="emulator")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--keep")
    ap.add_argument("--schedule", help="of all groups, for a structure that any may have")
    ap.add_argument("--seconds", type=float, default=float("inf"))
    a = ap.parse_args()
    first, last = map(int, a.seeds.split(":"))
    end, done, groups, rounding, bad = time.time() + a.seconds, 0, 0, 0, 0

    def one(seed):
        return check(a.runner, seed, a.device, a.keep, a.schedule) if time.time() < end else None

    with ThreadPoolExecutor(a.jobs) as pool:
        for seed, result in zip(range(first, last), pool.map(one, range(first, last))):
            if result is None:
                continue
            done += 1
            groups += result[0]
            rounding += result[2]
            if result[1]:
                bad += 1
                print(f"seed {seed}: {result[1]}", flush=True)
    print(f"{done} programs, {groups} groups, {bad} bad, {rounding} beyond the tolerance by rounding")
    return 1 if bad or not done else 0


if __name__ == "__main__":
    sys.exit(main())
