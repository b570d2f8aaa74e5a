"""A test: every link of the site leads to a page, a place on a page or a file of the site, and to nothing elsewhere that a page loads."""
import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if attributes.get("id"):
            self.anchors.add(attributes["id"])
        if tag == "a" and attributes.get("name"):
            self.anchors.add(attributes["name"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "script", "link") and (attributes.get("src") or attributes.get("href")):
            if attributes.get("rel") not in ("canonical",):
                self.loads.append(attributes.get("src") or attributes["href"])


def main():
    site = pathlib.Path(sys.argv[1])
    if not (site / "index.html").exists():
        print("skipped: ./run docs has not made the site")
        return 0
    pages = {path: Page(path.read_text()) for path in site.rglob("*.html")}
    faults, count = [], 0
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    faults.append(f"{path.relative_to(site)} loads {link}")
                continue
            count += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path.resolve()
            known = pages.get(site / target.relative_to(site.resolve())) if target.is_relative_to(site.resolve()) else None
            if not target.exists():
                faults.append(f"{path.relative_to(site)}: {link} leads nowhere")
            elif parts.fragment and known and parts.fragment not in known.anchors:
                faults.append(f"{path.relative_to(site)}: {link} has no such place")
    for path in site.rglob("*.css"):
        for target in re.findall(r"url\(['\"]?([^'\")]+)", path.read_text()):
            if not target.startswith(("data:", "#")) and not (path.parent / target.split("?")[0].split("#")[0]).exists():
                faults.append(f"{path.relative_to(site)}: {target} leads nowhere")
    for fault in sorted(set(faults)):
        print(fault)
    print(f"{len(pages)} pages, {count} links, {len(set(faults))} faults")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
