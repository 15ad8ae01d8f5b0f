"""usage: lines.py N FILE: fails unless the file has N lines."""
import sys

found = len(open(sys.argv[2]).read().splitlines())
if found != int(sys.argv[1]):
    sys.exit(f"{sys.argv[2]} has {found} lines, expected {sys.argv[1]}")
