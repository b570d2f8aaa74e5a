#!/usr/bin/env python3
"""Writes keras_names.inc: the public names of keras.ops and keras.random, read from the sources of Keras.

    python3 tests/ops/keras/keras_names.py KERAS       (a checkout of keras-team/keras, 3.16 or later)

A name with a reason in MISSING has no function; a name in RENAMED is a keyword of C++.
"""
import os
import re
import sys

MISSING = {
    "convert_to_numpy": "there are no arrays of NumPy: K::eval and an xtensor container hold values",
    "vectorize": "a function of Python values has no form in C++: `map` and `vectorized_map` take tensors",
    "view_as_complex": "tensors are real: a complex tensor is a pair of its parts",
    "view_as_real": "tensors are real: a complex tensor is a pair of its parts",
}
RENAMED = {"switch": "switch_"}


def names(keras, *modules):
    """Returns the names that the modules of the public interface import."""
    found = set()
    for module in modules:
        with open(os.path.join(keras, "keras/api", module, "__init__.py")) as source:
            found |= set(re.findall(r" as (\w+)$", source.read(), re.M))
    return found - {"image", "linalg", "nn", "numpy"}


def main(keras):
    """Writes a line for each name."""
    lines = ["// Written by keras_names.py. KERAS_NAME(namespace, name), KERAS_MISSING(name, reason)."]
    for space, modules in {"ops": ["ops", "ops/image", "ops/linalg", "ops/nn", "ops/numpy"], "random": ["random"]}.items():
        for name in sorted(names(keras, *modules)):
            if name in MISSING:
                lines.append(f'KERAS_MISSING({name}, "{MISSING[name]}")')
            else:
                lines.append(f"KERAS_NAME({space}, {RENAMED.get(name, name)})")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keras_names.inc")
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
