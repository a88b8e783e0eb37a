"""Fills in a template: keeps the lines for the chosen points, and inserts the names.

A template is the complete file, with marks: ``# if:`` or ``# unless:`` and some
extension points. A mark at the end of a line applies to that line. A line with only a
mark applies to the lines below it, up to a blank line or the next marks. Lines are kept
if any of the points is chosen (``if``), or if none is (``unless``).
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

__all__ = ["fill_in", "with_words", "without_lines"]

_MARK: Final = re.compile(r"(?P<before>.*?)\s*# (?P<word>if|unless): (?P<points>.+)")


def fill_in(
    template: str, points: Collection[str], words: Mapping[str, str]
) -> Sequence[str]:
    """Return the lines of the filled-in file.

    Args:
        template: The template.
        points: The keys of the chosen extension points.
        words: Placeholder of the template -> its replacement.
    """
    kept, dropped = _chosen(template.splitlines(), points)
    lines = without_lines(kept, dropped)
    return [with_words(line, words) for line in lines]


def without_lines(lines: Sequence[str], dropped: Collection[int]) -> Sequence[str]:
    """Remove lines, and blank lines that would become superfluous.

    Args:
        lines: The lines.
        dropped: The numbers of the lines to remove, from 0.
    """
    kept_lines: list[str] = []
    before, after, gap = 0, 0, False
    for number, line in enumerate(lines):
        if number in dropped:
            before, after, gap = max(before, after), 0, True
        elif not line:
            after += 1
        else:
            blank = max(before, after) if gap else after
            kept_lines += [""] * (blank if kept_lines else 0)
            kept_lines.append(line)
            before, after, gap = 0, 0, False
    return kept_lines


def _chosen(
    lines: Iterable[str], points: Collection[str]
) -> tuple[list[str], set[int]]:
    """Return the lines without marks, and the numbers of the lines to remove."""
    kept: list[str] = []
    dropped: set[int] = set()
    holds, marked = True, False
    for line in lines:
        mark = _MARK.fullmatch(line)
        holds_here = mark is None or _holds(mark, points)
        if mark and not mark["before"]:
            holds, marked = holds_here and (holds or not marked), True
            continue
        holds, marked = holds or not line, False
        if not (holds and holds_here):
            dropped.add(len(kept))
        kept.append(mark["before"] if mark else line)
    return kept, dropped


def _holds(mark: re.Match[str], points: Collection[str]) -> bool:
    named = mark["points"].split(", ")
    return any(point in points for point in named) == (mark["word"] == "if")


def with_words(text: str, words: Mapping[str, str]) -> str:
    """Replace the placeholders of a template, each of them once.

    Args:
        text: The text.
        words: Placeholder of the template -> its replacement.
    """
    return re.sub("|".join(words), lambda match: words[match[0]], text)
