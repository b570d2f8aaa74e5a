"""The examples in docs/examples: their code, and what the program of all examples prints for each."""
import hashlib
import json
import re
import subprocess
import tempfile
import textwrap

from catalogue import ROOT

FOLDER = ROOT / "docs/examples"
BEGIN = "\x01example "


def sources():
    """Returns the examples in the order of the files: names and code."""
    found = []
    for path in sorted(FOLDER.glob("*.cpp")):
        for match in re.finditer(r'^EXAMPLE\(((?:\s*"[^"]*")+)\) \{(?: ([^\n]*) \}\n|\n(.*?)^\}\n)', path.read_text(), re.M | re.S):
            names = "".join(re.findall(r'"([^"]*)"', match[1])).split()
            code = match[2] if match[2] is not None else match[3]
            found.append((path.stem, names, textwrap.dedent(code).rstrip()))
    return found


def run(program):
    """Returns what each example prints, by its first name, from a run of the program in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{program} failed:\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}")
    printed = {}
    for part in result.stdout.split(BEGIN)[1:]:
        heading, _, text = part.partition("\n")
        printed[" ".join(heading.split())] = text
    return printed


def outputs(program, cache):
    """Returns the examples of each name as pairs of code and output. The outputs stay in the file `cache` until the program changes."""
    printed = {}
    if program:
        key = hashlib.sha256(program.read_bytes()).hexdigest()
        kept = json.loads(cache.read_text()) if cache.exists() else {}
        if kept.get("program") != key:
            kept = {"program": key, "printed": run(program)}
            cache.parent.mkdir(parents=True, exist_ok=True)
            cache.write_text(json.dumps(kept))
        printed = kept["printed"]
    result = {}
    for _, names, code in sources():
        text = printed.get(" ".join(names), "")
        for name in names:
            result.setdefault(name, []).append((code, text))
    return result


def add_to_options(catalogue, shown):
    """Gives an options struct without an example of its own the examples of what takes it that name options."""
    for name in catalogue.names.values():
        if name.short.endswith("Options") and name.name not in shown:
            found = [pair for taker in name.taken_by for pair in shown.get(taker, []) if "{." in pair[0]]
            if found:
                shown[name.name] = found[:2]
    return shown
