"""Formulas of a bundle's manifest, as functions of the values that their names stand for."""
import ast, re

FUNCTIONS = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b), "not": lambda c: not c}


class Selects(ast.NodeTransformer):
    """select(c, a, b) computes the one that it takes alone."""

    def visit_Call(self, call):
        self.generic_visit(call)
        if ast.unparse(call.func) != "v['select']":
            return call
        return ast.IfExp(*call.args)


def compile_formula(text):
    """A function of a dictionary with the names' values and FUNCTIONS. Sizes and addresses aren't negative, so that / is //."""
    names = re.sub(r"[A-Za-z_][\w.]*", lambda name: f"v[{name[0]!r}]", text)
    tree = Selects().visit(ast.parse(f"lambda v: int({names.replace('/', '//')})", mode="eval"))
    return eval(compile(ast.fix_missing_locations(tree), text, "eval"), {"__builtins__": {}, "int": int})
