"""Upstream's workloads with fewer nodes and pods."""

from datetime import timedelta

import attrs

from tests.kit.internals.perf import (
    CreateAny,
    CreateNodes,
    CreatePodGroups,
    CreatePods,
    Operation,
    UpdateAny,
    Workload,
)

__all__ = ["MANY_NODES", "NODES", "PODS", "scaled", "total"]

NODES, MANY_NODES = 120, 500
"""The scheduler stops early, at enough feasible nodes, in clusters of more than 100."""
PODS = 80
CROWDED_PODS = 240
CROWDED = ("Preemption", "GangPreemption", "EventHandling")
"""Workloads whose nodes must be full: nodes and pods are scaled together."""
GROUP_SIZE = 4
"""The most pods of a group, unless it shrinks with its nodes."""
SEARCHING = ("PartitionableBacktracking",)
"""Workloads with a long search for devices on each node: these get fewer nodes."""
SEARCHED_NODES = 10
STEADY = timedelta(milliseconds=200)
"""The seconds in which pods are replaced by new ones; upstream has ten."""


def scaled(workload: Workload, most_nodes: int = NODES) -> Workload:
    """Return the workload with fewer nodes and pods."""
    nodes = total(workload, CreateNodes)
    pods = total(workload, CreatePods)
    is_crowded = workload.name.startswith(CROWDED)
    if is_crowded:
        of_nodes = of_pods = min(1.0, most_nodes / nodes, CROWDED_PODS / pods)
    else:
        is_searching = workload.name.startswith(SEARCHING)
        most_nodes = SEARCHED_NODES if is_searching else most_nodes
        of_nodes = min(1.0, most_nodes / nodes)
        of_pods = min(of_nodes, PODS / pods)
    has_groups = any(isinstance(op, CreatePodGroups) for op in workload.operations)
    groups = Groups(of_pods, is_crowded=is_crowded, exist=has_groups)
    operations = tuple(
        groups.scaled(operation) or _scaled(operation, of_nodes, of_pods)
        for operation in workload.operations
    )
    return attrs.evolve(workload, operations=operations)


@attrs.frozen
class Groups:
    """Scales groups and their pods together, so that each group is complete.

    Attributes:
        of_pods: The share of pods that stay.
        is_crowded: Whether groups shrink with their nodes.
        exist: Whether the workload has groups.
    """

    of_pods: float
    is_crowded: bool = attrs.field(kw_only=True)
    exist: bool = attrs.field(kw_only=True)

    def scaled(self, operation: Operation) -> Operation | None:
        """Return an operation with groups, scaled, or None for any other."""
        if isinstance(operation, CreateAny) and self.exist:
            return operation  # groups name claims by their own number
        if not isinstance(operation, CreatePodGroups | CreatePods):
            return None
        parameters = dict(operation.template_params)
        name = next((name for name in _SIZES if name in parameters), "")
        if not name:
            # Its pods name all groups.
            return operation if isinstance(operation, CreatePodGroups) else None
        size = int(str(parameters[name]))
        is_group = isinstance(operation, CreatePodGroups)
        number = operation.count if is_group else operation.count // size
        number, parameters[name] = self._numbers(number, size)
        count = number if is_group else number * int(str(parameters[name]))
        return attrs.evolve(operation, count=count, template_params=parameters)

    def _numbers(self, number: int, size: int) -> tuple[int, int]:
        """Return the number of groups, and how many pods each of them has."""
        pods = max(1, round(number * size * self.of_pods))
        if self.is_crowded:
            small = max(2, round(size * self.of_pods))
        else:
            small = pods if number == 1 else min(size, GROUP_SIZE)
        return max(1, round(pods / small)), small


_SIZES = ("podsPerGroup", "minCount")
"""The template parameters that have the number of pods of a group."""


def total(workload: Workload, kind: type[CreateNodes] | type[CreatePods]) -> int:
    """Return how many nodes or pods a workload creates."""
    return sum(
        operation.count
        for operation in workload.operations
        if isinstance(operation, kind)
    )


def _scaled(operation: Operation, of_nodes: float, of_pods: float) -> Operation:
    match operation:
        case CreateNodes(count=count) if count:
            return attrs.evolve(
                operation, count=max(min(2, count), round(count * of_nodes))
            )
        case CreatePods(steady_state=True):
            return attrs.evolve(operation, duration=STEADY)
        case CreatePods(count=count) | UpdateAny(count=count) if count > 1:
            return attrs.evolve(operation, count=max(1, round(count * of_pods)))
        case CreateAny(template_path=path) if "deviceclass" in path:
            return operation  # pods name each of them
        case CreateAny(template_path=path, count=count) if "resourceslice" in path:
            return attrs.evolve(
                operation, count=max(min(2, count), round(count * of_nodes))
            )
        case CreateAny(count=count) if count > 1:
            return attrs.evolve(operation, count=max(1, round(count * of_pods)))
    return operation
