"""usage: exits.py CODE [--says TEXT] COMMAND...: passes output through; fails unless the command exits with CODE, and unless its
output has TEXT in its only line."""
import subprocess, sys

code, command, says = int(sys.argv[1]), sys.argv[2:], None
if command[0] == "--says":
    says, command = command[1], command[2:]
p = subprocess.run(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE if says else None, text=True)
if says:
    print(p.stdout, end="")
if p.returncode != code:
    sys.exit(f"exit code {p.returncode}, expected {code}")
if says and (says not in p.stdout or p.stdout.count("\n") != 1):
    sys.exit(f"expected one line with '{says}'")
