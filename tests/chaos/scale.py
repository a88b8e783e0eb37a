"""A small cluster that the engine takes for a large one."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.kit.internals.memo import filter_memo, filters, score_memo

__all__ = ["few_rows"]

_HOLDERS = (filter_memo, filters, score_memo)


@contextmanager
def few_rows(count: int | None) -> Iterator[None]:
    """Have so many moved rows judged one by one, and more of them as arrays.

    With a dozen nodes, everything that thousands of nodes meet then happens.

    Args:
        count: How many; None leaves it.
    """
    before = filter_memo.FEW_ROWS
    try:
        _set(before if count is None else count)
        yield
    finally:
        _set(before)


def _set(count: int) -> None:
    for holder in _HOLDERS:
        vars(holder)["FEW_ROWS"] = count
