"""Makers of groups and their pods, for tests and simulations."""

from collections.abc import Iterable, Mapping, Sequence

from quaymaster import Pod
from quaymaster.objects import Quantity
from quaymaster.testing import make_metadata, make_pod

from quaymaster_coscheduling.pod_group import POD_GROUP_LABEL, PodGroup, PodGroupSpec

__all__ = ["make_member", "make_members", "make_pod_group"]


def make_pod_group(
    *,
    name: str = "group",
    namespace: str = "default",
    min_member: int = 1,
    min_resources: Mapping[str, str] | None = None,
    schedule_timeout_seconds: int | None = None,
    creation_timestamp: float | None = None,
) -> PodGroup:
    """Make a group.

    Args:
        name: Its name.
        namespace: Its namespace.
        min_member: How many pods must be placed for any to run.
        min_resources: What the cluster must have left, such as ``{"cpu": "6"}``.
        schedule_timeout_seconds: How long a pod waits for the others.
        creation_timestamp: When it was created.
    """
    amounts = None
    if min_resources is not None:
        amounts = {name: Quantity(text) for name, text in min_resources.items()}
    return PodGroup(
        metadata=make_metadata(
            PodGroup,
            name=name,
            namespace=namespace,
            creation_timestamp=creation_timestamp,
        ),
        spec=PodGroupSpec(
            min_member=min_member,
            min_resources=amounts,
            schedule_timeout_seconds=schedule_timeout_seconds,
        ),
    )


def make_member(
    *,
    name: str = "pod",
    group: str = "group",
    namespace: str = "default",
    node: str | None = None,
    cpu: str = "1",
    priority: int = 0,
    scheduling_gates: Iterable[str] = (),
    creation_timestamp: float | None = None,
) -> Pod:
    """Make a pod of a group.

    Args:
        name: Its name.
        group: The group; empty for none.
        namespace: The namespace of both.
        node: The node that it runs on.
        cpu: How much CPU it requests.
        priority: Its priority.
        scheduling_gates: The names of its gates.
        creation_timestamp: When it was created.
    """
    return make_pod(
        name=name,
        namespace=namespace,
        labels={POD_GROUP_LABEL: group} if group else {},
        node=node,
        requests={"cpu": cpu},
        priority=priority,
        scheduling_gates=scheduling_gates,
        creation_timestamp=creation_timestamp,
    )


def make_members(
    count: int, *, group: str, cpu: str = "1", priority: int = 0
) -> Sequence[Pod]:
    """Make pods of a group that are named after it, numbered from 0."""
    return [
        make_member(name=f"{group}-{number}", group=group, cpu=cpu, priority=priority)
        for number in range(count)
    ]
