"""Prints norms of the forward direction as row-only mixed reductions: residual add, statistics returned, outputs of several types.

usage: forward.py rms|layer INPUT_TYPE OUTPUT_TYPE N [scale=none|given|row|block SIZE] [amax] [transposed]
The row scale is the row's amax over the largest value of the output type; `block` scales blocks of SIZE columns.
"""
import sys

kind, itype, otype, n, *rest = sys.argv[1:]
n = int(n)
scale = next((r.split("=")[1] for r in rest if r.startswith("scale=")), "none")
block = int(rest[rest.index("scale=block") + 1]) if scale == "block" else 0
amax, transposed = "amax" in rest, "transposed" in rest
largest = {"f8E4M3FN": 448.0, "f8E5M2": 57344.0, "i8": 127.0}.get(otype, 1.0)
cols = f"{n // block}x{block}" if block else f"{n}"
dims = "[row, column, column]" if block else "[row, column]"
d = "m, a, c" if block else "m, n"
full, col, row = (f"affine_map<({d}) -> {to}>" for to in (("(m, a, c)", "(a, c)", "(m)") if block else ("(m, n)", "(n)", "(m)")))
body = []


def f(text):
    body.append("    " + text)


def to_f32(name, of):
    if itype != "f32":
        f(f"%{name} = arith.extf %{of} : {itype} to f32")
        return name
    return of


ins = [("x", f"tensor<?x{cols}x{itype}>", full, itype), ("r", f"tensor<?x{cols}x{itype}>", full, itype),
       ("w", f"tensor<{cols}x{itype}>", col, itype)]
if scale == "given":
    ins.append(("g", "f32", f"affine_map<({d}) -> ()>", "f32"))
outs = []  # name of the value, type of the tensor, map, type of the element
f(f"%n = arith.constant {float(n)} : f32")
f("%eps = arith.constant 1.0e-5 : f32")
f("%one = arith.constant 1.0 : f32")
x, r, w = (to_f32(v + "f", v + "e") for v in "xrw")
f(f"%sum = arith.addf %{x}, %{r} : f32")
h = "sum"
if itype != "f32":
    f(f"%h = arith.truncf %sum : f32 to {itype}")
    outs.append(("h", f"tensor<?x{cols}x{itype}>", full, itype))
    f(f"%hf = arith.extf %h : {itype} to f32")
    h = "hf"
else:
    outs.append(("sum", f"tensor<?x{cols}xf32>", full, "f32"))
if kind == "layer":
    f(f"%s = norm_fusion.row_reduce add, %{h} : f32")
    f("%mean = arith.divf %s, %n : f32")
    f(f"%centred = arith.subf %{h}, %mean : f32")
    outs.append(("mean", "tensor<?xf32>", row, "f32"))
    h = "centred"
f(f"%sq = arith.mulf %{h}, %{h} : f32")
f("%ss = norm_fusion.row_reduce add, %sq : f32")
f("%var = arith.divf %ss, %n : f32")
f("%vare = arith.addf %var, %eps : f32")
f("%rstd = math.rsqrt %vare : f32")
outs.append(("rstd", "tensor<?xf32>", row, "f32"))
f(f"%xh = arith.mulf %{h}, %rstd : f32")
f(f"%w1 = arith.addf %{w}, %one : f32")
f("%y = arith.mulf %xh, %w1 : f32")
y = "y"
if scale in ("row", "block") or amax:
    f("%abs = math.absf %y : f32")
if scale in ("row", "block"):
    over = " over [2]" if block else ""
    f(f"%most = norm_fusion.row_reduce maximum, %abs{over} : f32")
    f(f"%largest = arith.constant {largest} : f32")
    f("%scale0 = arith.divf %most, %largest : f32")
    f("%tiny = arith.constant 1.0e-12 : f32")
    f("%scale = arith.maximumf %scale0, %tiny : f32")
    f("%scaled = arith.divf %y, %scale : f32")
    y = "scaled"
    if block:
        outs.append(("scale", f"tensor<?x{n // block}xf32>", f"affine_map<({d}) -> (m, a)>", "f32"))
    else:
        outs.append(("scale", "tensor<?xf32>", row, "f32"))
if scale == "given":
    f("%scaled = arith.mulf %y, %ge : f32")
    y = "scaled"
if largest != 1.0:
    f(f"%hi = arith.constant {largest} : f32")
    f(f"%lo = arith.constant -{largest} : f32")
    f(f"%above = arith.maximumf %{y}, %lo : f32")
    f("%clamped = arith.minimumf %above, %hi : f32")
    y = "clamped"
if otype == "i8":
    f(f"%rounded = math.roundeven %{y} : f32")
    f("%out = arith.fptosi %rounded : f32 to i8")
    y = "out"
elif otype != "f32":
    f(f"%out = arith.truncf %{y} : f32 to {otype}")
    y = "out"
outs.append((y, f"tensor<?x{cols}x{otype}>", full, otype))
if transposed:
    outs.append((y, f"tensor<{n}x?x{otype}>", f"affine_map<({d}) -> (n, m)>", otype))
if amax:
    f("%rowmost = norm_fusion.row_reduce maximum, %abs : f32")
    f("%all = norm_fusion.column_reduce maximum, %rowmost : f32")
    outs.append(("all", "tensor<f32>", f"affine_map<({d}) -> ()>", "f32"))
f("norm_fusion.yield " + ", ".join("%" + o[0] for o in outs) + " : " + ", ".join(o[3] for o in outs))

print(f"func.func @main({', '.join(f'%{i[0]}: {i[1]}' for i in ins)}) -> ({', '.join(o[1] for o in outs)}) {{")
print("  %c0 = arith.constant 0 : index")
print(f"  %m = tensor.dim %x, %c0 : {ins[0][1]}")
for k, o in enumerate(outs):
    print(f"  %o{k} = tensor.empty({'%m' if '?' in o[1] else ''}) : {o[1]}")
print(f"  %results:{len(outs)} = norm_fusion.mixed_reduction dims = {dims}")
print(f"    ins({', '.join('%' + i[0] for i in ins)} : {', '.join(i[1] for i in ins)})")
print(f"    outs({', '.join(f'%o{k}' for k in range(len(outs)))} : {', '.join(o[1] for o in outs)})")
print(f"    maps = [{', '.join([i[2] for i in ins] + [o[2] for o in outs])}] {{")
print(f"  ^bb0({', '.join(f'%{i[0]}e: {i[3]}' for i in ins)}):")
print("\n".join(body))
print(f"  }} -> {', '.join(o[1] for o in outs)}")
print(f"  return {', '.join(f'%results#{k}' for k in range(len(outs)))} : {', '.join(o[1] for o in outs)}")
print("}")
