"""The number of examples of property tests: a pytest plugin.

`default` has few examples, the same in every run: the tests are quick, and only a
change makes one fail. `full`, which `.ci/run` uses, has 12 of them. `thorough`, which
the workflow `nightly` uses, has 300, and other ones in each run.
A test has its own settings only where a comment gives the reason.
"""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, settings

__all__ = ["fewer", "random_examples", "unshrunk_examples", "usual_examples"]

# No health checks: a busy machine makes examples slow, which is not a failure.
_SLOW = [HealthCheck.too_slow]

settings.register_profile(
    "default",
    derandomize=True,
    max_examples=6,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=_SLOW,
)
settings.register_profile("full", settings.get_profile("default"), max_examples=12)
settings.register_profile(
    "thorough",
    settings.get_profile("default"),
    derandomize=False,
    max_examples=300,
)
# For tests of what is drawn, as by the profile of an author.
settings.register_profile(
    "random", settings.get_profile("default"), derandomize=False, database=None
)
# For tests that must find a mistake, and the same mistake in every run.
settings.register_profile(
    "sure",
    settings.get_profile("default"),
    max_examples=100,
    derandomize=True,
)
# For those that only ask whether the mistake is found, not for a small example: that
# takes most of the time.
settings.register_profile(
    "unshrunk",
    settings.get_profile("sure"),
    phases=set(Phase) - {Phase.shrink, Phase.explain},
)
settings.load_profile("default")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Mark the contract tests of plugins as hypothesis tests: they draw clusters."""
    for item in items:
        if item.name.startswith("test_contract["):
            item.add_marker("hypothesis")


@pytest.fixture
def usual_examples() -> Iterator[None]:
    """Try as many clusters as hypothesis does by default, the same in each run."""
    yield from _with_profile("sure")


@pytest.fixture
def unshrunk_examples() -> Iterator[None]:
    """Try as many as `usual_examples`, and stop at the first that fails."""
    yield from _with_profile("unshrunk")


@pytest.fixture
def random_examples() -> Iterator[None]:
    """Try others in each run, as by default outside of this repository."""
    yield from _with_profile("random")


def _with_profile(name: str) -> Iterator[None]:
    before = settings.get_current_profile_name()
    settings.load_profile(name)
    yield
    settings.load_profile(before)


def fewer(divisor: int, parent: settings | None = None) -> settings:
    """Return settings for a test with long examples, such as histories or many nodes.

    Args:
        divisor: The number of examples is divided by it.
        parent: The other settings; the profile's by default.

    Returns:
        Settings whose number of examples still grows with the profile.
    """
    examples = max(1, settings().max_examples // divisor)
    return settings(parent, max_examples=examples)
