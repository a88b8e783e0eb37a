"""How many examples property tests try: a pytest plugin.

`default` has few, the same in every run, so that the tests are quick and only a change
makes one fail; `full`, which `.ci/run` plays, has ten times as many; `thorough` has
still more, and others each time. A test has settings of its own only where a comment
says why.
"""

from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["fewer"]

# A busy machine is no failure: neither the time of an example nor that of all counts.
_SLOW = [HealthCheck.too_slow]

settings.register_profile(
    "default",
    derandomize=True,
    max_examples=10,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=_SLOW,
)
settings.register_profile("full", settings.get_profile("default"), max_examples=100)
settings.register_profile(
    "thorough",
    settings.get_profile("default"),
    derandomize=False,
    max_examples=300,
)
# For tests that must find a mistake, and the same one in every run.
settings.register_profile(
    "sure",
    settings.get_profile("default"),
    max_examples=100,
    derandomize=True,
)
settings.load_profile("default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark contracts of plugins as what they are: their clusters are drawn."""
    for item in items:
        if item.name.startswith("test_contract["):
            item.add_marker("hypothesis")


def fewer(divisor: int, parent: settings | None = None) -> settings:
    """Settings for a test whose examples are long: whole histories, many nodes.

    Args:
        divisor: It tries one example where others try so many.
        parent: What else is set; the profile by default.

    Returns:
        The settings, which still grow with the profile.
    """
    examples = max(1, settings().max_examples // divisor)
    return settings(parent, max_examples=examples)
