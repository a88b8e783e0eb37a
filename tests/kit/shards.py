"""Runs one part of the tests, for machines that share them: a pytest plugin.

``pytest --shard 2/4`` runs the second of four parts. Neighbours, such as the cases of
one test, go to different parts, because they take about the same time.
"""

from collections.abc import Sequence
from typing import TypeVar

import pytest

__all__ = ["parse_shard", "shard"]

T = TypeVar("T")


def parse_shard(text: str) -> tuple[int, int]:
    """Read the number of a part, from 1, and the count of parts, as in ``2/4``.

    Raises:
        ValueError: The text is something else.
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal()):
        raise ValueError(f"expected a part such as 2/4, got {text!r}")
    if not 1 <= int(number) <= int(count):
        raise ValueError(f"expected a part from 1/{count} to {count}/{count}: {text!r}")
    return int(number), int(count)


def shard(items: Sequence[T], number: int, count: int) -> Sequence[T]:
    """Return one part of the items, in their order."""
    return items[number - 1 :: count]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--shard``."""
    parser.addoption(
        "--shard", metavar="NUMBER/COUNT", help="run one part of the tests"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Deselect all tests of other parts, after markers have deselected theirs."""
    given: str | None = config.getoption("--shard")
    if given is None:
        return
    try:
        number, count = parse_shard(given)
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from error
    kept = shard(items, number, count)
    names = {item.nodeid for item in kept}
    others = [item for item in items if item.nodeid not in names]
    config.hook.pytest_deselected(items=others)
    items[:] = kept
