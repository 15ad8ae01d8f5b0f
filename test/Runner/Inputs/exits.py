"""usage: exits.py CODE COMMAND...: passes output through; fails unless the command exits with CODE."""
import subprocess, sys

code = subprocess.run(sys.argv[2:], stderr=subprocess.STDOUT).returncode
if code != int(sys.argv[1]):
    sys.exit(f"exit code {code}, expected {sys.argv[1]}")
