"""Prints a group that needs many inputs (budget.py inputs N) or many column reductions (budget.py columns N)."""
import sys

kind, n = sys.argv[1], int(sys.argv[2])
full, row, col = "tensor<?x64xf32>", "tensor<?xf32>", "tensor<64xf32>"
read = n if kind == "inputs" else 1
arguments = [f"%x{i}: {full}" for i in range(read)] + [f"%e: {full}", f"%r: {row}", f"%c: {col}"]
columns = n if kind == "columns" else 1
print(f"func.func @{kind}({', '.join(arguments)}) -> ({', '.join([row] + [col] * columns)}) {{")
terms = "".join(f"\n  %s{i} = arith.addf %s{i - 1}, %a{i} : f32" for i in range(1, read)).replace("%s0,", "%a0,")
print(f"%sum = linalg.map ins({', '.join(f'%x{i}' for i in range(read))} : {', '.join([full] * read)}) outs(%e : {full})\n"
      f"  ({', '.join(f'%a{i}: f32' for i in range(read))}, %o: f32) {{{terms}\n  linalg.yield {f'%s{read - 1}' if read > 1 else '%a0'} : f32 }}")
print(f"%row = linalg.reduce {{arith.addf}} ins(%sum : {full}) outs(%r : {row}) dimensions = [1]")
for i in range(columns):
    print(f"%k{i} = arith.constant {i + 1}.0 : f32\n%p{i} = linalg.map ins(%sum : {full}) outs(%e : {full}) (%a: f32, %o: f32) {{\n"
          f"  %0 = arith.mulf %a, %k{i} : f32\n  linalg.yield %0 : f32 }}\n"
          f"%c{i} = linalg.reduce {{arith.addf}} ins(%p{i} : {full}) outs(%c : {col}) dimensions = [0]")
print(f"return %row, {', '.join(f'%c{i}' for i in range(columns))} : {', '.join([row] + [col] * columns)}\n}}")
