"""A test: every public name has a page with an example, and every argument a meaning: coverage.py BUILD PROGRAM."""
import pathlib
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
from catalogue import Catalogue, read_table


def lacking(catalogue, shown):
    """Returns what each name lacks, and the rows of ops/help/arguments.txt that describe nothing."""
    meanings = Meanings(catalogue)
    faults = []
    for name in catalogue.names.values():
        missing = []
        if not name.alias_of and name.name not in shown:
            missing.append("example")
        for declaration in name.declarations if not name.alias_of else []:
            called = [m for m in declaration.members if m.kind in ("constructor", "method")]
            for code in [declaration, *called]:
                if code is not declaration:
                    code.text, code.family, code.header = code.text or declaration.text, declaration.family, declaration.header
                missing += [f"argument {a.name}" for a in code.arguments
                            if a.name and not meanings.of(name.name, a, code) and f"argument {a.name}" not in missing]
        if missing:
            faults.append(f"{name.name} ({name.declarations[0].header}) lacks {', '.join(missing)}")
    return faults + [f"ops/help/arguments.txt: nothing uses {key}" for key in meanings.table if key not in meanings.used]


def main():
    build, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    from site_sources import read_headers
    catalogue = Catalogue(read_headers(build))
    _, faults = parity.rows(catalogue)
    shown = examples.gather(catalogue, program, build / "outputs.json")
    for table in ("tables/formulas.txt", "keras/differences.txt"):
        faults += [f"docs/{table}: {row[0]} is no public name" for row in read_table(table, 2) if row[0] not in catalogue.names]
    faults += lacking(catalogue, shown)
    for fault in faults:
        print(fault)
    print(f"{len(catalogue.names)} public names, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
