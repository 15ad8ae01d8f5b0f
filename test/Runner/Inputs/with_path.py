"""with_path.py DIR COMMAND...: runs the command with DIR first in PATH."""
import os, sys

os.environ["PATH"] = sys.argv[1] + os.pathsep + os.environ["PATH"]
os.execvp(sys.argv[2], sys.argv[2:])
