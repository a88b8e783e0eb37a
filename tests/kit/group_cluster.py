"""A scheduler with groups on a small cluster, for tests of whole cycles."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.objects import PodGroup
from quaymaster.testing import (
    SchedulerHarness,
    make_node,
    make_pod,
    make_pod_group,
    make_priority_class,
)
from tests.kit.internals.groups import kubernetes_with_groups

__all__ = [
    "GROUP",
    "PRIORITIES",
    "cpu_nodes",
    "gang_objects",
    "group_condition",
    "harness_with_groups",
    "nodes_by_pod",
]

GROUP = "gang"
PRIORITIES: Mapping[int, str] = {10: "low", 100: "high"}
"""The value of each priority class -> its name."""


def harness_with_groups(
    objects: Iterable[ApiObject] = (),
    *,
    plugins: Mapping[str, type] | None = None,
    config: Mapping[str, object] | None = None,
    **gates: bool,
) -> SchedulerHarness:
    """Return a scheduler with the feature gate GenericWorkload, and priority classes.

    Args:
        objects: More objects of the cluster.
        plugins: Plugins of the test, by name.
        config: The configuration; by default the default profile.
        gates: More feature gates.
    """
    classes = [
        make_priority_class(name=name, value=value)
        for value, name in PRIORITIES.items()
    ]
    return SchedulerHarness(
        [*classes, *objects],
        plugins=plugins,
        config=config,
        kubernetes=kubernetes_with_groups(**gates),
    )


def cpu_nodes(*names: str, cpu: str = "1") -> Sequence[ApiObject]:
    """Return nodes with so much CPU."""
    return [make_node(name=name, allocatable={"cpu": cpu}) for name in names]


def gang_objects(
    count: int,
    *,
    min_count: int | None = None,
    cpu: str = "1",
    name: str = GROUP,
    priority: int = 0,
    basic: bool = False,
    topology_key: str | None = None,
    together: bool = False,
) -> Sequence[ApiObject]:
    """Return a group with pods ``NAME-0``, ``NAME-1``, ...

    Args:
        count: The number of pods.
        min_count: The quorum; by default all pods.
        cpu: The CPU of each pod.
        name: The name of the group.
        priority: The priority of the group and its pods: 0 or one of `PRIORITIES`.
        basic: Whether as many pods as fit are scheduled, without a quorum.
        topology_key: The label of nodes whose value its pods must share.
        together: Whether its pods can only be preempted together.
    """
    least = count if min_count is None else min_count
    group = make_pod_group(
        name=name,
        min_count=None if basic else least,
        priority=priority,
        topology_key=topology_key,
        disrupts_all=together,
    )
    class_name = PRIORITIES.get(priority, "")
    group = replace(group, spec=replace(group.spec, priority_class_name=class_name))
    return [group, *(_member(name, index, cpu, priority) for index in range(count))]


def _member(group: str, index: int, cpu: str, priority: int) -> Pod:
    return make_pod(
        name=f"{group}-{index}",
        requests={"cpu": cpu},
        scheduling_group=group,
        priority=priority,
    )


def nodes_by_pod(harness: SchedulerHarness) -> Mapping[str, str]:
    """Return pod -> node, for the pods that have a node."""
    pods = harness.cluster.list(Pod).items
    return {pod.name: pod.node_name for pod in pods if pod.node_name}


def group_condition(harness: SchedulerHarness, name: str = GROUP) -> tuple[str, ...]:
    """Return status, reason and message of the condition of a group, if it has one."""
    group = harness.cluster.get(PodGroup, f"default/{name}")
    for condition in group.status.conditions:
        return condition.status, condition.reason, condition.message
    return ()
