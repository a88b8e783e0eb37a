"""PrioritySort: the order of pods, as in upstream's TestLess."""

from collections.abc import Set as AbstractSet

import attrs
import pytest

from quaymaster import Pod
from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_pod
from quaymaster_priority_sort import PrioritySort


@attrs.frozen(kw_only=True)
class Queued:
    """A pod as the queue keeps it."""

    pod: Pod
    timestamp: float
    initial_attempt_timestamp: float | None = None
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    unschedulable_plugins: AbstractSet[str] = frozenset()
    pending_plugins: AbstractSet[str] = frozenset()
    gating_plugin: str = ""


def queued(priority: int | None, timestamp: float = 0.0) -> Queued:
    return Queued(pod=make_pod(priority=priority), timestamp=timestamp)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(queued(100), queued(10), id="higher priority"),
        pytest.param(queued(100, 2.0), queued(100, 5.0), id="equal priority, earlier"),
        pytest.param(queued(100, 5.0), queued(10, 2.0), id="higher priority, later"),
        pytest.param(queued(None), queued(-1), id="no priority counts as 0"),
        pytest.param(
            queued(2_000_001_000), queued(1_000_000_000), id="system-critical priority"
        ),
    ],
)
def test_pod_is_tried_before(first: Queued, second: Queued) -> None:
    harness = PluginHarness(PrioritySort)
    assert harness.sort_key(first) < harness.sort_key(second)


def test_pods_of_equal_priority_and_time_have_equal_keys() -> None:
    harness = PluginHarness(PrioritySort)
    assert harness.sort_key(queued(7, 3.0)) == harness.sort_key(queued(7, 3.0))


def test_missing_priority_equals_0() -> None:
    harness = PluginHarness(PrioritySort)
    assert harness.sort_key(queued(None)) == harness.sort_key(queued(0))


def test_arguments_are_refused() -> None:
    with pytest.raises(ConfigErrors, match="'PrioritySort' takes no arguments"):
        PluginHarness(PrioritySort, args={"colour": "red"})
