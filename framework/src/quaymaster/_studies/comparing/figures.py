"""The figures of a simulation that are compared."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from quaymaster._api.objects import Node, Pod
from quaymaster._studies.capacity.measuring import measure_room
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.simulation.owners import workload_of
from quaymaster._studies.simulation.results import (
    Placement,
    SimulationResult,
    UnscheduledPod,
)
from quaymaster._studies.simulation.run import Simulation

__all__ = ["ZONE", "measure"]

ZONE: Final = "topology.kubernetes.io/zone"


def measure(
    simulation: Simulation, prices: Prices, topology_keys: Sequence[str]
) -> dict[str, float]:
    """Measure a simulation that has settled.

    Args:
        simulation: The simulation.
        prices: Prices of nodes without an annotation.
        topology_keys: The node labels over whose values the balance is measured.

    Returns:
        The figures by name. Figures without a value, such as an unknown price, are
        missing.
    """
    result = simulation.result()
    pods = [pod for pod in simulation.cluster.list(Pod).items if _takes_room(pod)]
    return {
        "pods": result.pods,
        "placed": len(result.placements),
        "pending": len(result.unscheduled),
        "preempted": len(result.preempted),
        "attempts": _attempts((*result.placements, *result.unscheduled)),
        **_waits(result.placements),
        "makespan": result.makespan,
        "nodes": result.nodes,
        "nodes_used": len({pod.node_name for pod in pods if not _is_daemon(pod)}),
        **_groups(result),
        **_room(simulation, prices),
        **_balance(simulation, pods, topology_keys),
    }


def _takes_room(pod: Pod) -> bool:
    return bool(pod.node_name) and not pod.is_finished


def _is_daemon(pod: Pod) -> bool:
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def _attempts(pods: Iterable[Placement | UnscheduledPod]) -> int:
    return sum(pod.attempts for pod in pods)


def _waits(placements: Sequence[Placement]) -> dict[str, float]:
    """Return how long the placed pods waited for a node, in seconds."""
    if not placements:
        return {}
    waits = [placement.bound - placement.created for placement in placements]
    # A wait that some pod has had, and not a value between two.
    p50, p99 = np.percentile(waits, [50, 99], method="higher")
    return {"wait_p50": float(p50), "wait_p99": float(p99), "wait_max": max(waits)}


def _groups(result: SimulationResult) -> dict[str, float]:
    """Count the PodGroups, and those whose quorum has nodes."""
    if not result.groups:
        return {}
    return {
        "pod_groups": len(result.groups),
        "pod_groups_with_quorum": sum(group.is_quorate for group in result.groups),
    }


def _room(simulation: Simulation, prices: Prices) -> dict[str, float]:
    total = measure_room(
        simulation, by=(), prices=prices, each_node=False, fragmentation=True
    ).total
    figures = {
        f"utilization.{name}": room.utilization
        for name, room in total.resources.items()
        if room.allocatable
    }
    figures |= {f"imbalance.{name}": value for name, value in total.imbalance.items()}
    figures |= {
        f"fragmentation.{name}": value for name, value in total.fragmentation.items()
    }
    if total.price_per_hour is not None:
        figures["price_per_hour"] = total.price_per_hour
    return figures


def _balance(
    simulation: Simulation, pods: Sequence[Pod], keys: Sequence[str]
) -> dict[str, float]:
    """Measure how evenly pods are spread over the values of labels; see `_skews`."""
    cluster = simulation.cluster
    nodes = cluster.list(Node).items
    workloads: dict[str, list[str]] = defaultdict(list)
    for pod in pods:
        if not _is_daemon(pod):
            workloads[workload_of(pod, cluster)].append(pod.node_name)
    figures: dict[str, float] = {}
    for key in keys:
        domains = {
            node.name: node.metadata.labels[key]
            for node in nodes
            if key in node.metadata.labels
        }
        if domains:
            figures |= _skews(key, domains, list(workloads.values()))
    return figures


def _skews(
    key: str, domains: Mapping[str, str], workloads: Sequence[Sequence[str]]
) -> dict[str, float]:
    """Measure the balance over one label.

    The skew is the difference between the value with the most pods and the one with the
    fewest. It is computed for all pods together, and as a mean over the workloads with
    at least two pods.
    """
    name = key.rpartition("/")[2]
    values = sorted(set(domains.values()))
    # A single pod always has a skew of 1, which would hide that of the others.
    own = [_skew(nodes, domains, values) for nodes in workloads if len(nodes) > 1]
    everyone = [node for nodes in workloads for node in nodes]
    figures: dict[str, float] = {f"skew.{name}": _skew(everyone, domains, values)}
    if own:
        figures[f"skew_of_workloads.{name}"] = sum(own) / len(own)
    return figures


def _skew(
    nodes: Iterable[str], domains: Mapping[str, str], values: Sequence[str]
) -> int:
    counts = Counter(domains[node] for node in nodes if node in domains)
    numbers = [counts[value] for value in values]
    return max(numbers) - min(numbers)
