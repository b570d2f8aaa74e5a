"""Keras's names and ours: each name of the lists in docs/keras with its state, found in the headers."""
import dataclasses

from catalogue import ROOT, read_table

# The modules of Keras: the list of names, Keras's own words for the module, and the namespaces that mirror the module.
MODULES = {
    "backend": ("keras.backend", ["backend"]),
    "ops": ("keras.ops", ["ops"]),
    "random": ("keras.random", ["random"]),
    "layers": ("keras.layers", ["nn"]),
    "activations": ("keras.activations", ["nn::activations"]),
    "initializers": ("keras.initializers", ["nn::initializers", "nn"]),
    "regularizers": ("keras.regularizers", ["nn::regularizers", "nn"]),
    "constraints": ("keras.constraints", ["nn::constraints", "nn"]),
    "losses": ("keras.losses", ["nn", "nn::losses"]),
    "metrics": ("keras.metrics", ["nn::metrics", "nn"]),
    "optimizers": ("keras.optimizers", ["nn"]),
    "schedules": ("keras.optimizers.schedules", ["nn"]),
    "callbacks": ("keras.callbacks", ["nn"]),
    "applications": ("keras.applications", ["nn::applications"]),
}


@dataclasses.dataclass
class Row:
    module: str
    keras: str        # such as keras.ops.abs
    state: str        # same, other, missing
    ours: str = ""    # a name of the catalogue
    text: str = ""


def rows(catalogue):
    """Returns the rows of the table, and what is wrong with the lists as texts."""
    states = {row[0]: row[1:] for row in read_table("keras/states.txt", 4)}
    result, faults, used = [], [], set()
    for module, (prefix, namespaces) in MODULES.items():
        for name in (ROOT / f"docs/keras/{module}.txt").read_text().split():
            found = next((f"{n}::{name}" for n in namespaces if f"{n}::{name}" in catalogue.names), None)
            key = f"{module}.{name}"
            if found:
                result.append(Row(module, f"{prefix}.{name}", "same", found))
                if key in states:
                    faults.append(f"docs/keras/states.txt: {key} is in the headers as {found}: delete the row")
            elif key not in states:
                faults.append(f"docs/keras/states.txt: {key} is not in the headers and needs a row")
            else:
                state, ours, text = states[key]
                result.append(Row(module, f"{prefix}.{name}", state, ours, text))
                if state not in ("other", "missing") or (state == "other") != bool(ours):
                    faults.append(f"docs/keras/states.txt: {key}: other needs a name of ours, missing has none")
                elif ours and ours not in catalogue.names:
                    faults.append(f"docs/keras/states.txt: {key}: the headers have no {ours}")
            used.add(key)
    faults += [f"docs/keras/states.txt: {key} is in no list" for key in states if key not in used]
    return result, faults


def page(found, link):
    """Returns the page of the parity table. link(name) returns the Markdown link to a name of ours."""
    lines = ["# Keras's names in ktape", "",
             "Every name of Keras 3's modules and of `keras.backend` of Keras 2, looked up in ktape's headers when this page was made. "
             "*Same*: the same name, with Keras's arguments as arguments or options. *Other form*: as the last column says. "
             "*Missing*: with the reason.", "",
             "| module | names | same | other form | missing |", "|---|---:|---:|---:|---:|"]
    for module, (prefix, _) in MODULES.items():
        own = [row for row in found if row.module == module]
        count = {state: sum(row.state == state for row in own) for state in ("same", "other", "missing")}
        lines.append(f"| [{prefix}](#{prefix.replace('.', '')}) | {len(own)} | {count['same']} | {count['other']} | {count['missing']} |")
    total = {state: sum(row.state == state for row in found) for state in ("same", "other", "missing")}
    lines += [f"| all | {len(found)} | {total['same']} | {total['other']} | {total['missing']} |", ""]
    for module, (prefix, _) in MODULES.items():
        lines += [f"## {prefix}", "", "| Keras | state | ktape | |", "|---|---|---|---|"]
        for row in found:
            if row.module == module:
                state = {"same": "same", "other": "other form", "missing": "**missing**"}[row.state]
                lines.append(f"| `{row.keras.rpartition('.')[2]}` | {state} | {link(row.ours) if row.ours else ''} | {row.text} |")
        lines.append("")
    return "\n".join(lines)
