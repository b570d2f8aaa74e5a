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
    texts = {name: '#include "examples.hpp"\n' for name in [*map(str, range(sources)), "distributed"]}
    texts["distributed"] += "#include <ktape/nn/distributed/distributed.hpp>\n"
    for header in public_headers():
        for line, code in examples_of(header).items():
            texts[source_of(header, sources)] += f'\nEXAMPLE("{header}:{line}") {{\n#line {line} "{ROOT / header}"\n{code}\n}}\n'
    for name, text in texts.items():
        path = folder / f"examples_{name}.cpp"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
