"""The public headers, and the examples in their comments, which the tests run and whose output the site shows."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMENT = re.compile(r"^\s*///(?!<) ?")


def first_headers():
    """Returns the headers from which cmake/install.cmake finds the public headers, and the header of the component for MPI."""
    rule = re.search(r"set\(unread ([^)]*)\)", (ROOT / "cmake/install.cmake").read_text())
    return [*rule[1].split(), "nn/distributed/distributed.hpp"]


def public_headers():
    """Returns the headers that users may include, and all headers that these include."""
    unread, read = first_headers(), []
    while unread:
        header = unread.pop()
        if header in read or not (ROOT / header).exists():
            continue
        read.append(header)
        unread += re.findall(r"#include <ktape/([^>]+)>", (ROOT / header).read_text())
    return sorted(read)


def split_examples(lines, first):
    """Returns the lines of a comment without its examples, and the examples by the numbers of their first lines; `first` is the number
    of the first line. An example is a block of code, indented by four blanks, that prints to std::cout; other code only shows a form."""
    text, examples, at = [], {}, 0
    while at < len(lines):
        end = at
        while end < len(lines) and (lines[end].startswith("    ") or (end > at and not lines[end].strip())):
            end += 1
        if end == at:
            end = at + 1
        code = [line[4:] for line in lines[at:end]]
        while code and not code[-1].strip():
            code.pop()
        if lines[at].startswith("    ") and any("std::cout" in line for line in code):
            examples[first + at] = "\n".join(code)
            if text and text[-1].strip() == "" and len(text) > 1 and text[-2] == "For example:":
                del text[-2:]
        else:
            text += lines[at:end]
        at = end
    return text, examples


def examples_of(header):
    """Returns the examples of a header by the numbers of their first lines."""
    found, comment = {}, []
    lines = (ROOT / header).read_text().split("\n")
    for number, line in enumerate([*lines, ""], 1):
        if COMMENT.match(line):
            comment.append(COMMENT.sub("", line))
        elif comment:
            found.update(split_examples(comment, number - len(comment))[1])
            comment = []
    return found
