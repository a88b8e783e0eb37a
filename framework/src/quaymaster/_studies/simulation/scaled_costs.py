"""What the nodes of an autoscaler cost, by workload, and how long its pods waited."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from quaymaster._api.objects import Node
from quaymaster._api.objects.resources import (
    Resources,
    node_allocatable,
    pod_requests,
)
from quaymaster._studies.simulation.autoscaler import AutoscaledNode
from quaymaster._studies.simulation.history import History, PodLife

__all__ = ["ScaledCourse", "WorkloadCourse", "scaled_course"]

_HOUR = 3600
_UNUSED = ""


@attrs.frozen(kw_only=True)
class WorkloadCourse:
    """The cost and the waiting times of a workload.

    Attributes:
        workload: Its namespace, kind and name, such as ``shop/Deployment/web``.
        pods: The number of its pods, those that are gone included.
        cost: Its part of the price of the nodes that it ran on; None if it ran on none
            that has a price.
        waits: How long each of its pods waited for a node, in seconds; for a pending
            pod, until the end.
        pending: How many of its pods have no node at the end.
    """

    workload: str
    pods: int
    cost: float | None
    waits: tuple[float, ...] = attrs.field(repr=False)
    pending: int


@attrs.frozen(kw_only=True, eq=False)
class ScaledCourse:
    """The nodes of an autoscaler in the course of a simulation.

    Attributes:
        nodes: All nodes that it ever had.
        workloads: The workloads, the most expensive ones first.
        unused: The part of the cost that no pod requested; None without prices.
    """

    nodes: tuple[AutoscaledNode, ...]
    workloads: tuple[WorkloadCourse, ...]
    unused: float | None


def scaled_course(nodes: Iterable[AutoscaledNode], history: History) -> ScaledCourse:
    """Return what the workloads cost on the nodes of an autoscaler.

    A pod pays for its share of a node while it is there: the mean of the shares of CPU
    and memory that it requests. The rest is unused, such as the boot time.

    Args:
        nodes: The nodes.
        history: The history of pods and nodes; it must be up to date.
    """
    nodes = tuple(nodes)
    costs = _costs(nodes, history)
    lives: dict[str, list[PodLife]] = defaultdict(list)
    for life in history.pods:
        lives[_workload(life)].append(life)
    workloads = [
        _course(name, own, costs.get(name), history.now) for name, own in lives.items()
    ]
    workloads.sort(key=lambda each: (-(each.cost or 0.0), each.workload))
    return ScaledCourse(
        nodes=nodes, workloads=tuple(workloads), unused=costs.get(_UNUSED)
    )


def _costs(nodes: Iterable[AutoscaledNode], history: History) -> Mapping[str, float]:
    """Return the cost of each workload; the empty name pays for what is left."""
    allocatable = _allocatable(span.node for span in history.nodes)
    on_node: dict[str, list[PodLife]] = defaultdict(list)
    for life in history.pods:
        if life.bound is not None:
            on_node[life.node].append(life)
    costs: dict[str, float] = defaultdict(float)
    for node in nodes:
        if node.cost is None or node.price is None:
            continue
        left = node.cost
        for life in on_node[node.node]:
            share = _share(life, allocatable.get(node.node))
            part = share * node.price * _seconds_on(life, node) / _HOUR
            costs[_workload(life)] += part
            left -= part
        # Overcommitted nodes, and pods that end after their node, leave less than 0.
        costs[_UNUSED] += max(0.0, left)
    return costs


def _allocatable(nodes: Iterable[Node]) -> Mapping[str, Resources]:
    return {node.name: node_allocatable(node) for node in nodes}


def _seconds_on(life: PodLife, node: AutoscaledNode) -> float:
    """Return how long a pod was on a node while the node was paid."""
    end = node.until if node.removed is None else node.removed
    begin = max(life.bound or 0.0, node.ordered or 0.0)
    until = end if life.ran_until is None else min(end, life.ran_until)
    return max(0.0, until - begin)


def _share(life: PodLife, allocatable: Resources | None) -> float:
    if allocatable is None:
        return 0.0
    requests = pod_requests(life.pod)
    pairs = (
        (requests.milli_cpu, allocatable.milli_cpu),
        (requests.memory, allocatable.memory),
    )
    return sum(part / whole for part, whole in pairs if whole) / len(pairs)


def _course(
    name: str, lives: Sequence[PodLife], cost: float | None, end: float
) -> WorkloadCourse:
    return WorkloadCourse(
        workload=name,
        pods=len(lives),
        cost=cost,
        waits=tuple(_waits(lives, end)),
        pending=sum(life.is_waiting for life in lives),
    )


def _waits(lives: Iterable[PodLife], end: float) -> Iterator[float]:
    for life in lives:
        until = life.waited_until
        yield (end if until is None else until) - life.created


def _workload(life: PodLife) -> str:
    """Return the topmost owner of a pod, or the pod itself if it has none."""
    namespace = life.pod.namespace
    if not life.owners:
        return f"{namespace}/Pod/{life.pod.name}"
    owner = life.owners[-1]
    return f"{namespace}/{owner.kind}/{owner.name}"
