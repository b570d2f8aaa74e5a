"""Reads the public headers with libclang: the declarations that users see, with their comments."""
import dataclasses
import pathlib
import re

import clang.cindex as clang

from public_headers import COMMENT, ROOT, first_headers, public_headers, split_examples

# A declaration is no public name if a comment says "Internal: ..." of it, of its whole header or of the template that it specializes,
# or if one of these namespaces has it.
INTERNAL = re.compile(r"\bInternal:")
HIDDEN_NAMESPACES = {"detail", "op_helpers", "internal", "xt_helpers"}
KINDS = clang.CursorKind


@dataclasses.dataclass
class Argument:
    """An argument of a function, or a field of an options struct."""
    name: str
    type: str
    default: str | None = None
    text: str = ""


@dataclasses.dataclass
class Declaration:
    """A declaration of a name: an overload, a class, a struct, an alias or a constant."""
    name: str  # with namespaces below ktape, such as backend::sum
    kind: str  # function, class, struct, alias, enum, constant
    header: str
    line: int
    code: str
    text: str
    family: str  # the comment of the header
    arguments: list = dataclasses.field(default_factory=list)
    members: list = dataclasses.field(default_factory=list)
    base: str = ""
    target: str = ""  # the name that an alias or a using-declaration stands for
    result: str = ""  # the type that a function returns
    examples: dict = dataclasses.field(default_factory=dict)  # code by the line in the header


def comment_above(lines, first):
    """Returns the text and the examples of the comment above line `first` (from 0); a comment covers the declarations up to an empty
    line."""
    end = first
    while end > 0 and lines[end - 1].strip() and not lines[end - 1].strip().startswith("//"):
        if re.match(r"\s*(namespace|public:|private:|protected:|#)", lines[end - 1]):
            return "", {}
        end -= 1
    begin = end
    while begin > 0 and re.match(r"\s*///($|[^<])", lines[begin - 1]):
        begin -= 1
    return parts_of_comment(lines, begin, end)


def parts_of_comment(lines, begin, end):
    """Returns the text of a comment without its examples, and the examples by the numbers of their first lines."""
    text, examples = split_examples([COMMENT.sub("", line) for line in lines[begin:end]], begin + 1)
    return "\n".join(text), examples


def family_comment(lines):
    """Returns the text and the examples of a header's comment about its declarations: the lines before the namespace."""
    end = next((i for i, line in enumerate(lines) if line.startswith("namespace")), 0)
    begin = end
    while begin > 0 and lines[begin - 1].startswith("///"):
        begin -= 1
    return parts_of_comment(lines, begin, end)


def field_comment(lines, first, last):
    """Returns the comment of a field: behind the declaration, in the lines that follow, or above."""
    found, at = [], first
    while at < len(lines) and (at <= last or lines[at].strip().startswith("///<")):
        if "///<" in lines[at]:
            found.append(lines[at].split("///<", 1)[1].strip())
        at += 1
    if found:
        return " ".join(found)
    above, at = [], first - 1
    while at >= 0 and re.match(r"\s*///($|[^<])", lines[at]):
        above.insert(0, re.sub(r"^\s*/// ?", "", lines[at]))
        at -= 1
    return "\n".join(above)


