"""usage: math.py FOLDER f32|f64: writes FOLDER/math.mlir, a module of math functions that plain kernels expand, its
arguments x.npy and y.npy, and what Python's math finds, 0.npy, 1.npy and so on. Prints the runner's options for them."""
import math, os, random, sys
import numpy as np

folder, name = sys.argv[1:]
dtype = {"f32": np.float32, "f64": np.float64}[name]
inf, nan = math.inf, math.nan
FUNCTIONS = {"exp": math.exp, "exp2": lambda x: 2.0 ** x, "expm1": math.expm1, "log": math.log, "log2": math.log2,
             "log10": math.log10, "log1p": math.log1p, "tanh": math.tanh, "erf": math.erf,
             "rsqrt": lambda x: 1 / math.sqrt(x) if x else math.copysign(inf, x), "sqrt": math.sqrt,
             "floor": lambda x: x if math.isinf(x) or math.isnan(x) else math.floor(x), "roundeven":
             lambda x: x if math.isinf(x) or math.isnan(x) else round(x), "absf": abs, "powf": math.pow}


def value(function, *x):
    """IEEE's answer where Python raises: a pole or NaN."""
    try:
        return float(function(*x))
    except OverflowError:
        negative = function is math.pow and x[0] < 0 and x[1] % 2 == 1
        return -inf if negative else inf
    except ValueError:
        if function is math.log1p:
            return -inf if x[0] == -1 else nan
        if function is math.pow:
            return math.copysign(inf, x[0] if x[1] % 2 == 1 else 1) if x[0] == 0 else nan
        return -inf if x[0] == 0 and function in (math.log, math.log2, math.log10) else nan


random.seed(1)
x = [0.0, -0.0, 1, -1, inf, -inf, nan, 0.5, 2, -2, 1e-40, 709.78, -745.2, 88.8, -103.9, 1.0000001, 0.35, -0.35, 6, 3]
y = [0, 2, 3, -1, 0.5, inf, 2, -inf, nan, 3, 1, 2, -1, 0, 0.5, 3, -3, 2, 1e9, -7]
x += [random.gauss(0, 1) * 10.0 ** random.randint(-12, 2) for _ in range(300)]
x += [math.exp(random.uniform(-80, 80)) for _ in range(180)]
y += [random.choice([random.gauss(0, 3), float(random.randint(-9, 9))]) for _ in range(480)]
x, y = np.array(x, dtype), np.array(y, dtype)
np.save(f"{folder}/x.npy", x)
np.save(f"{folder}/y.npy", y)
tensor = f"tensor<500x{name}>"
results = ", ".join([tensor] * len(FUNCTIONS))
body = ""
print(f"--input={folder}/x.npy --input={folder}/y.npy", end="")
for i, (op, function) in enumerate(FUNCTIONS.items()):
    binary = op == "powf"
    body += f"  %{i} = math.{op} %x{', %y' * binary} : {tensor}\n"
    arguments = zip(x.tolist(), y.tolist()) if binary else zip(x.tolist())
    with np.errstate(over="ignore", under="ignore"):
        np.save(f"{folder}/{i}.npy", np.array([value(function, *a) for a in arguments]).astype(dtype))
    print(f" --expected={folder}/{i}.npy", end="")
names = ", ".join(f"%{i}" for i in range(len(FUNCTIONS)))
open(f"{folder}/math.mlir", "w").write(
    f"func.func @main(%x: {tensor}, %y: {tensor}) -> ({results}) {{\n{body}  return {names} : {results}\n}}\n")
