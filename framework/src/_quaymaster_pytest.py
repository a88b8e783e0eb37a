"""The pytest plugin: fixtures for tests of plugins and profiles.

A separate module, which pytest loads in every test run of an environment with
Quaymaster. Test runs that use none of its fixtures do not import ``quaymaster``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from quaymaster import Node, Pod
    from quaymaster.inmemory import InMemoryCluster
    from quaymaster.scheduler import VirtualClock
    from quaymaster.testing import SchedulerHarness

_MARK = "quaymaster"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that says how the `scheduler` of a test is made."""
    text = f"{_MARK}(**options): what the fixture `scheduler` is made with"
    config.addinivalue_line("markers", text)


@pytest.fixture
def scheduler(request: pytest.FixtureRequest) -> Iterator[SchedulerHarness]:
    """A `SchedulerHarness`; ``@pytest.mark.quaymaster(plugins=..., config=...)``.

    A test whose hooks have failed unexpectedly fails in the end: what it expects, it
    takes out of ``scheduler.errors``.
    """
    from quaymaster.testing import SchedulerHarness  # noqa: PLC0415

    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers(_MARK))):
        options.update(mark.kwargs)
    with SchedulerHarness(**options) as harness:
        yield harness
    harness.assert_no_errors()


@pytest.fixture
def cluster(scheduler: SchedulerHarness) -> InMemoryCluster:
    """The in-memory cluster of the test's scheduler."""
    return scheduler.cluster


@pytest.fixture
def clock(scheduler: SchedulerHarness) -> VirtualClock:
    """The virtual time of the test's scheduler and its cluster."""
    return scheduler.clock


@pytest.fixture
def make_node(cluster: InMemoryCluster) -> Callable[..., Node]:
    """`quaymaster.testing.make_node`, into the cluster: ``node-0``, ``node-1``..."""
    from quaymaster.testing import make_node as make  # noqa: PLC0415

    return _counting(lambda **said: cluster.create(make(**said)), "node")


@pytest.fixture
def make_pod(cluster: InMemoryCluster) -> Callable[..., Pod]:
    """`quaymaster.testing.make_pod`, into the cluster: ``pod-0``, ``pod-1``..."""
    from quaymaster.testing import make_pod as make  # noqa: PLC0415

    return _counting(lambda **said: cluster.create(make(**said)), "pod")


def _counting(create: Callable[..., Any], name: str) -> Callable[..., Any]:
    made = 0

    def create_next(**said: object) -> object:
        nonlocal made
        said.setdefault("name", f"{name}-{made}")
        made += 1
        return create(**said)

    return create_next
