#!/usr/bin/env python3
"""Writes keras_keys.json: the keys that the configs of Keras's classes have, release by release.

    keras_keys.py PATH_OF_A_CLONE_OF_KERAS > keras_keys.json

Parses the sources of each release below without importing them. The table has, for each kind of object
and each class, [default, first release, last release] of each key that `get_config` writes; a default that is not a
literal is null, and an argument without a default is "required".
"""
import ast
import json
import subprocess
import sys

RELEASES = {"2.2.4": "2.2.4", "2.3.1": "2.3.1", "2.6": "v2.6.0", "2.7": "v2.7.0", "2.8": "v2.8.0", "2.9": "v2.9.0",
            "2.10": "v2.10.0", "2.11": "v2.11.0", "2.12": "v2.12.0", "2.13": "v2.13.1", "2.14": "v2.14.0",
            "2.15": "v2.15.0", "3.0": "v3.0.5", "3.1": "v3.1.1", "3.2": "v3.2.1", "3.3": "v3.3.3", "3.4": "v3.4.1",
            "3.5": "v3.5.0", "3.6": "v3.6.0", "3.7": "v3.7.0", "3.8": "v3.8.0", "3.9": "v3.9.2", "3.10": "v3.10.0",
            "3.11": "v3.11.3", "3.12": "v3.12.4", "3.13": "v3.13.2", "3.14": "v3.14.1", "3.15": "v3.15.1"}
KINDS = {"layer": ("layers", "engine"), "initializer": ("initializers",), "regularizer": ("regularizers",),
         "constraint": ("constraints",), "loss": ("losses",), "metric": ("metrics",), "optimizer": ("optimizers",)}
LATER = {"optimizer": ("optimizer_v1", "optimizer_v2", "optimizer_experimental", "legacy_tf_layers")}
REQUIRED = "required"
MODELS = {"Functional", "Model", "ModelV2", "Network", "Sequential"}  # their configs have layers
OTHERS = ("legacy_rnn", "legacy_cells", "benchmarks")  # folders without layers that models can have


def git(clone, *arguments):
    return subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, check=True).stdout


def sources(clone, tag, folders):
    for path in git(clone, "ls-tree", "-r", "--name-only", tag, "keras").splitlines():
        parts = path.removesuffix(".py").replace("keras/src/", "keras/").split("/")
        if any(part in OTHERS for part in parts):
            continue
        if path.endswith(".py") and not path.endswith("_test.py") and len(parts) > 1 and parts[1] in folders:
            yield ast.parse(git(clone, "show", f"{tag}:{path}"))


def literal(node):
    try:
        value = ast.literal_eval(node)
        return list(value) if isinstance(value, tuple) else value if isinstance(value, (bool, int, float, str, list)) else None
    except ValueError:
        return None


def arguments_of(function):
    given = function.args
    names = [argument.arg for argument in given.args[1:]]
    defaults = [REQUIRED] * (len(names) - len(given.defaults)) + [literal(node) for node in given.defaults]
    found = dict(zip(names, defaults))
    for argument, node in zip(given.kwonlyargs, given.kw_defaults):
        found[argument.arg] = REQUIRED if node is None else literal(node)
    return found


def keys_in(function):
    """Returns the keys that `get_config` sets, the keys that it removes, and whether it calls the base class."""
    keys, removed, asks_base = set(), set(), False
    inner = {id(value) for node in ast.walk(function) if isinstance(node, ast.Dict)
             for part in node.values for value in ast.walk(part)}
    for node in ast.walk(function):
        if isinstance(node, ast.Dict) and id(node) not in inner:
            keys.update(key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
        elif isinstance(node, ast.Delete):
            removed.update(target.slice.value for target in node.targets
                           if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant))
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
                    keys.add(target.slice.value)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("update", "dict"):
                keys.update(word.arg for word in node.keywords if word.arg)
            if name == "pop" and node.args and isinstance(node.args[0], ast.Constant):
                removed.add(node.args[0].value)
            asks_base = asks_base or name == "get_config"
    return keys, removed, asks_base


class Classes:
    """Returns the classes of one release, with the keys of their configs and the arguments of their constructors."""

    def __init__(self, clone, tag, folders):
        self.found = {}
        for tree in sources(clone, tag, folders):
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    self.found.setdefault(node.name, []).append(node)

    def methods(self, node, name):
        return [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name]

    def bases(self, node):
        for base in node.bases:
            name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
            yield from (other for other in self.found.get(name, []) if other is not node)

    def keys(self, node, depth=0):
        keys, removed, asks_base = set(), set(), not self.methods(node, "get_config")
        for method in self.methods(node, "get_config"):
            own, without, asks = keys_in(method)
            keys |= own
            removed |= without
            asks_base = asks_base or asks
        if asks_base and depth < 12:
            for base in self.bases(node):
                keys |= self.keys(base, depth + 1) - removed
        return keys

    def defaults(self, node, depth=0):
        found = {}
        if depth < 12:
            for base in self.bases(node):
                found.update(self.defaults(base, depth + 1))
        for method in self.methods(node, "__init__"):
            found.update(arguments_of(method))
        return found


def main(clone):
    table = {}
    for release, tag in RELEASES.items():
        for kind, folders in KINDS.items():
            classes = Classes(clone, tag, folders + tuple(part + ".py" for part in folders) + LATER.get(kind, ()))
            for name, nodes in classes.found.items():
                if name in MODELS or name.startswith("_") or name.endswith(("Test", "Tests", "TestCase")):
                    continue
                for node in nodes:
                    defaults = classes.defaults(node)
                    for key in classes.keys(node):
                        default = defaults.get(key)
                        entry = table.setdefault(kind, {}).setdefault(name, {}).setdefault(key, [default, release, release])
                        entry[0], entry[2] = default, release
    lines = []
    for kind, classes in sorted(table.items()):
        rows = [f"  {json.dumps(name)}: {json.dumps(dict(sorted(keys.items())))}" for name, keys in sorted(classes.items())]
        lines.append(f" {json.dumps(kind)}: {{\n" + ",\n".join(rows) + "\n }")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main(sys.argv[1])
