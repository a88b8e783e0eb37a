"""The navigation of the site, from the links of the start page and the index pages.

Pages are plain Markdown that any forge renders, so a page does not contain its place in
the site. The start page does: each of its headings is a part of the site, and the links
below the heading are the part's pages. An index page is the parent of the pages that it
links to.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import attrs

__all__ = ["INDEXES", "ROOT", "START", "Part", "all_pages", "below", "parts"]

ROOT = Path(__file__).parents[2]
START = "docs/README"
INDEXES = frozenset(
    {
        "docs/reference/extension-points/README",
        "docs/reference/modules",
        "docs/reference/plugins",
        "docs/tutorial/README",
    }
)

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:]+)\.md(?:#[^)]*)?\)")


@attrs.frozen
class Part:
    """Some pages under one title, in order; pages are named without ``.md``."""

    title: str
    pages: Mapping[str, str]
    """Page -> the text of the link to it."""


@cache
def parts() -> tuple[Part, ...]:
    """Return the parts of the site, in the order of the start page."""
    _, *sections = re.split(r"^## ", text_of(START), flags=re.MULTILINE)
    found = []
    for section in sections:
        title, _, body = section.partition("\n")
        pages = links(START, body)
        if pages:
            found.append(Part(title, pages))
    return tuple(found)


@cache
def below(page: str) -> Mapping[str, str]:
    """Return the pages below an index page, with the texts of its links."""
    above = {START, *(name for part in parts() for name in part.pages)}
    found = links(page, text_of(page))
    return {name: text for name, text in found.items() if name not in above}


def links(page: str, text: str) -> dict[str, str]:
    """Return the pages that a text links to, with the text of each one's first link."""
    folder = PurePosixPath(page).parent
    found: dict[str, str] = {}
    for link in _LINK.finditer(text):
        target = (ROOT / folder / f"{link[2]}.md").resolve()
        name = target.relative_to(ROOT).with_suffix("").as_posix()
        found.setdefault(name, link[1].replace("`", ""))
    return found


def all_pages() -> Iterator[str]:
    """Yield every page of the site."""
    yield START
    for part in parts():
        for page in part.pages:
            yield page
            if page in INDEXES:
                yield from below(page)


@cache
def text_of(page: str) -> str:
    """Return the source of a page."""
    return (ROOT / f"{page}.md").read_text(encoding="utf-8")
