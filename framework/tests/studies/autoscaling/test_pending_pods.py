"""Which pending pods start a loop of the cluster autoscaler at once."""

import pytest

from quaymaster import Pod
from quaymaster.objects import from_wire
from tests.kit.internals.autoscaling import has_become_unschedulable

REJECTED_AT = "2026-01-01T00:00:00Z"
AT = 1767225600.0


def a_pod(reason: str = "Unschedulable", **spec: str) -> Pod:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": reason,
        "lastTransitionTime": REJECTED_AT,
    }
    tree = {
        "metadata": {"name": "p", "namespace": "default"},
        "spec": spec,
        "status": {"conditions": [condition]},
    }
    return from_wire(tree, Pod)


@pytest.mark.parametrize(
    ("seconds", "is_recent"),
    [
        pytest.param(0.0, True, id="at once"),
        pytest.param(10.0, True, id="after ten seconds"),
        pytest.param(10.5, False, id="later, when only its message changes"),
    ],
)
def test_pod_starts_a_loop_if_it_has_lately_become_unschedulable(
    seconds: float, is_recent: bool
) -> None:
    assert has_become_unschedulable(a_pod(), AT + seconds) is is_recent


def test_pod_whose_attempt_met_an_error_starts_no_loop() -> None:
    assert not has_become_unschedulable(a_pod("SchedulerError"), AT)


def test_bound_pod_starts_no_loop() -> None:
    assert not has_become_unschedulable(a_pod(nodeName="n"), AT)
