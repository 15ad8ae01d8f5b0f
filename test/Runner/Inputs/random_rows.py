"""Writes f32 numbers between -2 and 2 as an array of ROWS x COLUMNS (ROWS -: one dimension).

usage: random_rows.py FILE.npy ROWS|- COLUMNS SEED
"""
import random, struct, sys

path, rows, columns, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
shape = (columns,) if rows == "-" else (int(rows), columns)
count = columns * (1 if rows == "-" else int(rows))
random.seed(seed)
values = [random.uniform(-2, 2) for _ in range(count)]
header = str({"descr": "<f4", "fortran_order": False, "shape": shape})
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open(path, "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{count}f", *values))
