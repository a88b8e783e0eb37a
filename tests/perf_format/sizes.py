"""Upstream's workloads with fewer nodes and pods."""

from datetime import timedelta

import attrs

from tests.kit.internals.perf import (
    CreateAny,
    CreateNodes,
    CreatePods,
    Operation,
    UpdateAny,
    Workload,
)

__all__ = ["MANY_NODES", "NODES", "PODS", "scaled", "total"]

NODES, MANY_NODES = 200, 500
"""The scheduler stops early, at enough feasible nodes, in clusters of more than 100."""
PODS = 80
CROWDED_PODS = 240
CROWDED = ("Preemption", "EventHandling")
"""Workloads whose nodes must be full: nodes and pods are scaled together."""
SEARCHING = ("PartitionableBacktracking",)
"""Workloads with a long search for devices on each node: these get fewer nodes."""
SEARCHED_NODES = 10
STEADY = timedelta(milliseconds=200)
"""The seconds in which pods are replaced by new ones; upstream has ten."""


def scaled(workload: Workload, most_nodes: int = NODES) -> Workload:
    """Return the workload with fewer nodes and pods."""
    nodes = total(workload, CreateNodes)
    pods = total(workload, CreatePods)
    if workload.name.startswith(CROWDED):
        of_nodes = of_pods = min(1.0, most_nodes / nodes, CROWDED_PODS / pods)
    else:
        is_searching = workload.name.startswith(SEARCHING)
        most_nodes = SEARCHED_NODES if is_searching else most_nodes
        of_nodes = min(1.0, most_nodes / nodes)
        of_pods = min(of_nodes, PODS / pods)
    operations = tuple(
        _scaled(operation, of_nodes, of_pods) for operation in workload.operations
    )
    return attrs.evolve(workload, operations=operations)


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
