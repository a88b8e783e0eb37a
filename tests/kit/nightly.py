"""Divides the cases of a costly test between the long suite and the nightly one."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet

__all__ = ["sampled", "with_rest_at_night"]

T = TypeVar("T")


def sampled(cases: Iterable[T], *, step: int) -> Sequence[ParameterSet]:
    """Mark the first of every ``step`` cases as long, and the others as nightly."""
    return [
        pytest.param(case, marks=_marks(is_nightly=index % step > 0))
        for index, case in enumerate(cases)
    ]


def with_rest_at_night(
    cases: Iterable[tuple[T, ...]], names: Iterable[str], *, nightly: Iterable[str]
) -> Sequence[ParameterSet]:
    """Mark the named cases as nightly, and the others as long.

    Args:
        cases: The arguments of each case.
        names: The names of the cases, in their order.
        nightly: The names of the nightly cases.
    """
    costly = frozenset(nightly)
    return [
        pytest.param(*case, id=name, marks=_marks(is_nightly=name in costly))
        for case, name in zip(cases, names, strict=True)
    ]


def _marks(*, is_nightly: bool) -> Sequence[pytest.MarkDecorator]:
    return [pytest.mark.nightly if is_nightly else pytest.mark.long]
