"""Every page can be reached from the start page, and no link is broken."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.navigation import ROOT, START, all_pages, parts
from tests.docs.references import dangling

pytestmark = pytest.mark.house

_FENCE = re.compile(r"^ *(`{3,}).*?^ *\1", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


@cache
def prose(path: Path) -> str:
    """Return a page without its fenced blocks, which may show Markdown or comments."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors(path: Path) -> Iterator[str]:
    """Yield the anchors of a page's headings, as forges make them."""
    for heading in re.findall(r"^#+ (.+)$", prose(path), flags=re.MULTILINE):
        text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading).lower()
        yield re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def test_every_page_is_in_the_navigation() -> None:
    there = {
        path.relative_to(ROOT).with_suffix("").as_posix()
        for folder in ("docs", "plugins")
        for path in (ROOT / folder).rglob("*.md")
        if "reference/api" not in path.as_posix()  # made by the site
        and not any(part.startswith(".") for part in path.relative_to(ROOT).parts)
    }
    assert there <= set(all_pages()), f"not linked in {START}.md, or in an index page"


def test_no_page_is_in_two_parts() -> None:
    named = [page for part in parts() for page in part.pages]
    assert sorted(named) == sorted(set(named))


def leads_somewhere(path: Path, link: str) -> bool:
    """Whether a link of a page leads to an existing page and heading."""
    target, _, anchor = link.partition("#")
    there = (path.parent / target).resolve() if target else path
    return there.exists() and (not anchor or anchor in anchors(there))


def test_links_lead_to_pages_and_to_their_headings() -> None:
    dead = [
        (page, link)
        for page in all_pages()
        for link in _LINK.findall(_CODE.sub("code", prose(ROOT / f"{page}.md")))
        if "://" not in link and not leads_somewhere(ROOT / f"{page}.md", link)
    ]
    assert dead == []


def test_references_in_public_docstrings_lead_somewhere() -> None:
    assert list(dangling()) == []
