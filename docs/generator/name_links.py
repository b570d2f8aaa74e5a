"""An extension of Sphinx: code in prose that is a public name, such as `nn::Dense`, becomes a link to the page of the name."""
import json
import os
import re

from docutils import nodes


def resolve(app, doctree, docname):
    names = app.env.ktape_names
    for literal in list(doctree.findall(nodes.literal)):
        parent = literal.parent
        while parent is not None and not isinstance(parent, (nodes.reference, nodes.title)):
            parent = parent.parent
        if parent is not None:
            continue
        text = re.sub(r"\(.*\)$", "", literal.astext())
        page = names.get(text)
        if page and page != docname:
            link = nodes.reference("", "", internal=True, refuri=app.builder.get_relative_uri(docname, page))
            literal.replace_self(link)
            link += literal


def load(app):
    with open(os.path.join(app.srcdir, "names.json"), encoding="utf-8") as file:
        app.env.ktape_names = json.load(file)


navigation = {}  # the tree of pages beside the pages of a folder below api/


def share_navigation(app, pagename, templatename, context, doctree):
    """Lets the pages of names in a folder share the tree of pages, in which none of them stands: half of the time went into it."""
    if pagename.startswith("api/") and "toctree" in context:
        folder, make = os.path.dirname(pagename), context["toctree"]

        def shared(**options):
            if folder not in navigation:
                navigation[folder] = make(**options)
            return navigation[folder]
        context["toctree"] = shared


def setup(app):
    app.connect("builder-inited", load)
    app.connect("doctree-resolved", resolve)
    app.connect("html-page-context", share_navigation, priority=400)  # before furo's
    return {"parallel_read_safe": True, "parallel_write_safe": True}
