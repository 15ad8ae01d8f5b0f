"""Prints K norms whose ops stand interleaved: all row sums, their totals, all y (scaled by the total), all column sums.

usage: interleaved.py K
"""
import sys

count = int(sys.argv[1])
ids = range(count)
maps = {"a": "(m, n)", "r": "(m)", "s": "()"}
space = [f"tensor<8x{64 + i}xf32>" for i in ids]
columns = [f"tensor<{64 + i}xf32>" for i in ids]
for name, results in maps.items():
    print(f"#{name} = affine_map<(m, n) -> {results}>")
results = ", ".join(f"{space[i]}, {columns[i]}" for i in ids)
print(f"func.func @main({', '.join(f'%x{i}: {space[i]}' for i in ids)}) -> ({results}) {{")
print("  %zero = arith.constant 0.0 : f32")


def reduce(result, operand, type, dimension, of):
    print(f"""  %e{result} = tensor.empty() : {type}
  %f{result} = linalg.fill ins(%zero : f32) outs(%e{result} : {type}) -> {type}
  %{result} = linalg.reduce {{arith.addf}} ins(%{operand} : {of}) outs(%f{result} : {type}) dimensions = [{dimension}]""")


def scale(result, operand, factor, of, type, factors):
    print(f"""  %e{result} = tensor.empty() : {type}
  %{result} = linalg.generic {{indexing_maps = [#a, #{factors}, #a], iterator_types = ["parallel", "parallel"]}} ins(%{operand}, %{factor} : {type}, {of}) outs(%e{result} : {type}) {{
  ^bb0(%a: f32, %k: f32, %o: f32):
    %p = arith.mulf %a, %k : f32
    linalg.yield %p : f32
  }} -> {type}""")


for i in ids:
    reduce(f"r{i}", f"x{i}", "tensor<8xf32>", 1, space[i])
for i in ids:
    reduce(f"t{i}", f"r{i}", "tensor<f32>", 0, "tensor<8xf32>")
for i in ids:
    scale(f"y{i}", f"x{i}", f"r{i}", "tensor<8xf32>", space[i], "r")
    scale(f"z{i}", f"y{i}", f"t{i}", "tensor<f32>", space[i], "s")
for i in ids:
    reduce(f"q{i}", f"y{i}", columns[i], 0, space[i])
print(f"  return {', '.join(f'%z{i}, %q{i}' for i in ids)} : {results}\n}}")
