"""Makes trees that differ only in a few texts, and reads their YAML once."""

import functools
import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import documents
from quaymaster._studies.perf.gotext.template import ObjectTexts

__all__ = ["Pattern", "make_pattern"]

_Fill: TypeAlias = Callable[[Sequence[str]], object]
"""Makes a part of a tree from the outputs of its template's actions."""

# Private-use characters, which YAML does not interpret.
_MARK: Final = "\ue000{}\ue001"
_HOLE: Final = re.compile("\ue000([0-9]+)\ue001")


class Pattern:
    """Makes the trees of a template's objects.

    Args:
        marked: The tree with marks in place of the actions' outputs.
        real: A tree with outputs of the actions.

    Attributes:
        has_fixed_keys: Whether all trees have the same keys in the same places.
    """

    __slots__ = ("_fill", "has_fixed_keys")

    def __init__(self, marked: object, real: object) -> None:
        self._fill = _filling(marked, real)
        self.has_fixed_keys = not _has_marked_key(marked)

    def tree(self, values: Sequence[str]) -> object:
        """Make a tree from the outputs of the template's actions."""
        return self._fill(values)


def make_pattern(texts: ObjectTexts) -> Pattern | None:
    """Return the pattern of a template's trees.

    Args:
        texts: The template's texts; the first must be YAML.

    Returns:
        The pattern, or None if outputs of actions change more than texts.

    Raises:
        YamlError: The first text is not YAML.
        GoTemplateError: An action fails.
    """
    values = texts.values(0)
    real = _tree(texts.fill(values))
    if not texts.is_regular:
        return None
    marks = [_MARK.format(number) for number in range(texts.places)]
    try:
        marked = _tree(texts.fill(marks))
    except YamlError:
        return None
    pattern = Pattern(marked, real)
    # A check on real values: an output may decide what the YAML around it means, such
    # as an anchor or a second key.
    return pattern if pattern.tree(values) == real else None


def _tree(text: str) -> object:
    return list(documents(text.encode(), unique_keys=True))


def _has_marked_key(marked: object) -> bool:
    if isinstance(marked, list):
        return any(map(_has_marked_key, marked))
    if isinstance(marked, dict):
        return any(map(_HOLE.search, map(str, marked))) or any(
            map(_has_marked_key, marked.values())
        )
    return False


def _filling(marked: object, real: object) -> _Fill:
    if isinstance(marked, list) and isinstance(real, list):
        items = [_filling(a, b) for a, b in zip(marked, real, strict=False)]
        return lambda values: [item(values) for item in items]
    if isinstance(marked, dict) and isinstance(real, dict):
        pairs = [
            (_text_pattern(key), _filling(value, other))
            for (key, value), other in zip(marked.items(), real.values(), strict=False)
        ]
        return lambda values: {key(values): value(values) for key, value in pairs}
    if not isinstance(marked, str) or not _HOLE.search(marked):
        return lambda _: marked
    fill = _text_pattern(marked)
    if isinstance(real, str):
        return fill
    return lambda values: _scalar(fill(values))


def _text_pattern(marked: str) -> Callable[[Sequence[str]], str]:
    # Texts and indices of places in turn.
    parts = _HOLE.split(marked)
    if len(parts) == 1:
        return lambda _: marked
    places = [int(part) for part in parts[1::2]]

    def fill(values: Sequence[str]) -> str:
        filled = list(parts)
        filled[1::2] = [values[place] for place in places]
        return "".join(filled)

    return fill


@functools.lru_cache(maxsize=4096)
def _scalar(text: str) -> object:
    """Read an unquoted scalar."""
    return next(documents(text.encode()))
