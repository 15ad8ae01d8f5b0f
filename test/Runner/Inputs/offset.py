"""usage: offset.py mean|outlier|same FOLDER: dy, x, mean and rstd of 24 bf16 rows of 384 columns, whose mean is far larger than what they vary by."""
import os, sys
import numpy as np

ROWS, COLUMNS = 24, 384


def to_bf16(a):
    bits = np.asarray(a, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


kind, folder = sys.argv[1:]
random = np.random.default_rng(0)
x = {"mean": 1000 + random.standard_normal((ROWS, COLUMNS)),
     "outlier": np.where(np.arange(COLUMNS) == 7, 1004.0, 1000.0) * np.ones((ROWS, 1)),
     "same": np.full((ROWS, COLUMNS), 3.0)}[kind]
x = to_bf16(x)
exact = (x.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
os.makedirs(folder, exist_ok=True)
arrays = {"x": x, "dy": to_bf16(random.standard_normal((ROWS, COLUMNS))), "w": to_bf16(random.uniform(0.5, 1.5, COLUMNS)),
          "mean": exact.mean(1, keepdims=True).astype(np.float32), "rstd": (1 / np.sqrt(exact.var(1, keepdims=True) + 1e-5)).astype(np.float32)}
for name, array in arrays.items():
    np.save(os.path.join(folder, name + ".npy"), array)
