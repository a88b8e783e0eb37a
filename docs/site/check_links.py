"""Looks whether every link within the built site leads somewhere.

``python docs/site/check_links.py build/site`` prints what does not. Sphinx itself
knows only the links that pages have, not those that are made for names in code.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import attrs


@attrs.define
class Page(HTMLParser):
    """The links of a page, and what links to it may name."""

    links: set[str] = attrs.field(factory=set)
    anchors: set[str] = attrs.field(factory=lambda: {""})

    def __attrs_pre_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(given["id"] or "")
        link = given.get("href" if tag == "a" else "src")
        if link:
            self.links.add(link)


def read(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken(site: Path) -> Iterator[str]:
    pages = {path.resolve(): read(path) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve()
            there = pages.get(target if parts.path else path)
            if parts.path and not target.exists():
                yield f"{path.name}: {link}: no such file"
            elif there is not None and unquote(parts.fragment) not in there.anchors:
                yield f"{path.name}: {link}: no such place"


if __name__ == "__main__":
    found = list(broken(Path(sys.argv[1])))
    sys.exit("\n".join(found) if found else 0)
