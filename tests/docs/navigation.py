"""The navigation of the site: what the start page and the index pages link to.

Pages are plain Markdown, which a forge shows as it is, so no page says where it is in
the site. The start page does: each of its headings is a part, and the links below it
are the part's pages. An index page has the pages that it links to below itself.
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
    """Page -> what the link to it says."""


@cache
def parts() -> tuple[Part, ...]:
    """The parts of the site, as the start page has them."""
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
    """The pages below an index page, with what its links say."""
    above = {START, *(name for part in parts() for name in part.pages)}
    found = links(page, text_of(page))
    return {name: text for name, text in found.items() if name not in above}


def links(page: str, text: str) -> dict[str, str]:
    """The pages that a text links to, with what the first link to each says."""
    folder = PurePosixPath(page).parent
    found: dict[str, str] = {}
    for link in _LINK.finditer(text):
        target = (ROOT / folder / f"{link[2]}.md").resolve()
        name = target.relative_to(ROOT).with_suffix("").as_posix()
        found.setdefault(name, link[1].replace("`", ""))
    return found


def all_pages() -> Iterator[str]:
    """Every page that the site has."""
    yield START
    for part in parts():
        for page in part.pages:
            yield page
            if page in INDEXES:
                yield from below(page)


@cache
def text_of(page: str) -> str:
    """The source of a page."""
    return (ROOT / f"{page}.md").read_text(encoding="utf-8")
