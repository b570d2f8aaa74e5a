"""The pages of the reference: a page for each public name, and a page for each group of names."""
import os
import re

from arguments import Meanings
from catalogue import SECTIONS, read_table, slug
from text import cell, code_cell, markdown, prose, sentences

KINDS = {"function": "function", "class": "class", "struct": "struct", "alias": "alias", "using": "alias",
         "constant": "constant", "enum": "enum"}


def split_errors(text):
    """Returns a comment without the sentences that tell of errors, and these sentences."""
    out, errors = [], []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.split("\n")
        if any(line.startswith(("  ", "|", "- ")) for line in lines):
            out.append(paragraph)
            continue
        kept = []
        for sentence in re.split(r"(?<=[.])\s+(?=[A-Z`])", " ".join(lines).strip()):
            (errors if re.search(r"\bThrows\b|\b(?:Value|Type|IO|LinAlg)?Error\b", sentence) else kept).append(sentence)
        if kept:
            out.append(" ".join(kept))
    return "\n\n".join(out), errors


def clean_code(code):
    """Returns a declaration as a page shows it: without the body of a function and without private members."""
    lines = code.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    text = "\n".join(line[margin:].rstrip() for line in lines)
    return re.sub(r"\s*///<?.*", "", text)


def signature(declaration):
    """Returns the declaration of a function without its body."""
    code = clean_code(declaration.code).removeprefix("template <class = void>\n")  # see nn/core/by_name.hpp
    depth, i = 0, 0
    for i, c in enumerate(code):
        depth += (c in "(<") - (c in ")>" and code[i - 1] != "-")
        if c == "{" and depth <= 0 and not re.search(r"=\s*$", code[:i]):
            break
        if c == ";" and depth <= 0:
            return code[:i + 1]
    else:
        return code if code.endswith(";") else code + ";"
    head = re.sub(r"\)\s*:\s[^:].*$", ")", code[:i].rstrip(), flags=re.S)
    return head.rstrip() + ";"


def short_type(text):
    """Returns a type as the tables show it: `std::int64_t` is int64, and how an argument is passed does not matter."""
    text = re.sub(r"\bconst\b|\bstd::|\s*&+|\bktape::|\bbackend::(?=PerAxis|ShapeLike)", "", text)
    text = re.sub(r"\b(u?int\d*)_t\b", r"\1", text)
    return re.sub(r"\s+", " ", text).strip()


def keras_names(text):
    """Returns a comment without the names of Keras at its end, and these names."""
    match = re.search(r"\s*(?:\bMirrors\s+)?((?:`(?:K|keras|tf|np|numpy)\.[\w.]+`(?:,| and)?\s*)+)\.?\s*$", text)
    if not match or not re.search(r"(^|[.;:)])$", text[:match.start()]):  # none, or they end a sentence of other words
        return text, []
    return text[:match.start()], re.findall(r"`([\w.]+)`", match[1])


