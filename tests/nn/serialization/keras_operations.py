"""Lists the operations of Keras 3 that a functional model can hold, from Keras's sources.

python3 tests/nn/serialization/keras_operations.py PATH_OF_KERAS > tests/nn/serialization/keras_operations.txt

A line is: module, class, and the arguments of `call` and of the constructor, parted by a semicolon.
"""
import ast
import pathlib
import sys


def parameters(function):
    a = function.args
    names = [x.arg for x in a.posonlyargs + a.args]
    defaults = [None] * (len(names) - len(a.defaults)) + [ast.unparse(x) for x in a.defaults]
    out = [n if d is None else f"{n}={d}" for n, d in list(zip(names, defaults))[1:] if n != "name"]
    if a.vararg:
        out.append("*" + a.vararg.arg)
    out += [x.arg if d is None else f"{x.arg}={ast.unparse(d)}" for x, d in zip(a.kwonlyargs, a.kw_defaults) if x.arg != "name"]
    return out + (["**" + a.kwarg.arg] if a.kwarg else [])


def method(classes, name, wanted):
    for part in classes[name].body:
        if isinstance(part, ast.FunctionDef) and part.name == wanted:
            return parameters(part)
    for base in classes[name].bases:
        if ast.unparse(base) in classes:
            return method(classes, ast.unparse(base), wanted)
    return []


def is_operation(classes, name):
    return name == "Operation" or name in classes and any(is_operation(classes, ast.unparse(b)) for b in classes[name].bases)


for path in sorted(pathlib.Path(sys.argv[1], "keras/src/ops").glob("*.py")):
    if path.stem.endswith("_test") or path.stem == "operation":
        continue
    classes = {n.name: n for n in ast.parse(path.read_text()).body if isinstance(n, ast.ClassDef)}
    for name in classes:
        if is_operation(classes, name):
            print(f"{path.stem} {name}({', '.join(method(classes, name, 'call'))}; {', '.join(method(classes, name, '__init__'))})")
