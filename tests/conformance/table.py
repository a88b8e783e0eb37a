"""One table over all recorded sets, for each version of Kubernetes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import attrs

from tests.conformance.recorded_set import WORDS, RecordedSet, first_of_families
from tests.conformance.sets import NOT_PLAYED, SETS

__all__ = ["QUICK", "RELEASES", "Row", "rows", "table"]

QUICK: Final = 1
"""How many cases of each family a quick run plays."""

RELEASES: Final = {"1.36": "1.36.2", "1.37": "1.37.2"}
"""Version -> the release that was recorded."""


@attrs.define
class Row:
    """The counts of one set and version.

    Attributes:
        name: The set; with what is counted, if that is not cases.
        release: The recorded release of Kubernetes.
        cases: The number of cases.
        words: The number of outcomes by their word.
        texts: What differs.
        note: Why the set is not played at all.
    """

    name: str
    release: str = ""
    cases: int = 0
    words: Counter[str] = attrs.field(factory=Counter)
    texts: list[str] = attrs.field(factory=list)
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return f"| {self.name} | | | | | | {self.note} |"
        counts = [self.cases, *(self.words[word] for word in WORDS)]
        cells = (self.name, self.release, *(f"{count:,}" for count in counts))
        return f"| {' | '.join(cells)} |"


def rows(names: Sequence[str] = (), *, is_quick: bool = False) -> Iterator[Row]:
    """Play recorded sets; return a row for each set and version.

    Args:
        names: The names of the sets; all if empty.
        is_quick: Whether to play only the first cases of each family.
    """
    for name in names or (*SETS, *NOT_PLAYED):
        if name in NOT_PLAYED:
            yield Row(name, note=NOT_PLAYED[name])
            continue
        recorded = SETS[name]
        for version in sorted(recorded.versions):
            cases = recorded.stored(version)
            if is_quick:
                cases = first_of_families(recorded, cases, QUICK)
            yield _row(recorded, version, cases)


def _row(recorded: RecordedSet[Any], version: str, cases: Iterable[Any]) -> Row:
    is_plain = recorded.unit == "cases"
    name = recorded.name if is_plain else f"{recorded.name} ({recorded.unit})"
    row = Row(name, RELEASES[version])
    for case in cases:
        row.cases += 1
        for outcome in recorded.outcomes(case):
            row.words[outcome.word] += 1
            if outcome.word == "differs":
                row.texts.append(outcome.text)
    return row


def table(played: Iterable[Row]) -> Iterator[str]:
    """Return the lines of a Markdown table, each as soon as its row is played."""
    head = ("set", "Kubernetes", "cases", *WORDS)
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    yield from map(str, played)
