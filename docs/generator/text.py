"""Comments of headers as Markdown for the site, and Markdown of the repository with links that the site has."""
import re

CODE = re.compile(r"(`[^`]+`)")
NAME = re.compile(r"(?<![\w:`])((?:ktape::)?(?:K|nn|ops|data|plot|random|backend|tape)(?:::\w+)+(?:\(\))?)")


def prose(text):
    """Returns a comment's prose as Markdown: signs that Markdown would take for markup are written as they are."""
    parts = CODE.split(text)
    for i in range(0, len(parts), 2):
        part = re.sub(r"([*$<\\])", r"\\\1", parts[i])
        part = part.replace("](", r"]\(")
        part = re.sub(r"(?<!\w)_(?=\w)|(?<=\w)_(?!\w)", r"\\_", part)
        parts[i] = NAME.sub(r"`\1`", part)
    return "".join(parts)


def markdown(text):
    """Returns a header's comment as Markdown: code is indented by four blanks, formulas and tables by two."""
    out, block, kind = [], [], None

    def end_block():
        nonlocal kind
        while block and not block[-1].strip():
            block.pop()
        if block:
            margin = min(len(line) - len(line.lstrip()) for line in block if line.strip())
            out.extend(["", f"```{kind}", *(line[margin:] for line in block), "```", ""])
        block.clear()
        kind = None

    in_list = False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            if kind:
                block.append(line)
            else:
                out.append("")
            in_list = in_list and bool(kind)
        elif indent >= 2 and not in_list:
            kind = kind or ("cpp" if indent >= 4 else "text")
            block.append(line)
        else:
            end_block()
            in_list = line.startswith(("- ", "1. ")) or (in_list and indent >= 2)
            out.append(prose(line) if not line.startswith("|") else line)
    end_block()
    return "\n".join(out).strip()


def sentences(text):
    """Returns the sentences of a comment's prose, without code and tables."""
    lines = [line for line in text.split("\n") if not line.startswith("  ") and not line.startswith("|")]
    flat = re.sub(r"\s+", " ", " ".join(lines))
    return [s.strip() for s in re.split(r"(?<=[.;:])\s+(?=[A-Z`])", flat) if s.strip()]


def cell(text):
    """Returns text for a cell of a table."""
    return re.sub(r"\s+", " ", text.replace("|", "\\|")).strip()


def code_cell(text):
    """Returns code for a cell of a table."""
    text = re.sub(r"\s+", " ", text.replace("|", "\\|")).strip()
    return f"`{text}`" if text else ""
