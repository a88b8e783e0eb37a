"""Makes random texts from rules: names in braces are replaced, as deep as allowed."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = ["Rules", "text_of"]

Rules = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""The rules of each name: texts for the last level, and those with further names."""

_NAME: Final = re.compile(r"<(\w+)>")


def text_of(rules: Rules, name: str, depth: int, chance: random.Random) -> str:
    """Return a random text for a name.

    Args:
        rules: The rules.
        name: The name.
        depth: How many further levels there may be.
        chance: Chooses.
    """
    last, further = rules[name]
    rule = chance.choice(last if depth <= 0 or not further else (*last, *further))
    return _NAME.sub(lambda match: text_of(rules, match[1], depth - 1, chance), rule)
