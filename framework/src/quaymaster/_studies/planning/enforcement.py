"""Finds out which rules a profile enforces, by scheduling pods that break one.

Bounds of plans rest on rules: requests fit, two pods do not share a host port, and so
on. Whether a profile enforces them depends on its plugins, so each rule is tested. On a
separate node, two pods are scheduled that break the rule by as little as possible, and
two that just meet it.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    Affinity,
    Container,
    ContainerPort,
    LabelSelector,
    Node,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodAffinityTerm,
    PodAntiAffinity,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    TopologySpreadConstraint,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._studies.simulation.run import Simulation

__all__ = [
    "APART",
    "EVEN",
    "HOST",
    "PORTS",
    "RoomFor",
    "Rule",
    "is_enforced",
    "probed_node",
]

HOST: Final = "kubernetes.io/hostname"
_NAME: Final = "quaymaster-plan-probe"
_LABELS: Final = {"app": _NAME}
_SELECTOR: Final = LabelSelector(match_labels=_LABELS)
_PAGES: Final = "hugepages-"
_MOST: Final = 4
"""The allocatable amount of the node, in the smallest unit of each resource."""


@attrs.frozen
class RoomFor:
    """The sum of the pods' requests does not exceed what their node offers.

    Attributes:
        resource: The resource.
    """

    resource: str


@attrs.frozen(eq=False)
class _Law:
    """A rule about two pods on one node.

    Attributes:
        kept: Pods that meet it.
        broken: Pods of which the last one breaks it.
    """

    kept: Sequence[PodSpec]
    broken: Sequence[PodSpec]


def _on_port(port: int) -> PodSpec:
    ports = (ContainerPort(container_port=port, host_port=port),)
    return PodSpec(containers=(Container(name="c", image="i", ports=ports),))


_PLAIN: Final = PodSpec(containers=(Container(name="c", image="i"),))
_ALONE: Final = replace(
    _PLAIN,
    affinity=Affinity(
        pod_anti_affinity=PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=(
                PodAffinityTerm(topology_key=HOST, label_selector=_SELECTOR),
            )
        )
    ),
)
_SPREAD: Final = replace(
    _PLAIN,
    topology_spread_constraints=(
        TopologySpreadConstraint(
            max_skew=1,
            min_domains=2,
            topology_key=HOST,
            when_unsatisfiable="DoNotSchedule",
            label_selector=_SELECTOR,
        ),
    ),
)

PORTS: Final = _Law([_on_port(8080), _on_port(8081)], [_on_port(8080)] * 2)
"""Two pods with the same host port are on different nodes."""
APART: Final = _Law([_PLAIN] * 2, [_ALONE] * 2)
"""Pods that required anti-affinity keeps apart share no domain."""
EVEN: Final = _Law([_PLAIN] * 2, [_SPREAD] * 2)
"""Pods are spread as a ``DoNotSchedule`` constraint says."""

Rule: TypeAlias = RoomFor | _Law


def probed_node(rule: Rule) -> Node:
    """Make the node on which a rule is tested."""
    offer = {"cpu": Quantity(64), "memory": Quantity("64Gi"), "pods": Quantity(9)}
    if isinstance(rule, RoomFor):
        offer[rule.resource] = _amount(rule.resource, _MOST)
    return Node(
        metadata=ObjectMeta(name=_NAME, labels={HOST: _NAME}),
        status=NodeStatus(capacity=offer, allocatable=offer),
    )


def is_enforced(simulation: Simulation, scheduler_name: str, rule: Rule) -> bool:
    """Whether a profile enforces a rule.

    Args:
        simulation: The simulation of a cluster with only the `probed_node` of the rule.
        scheduler_name: The profile.
        rule: The rule.
    """
    law = _law_of_room(rule.resource) if isinstance(rule, RoomFor) else rule
    last = len(law.broken) - 1
    # The pods that keep the rule are tried too: a profile that rejects every pod would
    # seem to enforce it.
    return _placed(simulation, scheduler_name, law.kept) == [True] * len(law.kept) and (
        _placed(simulation, scheduler_name, law.broken) == [True] * last + [False]
    )


def _law_of_room(resource: str) -> _Law:
    if resource == "pods":
        return _Law([_PLAIN] * _MOST, [_PLAIN] * (_MOST + 1))
    half, more = (
        _requesting({"cpu": Quantity("1m"), resource: _amount(resource, number)})
        # Two halves fit exactly, and one unit more does not: the smallest violation of
        # the rule.
        for number in (_MOST // 2, _MOST // 2 + 1)
    )
    return _Law([half, half], [half, more])


def _requesting(amounts: dict[str, Quantity]) -> PodSpec:
    resources = ResourceRequirements(requests=amounts, limits=amounts)
    container = replace(_PLAIN.containers[0], resources=resources)
    return replace(_PLAIN, containers=(container,))


def _amount(resource: str, number: int) -> Quantity:
    """Return a number of the smallest units of a resource."""
    if resource == "cpu":
        return Quantity(f"{number}m")
    if resource.startswith(_PAGES):
        size = Quantity(resource.removeprefix(_PAGES))
        return Quantity(size.value * number)
    return Quantity(number)


def _placed(
    simulation: Simulation, scheduler_name: str, specs: Sequence[PodSpec]
) -> list[bool]:
    """Schedule pods one after the other; return for each whether it got the node."""
    cluster, keys = simulation.cluster, []
    for number, spec in enumerate(specs):
        pod = Pod(
            metadata=ObjectMeta(name=f"{_NAME}-{number}", labels=_LABELS),
            spec=replace(spec, scheduler_name=scheduler_name),
            status=PodStatus(),
        )
        keys.append(cluster.create(pod).key)
        simulation.settle()
    placed = [bool(cluster.get(Pod, key).node_name) for key in keys]
    for key in keys:
        cluster.delete(Pod, key, grace_period_seconds=0)
    simulation.settle()
    return placed
