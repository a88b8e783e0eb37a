"""A small cluster that the engine treats as a large one."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.kit.internals.memo import FEW_ROWS, set_few_rows

__all__ = ["few_rows"]


@contextmanager
def few_rows(count: int | None) -> Iterator[None]:
    """Set the number of changed rows up to which they are checked one by one.

    Then a dozen nodes take all the code paths of thousands.

    Args:
        count: The number; None changes nothing.
    """
    try:
        set_few_rows(FEW_ROWS if count is None else count)
        yield
    finally:
        set_few_rows(FEW_ROWS)