class Headers:
    """All declarations of the public headers."""

    def __init__(self, include_folder, flags=()):
        self.headers = public_headers()
        self.lines = {header: (ROOT / header).read_text().split("\n") for header in self.headers}
        self.declarations = []
        self.internal = set()
        text = "".join(f"#include <ktape/{h}>\n" for h in first_headers())
        arguments = ["-x", "c++", "-std=c++20", "-fopenmp", "-w", f"-I{include_folder}", *flags]
        unit = clang.Index.create().parse("all.cpp", arguments, unsaved_files=[("all.cpp", text)],
                                          options=clang.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES)
        errors = [d for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
        if errors:
            raise RuntimeError("the headers do not parse: " + "\n".join(map(str, errors[:5])))
        self.paths = {}
        self._walk(unit.cursor, ())

    def _header_of(self, cursor):
        file = cursor.location.file
        if file is None:
            return None
        if file.name not in self.paths:
            path = pathlib.Path(file.name).resolve()
            self.paths[file.name] = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else None
        header = self.paths[file.name]
        return header if header in self.lines else None

    def _walk(self, cursor, namespaces):
        for child in cursor.get_children():
            header = self._header_of(child)
            if header is None:
                continue
            if child.kind == KINDS.NAMESPACE:
                name = child.spelling
                if name and name not in HIDDEN_NAMESPACES and (namespaces or name == "ktape"):
                    self._walk(child, (*namespaces, name))
            elif child.kind == KINDS.LINKAGE_SPEC or child.kind == KINDS.UNEXPOSED_DECL:
                self._walk(child, namespaces)
            elif namespaces:
                self._add(child, header, "::".join(namespaces[1:]))

    def _source(self, cursor):
        lines = self.lines[self._header_of(cursor)]
        begin, end = cursor.extent.start, cursor.extent.end
        text = "\n".join(lines[begin.line - 1:end.line])
        return text

    def _arguments(self, cursor):
        lines = self.lines[self._header_of(cursor)]
        arguments = []
        for argument in cursor.get_children():
            if argument.kind == KINDS.PARM_DECL:
                arguments.append(self._argument(argument, lines))
        return arguments

    def _argument(self, cursor, lines):
        """Returns an argument or a field with type and default as the header writes them."""
        begin, at, end = cursor.extent.start, cursor.location, cursor.extent.end
        name = cursor.spelling
        code = self._between(lines, begin, end)
        if not name:
            declared, _, default = code.partition("=")
            return Argument("", declared.strip(), default.strip() or None)
        declared = self._between(lines, begin, at).strip()
        rest = self._between(lines, at, end)[len(name):].strip()
        several = re.match(r"(.*?[^\s,<(])\s+\w+\s*(=|,)", declared)
        if several and several[1].count("<") == several[1].count(">"):
            declared = several[1]  # of a list of fields: the type before the first name
        default = rest[1:].strip() if rest.startswith("=") else rest if rest.startswith("{") else None
        return Argument(name, declared, default)

    @staticmethod
    def _between(lines, begin, end):
        """Returns the code between two places as one line without comments."""
        parts = lines[begin.line - 1:end.line]
        parts[-1] = parts[-1][:end.column - 1]
        parts[0] = parts[0][begin.column - 1:]
        return " ".join(re.sub(r"\s*//.*", "", part).strip() for part in parts)

    def _add(self, cursor, header, namespace):
        kinds = {KINDS.FUNCTION_DECL: "function", KINDS.FUNCTION_TEMPLATE: "function", KINDS.CLASS_DECL: "class",
                 KINDS.STRUCT_DECL: "struct", KINDS.CLASS_TEMPLATE: "class", KINDS.ENUM_DECL: "enum",
                 KINDS.TYPE_ALIAS_DECL: "alias", KINDS.VAR_DECL: "constant", KINDS.USING_DECLARATION: "using",
                 KINDS.TYPE_ALIAS_TEMPLATE_DECL: "alias"}
        kind = kinds.get(cursor.kind)
        if kind is None or not cursor.spelling or cursor.spelling.startswith("operator"):
            return
        if kind in ("class", "struct", "enum") and not cursor.is_definition():
            return
        if cursor.semantic_parent.kind in (KINDS.CLASS_DECL, KINDS.STRUCT_DECL, KINDS.CLASS_TEMPLATE):
            return
        lines = self.lines[header]
        text, examples = comment_above(lines, cursor.extent.start.line - 1)
        declaration = Declaration(
            name=(namespace + "::" if namespace else "") + cursor.spelling, kind=kind, header=header,
            line=cursor.location.line, code=self._source(cursor), text=text, examples=examples,
            family=family_comment(lines)[0])
        if INTERNAL.search(declaration.text) or INTERNAL.search(declaration.family) or declaration.name in self.internal:
            if kind == "class":  # specializations follow
                self.internal.add(declaration.name)
            return
        if kind == "function":
            declaration.arguments = self._arguments(cursor)
            declaration.result = cursor.result_type.spelling
        if kind in ("class", "struct"):
            self._add_members(declaration, cursor)
        if kind == "using":
            found = re.search(r"([\w:]+::" + cursor.spelling + r")\b", declaration.code)
            declaration.target = found[1] if found else ""
        self.declarations.append(declaration)

    def _add_members(self, declaration, cursor):
        lines = self.lines[declaration.header]
        public = ("public",)
        for child in cursor.get_children():
            if child.kind == KINDS.CXX_BASE_SPECIFIER:
                declaration.base = child.type.spelling if not declaration.base else declaration.base
                continue
            if child.access_specifier != clang.AccessSpecifier.PUBLIC or not child.spelling:
                continue
            first = child.extent.start.line - 1
            kinds = {KINDS.FIELD_DECL: "field", KINDS.CXX_METHOD: "method", KINDS.CONSTRUCTOR: "constructor",
                     KINDS.FUNCTION_TEMPLATE: "method", KINDS.VAR_DECL: "field", KINDS.STRUCT_DECL: "struct"}
            kind = kinds.get(child.kind)
            if kind is None:
                continue
            if child.kind == KINDS.FUNCTION_TEMPLATE and child.spelling.split("<")[0] == declaration.name.rpartition("::")[2]:
                kind = "constructor"
            if re.match(r"template ?<.*>\s*$", lines[first - 1].strip() if first else ""):
                first -= 1
            text, examples = comment_above(lines, first)
            declaration.examples.update(examples)
            member = Declaration(name=child.spelling, kind=kind, header=declaration.header, line=child.location.line,
                                 code=self._source(child), text=text, family="")
            if kind == "field" and child.type.spelling.endswith("ByName"):
                continue  # no option, see nn/core/by_name.hpp
            if kind == "field":
                argument = self._argument(child, lines)
                argument.text = field_comment(lines, first, child.extent.end.line - 1)
                declaration.arguments.append(argument)
            else:
                if re.search(r"=\s*delete\s*;?$", member.code):
                    continue
                if kind in ("constructor", "method"):
                    member.arguments = self._arguments(child)
                    member.result = child.result_type.spelling if kind == "method" else ""
                declaration.members.append(member)
