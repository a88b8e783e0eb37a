"""A small cluster that the engine takes for a large one."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.kit.internals.memo import FEW_ROWS, set_few_rows

__all__ = ["few_rows"]


@contextmanager
def few_rows(count: int | None) -> Iterator[None]:
    """Set up to how many changed rows are judged one by one, and more as arrays.

    Then a dozen nodes take all the paths that thousands take.

    Args:
        count: How many; None leaves it.
    """
    try:
        set_few_rows(FEW_ROWS if count is None else count)
        yield
    finally:
        set_few_rows(FEW_ROWS)
