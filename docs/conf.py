"""Sphinx's configuration: furo's pages of MyST's Markdown, without anything from elsewhere."""
import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "docs/generator"))

project = "ktape"
release = ".".join(re.findall(r"#define KTAPE_VERSION_\w+ (\d+)", (root / "autograd/base/version.hpp").read_text()))
author = copyright = "The ktape authors"
extensions = ["myst_parser", "sphinx.ext.mathjax", "name_links"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
language = "en"
smartquotes = False
highlight_language = "cpp"

html_theme = "furo"
html_title = f"ktape {release}"
html_static_path = [str(root / "docs/static"), os.environ["KTAPE_DOCS_KATEX"]]
html_css_files = ["katex.min.css", "ktape.css"]
# KaTeX takes the place of MathJax: the extension loads its script on the pages that have formulas.
mathjax_path = "katex.min.js"
mathjax_options = {"defer": "defer"}
html_js_files = [("formulas.js", {"defer": "defer"}), ("search.js", {"defer": "defer"})]
html_use_index = False  # the entries are for the search
html_theme_options = {"navigation_with_keys": True}
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # would fetch pages, which browsers refuse for files
html_show_sphinx = False
html_permalinks_icon = "#"
pygments_style = "friendly"
pygments_dark_style = "monokai"
