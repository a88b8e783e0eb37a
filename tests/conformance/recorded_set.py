"""A recorded set: cases of another program, our answers, and how they compare."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import attrs

__all__ = ["WORDS", "Outcome", "RecordedSet", "first_of_families"]

CaseT = TypeVar("CaseT")

WORDS: Final = ("equal", "listed", "differs", "not played")
"""What may become of a case, or of a call of one."""


@attrs.frozen
class Outcome:
    """What became of a case, or of one of its calls.

    Attributes:
        word: One of `WORDS`.
        text: What differs, and where; empty if nothing does.
        reason: Why it may differ, or is not played.
    """

    word: str
    text: str = ""
    reason: str = ""

    @classmethod
    def of(cls, text: str, reason: str = "") -> "Outcome":
        """Return the outcome of a comparison.

        Args:
            text: What differs, or an empty text.
            reason: Why it may differ, or an empty text.
        """
        if not text:
            return cls("equal")
        return cls("listed" if reason else "differs", text, reason)


@attrs.frozen(kw_only=True)
class RecordedSet(Generic[CaseT]):
    """Recorded cases, and the functions that play and compare them.

    Attributes:
        name: The name of its folder below ``tests/``, or another one.
        read: Reads the cases of a file, as a version of Kubernetes plays them.
        stored: Reads the cases of the repository for a version.
        versions: The versions that were recorded, the default of `read` first.
        family_of: Returns the family of a case.
        answer: Returns our answer to a case, as ``emit`` prints it.
        outcomes: Plays a case, and compares.
        unit: What outcomes count.
    """

    name: str
    read: Callable[[Path, str], Iterable[CaseT]]
    stored: Callable[[str], Iterable[CaseT]]
    versions: tuple[str, ...]
    family_of: Callable[[CaseT], str]
    answer: Callable[[CaseT], Mapping[str, Any]]
    outcomes: Callable[[CaseT], Iterable[Outcome]]
    unit: str = "cases"


def first_of_families(
    recorded: RecordedSet[CaseT], cases: Iterable[CaseT], count: int
) -> Iterator[CaseT]:
    """Return the first cases of each family."""
    seen: Counter[str] = Counter()
    for case in cases:
        family = recorded.family_of(case)
        seen[family] += 1
        if seen[family] <= count:
            yield case
