"""The pages of the zoo and of the notebooks."""
import hashlib
import json
import os
import re
import subprocess
import sys

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
    """Returns the leading comment of a program, and the pieces of its code: a comment that explains, and the code below. A piece begins
    with a comment `///` above a declaration, or with a comment after an empty line inside of a function or class of the program."""
    lines = source.split("\n")
    head = []
    while lines and lines[0].startswith("//"):
        head.append(re.sub(r"^// ?", "", lines.pop(0)))
    pieces, comment, code = [], [], []
    at = 0
    while at < len(lines):
        explains = next((sign for sign in ("///", "  ///", "  //") if lines[at].startswith(sign)), None)
        if explains == "///" or (explains and not lines[at - 1].strip()):
            if any(line.strip() for line in code):
                pieces.append((comment, code))
            comment, code = [], []
            while at < len(lines) and lines[at].startswith(explains):
                comment.append(lines[at].removeprefix(explains).removeprefix(" "))
                at += 1
        else:
            code.append(lines[at])
            at += 1
    if any(line.strip() for line in code):
        pieces.append((comment, code))
    return "\n".join(head), [("\n".join(c), "\n".join(k).strip("\n")) for c, k in pieces]


class Results:
    """What the programs of the zoo print and draw, kept in a folder until a program changes."""

    def __init__(self, programs, cache):
        self.programs, self.cache = programs, cache

    def of(self, name, seconds):
        """Returns the command, its output and its pictures; programs that take long run with --quick. None without a program, or if
        it fails, as a program does whose data are missing."""
        program = self.programs / name if self.programs else None
        if not program or not program.exists():
            return None
        folder = self.cache / name
        key = hashlib.sha256(program.read_bytes()).hexdigest()
        options = ["--quick"] if seconds is None or seconds > 5 else []
        if not (folder / "key").exists() or (folder / "key").read_text() != key:
            (folder / "out").mkdir(parents=True, exist_ok=True)
            run = subprocess.run([program, *options, "--out", folder / "out"], cwd=ROOT, capture_output=True, text=True, check=False,
                                 env={**os.environ, "KERAS_HOME": str(folder / "none")})
            (folder / "output").write_text(run.stdout if run.returncode == 0 else "")
            (folder / "key").write_text(key)
        output = (folder / "output").read_text().replace(str(folder / "out"), "FOLDER")
        pictures = sorted(p for p in (folder / "out").iterdir() if p.suffix in (".svg", ".png") and p.stat().st_size < 2_000_000)
        return (" ".join([name, *options, "--out FOLDER"]), output, pictures) if output else None


def without_progress(output):
    """Returns what a terminal shows in the end: of a line that is written anew, the last state; of many lines, the first and last."""
    lines = [line.rpartition("\r")[2] for line in output.rstrip("\n").split("\n")]
    lines = [re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", line) for line in lines]
    return lines if len(lines) <= 24 else [*lines[:8], "...", *lines[-14:]]


def shown_results(name, results, row, writer):
    seconds = re.match(r"(\d+) s", row[-1]) if row else None
    found = results.of(name, int(seconds[1]) if seconds else None)
    if not found:
        return []
    command, output, pictures = found
    out = ["## What it prints", "", f"`{command}`:", "", "```text", *without_progress(output), "```", ""]
    for picture in pictures:
        writer.write(f"zoo/pictures/{name}-{picture.name}", picture.read_bytes())
        out += [f"![{picture.stem} of {name}](pictures/{name}-{picture.name})", ""]
    return out


def zoo_page(name, row, results, writer):
    head, pieces = parts_of((ROOT / f"examples/{name}.cpp").read_text())
    out = ["---", "hide-toc: true", "---", "", f"# {name}", ""]
    if row:
        out += ["| teaches | data | reaches | takes, on two cores |", "|---|---|---|---|", "| " + " | ".join(row) + " |", ""]
    out += [markdown(head), "", f"Run it: `./run zoo {name}`, or a copy of the file in a folder of your own.", ""]
    out += shown_results(name, results, row, writer)
    out += ["## The program", ""]
    for comment, code in pieces:
        explanation = ["::::{container} explanation", markdown(comment), "::::"] if comment else []
        out += [":::::{container} beside", *explanation, "```cpp", code, "```", ":::::", ""]
    return "\n".join(out)


def zoo_pages(writer, linked, results):
    rows = rows_of_readme()
    names = [path.stem for path in sorted((ROOT / "examples").glob("*.cpp"))]
    names = [n for n in rows if n in names] + [n for n in names if n not in rows]
    for name in names:
        writer.write(f"zoo/{name}.md", zoo_page(name, rows.get(name), results, writer))
    for path in sorted((ROOT / "examples/pictures").glob("*")):
        writer.write(f"zoo/pictures/{path.name}", path.read_bytes())
    text = linked((ROOT / "examples/README.md").read_text(), "examples/README.md", "zoo/index")
    writer.write("zoo/index.md", text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n")


def executed(path, kernels, cache):
    """Returns a notebook with its results, which stay in the cache until the notebook changes; without a kernel, as its file has it."""
    key = hashlib.sha256(path.read_bytes()).hexdigest()
    result = cache / f"{path.stem}-{key[:16]}.ipynb"
    if not result.exists() and kernels and (kernels / "kernels/ktape/kernel.json").exists():
        cache.mkdir(parents=True, exist_ok=True)
        run = subprocess.run(
            [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--allow-errors", "--ExecutePreprocessor.timeout=600",
             "--ExecutePreprocessor.startup_timeout=600", "--output", str(result.resolve()), str(path)],
            capture_output=True, text=True, check=False, env={**os.environ, "JUPYTER_PATH": str(kernels)})
        if run.returncode:
            print(f"{path.name} is shown without results: {run.stderr[-500:]}", file=sys.stderr)
    return json.loads((result if result.exists() else path).read_text())


def notebook_page(path, writer, notebook):
    """Returns a notebook as Markdown: its texts, its code, and its results."""
    out = []
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out += [source, ""]
            continue
        out += ["```cpp", source, "```", ""]
        for part, output in enumerate(cell.get("outputs", [])):
            data = output.get("data", {})
            text = "".join(output.get("text", [])) or "".join(data.get("text/plain", [])) or output.get("evalue", "")
            if "image/svg+xml" in data:
                picture = f"notebooks/{path.stem}-{number}-{part}.svg"
                writer.write(picture, "".join(data["image/svg+xml"]))
                out += [f"![the result]({picture.rpartition('/')[2]})", ""]
            elif "text/html" in data:
                out += ["```{raw} html", '<div class="notebook-result">', "".join(data["text/html"]).strip(), "</div>", "```", ""]
            elif text.strip():
                out += ["```text", text.rstrip("\n"), "```", ""]
    return "\n".join(out)


def notebook_pages(writer, kernels, cache):
    names = [n for n in NOTEBOOKS if (ROOT / f"examples/notebooks/{n}.ipynb").exists()]
    for name in names:
        path = ROOT / f"examples/notebooks/{name}.ipynb"
        writer.write(f"notebooks/{name}.md", notebook_page(path, writer, executed(path, kernels, cache)))
    writer.write("notebooks/index.md", "# Notebooks\n\n`./run jupyter` installs the kernel \"C++ (ktape)\" and says how to open these notebooks.\n\n"
                 "```{toctree}\n:maxdepth: 1\n\n" + "\n".join(names) + "\n```\n")
