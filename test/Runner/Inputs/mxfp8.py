"""Prints RMSNorm with fp8 output in blocks of 32 columns, each with a power of two for scale, as linalg on tensors with dynamic rows.

usage: mxfp8.py FORM COLUMNS
FORM, how the exponent comes from a block's amax: bits (the exponent's bits, stored as i8; zero's is zero), round (the same, rounded up),
log (floor of log2; exp2), convert (arith.truncf to f8E8M0FNU), scaling (the same, then arith.scaling_truncf).
"""
import sys

form, n = sys.argv[1], int(sys.argv[2])
blocks = n // 32
stored = "f8E8M0FNU" if form in ("convert", "scaling") else "f32" if form == "log" else "i8"
full, block, row, w = "(m, a, c) -> (m, a, c)", "(m, a, c) -> (m, a)", "(m, a, c) -> (m)", "(m, a, c) -> (a, c)"
X, B, R, W = (lambda t, s=s: f"tensor<{s}{t}>" for s in (f"?x{blocks}x32x", f"?x{blocks}x", "?x", f"{blocks}x32x"))
kinds = {full: '"parallel", "parallel", "parallel"', block: '"parallel", "parallel", "reduction"', row: '"parallel", "reduction", "reduction"'}


def generic(name, ins, out, otype, body, space=full, init=None):
    maps = ", ".join(f"affine_map<{m}>" for m in [i[2] for i in ins] + [out])
    if not init:
        print(f"  %{name}_e = tensor.empty(%m) : {otype}")
        init = f"%{name}_e"
    element = otype[otype.rindex("x") + 1:-1]
    print(f"""  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{space}]}}
      ins({', '.join(i[0] for i in ins)} : {', '.join(i[1] for i in ins)}) outs({init} : {otype}) {{
  ^bb0({', '.join(f'%i{k}: {i[1][i[1].rindex("x") + 1:-1]}' for k, i in enumerate(ins))}, %o: {element}):
{body}
    linalg.yield %r : {element}
  }} -> {otype}""")


print(f"func.func @main(%x: {X('f32')}, %w: {W('f32')}) -> ({X('f8E4M3FN')}, {B(stored)}) {{")
print(f"""  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : {X('f32')}
  %zero = arith.constant 0.0 : f32
  %n = arith.constant {float(n)} : f32
  %eps = arith.constant 1.0e-6 : f32
  %largest = arith.constant 448.0 : f32
  %least = arith.constant -448.0 : f32
  %safe = arith.constant 224.0 : f32
  %zero8 = arith.constant 0 : i32
  %s8 = arith.constant 8 : i32
  %s23 = arith.constant 23 : i32
  %half = arith.constant 4194304 : i32
  %low = arith.constant 0x00400000 : f32
  %mask = arith.constant 255 : i32
  %er = tensor.empty(%m) : {R('f32')}
  %fr = linalg.fill ins(%zero : f32) outs(%er : {R('f32')}) -> {R('f32')}
  %eb = tensor.empty(%m) : {B('f32')}
  %fb = linalg.fill ins(%zero : f32) outs(%eb : {B('f32')}) -> {B('f32')}""")
generic("sum", [("%x", X("f32"), full)], row, R("f32"), "    %q = arith.mulf %i0, %i0 : f32\n    %r = arith.addf %q, %o : f32", kinds[row], "%fr")
generic("y", [("%x", X("f32"), full), ("%sum", R("f32"), row), ("%w", W("f32"), w)], full, X("f32"), """    %a = arith.divf %i1, %n : f32
    %b = arith.addf %a, %eps : f32
    %rs = math.rsqrt %b : f32
    %h = arith.mulf %i0, %rs : f32
    %r = arith.mulf %h, %i2 : f32""", kinds[full])
generic("amax", [("%y", X("f32"), full)], block, B("f32"), "    %q = math.absf %i0 : f32\n    %r = arith.maximumf %q, %o : f32", kinds[block], "%fb")
parallel = '"parallel", "parallel"'
flat = "(m, a) -> (m, a)"
if form in ("bits", "round"):
    up = "%u = arith.addi %b, %half : i32" if form == "round" else "%u = arith.addi %b, %zero8 : i32"
    generic("code", [("%amax", B("f32"), flat)], flat, B("i8"), f"""    %b = arith.bitcast %i0 : f32 to i32
    {up}
    %s = arith.shrui %u, %s23 : i32
    %e = arith.andi %s, %mask : i32
    %d = arith.subi %e, %s8 : i32
    %p = arith.maxsi %d, %zero8 : i32
    %r = arith.trunci %p : i32 to i8""", parallel)
    generic("scale", [("%code", B("i8"), flat)], flat, B("f32"), """    %b = arith.extui %i0 : i8 to i32
    %s = arith.shli %b, %s23 : i32
    %f = arith.bitcast %s : i32 to f32
    %r = arith.maximumf %f, %low : f32""", parallel)
elif form == "log":
    generic("scale", [("%amax", B("f32"), flat)], flat, B("f32"), """    %l = math.log2 %i0 : f32
    %f = math.floor %l : f32
    %eight = arith.constant 8.0 : f32
    %d = arith.subf %f, %eight : f32
    %r = math.exp2 %d : f32""", parallel)
else:
    # Without a clamp nothing may be rounded beyond the largest value.
    over = "largest" if form == "convert" else "safe"
    generic("code", [("%amax", B("f32"), flat)], flat, B("f8E8M0FNU"), f"""    %q = arith.divf %i0, %{over} : f32
    %r = arith.truncf %q : f32 to f8E8M0FNU""", parallel)
    if form == "convert":
        generic("scale", [("%code", B("f8E8M0FNU"), flat)], flat, B("f32"), "    %r = arith.extf %i0 : f8E8M0FNU to f32", parallel)
if form == "scaling":
    generic("q", [("%y", X("f32"), full), ("%code", B("f8E8M0FNU"), block)], full, X("f8E4M3FN"),
            "    %r = arith.scaling_truncf %i0, %i1 : f32, f8E8M0FNU to f8E4M3FN", kinds[full])
else:
    generic("q", [("%y", X("f32"), full), ("%scale", B("f32"), block)], full, X("f8E4M3FN"), """    %s = arith.divf %i0, %i1 : f32
    %a = arith.maximumf %s, %least : f32
    %b = arith.minimumf %a, %largest : f32
    %r = arith.truncf %b : f32 to f8E4M3FN""", kinds[full])
print(f"  return %q, %{'scale' if form == 'log' else 'code'} : {X('f8E4M3FN')}, {B(stored)}")
print("}")