class Pages:
    """Makes the pages. `outputs` has the examples of each name with the text that they print."""

    def __init__(self, catalogue, keras_rows, outputs, search):
        self.catalogue = catalogue
        self.meanings = Meanings(catalogue)
        self.outputs = outputs
        self.search = search
        self.formulas = dict(read_table("tables/formulas.txt", 2))
        self.differences = dict(read_table("keras/differences.txt", 2))
        self.keras = {}
        for row in keras_rows:
            if row.ours:
                self.keras.setdefault(row.ours, []).append(row)
        self.by_plain = {}
        for name in catalogue.names.values():
            plain = re.sub(r"_|Options$", "", name.short).lower()
            if not name.short.endswith("Options"):
                self.by_plain.setdefault(plain, []).append(name)

    # --- Links --------------------------------------------------------------------------------------------------
    @staticmethod
    def path(page, here):
        folder = os.path.relpath(os.path.dirname(page) or ".", os.path.dirname(here) or ".")
        return os.path.normpath(os.path.join(folder, os.path.basename(page))) + ".md"

    def link(self, name, here, text=None):
        entry = self.catalogue.names[name]
        return f"[`{text or entry.title}`]({self.path(entry.page, here)})"

    def group_page(self, section, group):
        return f"reference/{section}/{slug(group)}"

    # --- Parts of a page ----------------------------------------------------------------------------------------
    def _argument_table(self, owner, declarations, here):
        rows, seen = [], set()
        for declaration in declarations:
            for argument in declaration.arguments:
                key = (argument.name, argument.type, argument.default)
                if not argument.name or key in seen:
                    continue
                seen.add(key)
                default = code_cell(argument.default or "")
                if argument.default is None and declaration.kind in ("function", "constructor"):
                    default = "required"
                elif argument.default == "{}":
                    default = "not given"
                if self.meanings.is_required(argument):
                    default = "required"
                text = self.meanings.of(owner, argument, declaration)
                rows.append(f"| `{argument.name}` | {code_cell(short_type(argument.type))} | {default} | {cell(prose(text))} |")
        return [":::{container} arguments", "| name | type | default | meaning |", "|---|---|---|---|", *rows, ":::", ""] if rows else []

    def _options(self, name, here):
        out = []
        for options in name.options:
            entry = self.catalogue.names[options]
            for declaration in entry.declarations:
                if declaration.arguments:
                    out += [f"## Options: {self.link(options, here)}", "",
                            "In braces, by name and in this order: `{." + declaration.arguments[0].name + " = ...}`.", ""]
                    out += self._argument_table(options, [declaration], here)
        return out

    def _examples(self, name):
        out = []
        for code, output in self.outputs.get(name.name, []):
            out += ["```cpp", code, "```", ""]
            if output.strip():
                out += ["```text", output.rstrip("\n"), "```", ""]
        return ["## Example", "", *out] if out else []

    def _in_keras(self, name):
        rows = self.keras.get(name.name, [])
        text = []
        for row in rows:
            if row.state == "same":
                text.append(f"Mirrors `{row.keras}`.")
            else:
                text.append(f"Stands for `{row.keras}`: {row.text}." if row.text else f"Stands for `{row.keras}`.")
        if name.name in self.differences:
            text.append(self.differences[name.name])
        return ["## In Keras", "", " ".join(text), ""] if text else []

    def _see_also(self, name, here):
        found = []

        def add(entry):
            if name.name not in (entry.name, entry.alias_of) and entry not in found and not entry.short.endswith("Error"):
                found.append(entry)
        plain = re.sub(r"_|Options$", "", name.short).lower()
        for entry in self.by_plain.get(plain, []):
            add(entry)
        text = name.declarations[0].text
        namespace = name.name.rpartition("::")[0]
        for word in re.findall(r"[A-Za-z_][\w:]*", text):
            if len(word) > 3 and (word[0].isupper() or "_" in word or "::" in word):
                target = self.catalogue.resolve(word, namespace)
                if target:
                    add(self.catalogue.names[target])
        for options in name.options:
            add(self.catalogue.names[options])
        neighbours = [n for n in self.catalogue.names.values()
                      if n.declarations[0].header == name.declarations[0].header and n.kind == name.kind
                      and not n.alias_of and not n.short.endswith(("Options", "Impl"))]
        neighbours.sort(key=lambda n: abs(n.declarations[0].line - name.declarations[0].line))
        for entry in neighbours[:5]:
            add(entry)
        links = [self.link(entry.name, here) for entry in found[:10]]
        return ["## See also", "", ", ".join(links), ""] if links else []

    def _errors(self, own, family):
        known = " ".join(own)
        rows = own + [s for s in family if s not in known]
        return ["## Errors", "", *(f"- {prose(row)}" for row in rows), ""] if rows else []

    # --- Pages --------------------------------------------------------------------------------------------------
    def of_name(self, name):
        here = name.page
        section_title = SECTIONS[name.section][0]
        group_page = self.group_page(name.section, name.group)
        head = ["---", "orphan: true", "---", "", f"# {name.title}", "", *self.search.of_name(name),
                f"[{section_title}]({self.path('reference/' + name.section, here)}) › "
                f"[{name.group}]({self.path(group_page, here)}) · {KINDS[name.kind]} in `ktape/{name.declarations[0].header}`", ""]
        if name.alias_of:
            return "\n".join(head + [f"Another name of {self.link(name.alias_of, here)}.", "", "```cpp",
                                     clean_code(name.declarations[0].code), "```", ""]
                             + self._in_keras(name) + self._examples(name))
        body, errors, family_errors = [], [], []
        shown = None
        for declaration in name.declarations:
            plain, names = keras_names(declaration.text)
            text, own = split_errors(plain)
            errors += [e for e in own if e not in errors]
            for sentence in split_errors(declaration.family)[1]:
                if sentence not in family_errors:
                    family_errors.append(sentence)
            body += self._declaration(name, declaration, here)
            if text and text != shown:
                body += [markdown(text), ""]
            shown = text
        if name.name in self.formulas:
            body += ["$$", self.formulas[name.name], "$$", ""]
        functions = [d for d in name.declarations if d.kind == "function"]
        structs = [d for d in name.declarations if d.kind in ("class", "struct")]
        if functions and any(d.arguments for d in functions):
            body += ["## Arguments", "", *self._argument_table(name.name, functions, here)]
        for struct in structs:
            if struct.arguments:
                body += ["## Fields", "", *self._argument_table(name.name, [struct], here)]
            constructors = [m for m in struct.members if m.kind == "constructor" and any(a.name for a in m.arguments)]
            for constructor in constructors:
                constructor.text = constructor.text or struct.text
                constructor.family = struct.family
            if constructors:
                body += ["## Arguments", "", *self._argument_table(name.name, constructors, here)]
        body += self._options(name, here)
        body += self._examples(name)
        for struct in structs:
            body += self._members(name, struct)
        body += self._errors(errors, family_errors)
        body += self._in_keras(name)
        if name.taken_by:
            body += ["## Taken by", "", ", ".join(self.link(n, here) for n in name.taken_by), ""]
        body += self._see_also(name, here)
        body += [f"The family's shapes, dtypes and rules: [{name.group}]({self.path(group_page, here)}).", ""]
        return "\n".join(head + body)

    def _declaration(self, name, declaration, here):
        if declaration.kind == "function":
            return ["```cpp", signature(declaration), "```", ""]
        if declaration.kind not in ("class", "struct"):
            return ["```cpp", clean_code(declaration.code), "```", ""]
        out = []
        constructors = [signature(m) for m in declaration.members if m.kind == "constructor"]
        if constructors:
            out += ["```cpp", "\n".join(constructors), "```", ""]
        base = self.catalogue.resolve(re.sub(r"<.*", "", declaration.base), name.name.rpartition("::")[0]) if declaration.base else None
        if base:
            chain = [base]
            while True:
                above = self.catalogue.names[chain[-1]].declarations[0].base
                above = self.catalogue.resolve(re.sub(r"<.*", "", above), "") if above else None
                if not above or above in chain:
                    break
                chain.append(above)
            out += ["Has the methods of " + ", ".join(self.link(n, here) for n in chain) + ".", ""]
        return out

    def _members(self, name, struct):
        methods = [m for m in struct.members if m.kind in ("method", "struct")]
        if not methods:
            return []
        out, shown = ["## Members", ""], None
        gathered = []
        for method in methods:
            if gathered and (method.text == gathered[-1][1] or not method.text):
                gathered[-1][0].append(method)
            else:
                gathered.append(([method], method.text))
        for group, text in gathered:
            out += ["```cpp", "\n".join(signature(m) if m.kind == "method" else clean_code(m.code) for m in group), "```", ""]
            if text:
                out += [markdown(text), ""]
        return out

    def of_group(self, section, group, names):
        here = self.group_page(section, group)
        out = [f"# {group}", "", f"[{SECTIONS[section][0]}]({self.path('reference/' + section, here)})", ""]
        main = [n for n in names if not n.short.endswith("Options") and not n.alias_of]
        options = [n for n in names if n.short.endswith("Options") and not n.alias_of]
        aliases = [n for n in names if n.alias_of]
        out += ["| name | |", "|---|---|"]
        out += [f"| {self.link(n.name, here)} | {cell(prose(self.brief(n)))} |" for n in sorted(main, key=lambda n: n.short.lower())]
        out.append("")
        if options:
            out += ["**Options:** " + ", ".join(self.link(n.name, here) for n in options), ""]
        if aliases:
            out += ["**Other names:** " + ", ".join(f"{self.link(n.name, here)} ({self.link(n.alias_of, here)})" for n in aliases), ""]
        shown = set()
        for name in names:
            for declaration in name.declarations:
                if declaration.header not in shown:
                    shown.add(declaration.header)
                    if declaration.family.strip():
                        out += [f"## ktape/{declaration.header}", "", markdown(declaration.family), ""]
        return "\n".join(out)

    def of_section(self, section, groups):
        here = f"reference/{section}"
        title, text = SECTIONS[section]
        out = [f"# {title}", "", text, "", "```{toctree}", ":hidden:", ""]
        out += [f"{group} <{section}/{slug(group)}>" for group in groups] + ["```", ""]
        for group, names in groups.items():
            names = [n for n in names if not n.short.endswith("Options") and not n.alias_of]
            out += [f"## [{group}]({section}/{slug(group)}.md)", "",
                    " · ".join(self.link(n.name, here, n.short) for n in sorted(names, key=lambda n: n.short.lower())), ""]
        return "\n".join(out)

    @staticmethod
    def brief(name):
        """Returns the first sentence of a name's text."""
        for declaration in name.declarations:
            found = sentences(declaration.text)
            if found:
                return found[0].rstrip(";:")
        return ""
