"""usage: limited.py BYTES COMMAND...: runs it with files of at most BYTES, as on a full disk."""
import os, resource, signal, sys

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
os.execvp(sys.argv[2], sys.argv[2:])
