"""What arguments and fields mean: the words of the header, or else of ops/help/arguments.txt."""
import re

from catalogue import read_table
from text import sentences


class Meanings:
    """Texts for arguments, by `name`, or by `a name of the library.name`, or by `namespace::*.name`."""

    def __init__(self, catalogue):
        self.catalogue = catalogue
        self.table = {row[0]: row[1] for row in read_table("../ops/help/arguments.txt", 2)}
        self.used = set()

    def _in_table(self, owner, argument):
        namespace = owner
        keys = [f"{owner}.{argument}"]
        while "::" in namespace:
            namespace = namespace.rpartition("::")[0]
            keys.append(f"{namespace}::*.{argument}")
        for key in [*keys, argument]:
            if key in self.table:
                self.used.add(key)
                return self.table[key]
        weight, _, kind = argument.rpartition("_")
        if weight and f"*_{kind}" in self.table:
            self.used.add(f"*_{kind}")
            return self.table[f"*_{kind}"].replace("*", weight)
        return ""

    def of(self, owner, argument, declaration):
        """Returns the meaning of an argument of a declaration of the name `owner`; empty if nothing describes the argument."""
        if argument.text and argument.text != "required":
            return argument.text.removeprefix("required: ").removesuffix("; required")
        own = f"{owner}.{argument.name}"
        if own in self.table:
            self.used.add(own)
            return self.table[own]
        field = self._of_field_with_text(declaration, argument.name)
        if field:
            return field
        return self._in_table(owner, argument.name) or self._of_comment(declaration, argument.name)

    @staticmethod
    def is_required(argument):
        """Returns whether an option must be given, by position or by name, although its type lets one leave it out."""
        return bool(re.match(r"required(:|$)|.*; required$", argument.text or ""))

    def _of_field_with_text(self, declaration, name):
        """Returns the text of a field of the same name in another struct of the header."""
        if declaration.kind != "struct":
            return ""
        for other in self.catalogue.headers.declarations:
            if other.header == declaration.header and other.kind == "struct":
                for field in other.arguments:
                    if field.name == name and field.text and not self.is_required(field):
                        return field.text
        return ""

    @staticmethod
    def _of_comment(declaration, name):
        """Returns the sentence of the comment that tells of the argument."""
        if len(name) < 2 and name not in ("x", "n", "k", "a", "b"):
            return ""
        for text in (declaration.text, declaration.family):
            for sentence in sentences(text):
                words = re.sub(r"`[^`]*[(={][^`]*`", "", sentence)  # code that names the argument tells nothing
                if len(words) > 20 and not sentence.startswith("Throws") and re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", words):
                    return sentence
        words = name.replace("_", " ")
        for sentence in sentences(declaration.text):
            if len(words) > 3 and words in sentence:
                return sentence
        return ""
