"""heads.py TYPE H N: rows of H heads of N columns, an input with a scale a head; a sum over each row, results of the space, sums over the rows."""
import sys

t, h, n = sys.argv[1:]
x, s, e, c = f"tensor<?x{h}x{n}x{t}>", f"tensor<?x{h}xf32>", f"tensor<?x{h}x{n}xf32>", f"tensor<{h}x{n}xf32>"
extend = (lambda v: f"%e = arith.extf %{v} : {t} to f32") if t != "f32" else (lambda v: "")
a = "%e" if t != "f32" else "%a"
X, S, R, C = "affine_map<(m, h, n) -> (m, h, n)>", "affine_map<(m, h, n) -> (m, h)>", "affine_map<(m, h, n) -> (m)>", "affine_map<(m, h, n) -> (h, n)>"
print(f"""func.func @main(%x: {x}, %s: {s}) -> ({e}, {c}) {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : {x}
  %r0 = tensor.empty(%m) : tensor<?xf32>
  %r1 = linalg.fill ins(%zero : f32) outs(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {{indexing_maps = [{X}, {S}, {R}], iterator_types = ["parallel", "reduction", "reduction"]}}
      ins(%x, %s : {x}, {s}) outs(%r1 : tensor<?xf32>) {{
  ^bb0(%a: {t}, %k: f32, %o: f32):
    {extend("a")}
    %p = arith.mulf {a}, %k : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  }} -> tensor<?xf32>
  %y0 = tensor.empty(%m) : {e}
  %y = linalg.generic {{indexing_maps = [{X}, {S}, {R}, {X}], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%x, %s, %r : {x}, {s}, tensor<?xf32>) outs(%y0 : {e}) {{
  ^bb0(%a: {t}, %k: f32, %w: f32, %o: f32):
    {extend("a")}
    %p = arith.mulf {a}, %k : f32
    %q = arith.subf %p, %w : f32
    linalg.yield %q : f32
  }} -> {e}
  %t0 = tensor.empty() : {c}
  %t1 = linalg.fill ins(%zero : f32) outs(%t0 : {c}) -> {c}
  %t = linalg.generic {{indexing_maps = [affine_map<(h, n, m) -> (m, h, n)>, affine_map<(h, n, m) -> (m, h)>, affine_map<(h, n, m) -> (h, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%x, %s : {x}, {s}) outs(%t1 : {c}) {{
  ^bb0(%a: {t}, %k: f32, %o: f32):
    {extend("a")}
    %p = arith.mulf {a}, %k : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  }} -> {c}
  return %y, %t : {e}, {c}
}}""")
