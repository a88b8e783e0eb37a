"""Runs the costliest of the long tests first: a pytest plugin.

The last tests of a run are then short, and all workers end at about the same time.
"""

from typing import Final

import pytest

__all__: list[str] = []

_COSTLY: Final = (
    "tests/examples/",
    "tests/test_new_plugins.py",
    "tests/docs/",
    "tests/upstream/",
    "framework/tests/studies/experiments/",
    "framework/tests/surfaces/operation/test_hanging_plugins.py",
)
"""Where single tests take more than five CPU seconds, most of it in processes."""


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Move the costly tests to the front, and keep the order of all others."""
    if "(long or" in config.option.markexpr:
        items.sort(key=lambda item: not item.nodeid.startswith(_COSTLY))
