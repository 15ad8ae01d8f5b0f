"""usage: weak.py IR ROWS MULTIPROCESSORS SCHEDULE...: runs each schedule on the emulator with stores that are seen late, in several
orders, with and without the race detector, twice in a row each; the results must be those of float64, the same bits each time."""
import subprocess, sys

ir, rows, sms, *schedules = sys.argv[1:]
runs = failed = 0
for schedule in schedules:
    for seed in (1, 2, 3):
        command = ["norm-fusion-runner", ir, f"--dims={rows}", "--device=emulator", "--verify-each", f"--schedule={schedule}", "--check", "--repeat=2",
                   "--bitwise", f"--emulator=sms={sms} order-seed={seed - 1} weak={seed} races={int(seed == 3)}"]
        p = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        if p.returncode:
            failed += 1
            print(" ".join(command[4:]), p.stderr.strip())
print(f"{runs} runs, {failed} failed")
