"""Prints the elements of .npy files, a file a line."""
import sys

import numpy

for path in sys.argv[1:]:
    print(*numpy.load(path).ravel())
