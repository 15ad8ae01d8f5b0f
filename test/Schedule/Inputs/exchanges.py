"""A row reduction of what hangs on another one, and sums of columns: exchanges.py TYPE COLUMNS SUMS [ARRAYS]."""
import sys

dtype, columns, sums = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
arrays = int(sys.argv[4]) if len(sys.argv) > 4 else 2
full = f"tensor<?x{columns}x{dtype}>"
row = f"tensor<{columns}xf32>"
names = [f"%x{i}" for i in range(arrays)]
print(f"func.func @main({', '.join(f'{n}: {full}' for n in names)}, %o: {full}, %t: {row}) -> ({', '.join([full] + [row] * sums)}) {{")
print(f"  %r:{sums + 1} = norm_fusion.mixed_reduction dims = [row, column] ins({', '.join(names)} : {', '.join([full] * arrays)})")
print(f"    outs({', '.join(['%o'] + ['%t'] * sums)} : {', '.join([full] + [row] * sums)})")
e, c = "affine_map<(m, n) -> (m, n)>", "affine_map<(m, n) -> (n)>"
print(f"    maps = [{', '.join([e] * (arrays + 1) + [c] * sums)}] {{")
print(f"  ^bb0({', '.join(f'%a{i}: {dtype}' for i in range(arrays))}):")
for i in range(arrays):
    print(f"    %f{i} = arith.extf %a{i} : {dtype} to f32" if dtype != "f32" else f"    %f{i} = arith.addf %a{i}, %a{i} : f32")
total = "%f0"
for i in range(1, arrays):
    print(f"    %t{i} = arith.mulf {total}, %f{i} : f32")
    total = f"%t{i}"
print(f"""    %mean = norm_fusion.row_reduce add, %f0 : f32
    %d = arith.subf {total}, %mean : f32
    %s = norm_fusion.row_reduce add, %d : f32
    %y = arith.mulf %f1, %s : f32""")
for k, value in zip(range(sums), ("%d", "%f1")):
    print(f"    %k{k} = norm_fusion.column_reduce add, {value} : f32")
if dtype != "f32":
    print(f"    %z = arith.truncf %y : f32 to {dtype}")
result = "%y" if dtype == "f32" else "%z"
print(f"    norm_fusion.yield {', '.join([result] + [f'%k{k}' for k in range(sums)])} : {', '.join([dtype] + ['f32'] * sums)}")
print(f"  }} -> {', '.join([full] + [row] * sums)}")
print(f"  return {', '.join(f'%r#{k}' for k in range(sums + 1))} : {', '.join([full] + [row] * sums)}\n}}")
