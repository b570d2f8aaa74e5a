"""The pages beside the reference: the guides, the zoo, the notebooks, and the documents of the repository."""
import json
import os
import re

from catalogue import ROOT, SECTIONS
from headers import family_comment
from text import markdown
from zoo import Results, notebook_pages, zoo_pages

DOCUMENTS = {"CHANGELOG.md": "changelog", "SECURITY.md": "security", "CONTRIBUTING.md": "contributing",
             "examples/README.md": "zoo/index", "README.md": "index", "nn/distributed/SCALING.md": "scaling"}


def with_site_links(text, source, here, pages):
    """Returns Markdown of the repository whose links to files become links to pages, or plain text where the site has no page."""
    folder = os.path.dirname(source)

    def replaced(match):
        words, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(folder, path))
        page = pages.get(path)
        if page is None and source.startswith("docs/pages/") and not (ROOT / path).exists():
            return match[0]  # a page that the generator makes
        if page is None:
            return words if words.startswith("`") else f"`{words}`" if re.search(r"[/.]", words) else words
        if path == "README.md":
            anchor = ""  # the page has other headings
        link = os.path.relpath(page, os.path.dirname(here) or ".") + ".md"
        return f"[{words}]({link}{'#' + anchor if anchor else ''})"

    blocks = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for i in range(0, len(blocks), 2):
        blocks[i] = re.sub(r"(?<!!)\[([^\]\n]+(?:\n[^\]\n]+)?)\]\(([^)\s]+)\)", replaced, blocks[i])
    return "".join(blocks)


def page_map():
    """Returns the page of each document and guide of the repository."""
    pages = dict(DOCUMENTS)
    for path in sorted((ROOT / "docs/guides").glob("*.md")):
        pages[f"docs/guides/{path.name}"] = f"guides/{path.stem}" if path.stem != "README" else "guides/index"
    for path in sorted((ROOT / "docs/pages").glob("*.md")):
        pages[f"docs/pages/{path.name}"] = path.stem
    for path in sorted((ROOT / "examples").glob("*.cpp")):
        pages[f"examples/{path.name}"] = f"zoo/{path.stem}"
    for path in sorted((ROOT / "examples/notebooks").glob("*.ipynb")):
        pages[f"examples/notebooks/{path.name}"] = f"notebooks/{path.stem}"
    pages["examples/notebooks"] = "notebooks/index"
    pages["examples"] = "zoo/index"
    pages["docs/keras/states.txt"] = "parity"
    return pages


GUIDES = ["getting_started", "from_keras", "from_pytorch", "tape", "functional_models", "custom_layers", "training_loops",
          "data_pipelines", "saving", "prompt", "performance", "distributed", "packaging", "errors", "questions", "inside"]


def title_of(text):
    return next((line[2:].strip() for line in text.split("\n") if line.startswith("# ")), "")


def write_guides(writer, pages, search):
    found = {path.stem: path for path in (ROOT / "docs/guides").glob("*.md") if path.stem not in ("README", "index")}
    order = [g for g in GUIDES if g in found] + sorted(set(found) - set(GUIDES))
    for stem in order:
        source = f"docs/guides/{stem}.md"
        text = with_site_links(found[stem].read_text(), source, f"guides/{stem}", pages)
        writer.write(f"guides/{stem}.md", search.in_page(f"guides/{stem}", text))
    for path in (ROOT / "docs/guides").rglob("*"):
        if path.suffix in (".svg", ".png"):
            writer.write(f"guides/{path.relative_to(ROOT / 'docs/guides')}", path.read_bytes())
    lines = ["# Guides", "", "Texts that teach, with code that the tests compile and run.", "", "```{toctree}", ":maxdepth: 1", "", *order, "```", ""]
    writer.write("guides/index.md", "\n".join(lines))
    return order


def write_names(writer, catalogue):
    """Writes the table from which code in prose becomes links: full names, and names with the usual short form of namespaces."""
    table = {}
    for name in catalogue.names.values():
        for form in (name.name, name.title, "ktape::" + name.name):
            table[form] = name.page
    for name in catalogue.names.values():  # classes without their namespace, where only one class has the name
        if name.kind in ("class", "struct") and len(name.short) > 4:
            table.setdefault(name.short, name.page)
    writer.write("names.json", json.dumps(table, indent=0, sort_keys=True))


def prompt_help():
    """Returns what `%help` prints in the prompt."""
    source = (ROOT / "interactive/session/magics.cpp").read_text()
    text = re.search(r"constexpr const char\* help =\s*((?:\"[^\n]*\n?\s*)+);", source)[1]
    return "".join(json.loads(line) for line in re.findall(r'"(?:[^"\\]|\\.)*"', text))


def operators_page(headers, shown):
    """Returns the page of the operators, which have no names: the header's text, its declarations, and an example."""
    lines = headers.lines["ops/operators.hpp"]
    begin = next(i for i, line in enumerate(lines) if line.startswith("namespace")) + 1
    out, code = ["# Operators", "", "[K: the backend API](reference/backend.md) · operators in `ktape/ops/operators.hpp`", "",
                 markdown(family_comment(lines)[0]), ""], []

    def end_code():
        text = "\n".join(code).strip("\n")
        code.clear()
        if text:
            out.extend(["```cpp", text, "```", ""])
    for i in range(begin, len(lines)):
        if lines[i].startswith("}"):
            break
        if lines[i].startswith("///"):
            if not lines[i - 1].startswith("///"):
                end_code()
                last = next(j for j in range(i, len(lines)) if not lines[j].startswith("///"))
                out.extend([markdown("\n".join(re.sub(r"^/// ?", "", line) for line in lines[i:last])), ""])
        else:
            code.append(lines[i])
    end_code()
    for example, output in shown.get("operators", []):
        out += ["## Example", "", "```cpp", example, "```", "", "```text", output.rstrip("\n"), "```", ""]
    return "\n".join(out)


def write(writer, catalogue, programs, cache, shown, search):
    pages = page_map()
    write_guides(writer, pages, search)
    write_names(writer, catalogue)
    zoo_pages(writer, lambda text, source, here: with_site_links(text, source, here, pages), Results(programs, cache))
    kernels = programs.parent / "interactive/jupyter/share" if programs else None  # where the prompt is built
    notebook_pages(writer, kernels, cache.parent / "notebooks")
    for source, page in DOCUMENTS.items():
        if page not in ("index", "zoo/index") and (ROOT / source).exists():
            writer.write(f"{page}.md", "---\norphan: true\n---\n\n" + with_site_links((ROOT / source).read_text().replace("```floors", "```text"), source, page, pages))
    for path in sorted((ROOT / "docs/pages").glob("*.md")):
        text = with_site_links(path.read_text(), f"docs/pages/{path.name}", path.stem, pages)
        if path.stem == "index":
            text = text.replace("@SECTIONS@", "\n".join(
                f"- [{title}](reference/{section}.md): {words}" for section, (title, words) in SECTIONS.items()))
            text = text.replace("@COUNT@", str(len(catalogue.names)))
        if path.stem == "prompt_commands":
            text = text.replace("@PROMPT_HELP@", f"```text\n{prompt_help()}\n```")
        writer.write(f"{path.stem}.md", text)
    sections = "\n".join(f"{title} <reference/{section}>" for section, (title, _) in SECTIONS.items())
    writer.write("api.md", f"# Reference\n\nA page for each of the {len(catalogue.names)} public names, made from the headers.\n\n"
                 f"```{{toctree}}\n:maxdepth: 2\n\n{sections}\nOperators <operators>\n```\n")
    writer.write("operators.md", operators_page(catalogue.headers, shown))
