"""The words by which the search of the site finds a page: those of its name, and those of docs/tables/search.txt."""
import re

from catalogue import read_table


def words_of(name):
    """Returns the words of a name: `early stopping` of EarlyStopping, `l2 normalize` of l2_normalize."""
    parts = re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+[A-Z]?", name)
    return " ".join(parts).lower()


class SearchWords:
    """The entries of the index, which the search reads. A row of the table with `word` before the bar says the same in other words."""

    def __init__(self):
        rows = read_table("tables/search.txt", 2)
        self.synonyms = [(row[0][5:], row[1]) for row in rows if row[0].startswith("word ")]
        self.of = {row[0]: [words.strip() for words in row[1].split(";")] for row in rows if not row[0].startswith("word ")}
        self.used = set()

    def _with_synonyms(self, phrase):
        phrases = [phrase]
        for word, other in self.synonyms:
            phrases += [re.sub(rf"\b{word}\b", other, known) for known in phrases if re.search(rf"\b{word}\b", known)]
        return phrases

    def entries(self, key, phrases=()):
        """Returns the directives for a name, a page, or a heading: `guides/questions#How do I freeze a layer?`."""
        self.used.add(key)
        found = list(dict.fromkeys(one for phrase in [*phrases, *self.of.get(key, [])] for one in self._with_synonyms(phrase)))
        return [line for phrase in found for line in (f"```{{index}} single: {phrase}", "```", "")]

    def of_name(self, name):
        words = words_of(name.short)
        return self.entries(name.name, [words] if " " in words and not name.short.endswith("Options") else [])

    def in_page(self, page, text):
        """Returns the text of a page with the entries of the page below its title, and those of a heading above the heading."""
        out, inside = [], False
        for line in text.split("\n"):
            inside ^= line.startswith("```")
            heading = None if inside else re.match(r"(#+) (.*)", line)
            if heading and len(heading[1]) > 1:
                out += self.entries(f"{page}#{heading[2]}")
            out.append(line)
            if heading and len(heading[1]) == 1:
                out += ["", *self.entries(page)]
        return "\n".join(out)

    def faults(self):
        """Returns a text for each row of the table whose page or heading does not exist."""
        return [f"docs/tables/search.txt: there is no {key}" for key in self.of if key not in self.used]
