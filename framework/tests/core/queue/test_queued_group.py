"""The queue's record of a group: the order of its pods, and what sorts it.

The order mirrors ``PodGroupMemberPodsOrderingFunc`` (Kubernetes v1.37,
``pkg/scheduler/framework/types.go``).
"""

from quaymaster.testing import make_pod, make_pod_group
from tests.kit.internals.queue import QueuedGroup, QueuedPod


def queued(
    name: str, *, priority: int = 0, attempts: int = 0, timestamp: float = 0.0
) -> QueuedPod:
    pod = make_pod(name=name, priority=priority, scheduling_group="gang")
    return QueuedPod(pod, timestamp, pod.key, attempts=attempts)


def group_of(*members: QueuedPod, priority: int = 0) -> QueuedGroup:
    first, *others = members
    group = make_pod_group(name="gang", priority=priority)
    queued_group = QueuedGroup.of(group, first)
    for member in others:
        queued_group.add(member)
    return queued_group


def names(group: QueuedGroup) -> list[str]:
    return [member.pod.name for member in group.pods]


def test_pods_are_ordered_by_priority_attempts_timestamp_and_arrival() -> None:
    group = group_of(
        queued("d", timestamp=2.0),
        queued("c", timestamp=2.0),
        queued("late", timestamp=3.0),
        queued("tried", attempts=1, timestamp=9.0),
        queued("tried-twice", attempts=2, timestamp=9.0),
        queued("high", priority=5, timestamp=10.0),
    )
    assert names(group) == ["high", "tried-twice", "tried", "d", "c", "late"]


def test_group_is_as_old_as_its_first_pod() -> None:
    group = group_of(queued("b", timestamp=5.0), queued("a", timestamp=3.0))
    assert group.timestamp == 5.0


def test_group_is_sorted_by_its_first_pod_with_the_priority_of_the_object() -> None:
    group = group_of(queued("a", priority=7), priority=100)
    assert (group.pod.name, group.pod.priority) == ("a", 100)
    assert group.pods[0].pod.priority == 7


def test_first_pod_with_the_priority_of_the_group_is_not_copied() -> None:
    member = queued("a", priority=7)
    assert group_of(member, priority=7).pod is member.pod


def test_key_differs_from_that_of_a_pod_with_the_same_name() -> None:
    group = group_of(queued("a"))
    assert (group.key, group.group_key) == ("podgroup/default/gang", "default/gang")


def test_removed_pod_leaves_the_others_in_order() -> None:
    member = queued("b")
    group = group_of(queued("a"), member, queued("c"))
    group.remove(member)
    assert names(group) == ["a", "c"]
    assert repr(group) == (
        "QueuedGroup('podgroup/default/gang', in flight, pods=2, attempts=0)"
    )
