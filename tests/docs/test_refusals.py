"""The errors that pages show are reported, with the same texts."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from tests.docs.navigation import ROOT, all_pages, text_of
from tests.docs.snippets import read_page
from tests.docs.test_docs import squeezed
from tests.docs.test_tutorial import STEPS, folder_at
from tests.kit.programs import run_program

_REFUSAL = re.compile(
    r"^```text\n\$ (?P<line>.+)\n(?P<said>(?:(?!\.\.\.$|\$ )[^`\n].*\n)+)```$",
    re.MULTILINE,
)


@attrs.frozen
class Refusal:
    page: str
    line: str
    said: str


def refusals() -> Iterator[Refusal]:
    """Yield the blocks with a command and its error, except shortened ones."""
    for page in all_pages():
        for found in _REFUSAL.finditer(text_of(page)):
            if "\n..." not in found["said"]:
                yield Refusal(page, found["line"], found["said"])


REFUSALS = tuple(refusals())


@pytest.mark.long
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.line)
def test_what_is_refused_is_refused_in_these_words(
    refusal: Refusal, tmp_path: Path
) -> None:
    if refusal.page in STEPS:
        folder_at(refusal.page, tmp_path)
    else:
        for name, text in read_page(ROOT / f"{refusal.page}.md").files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
    done = run_program(shlex.split(refusal.line), tmp_path, tmp_path / "site")
    assert done.code == 2
    assert squeezed(done.errors) == squeezed(refusal.said)


@pytest.mark.house
def test_some_things_are_refused() -> None:
    assert len(REFUSALS) > 2
