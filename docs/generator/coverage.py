"""A test: every public name has a page with an example, and every argument a meaning: coverage.py BUILD PROGRAM [--write].

docs/lacking.txt lists the names that still lack something. The test fails for a name that lacks something and is not listed, and for a
listed name that is complete. --write makes the list anew; a list that grows is a fault of the change that made it grow.
"""
import pathlib
import re
import sys

try:
    import clang.cindex as clang
    clang.Index.create()
except (ImportError, OSError, Exception) as error:  # libclang's own error, where its library is missing
    print(f"skipped: the headers are read by libclang, which is not installed (python3-clang-14): {error}")
    sys.exit(0)

import examples
import parity
from arguments import Meanings
from catalogue import ROOT, Catalogue, read_table

LIST = ROOT / "docs/lacking.txt"
HEADING = """# Public names whose pages still lack something: name | what is missing. generator/coverage.py tests the list, which only shrinks.
"""


def lacking(catalogue, with_example):
    """Returns what each name lacks, as lines of the list."""
    meanings = Meanings(catalogue)
    lines = []
    for name in catalogue.names.values():
        missing = []
        if not name.alias_of and name.name not in with_example:
            missing.append("example")
        for declaration in name.declarations if not name.alias_of else []:
            called = [m for m in declaration.members if m.kind in ("constructor", "method")]
            for code in [declaration, *called]:
                if code is not declaration:
                    code.text, code.family, code.header = code.text or declaration.text, declaration.family, declaration.header
                missing += [f"argument {a.name}" for a in code.arguments
                            if a.name and not meanings.of(name.name, a, code) and f"argument {a.name}" not in missing]
        if missing:
            lines.append(f"{name.name} | {', '.join(missing)}")
    faults = [f"ops/help/arguments.txt: nothing uses {key}" for key in meanings.table if key not in meanings.used]
    return sorted(lines), faults


def main():
    build, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    from site_sources import read_headers
    catalogue = Catalogue(read_headers(build))
    _, faults = parity.rows(catalogue)
    shown = examples.add_to_options(catalogue, examples.outputs(program, build / "outputs.json"))
    with_example = {name for name, found in shown.items() if any(output.strip() for _, output in found)}
    faults += [f"docs/examples: {name} is no public name" for name in shown if name not in catalogue.names and name != "operators"]
    for table in ("tables/formulas.txt", "keras/differences.txt"):
        faults += [f"docs/{table}: {row[0]} is no public name" for row in read_table(table, 2) if row[0] not in catalogue.names]
    found, more = lacking(catalogue, with_example)
    faults += more
    if "--write" in sys.argv:
        LIST.write_text(HEADING + "\n".join(found) + "\n")
    listed = [line for line in LIST.read_text().split("\n") if line and not line.startswith("#")]
    faults += [f"docs/lacking.txt: add what a name lacks, or write it: {line}" for line in found if line not in listed]
    faults += [f"docs/lacking.txt: delete, the name lacks this no longer: {line}" for line in listed if line not in found]
    for fault in faults:
        print(fault)
    complete = len(catalogue.names) - len(found)
    print(f"{len(catalogue.names)} public names, {complete} complete, {len(found)} listed as lacking something")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
