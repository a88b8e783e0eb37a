"""The cases that may differ: those of a page, with their reasons, and those of today.

``docs/reference/simulated-controllers.md`` lists recorded cases in which we differ for
good. ``data/not_yet`` lists the others, one file for each family: cases leave it as
rules are added, and a case that is listed must differ.
"""

import re
from pathlib import Path
from typing import Final

__all__ = ["NOT_YET", "not_yet", "on_page"]

NOT_YET: Final = Path(__file__).with_name("data") / "not_yet"
_PAGE: Final = (
    Path(__file__).parents[2] / "docs" / "reference" / "simulated-controllers.md"
)
_ROW: Final = re.compile(r"^\| ((?:`[\w-]+-\d+`(?:, )?)+) \|", re.MULTILINE)
_ID: Final = re.compile(r"`([\w-]+)`")


def on_page() -> set[str]:
    """The ids in the page's table of recorded differences."""
    text = _PAGE.read_text()
    return {name for row in _ROW.findall(text) for name in _ID.findall(row)}


def not_yet() -> set[str]:
    """The ids of the cases that will be equal some day."""
    return {line for file in NOT_YET.glob("*.txt") for line in file.read_text().split()}
