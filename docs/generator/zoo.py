"""The pages of the zoo and of the notebooks."""
import json
import re

from catalogue import ROOT
from text import markdown

NOTEBOOKS = ["first_steps", "digits", "grad_cam"]


def rows_of_readme():
    """Returns the rows of the table of examples/README.md by program: topic, data, metric, time."""
    rows = {}
    for match in re.finditer(r"^\| \[(\w+)\]\(.*?\) \| (.*) \| (.*) \| (.*) \| (.*) \|$", (ROOT / "examples/README.md").read_text(), re.M):
        rows[match[1]] = match.groups()[1:]
    return rows


def parts_of(source):
    """Returns the leading comment of a program, and the pieces of its code: a comment that explains, and the code below."""
    lines = source.split("\n")
    head = []
    while lines and lines[0].startswith("//"):
        head.append(re.sub(r"^// ?", "", lines.pop(0)))
    pieces, comment, code = [], [], []
    at = 0
    while at < len(lines):
        if lines[at].startswith("///"):
            if any(line.strip() for line in code):
                pieces.append((comment, code))
            comment, code = [], []
            while at < len(lines) and lines[at].startswith("///"):
                comment.append(re.sub(r"^/// ?", "", lines[at]))
                at += 1
        else:
            code.append(lines[at])
            at += 1
    if any(line.strip() for line in code):
        pieces.append((comment, code))
    return "\n".join(head), [("\n".join(c), "\n".join(k).strip("\n")) for c, k in pieces]


def zoo_page(name, row):
    head, pieces = parts_of((ROOT / f"examples/{name}.cpp").read_text())
    out = [f"# {name}", ""]
    if row:
        out += ["| teaches | data | reaches | takes, on two cores |", "|---|---|---|---|", "| " + " | ".join(row) + " |", ""]
    out += [markdown(head), "", f"Run it: `./run zoo {name}`, or a copy of the file in a folder of your own.", ""]
    results = ROOT / f"docs/zoo/{name}.txt"
    for comment, code in pieces:
        if comment:
            out += [markdown(comment), ""]
        out += ["```cpp", code, "```", ""]
    return "\n".join(out)


def zoo_pages(writer, linked):
    rows = rows_of_readme()
    names = [path.stem for path in sorted((ROOT / "examples").glob("*.cpp"))]
    names = [n for n in rows if n in names] + [n for n in names if n not in rows]
    for name in names:
        writer.write(f"zoo/{name}.md", zoo_page(name, rows.get(name)))
    for path in sorted((ROOT / "examples/pictures").glob("*")):
        writer.write(f"zoo/pictures/{path.name}", path.read_bytes())
    text = linked((ROOT / "examples/README.md").read_text(), "examples/README.md", "zoo/index")
    writer.write("zoo/index.md", text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n")


def notebook_page(path, writer):
    """Returns a notebook as Markdown: its texts, its code, and the results that the file holds."""
    notebook = json.loads(path.read_text())
    out = []
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out += [source, ""]
            continue
        out += ["```cpp", source, "```", ""]
        for part, output in enumerate(cell.get("outputs", [])):
            data = output.get("data", {})
            text = "".join(output.get("text", [])) or "".join(data.get("text/plain", []))
            if "image/svg+xml" in data:
                picture = f"notebooks/{path.stem}-{number}-{part}.svg"
                writer.write(picture, "".join(data["image/svg+xml"]))
                out += [f"![the result]({picture.rpartition('/')[2]})", ""]
            elif text.strip():
                out += ["```text", text.rstrip("\n"), "```", ""]
    return "\n".join(out)


def notebook_pages(writer):
    names = [n for n in NOTEBOOKS if (ROOT / f"examples/notebooks/{n}.ipynb").exists()]
    for name in names:
        writer.write(f"notebooks/{name}.md", notebook_page(ROOT / f"examples/notebooks/{name}.ipynb", writer))
    writer.write("notebooks/index.md", "# Notebooks\n\n`./run jupyter` installs the kernel \"C++ (ktape)\" and says how to open these notebooks.\n\n"
                 "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n")
