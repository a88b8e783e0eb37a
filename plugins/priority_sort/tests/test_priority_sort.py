"""PrioritySort: the order of pods, as in upstream's TestLess."""

import pytest

from quaymaster import QueuedPodInfo
from quaymaster.config import ConfigErrors
from quaymaster.testing import PluginHarness, make_pod, make_queued_pod
from quaymaster_priority_sort import PrioritySort


def queued(priority: int | None, timestamp: float = 0.0) -> QueuedPodInfo:
    return make_queued_pod(make_pod(priority=priority), timestamp=timestamp)


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
def test_pod_is_tried_before(first: QueuedPodInfo, second: QueuedPodInfo) -> None:
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
