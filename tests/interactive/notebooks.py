"""Runs notebooks as a reader does: from top to bottom with nbconvert, which makes HTML pages; then cell by cell, each
cell twice, because people run a cell again after changing it.

Usage: notebooks.py FOLDER_FOR_PAGES NOTEBOOK...      JUPYTER_PATH names the folder with kernel.json.
"""
import os
import subprocess
import sys

import nbformat
from jupyter_client.manager import start_new_kernel

PATIENCE = 600  # seconds for a cell


def convert(notebook, folder):
    """Runs a notebook into an HTML page, and checks that the page has pictures and tables."""
    subprocess.run(["jupyter", "nbconvert", "--to", "html", "--execute", f"--ExecutePreprocessor.timeout={PATIENCE}",
                    f"--ExecutePreprocessor.startup_timeout={PATIENCE}",
                    "--output-dir", folder, notebook], check=True)
    name = os.path.splitext(os.path.basename(notebook))[0]
    with open(os.path.join(folder, name + ".html")) as file:
        page = file.read()
    for part in ("<rect", "<b>dtype</b>"):  # a picture that is drawn, and a table
        if part not in page:
            sys.exit(f"{notebook}: the page has no {part}")


def run_twice(notebook):
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    manager, client = start_new_kernel(kernel_name="ktape", startup_timeout=PATIENCE,
                                       cwd=os.path.dirname(os.path.abspath(notebook)))
    try:
        for cell in cells:
            expected = "error" if "raises-exception" in cell.metadata.get("tags", []) else "ok"
            for _ in range(2):
                reply = client.execute_interactive(cell.source, timeout=PATIENCE, output_hook=lambda message: None)
                if reply["content"]["status"] != expected:
                    sys.exit(f"{notebook}: {reply['content']}\n{cell.source}")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(f"{notebook}: {len(cells)} cells, twice")


for path in sys.argv[2:]:
    convert(path, sys.argv[1])
    run_twice(path)
