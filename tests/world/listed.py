"""The recorded cases that differ for good, with their reasons.

``docs/reference/simulated-controllers.md`` lists them; a case that is listed must
differ.
"""

import re
from pathlib import Path
from typing import Final

__all__ = ["on_page"]

_PAGE: Final = (
    Path(__file__).parents[2] / "docs" / "reference" / "simulated-controllers.md"
)
_ROW: Final = re.compile(r"^\| ((?:`[\w-]+-\d+`(?:, )?)+) \|", re.MULTILINE)
_ID: Final = re.compile(r"`([\w-]+)`")


def on_page() -> list[str]:
    """The ids in the page's table of recorded differences."""
    text = _PAGE.read_text()
    return [name for row in _ROW.findall(text) for name in _ID.findall(row)]
