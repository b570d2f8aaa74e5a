"""The examples in the comments of the headers: their code, and what the program of all examples prints for each."""
import hashlib
import json
import re
import subprocess
import tempfile

from headers import ROOT, family_comment

BEGIN = "\x01example "
IMPORTED = re.findall(r"ktape::(\w+)(?=[,;])", (ROOT / "docs/examples/examples.hpp").read_text())


def run(program):
    """Returns what each example prints, by its header and line, from a run of the program in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{program} failed:\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}")
    printed = {}
    for part in result.stdout.split(BEGIN)[1:]:
        heading, _, text = part.partition("\n")
        printed[heading.strip()] = text
    return printed


def outputs(program, cache):
    """Returns what each example prints, by its header and line. The outputs stay in the file `cache` until the program, or the program
    beside it of the examples for MPI, changes. Without MPI, those examples are only code."""
    if not program:
        return {}
    programs = [p for p in (program, program.with_name(program.name + "_distributed")) if p.exists()]
    key = hashlib.sha256(b"".join(p.read_bytes() for p in programs)).hexdigest()
    kept = json.loads(cache.read_text()) if cache.exists() else {}
    if kept.get("program") != key:
        kept = {"program": key, "printed": {place: text for p in programs for place, text in run(p).items()}}
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(kept))
    return kept["printed"]


def own_examples(catalogue, printed):
    """Returns the examples in the comments of each name as pairs of code and output."""
    def pairs(header, examples):
        return [(code, printed.get(f"{header}:{line}", "")) for line, code in examples.items()]

    shown = {}
    for name in catalogue.names.values():
        found = [pair for d in name.declarations for pair in pairs(d.header, d.examples)]
        if found:
            shown[name.name] = list(dict.fromkeys(found))
    shown["operators"] = pairs("ops/operators.hpp", family_comment(catalogue.headers.lines["ops/operators.hpp"])[1])
    return shown


def gather(catalogue, program, cache):
    """Returns the examples of each name. A name without an example of its own has the examples that use the name: those whose code
    mentions the name, or, for a type, those of the functions that take or return the type and of the fields that have the type."""
    shown = own_examples(catalogue, outputs(program, cache))
    every = [pair for pairs in shown.values() for pair in pairs]
    found = {}
    for code, text in dict.fromkeys(every):
        for word in set(re.findall(r"\b[A-Za-z_][\w:]*\w", code)):
            name = catalogue.resolve(word) if "::" in word or word in IMPORTED else None
            if name and name not in shown:
                found.setdefault(name, []).append((code, text))
    shown.update({name: pairs[:2] for name, pairs in found.items()})
    uses = Uses(catalogue)
    while True:
        found = {}
        for name in catalogue.names:
            pairs = list(dict.fromkeys(uses.examples_of(name, shown))) if name not in shown else []
            if pairs:
                found[name] = pairs[:2]
        if not found:
            return shown
        shown.update(found)


class Uses:
    """Where types are used: (user, field) for each type; the field is empty for an argument or a result."""

    def __init__(self, catalogue):
        self.of, self.names = {}, catalogue.names
        for name in catalogue.names.values():
            for declaration in name.declarations:
                namespace = name.name.rpartition("::")[0]
                called = [declaration] if declaration.kind == "function" else [m for m in declaration.members if m.kind != "struct"]
                types = [(a.type, "") for d in called for a in d.arguments] + [(d.result, "") for d in called]
                if declaration.kind in ("class", "struct"):
                    types += [(field.type, field.name) for field in declaration.arguments]
                for text, field in types:
                    for word in re.findall(r"[A-Za-z_][\w:]*", text):
                        used = catalogue.meant(word, namespace)
                        if used and used != name.name:
                            self.of.setdefault(used, []).append((name.name, field))

    def examples_of(self, name, shown):
        """Yields the examples of the users of a type; those of a field name the field, those of options an option."""
        options = "|".join(a.name for d in self.names[name].declarations for a in d.arguments) if name.endswith("Options") else ""
        for user, field in self.of.get(name, []):
            for code, text in shown.get(user, []):
                if re.search(rf"\.({field or options})\b", code) or not (field or options):
                    yield code, text
