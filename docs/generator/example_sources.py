"""Writes the examples in the comments of the public headers as sources of a program: example_sources.py FOLDER NUMBER OF SOURCES.
The sources are examples_0.cpp and so on, and examples_distributed.cpp for the component for MPI."""
import pathlib
import sys
import zlib

from public_headers import ROOT, examples_of, public_headers


def source_of(header, sources):
    return "distributed" if header.startswith("nn/distributed/") else str(zlib.crc32(header.encode()) % sources)


def main():
    folder, sources = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    includes = {name: '#include "examples.hpp"\n' for name in [*map(str, range(sources)), "distributed"]}
    texts = dict.fromkeys(includes, "")
    for header in public_headers():
        name, of_header = source_of(header, sources), f"{zlib.crc32(header.encode()):x}"
        examples = examples_of(header)
        if examples:
            includes[name] += f"#include <ktape/{header}>\n"
        for line, code in examples.items():
            texts[name] += f'\nEXAMPLE({of_header}_{line}, "{header}:{line}") {{\n#line {line} "{ROOT / header}"\n{code}\n}}\n'
    for name, text in texts.items():
        path, text = folder / f"examples_{name}.cpp", includes[name] + text
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
