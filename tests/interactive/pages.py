"""Runs a program of examples/ cell by cell: each declaration and each statement of its main() is a cell.

Usage: pages.py PROMPT PAGE
"""
import re
import subprocess
import sys

QUOTED = r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])+\''


def without_comments(text):
    pattern = re.compile(QUOTED + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
    return pattern.sub(lambda match: match[0] if match[0][0] in "R\"'" else " ", text)


def cells(text):
    """Returns the declarations and statements of a text without comments."""
    quoted = re.compile(QUOTED, re.DOTALL)
    found, begin, depth, at = [], 0, 0, 0
    while at < len(text):
        if depth == 0 and text[at] == "#" and not text[begin:at].strip():
            end = text.find("\n", at)
            found.append(text[at:end])
            begin = at = end
            continue
        if (match := quoted.match(text, at)) and not (at and text[at - 1].isalnum()):
            at = match.end()
            continue
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[at], 0)
        at += 1
        goes_on = re.match(r"\s*(else|catch|while)\b", text[at:])
        if depth == 0 and not goes_on and (text[at - 1] == ";" or ends_with_body(text, begin, at)):
            found.append(text[begin:at].strip())
            begin = at
    return [cell for cell in found + [text[begin:].strip()] if cell]


def ends_with_body(text, begin, at):
    """Returns whether the brace before `at` ends a cell: false for a brace that a semicolon must follow."""
    cell = text[begin:at].strip()
    if not cell.endswith("}") or re.match(r"\s*[;,.(]", text[at:]):
        return False
    head = cell.split("{", 1)[0]
    while (outer := re.sub(r"\([^()]*\)", "", head)) != head:
        head = outer
    return not re.match(r"(struct|class|enum|union)\b", cell) and "=" not in head


def main_cells(definition, arguments):
    words = ", ".join(f'strdup("{word}")' for word in ["page", *arguments])
    yield f"int argc = {len(arguments) + 1}; char* argv[] = {{{words}, nullptr}};"
    for cell in cells(definition[definition.index("{") + 1:definition.rindex("}")]):
        if match := re.fullmatch(r"return (.*);", cell, re.DOTALL):
            cell = f'if (const int status = ({match[1]})) throw std::runtime_error("status " + to_string(status));'
        elif cell.startswith("if") and "[" not in cell:
            cell = re.sub(r"\breturn [^;]*;", 'throw std::runtime_error("the page ended early");', cell)
        yield cell


def page_cells(text):
    arguments = ["--quick"] if "quick" in text else []
    for cell in cells(without_comments(text)):
        if not re.match(r"int main\(", cell):
            yield cell
        elif not cell.startswith("catch"):
            body = re.sub(r"\bcatch \(.*", "", cell, flags=re.DOTALL)
            yield from main_cells(body, arguments)


def main(prompt, page):
    with open(page) as file:
        page_text = file.read()
    lines = [" ".join(cell.split()) if '"' not in cell else cell.replace("\n", " ") for cell in page_cells(page_text)]
    run = subprocess.run([prompt], input="\n".join(lines) + "\n", capture_output=True, text=True)
    print(run.stdout, run.stderr, sep="")
    if "--data must name" in run.stderr:
        print("skipped: it needs data that are not here")
        return 0
    print(f"{len(lines)} cells")
    return run.returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
