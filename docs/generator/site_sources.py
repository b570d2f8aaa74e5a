"""Writes the sources of the site, which Sphinx makes into pages: site_sources.py BUILD
[PROGRAM OF THE EXAMPLES [FOLDER OF THE ZOO'S PROGRAMS]]."""
import pathlib
import sys

import examples
import parity
import search_words
import site_pages
from catalogue import ROOT, Catalogue
from headers import Headers
from pages import Pages


class Writer:
    """Writes files below a folder, leaves those alone that are the same, and removes those that are no longer written."""

    def __init__(self, folder):
        self.folder = folder
        self.written = set()

    def write(self, path, content):
        target = self.folder / path
        self.written.add(target)
        data = content.encode() if isinstance(content, str) else content
        if target.exists() and target.read_bytes() == data:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def remove_others(self):
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.is_file() and path not in self.written:
                path.unlink()

def read_headers(build):
    """Returns the declarations of the public headers; `build` gets a folder include/ktape that is this folder."""
    include = build / "include"
    include.mkdir(parents=True, exist_ok=True)
    if not (include / "ktape").exists():
        (include / "ktape").symlink_to(ROOT)
    return Headers(include)

def main():
    build = pathlib.Path(sys.argv[1])
    program = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    catalogue = Catalogue(read_headers(build))
    rows, faults = parity.rows(catalogue)
    for fault in faults:
        print(fault, file=sys.stderr)
    shown = examples.gather(catalogue, program, build / "outputs.json")
    search = search_words.SearchWords()
    pages = Pages(catalogue, rows, shown, search)
    writer = Writer(build / "source")
    for name in catalogue.names.values():
        writer.write(name.page + ".md", pages.of_name(name))
    for section, groups in catalogue.in_groups().items():
        writer.write(f"reference/{section}.md", pages.of_section(section, groups))
        for group, names in groups.items():
            writer.write(pages.group_page(section, group) + ".md", pages.of_group(section, group, names))
    writer.write("parity.md", parity.page(rows, lambda name: pages.link(name, "parity")))
    programs = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
    site_pages.write(writer, catalogue, programs, build / "zoo", shown, search)
    for fault in search.faults():
        print(fault, file=sys.stderr)
    writer.remove_others()

if __name__ == "__main__":
    main()
