"""Formulas of a bundle's manifest, as functions of the values that their names stand for."""
import re

FUNCTIONS = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b), "select": lambda c, a, b: a if c else b, "not": lambda c: not c}


def compile_formula(text):
    """A function of a dictionary with the names' values and FUNCTIONS. Sizes and addresses aren't negative, so that / is //."""
    names = re.sub(r"[A-Za-z_][\w.]*", lambda name: f"v[{name[0]!r}]", text)
    return eval(f"lambda v: int({names.replace('/', '//')})", {"__builtins__": {}, "int": int})
