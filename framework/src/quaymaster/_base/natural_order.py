"""The order in which people list names: ``node-2`` before ``node-10``."""

import re
from typing import Final

__all__ = ["natural_key"]

_NUMBER: Final = re.compile(r"(\d+)", re.ASCII)


def natural_key(text: str) -> tuple[object, ...]:
    """Return a sort key that orders the numbers in texts as numbers, as kubectl does.

    Even elements are texts and odd ones numbers, so two keys can be compared.
    """
    return tuple(
        int(part) if index % 2 else part
        for index, part in enumerate(_NUMBER.split(text))
    )
