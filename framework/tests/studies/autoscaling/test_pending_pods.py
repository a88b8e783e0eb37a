"""Which pending pods start a loop of the cluster autoscaler at once."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from quaymaster import Pod
from quaymaster.objects import PodCondition, Time, from_wire
from tests.kit.internals.autoscaling import (
    differ_by_attempt,
    has_become_unschedulable,
)

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


def rejected(pod: Pod, *more: PodCondition, reason: str = "Unschedulable") -> Pod:
    """Return a pod after another attempt."""
    condition = PodCondition(
        type="PodScheduled", status="False", reason=reason, message="0/3 nodes"
    )
    return replace(pod, status=replace(pod.status, conditions=(condition, *more)))


def test_pod_with_another_message_differs_only_by_an_attempt() -> None:
    pod = a_pod()
    assert differ_by_attempt(pod, rejected(pod))


def with_labels(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, labels={"a": "b"}))


def with_annotations(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, annotations={"a": "b"}))


def created_again(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, uid="other"))


def deleted(pod: Pod) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, deletion_timestamp=Time(AT)))


def nominated(pod: Pod) -> Pod:
    return replace(pod, status=replace(pod.status, nominated_node_name="n"))


def bound(pod: Pod) -> Pod:
    return replace(pod, node_name="n")


def with_error(pod: Pod) -> Pod:
    return rejected(pod, reason="SchedulerError")


def with_priority(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, priority=5))


def with_disruption(pod: Pod) -> Pod:
    return rejected(pod, PodCondition(type="DisruptionTarget", status="True"))


@pytest.mark.parametrize(
    "change",
    [
        with_labels,
        with_annotations,
        created_again,
        deleted,
        nominated,
        bound,
        with_error,
        with_priority,
        with_disruption,
    ],
)
def test_pod_that_has_changed_otherwise_is_looked_at(
    change: Callable[[Pod], Pod],
) -> None:
    pod = a_pod()
    assert not differ_by_attempt(pod, change(rejected(pod)))
