"""Prints every case of the corpus as a row of a Markdown table: groups expected and formed, error and tolerance.

usage: table.py BIN_DIR [--device DEVICE] [--jobs 2] [--only SUBSTR] [FOLDER...]

FOLDERs hold cases (default: torch and jax beside this script). Error and tolerance are those of the result that comes nearest to its
tolerance, against the stored float64 results, or against the reference of --check where none are stored: its largest absolute error, and what was
allowed there. check_case.py does the judging. Exits non-zero if a case is not as expected.
"""
import argparse, glob, os, sys
from concurrent.futures import ThreadPoolExecutor

from check_case import get_devices, judge


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("bin")
    ap.add_argument("folders", nargs="*", default=[os.path.join(here, name) for name in ("torch", "jax")])
    ap.add_argument("--device")
    ap.add_argument("--jobs", type=int, default=2)
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    cases = sorted(os.path.dirname(f) for folder in a.folders for f in glob.glob(os.path.join(folder, "*", "case.json"))
                   if a.only in f and os.path.exists(os.path.join(os.path.dirname(f), "ir.mlir")))
    tools = [os.path.join(a.bin, f"norm-fusion-{tool}") for tool in ("opt", "runner")]
    devices = get_devices([a.device] if a.device else [])
    failed = positive = formed = negative = untouched = 0
    print("| case | groups expected | formed | max abs error | tolerance | |\n|---|---|---|---|---|---|")
    with ThreadPoolExecutor(a.jobs) as pool:
        for case, r in zip(cases, pool.map(lambda c: judge(c, *tools, devices), cases)):
            failed += bool(r["message"])
            if r["expected"]:
                positive += 1
                formed += r["formed"] == r["expected"]
            else:
                negative += 1
                untouched += r["formed"] == 0
            cells = [os.path.basename(os.path.dirname(case)) + "/" + os.path.basename(case), r["expected"], r["formed"]]
            cells += ["-" if r[key] is None else f"{r[key]:.2g}" for key in ("error", "tolerance")]
            cells += [(r["message"] or "ok").replace("|", "\\|").replace("\n", " ")]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    print(f"\n{len(cases)} cases, {failed} failed; expected number of groups on {formed} of {positive} positive cases, "
          f"none formed on {untouched} of {negative} negative ones.")
    return 1 if failed or not cases else 0


sys.exit(main())
