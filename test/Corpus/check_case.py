"""Judges one case of the corpus: IR that a real exporter wrote, with inputs and float64 results.

usage: check_case.py [--plain=device] CASE_DIR OPT RUNNER [DEVICE]

Forms the case with norm-fusion-fuse and counts the groups; runs it on two virtual devices of the emulator under two
scheduling seeds (or once on DEVICE), with the stored inputs, against the stored float64 results and with --check. Prints one line and exits
non-zero if anything differs from what case.json expects. README.md says where the cases come from; table.py prints all of them.
"""
import json, os, re, subprocess, sys, tempfile
import numpy as np

EMULATORS = ["sms=4 order-seed=1", "sms=7 shared-memory=166912 order-seed=2"]


def fp8_values(exponent_bits, mantissa_bits, bias, finite):
    """The value of each code; finite: no infinities, NaN at all ones alone."""
    codes = np.arange(256)
    sign = np.where(codes >> 7, -1.0, 1.0)
    exponent = codes >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = (codes & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    values = sign * np.where(exponent == 0, mantissa * 2.0 ** (1 - bias), (1 + mantissa) * 2.0 ** (exponent - bias))
    if finite:
        return np.where(codes & 0x7F == 0x7F, np.nan, values)
    top = exponent == (1 << exponent_bits) - 1
    return np.where(top, np.where(mantissa == 0, sign * np.inf, np.nan), values)


FP8 = {"f8E4M3FN": fp8_values(4, 3, 7, True), "f8E5M2": fp8_values(5, 2, 15, False)}


def load(path, dtype):
    a = np.load(path)
    if dtype == "bf16":
        return (np.ascontiguousarray(a).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return FP8[dtype][a] if dtype in FP8 else a


def compare(case_dir, case, folder):
    """Yields for each stored result its number, largest error, the tolerance there, and what is wrong or None."""
    tolerance = case.get("tolerance", {})
    per_result, relative = tolerance.get("results"), tolerance.get("max_relerr")
    for i, r in enumerate(case["results"]):
        name = r.get("f64_file") or r.get("file")
        if not name:
            continue
        got = load(f"{folder}/o{i}.npy", r["dtype"]).astype(np.float64)
        want = load(f"{case_dir}/{name}", "f64" if r.get("f64_file") else r["dtype"]).astype(np.float64)
        if got.shape != want.shape:
            yield i, np.nan, np.nan, f"result {i} has shape {got.shape}, expected {want.shape}"
            continue
        if relative is not None:
            limit = np.full(want.shape, (relative[i] if isinstance(relative, list) else relative) * np.max(np.abs(want), initial=0))
        else:
            limit = per_result[i]["atol"] + per_result[i]["rtol"] * np.abs(want)
        with np.errstate(invalid="ignore"):
            error = np.where((np.isnan(got) & np.isnan(want)) | (got == want), 0, np.abs(got - want))
        bad = ~(error <= limit)
        message = f"result {i}: {int(bad.sum())} of {bad.size} off, largest error {np.nanmax(error):.3g}" if bad.any() else None
        if message is None and per_result and "min_equal" in per_result[i]:
            message = compare_codes(i, f"{folder}/o{i}.npy", f"{case_dir}/{r['file']}", per_result[i], r["dtype"])
        worst = np.argmax(error) if error.size else None
        yield i, np.max(error, initial=0), limit.flat[worst] if error.size else 0.0, message


def compare_codes(i, got, want, rule, dtype):
    """What is wrong with a quantised result, or None; fp8 codes are put in numeric order first."""
    codes = [np.load(f).view(np.uint8 if dtype in FP8 else np.int8).astype(np.int32) for f in (got, want)]
    if dtype in FP8:
        codes = [np.where(c & 0x80, -(c & 0x7F), c) for c in codes]
    apart = np.abs(codes[0] - codes[1])
    if apart.max(initial=0) <= rule["max_codes_apart"] and (apart == 0).mean() >= rule["min_equal"]:
        return None
    return f"result {i}: up to {apart.max()} codes apart, {(apart == 0).mean():.3%} equal"


def judge(case_dir, opt, runner, devices, passed_on=()):
    """What was expected and found: groups, largest error and its tolerance over all runs, and a message if anything is wrong."""
    case = json.load(open(f"{case_dir}/case.json"))
    ir, expect = f"{case_dir}/ir.mlir", case["expect"]
    found = {"expected": expect["fused"], "formed": None, "error": None, "tolerance": None, "message": None}

    def fail(message):
        return {**found, "message": message}

    row_only = "row-only=true" in [expect.get("needs_option")] + [g.get("needs_option") for g in expect.get("groups") or []]
    p = subprocess.run([opt, ir, "--norm-fusion-fuse=chip=sm_90a" + (" row-only=true" if row_only else "")],
                       capture_output=True, text=True)
    if p.returncode:
        return fail(f"norm-fusion-opt exits {p.returncode}: {p.stderr[:300]}")
    found["formed"] = formed = len(re.findall(r"\bnorm_fusion\.mixed_reduction\b", p.stdout))
    accepted = expect.get("fused_acceptable") or expect.get("accept_fused") or []
    accepted = [expect["fused"], *(accepted if isinstance(accepted, list) else [accepted])]
    if formed not in accepted:
        return fail(f"formed {formed} groups, expected one of {accepted}")
    args = case.get("args") or []
    stored = bool(args) and all("file" in a for a in args)
    for device in devices:
        with tempfile.TemporaryDirectory() as t:
            command = [runner, ir, f"--entry={case.get('function', 'main')}", *device, *passed_on, "--verify-each", "--check", f"--json={t}/r.json"]
            command += ["--form-options=row-only=true"] if row_only else []
            command += [f"--input={case_dir}/{a['file']}" for a in args] if stored else []
            command += [f"--output={t}/o{i}.npy" for i in range(len(case["results"]))]
            p = subprocess.run(command, capture_output=True, text=True)
            if p.returncode:
                return fail(f"{device[-1]}: norm-fusion-runner exits {p.returncode}: {p.stderr.strip()[-300:]}")
            report = json.load(open(f"{t}/r.json"))
            if report["fused"] != formed:
                return fail(f"{device[-1]}: the report says fused={report['fused']}, norm-fusion-opt formed {formed}")
            errors = list(compare(case_dir, case, t)) if stored else [
                (o["index"], o["max_abs_error"], o["atol"], None) for o in report["outputs"] if o["max_abs_error"] is not None]
            for _, error, limit, message in errors:
                # The result that comes nearest to its tolerance stands for the case.
                if found["error"] is None or error * found["tolerance"] > found["error"] * limit:
                    found["error"], found["tolerance"] = float(error), float(limit)
                if message:
                    return fail(f"{device[-1]}: {message}")
    return found


def get_devices(names):
    return [[f"--device={d}"] for d in names] or [["--device=emulator", f"--emulator={e}"] for e in EMULATORS]


if __name__ == "__main__":
    passed_on = [a for a in sys.argv[1:] if a.startswith("--")]
    case_dir, opt, runner, *devices = [a for a in sys.argv[1:] if a not in passed_on]
    message = judge(case_dir, opt, runner, get_devices(devices), passed_on)["message"]
    print(message or "ok")
    sys.exit(1 if message else 0)
