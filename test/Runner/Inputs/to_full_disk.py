"""Runs a command whose standard output can't be written. usage: to_full_disk.py COMMAND..."""
import subprocess, sys

sys.exit(subprocess.run(sys.argv[1:], stdout=open("/dev/full", "w")).returncode)
