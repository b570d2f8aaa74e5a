"""Prints the arguments of Keras's public functions and classes, docs/keras/signatures.txt: signatures.py FOLDER OF KERAS'S SOURCES."""
import ast
import pathlib
import sys

MODULES = ["activations", "applications", "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models", "ops", "ops.image",
           "ops.linalg", "ops.nn", "optimizers", "optimizers.schedules", "random", "regularizers", "utils"]
# Methods, and what no module exports: the name in the list, the source and the name there (* for all functions of the source).
OTHERS = [("layers.Layer.add_weight", "layers/layer.py", "Layer.add_weight"),
          *((f"models.Model.{name}", "trainers/trainer.py", f"Trainer.{name}")
            for name in ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch")),
          *((f"models.Model.{name}", "models/model.py", f"Model.{name}")
            for name in ("summary", "save", "save_weights", "load_weights", "export")),
          ("utils.TimeseriesGenerator", "legacy/preprocessing/sequence.py", "TimeseriesGenerator"),
          ("utils.Tokenizer", "legacy/preprocessing/text.py", "Tokenizer"),
          ("utils.text_to_word_sequence", "legacy/preprocessing/text.py", "text_to_word_sequence"),
          ("backend.*", "legacy/backend.py", "*")]


class Sources:
    """The definitions in a tree of sources."""

    def __init__(self, root):
        self.root, self.trees = root, {}

    def tree(self, module):
        path = self.root / module.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if path not in self.trees:
            self.trees[path] = ast.parse(path.read_text()) if path.exists() else None
        return self.trees[path]

    def find(self, module, name):
        """Returns the definition of a name and its module, through imports; none for a module."""
        tree = self.tree(module)
        for node in tree.body if tree else ():
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                return node, module
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.find(node.module, alias.name)
        return None

    def method(self, node, module, name):
        """Returns a method of a class or of the nearest base class that has it."""
        for child in node.body:
            if isinstance(child, ast.FunctionDef) and child.name == name:
                return child
        for base in node.bases:
            found = self.find(module, base.id) if isinstance(base, ast.Name) else None
            result = self.method(*found, name) if found and found[0] is not node else None
            if result:
                return result
        return None

    def signature(self, node, module):
        function = node if isinstance(node, ast.FunctionDef) else self.method(node, module, "__init__")
        return arguments(function.args) if function else "()"


def arguments(given):
    names = [a.arg for a in given.posonlyargs + given.args]
    defaults = [None] * (len(names) - len(given.defaults)) + given.defaults
    parts = [n if d is None else f"{n}={ast.unparse(d)}" for n, d in zip(names, defaults)]
    if given.vararg or given.kwonlyargs:
        parts.append("*" + (given.vararg.arg if given.vararg else ""))
    parts += [a.arg if d is None else f"{a.arg}={ast.unparse(d)}" for a, d in zip(given.kwonlyargs, given.kw_defaults)]
    if given.kwarg:
        parts.append("**" + given.kwarg.arg)
    return "(" + ", ".join(parts[1:] if parts[:1] in (["self"], ["cls"]) else parts) + ")"


def main(root):
    sources, lines = Sources(root), set()
    for module in MODULES:
        for node in sources.tree("keras.api." + module).body:
            for alias in node.names if isinstance(node, ast.ImportFrom) else ():
                found = sources.find(node.module, alias.name)
                if found:
                    lines.add(f"{module}.{alias.asname or alias.name}{sources.signature(*found)}")
    for public, source, name in OTHERS:
        module = "keras.src." + source.removesuffix(".py").replace("/", ".")
        owner, _, method = name.rpartition(".")
        if name == "*":
            nodes = [node for node in sources.tree(module).body if isinstance(node, ast.FunctionDef)]
            lines |= {public.replace("*", node.name) + arguments(node.args) for node in nodes}
        elif owner:
            lines.add(public + arguments(sources.method(*sources.find(module, owner), method).args))
        else:
            lines.add(public + sources.signature(*sources.find(module, name)))
    version = sources.tree("keras.src.version").body[1].value.value
    print(f"# The arguments of Keras {version}, see signatures.py.")
    print("\n".join(sorted(lines)))


main(pathlib.Path(sys.argv[1]))
