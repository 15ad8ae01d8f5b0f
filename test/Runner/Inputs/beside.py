"""usage: beside.py NORM_MLIR MODULE::KERNEL...: prints the module with these gpu.modules, of a kernel each, which the function launches,
too. \\xx in a name is a byte, as in the IR."""
import sys

text, names = open(sys.argv[1]).read(), [name.split("::") for name in sys.argv[2:]]
head, body = text.split("func.func", 1)
body, end = body.rsplit("  return", 1)
kernels = "".join(f'gpu.module @"{m}" {{ gpu.func @"{k}"() kernel {{ gpu.return }} }}\n' for m, k in names)
launches = "  %one = arith.constant 1 : index\n" + "".join(
    f'  gpu.launch_func @"{m}"::@"{k}" blocks in (%one, %one, %one) threads in (%one, %one, %one)\n' for m, k in names)
print(f"{head}module attributes {{gpu.container_module}} {{\n{kernels}func.func{body}{launches}  return{end}}}")
