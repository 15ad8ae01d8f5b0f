"""Judges one case of the corpus: IR that a real exporter wrote, with inputs and float64 results.

usage: check_case.py [--plain=device] CASE_DIR OPT RUNNER [DEVICE]

Forms the case with norm-fusion-fuse and counts the groups; runs it on two virtual devices of the emulator under two
scheduling seeds (or once on DEVICE), with the stored inputs, against the stored float64 results and with --check. Prints one line and exits
non-zero if anything differs from what case.json expects. README.md says where the cases come from.
"""
import json, os, re, subprocess, sys, tempfile
import numpy as np

EMULATORS = ["sms=4 order-seed=1", "sms=7 shared-memory=166912 order-seed=2"]


def load(path, dtype):
    a = np.load(path)
    if dtype == "bf16":
        return (np.ascontiguousarray(a).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return a


def compare(case_dir, case, folder):
    """Message of the first result that is off, or None."""
    tolerance = case.get("tolerance", {})
    per_result, relative = tolerance.get("results"), tolerance.get("max_relerr")
    for i, r in enumerate(case["results"]):
        name = r.get("f64_file") or r.get("file")
        if not name:
            continue
        got = load(f"{folder}/o{i}.npy", r["dtype"]).astype(np.float64)
        want = load(f"{case_dir}/{name}", "f64" if r.get("f64_file") else r["dtype"]).astype(np.float64)
        if got.shape != want.shape:
            return f"result {i} has shape {got.shape}, expected {want.shape}"
        if relative is not None:
            limit = (relative[i] if isinstance(relative, list) else relative) * np.max(np.abs(want), initial=0)
        else:
            limit = per_result[i]["atol"] + per_result[i]["rtol"] * np.abs(want)
        bad = ~(np.abs(got - want) <= limit) & ~(np.isnan(got) & np.isnan(want))
        if bad.any():
            return f"result {i}: {int(bad.sum())} of {bad.size} off, largest error {np.nanmax(np.abs(got - want)):.3g}"
    return None


def main():
    passed_on = [a for a in sys.argv[1:] if a.startswith("--")]
    case_dir, opt, runner, *devices = [a for a in sys.argv[1:] if a not in passed_on]
    devices = [[f"--device={d}"] for d in devices] or [["--device=emulator", f"--emulator={e}"] for e in EMULATORS]
    case = json.load(open(f"{case_dir}/case.json"))
    ir, expect = f"{case_dir}/ir.mlir", case["expect"]
    p = subprocess.run([opt, ir, "--norm-fusion-fuse=chip=sm_90a"], capture_output=True, text=True)
    if p.returncode:
        return f"norm-fusion-opt exits {p.returncode}: {p.stderr[:300]}"
    formed = len(re.findall(r"\bnorm_fusion\.mixed_reduction\b", p.stdout))
    accepted = expect.get("fused_acceptable") or expect.get("accept_fused") or []
    accepted = [expect["fused"], *(accepted if isinstance(accepted, list) else [accepted])]
    if formed not in accepted:
        return f"formed {formed} groups, expected one of {accepted}"
    args = case.get("args") or []
    stored = bool(args) and all("file" in a for a in args)
    for device in devices:
        with tempfile.TemporaryDirectory() as t:
            command = [runner, ir, f"--entry={case.get('function', 'main')}", *device, *passed_on, "--check",
                       f"--json={t}/r.json"]
            if stored:
                command += [f"--input={case_dir}/{a['file']}" for a in args]
            command += [f"--output={t}/o{i}.npy" for i in range(len(case["results"]))]
            p = subprocess.run(command, capture_output=True, text=True)
            if p.returncode:
                return f"{device[-1]}: norm-fusion-runner exits {p.returncode}: {p.stderr.strip()[-300:]}"
            if stored and (message := compare(case_dir, case, t)):
                return f"{device[-1]}: {message}"
            report = json.load(open(f"{t}/r.json"))
            if report["fused"] != formed:
                return f"{device[-1]}: the report says fused={report['fused']}, norm-fusion-opt formed {formed}"
    return None


message = main()
print(message or "ok")
sys.exit(1 if message else 0)
