"""The public names: declarations of one name gathered, in groups, each with the page that shows the name."""
import collections
import dataclasses
import re

from headers import ROOT

SECTIONS = {
    "backend": ("K: the backend API", "The functions of `keras.backend`, in `ktape::backend`, for which programs write `namespace K = ktape::backend;`."),
    "ops": ("ops: Keras 3", "The functions of `keras.ops` and `keras.random`, in `ktape::ops` and `ktape::random`."),
    "layers": ("Layers", "Layers by family, with the functions and objects that their options take."),
    "losses": ("Losses", "Losses as classes with options, and as functions."),
    "metrics": ("Metrics", "Metrics as classes that gather batches, and as functions."),
    "optimizers": ("Optimizers", "Optimizers, and schedules of learning rates."),
    "models": ("Models and training", "Models, `compile`, `fit`, `evaluate` and `predict`, and the objects behind names and configs."),
    "callbacks": ("Callbacks", "What follows a training: reports, checkpoints, early stops."),
    "data": ("Data", "Datasets as in `tf.data`, and the files that they read."),
    "saving": ("Saving", "Models and weights as files, and models as copies."),
    "plot": ("Plots", "Figures as SVG, as PNG and in the terminal."),
    "applications": ("Applications", "Published image classifiers, whose weights Keras's files hold."),
    "distributed": ("Distributed training", "Training by several processes, over MPI."),
    "autograd": ("Tensors and the tape", "Tensors, variables, gradients and what ops are made of."),
}


@dataclasses.dataclass
class Name:
    """A public name: all its declarations, on one page."""
    name: str
    declarations: list
    section: str = ""
    group: str = ""
    page: str = ""          # the page's path without suffix, below the site's folder
    alias_of: str = ""      # the name that this name repeats
    options: list = dataclasses.field(default_factory=list)     # names of the option structs that it takes
    taken_by: list = dataclasses.field(default_factory=list)    # the names that take this struct

    @property
    def short(self):
        return self.name.rpartition("::")[2]

    @property
    def title(self):
        return re.sub(r"^backend::", "K::", self.name)

    @property
    def kind(self):
        kinds = [d.kind for d in self.declarations]
        for kind in ("class", "struct", "function", "enum", "alias", "using", "constant"):
            if kind in kinds:
                return kind
        return kinds[0]


def read_table(path, columns):
    """Returns the rows of a table of docs/: fields between bars, lines that begin with # left out."""
    rows = []
    for line in (ROOT / "docs" / path).read_text().split("\n"):
        if line.strip() and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|", columns - 1)]
            if len(fields) != columns:
                raise ValueError(f"docs/{path}: {columns} fields expected: {line}")
            rows.append(fields)
    return rows


class Catalogue:
    """The public names of the library by name, with their groups and pages."""

    def __init__(self, headers):
        self.headers = headers
        self.groups = sorted(read_table("tables/groups.txt", 3), key=lambda row: -len(row[0]))
        self.names = {}
        gathered = collections.defaultdict(list)
        for declaration in headers.declarations:
            gathered[declaration.name].append(declaration)
        for name, declarations in gathered.items():
            self.names[name] = self._named(name, declarations)
        for name in self.names.values():
            self._find_alias(name)
        for name in self.names.values():
            self._find_options(name)
        self._give_pages()

    def group_of(self, header):
        for beginning, section, group in self.groups:
            if header.startswith(beginning):
                return section, group
        raise ValueError(f"docs/tables/groups.txt has no group for {header}")

    def _named(self, name, declarations):
        section, group = self.group_of(declarations[0].header)
        return Name(name, declarations, section, group)

    def _find_alias(self, name):
        declaration = name.declarations[0]
        if name.kind == "using":
            name.alias_of = self.resolve(declaration.target, name.name.rpartition("::")[0]) or ""
        elif name.kind in ("alias", "constant"):
            match = re.search(r"\b" + name.short + r"\s*(?:\[\[.*?\]\])?\s*=\s*&?([\w:]+)\s*[,;]", declaration.code + ";")
            if match:
                name.alias_of = self.resolve(match[1], name.name.rpartition("::")[0]) or ""
        if name.alias_of == name.name:
            name.alias_of = ""

    def resolve(self, text, namespace=""):
        """Returns the public name that a text of code means inside of a namespace, or None."""
        text = re.sub(r"^::|^ktape::", "", text)
        text = re.sub(r"^K::", "backend::", text)
        while True:
            candidate = f"{namespace}::{text}" if namespace else text
            if candidate in self.names:
                return candidate
            if not namespace:
                return None
            namespace = namespace.rpartition("::")[0]

    def meant(self, text, namespace=""):
        """Returns the public name that a text of code means, and that is no other name of a name; or None."""
        found = self.resolve(text, namespace)
        while found and self.names[found].alias_of:
            found = self.names[found].alias_of
        return found

    def _find_options(self, name):
        namespace = name.name.rpartition("::")[0]
        takers = [d for d in name.declarations if d.kind == "function"]
        for declaration in name.declarations:
            takers += [m for m in declaration.members if m.kind in ("constructor", "method")]
        for taker in takers:
            for argument in taker.arguments:
                type_name = re.sub(r"\b(const|std::optional<)\b|[&>]", "", argument.type).strip()
                found = self.meant(type_name, namespace)
                if not found or not self.names[found].short.endswith("Options"):
                    continue
                if taker.kind != "method" and found not in name.options:
                    name.options.append(found)
                if name.name not in self.names[found].taken_by:
                    self.names[found].taken_by.append(name.name)

    def _give_pages(self):
        used = {}
        for name in sorted(self.names.values(), key=lambda n: (n.kind not in ("function",), n.name)):
            page = "api/" + (name.name.replace("::", "/") if "::" in name.name else "ktape/" + name.name)
            if page.lower() in used:
                page += "-" + name.kind
            used[page.lower()] = name.name
            name.page = page

    def in_groups(self):
        """Returns {section: {group: [names]}} in the order of the table."""
        order = []
        for _, section, group in read_table("tables/groups.txt", 3):
            if (section, group) not in order:
                order.append((section, group))
        result = {section: {} for section in SECTIONS}
        for section, group in order:
            result[section][group] = []
        for name in self.names.values():
            result[name.section][name.group].append(name)
        return {section: {group: names for group, names in groups.items() if names} for section, groups in result.items()}


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
