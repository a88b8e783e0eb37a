"""What pending pods need, and where they may run."""

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node, Pod
from quaymaster._api.objects.resource_names import CPU, PODS
from quaymaster._api.objects.resources import pod_requests
from quaymaster._api.objects.selectors import required_node_affinity
from quaymaster._api.objects.tolerations import find_untolerated_taint
from quaymaster._studies.capacity.node_status import why_closed
from quaymaster._studies.simulation.observed import ObservedRun
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["Need", "NodeAmounts", "free_share", "needs_of", "resource_word"]

_GATED: Final = "SchedulingGated"
_UNSCHEDULABLE: Final = "Unschedulable"
_WORDS: Final = {CPU: "CPU", PODS: "room for more pods"}
_PLACES: Final = (
    ("karpenter.sh/nodepool", "pool"),
    ("eks.amazonaws.com/nodegroup", "node group"),
    ("cloud.google.com/gke-nodepool", "pool"),
    ("kubernetes.azure.com/agentpool", "pool"),
    ("topology.kubernetes.io/zone", "zone"),
)
"""Labels that name a part of a cluster, and what people call such a part."""
_NODE_REASONS: Final = (
    *("node(s) had untolerated taint", "node(s) were unschedulable"),
    *("node(s) didn't match Pod's node affinity", "Insufficient ", "Too many pods"),
)
"""Reasons that the labels, taints and amounts of nodes explain already."""


@attrs.frozen(kw_only=True)
class NodeAmounts:
    """What nodes offer, and what their pods request.

    Attributes:
        resources: The names of the resources; the last is ``pods``.
        allocatable: For each resource, the amount of each node.
        requested: For each resource, the requested amount of each node.
    """

    resources: Sequence[str]
    allocatable: Sequence[Sequence[int]]
    requested: Sequence[Sequence[int]]

    def free(self, resource: int, node: int) -> int:
        """Return how much of a resource a node has left; at least 0."""
        rest = self.allocatable[resource][node] - self.requested[resource][node]
        return max(0, rest)


@attrs.frozen(kw_only=True)
class Need:
    """What some pending pods need.

    Attributes:
        words: The need in words that follow a number of pods, such as ``need CPU in
            pool general``.
        resource: The resource that they need; empty if it is something else.
        pods: The numbers of the pods, in the order of the run.
        nodes: The numbers of the nodes where they may run once there is room: nodes
            that accept pods, match their node affinity, have only taints that they
            tolerate, and are large enough.
    """

    words: str
    resource: str
    pods: tuple[int, ...]
    nodes: tuple[int, ...]


def needs_of(run: ObservedRun, amounts: NodeAmounts) -> list[Need]:
    """Return what the pending pods of a run need; what most of them need is first."""
    finder = _Finder(run.nodes, amounts)
    pending = {pod.pod: pod for pod in run.result.unscheduled}
    groups: dict[tuple[str, str], tuple[list[int], set[int]]] = {}
    for row, pod in enumerate(run.pods):
        if pod.key in pending:
            usable = finder.usable(pod)
            resource, words = finder.need(pod, pending[pod.key], usable)
            rows, nodes = groups.setdefault((resource, words), ([], set()))
            rows.append(row)
            nodes.update(finder.large_enough(pod, usable))
    needs = [
        Need(
            words=words, resource=resource, pods=tuple(rows), nodes=tuple(sorted(nodes))
        )
        for (resource, words), (rows, nodes) in groups.items()
    ]
    return sorted(needs, key=lambda need: -len(need.pods))


def resource_word(name: str) -> str:
    """Return the word for a resource in a sentence."""
    return _WORDS.get(name, name)


@attrs.frozen(kw_only=True)
class _Lack:
    """What the nodes lack that a pod may use.

    Attributes:
        resource: The resource that most nodes lack; empty if one has enough of all.
        nodes: The nodes that have enough of everything when they are empty.
    """

    resource: str
    nodes: tuple[int, ...]


class _Finder:
    def __init__(self, nodes: Sequence[Node], amounts: NodeAmounts) -> None:
        self._nodes = nodes
        self._amounts = amounts
        self._open = [row for row, node in enumerate(nodes) if not why_closed(node)]
        self._usable: dict[tuple[object, ...], list[int]] = {}
        self._lacks: dict[tuple[object, ...], _Lack] = {}

    def usable(self, pod: Pod) -> Sequence[int]:
        """Return the open nodes with the labels and taints that a pod accepts."""
        affinity = required_node_affinity(pod)
        # Pods of one template share their affinity.
        key = (id(affinity), pod.spec.tolerations)
        if key not in self._usable:
            self._usable[key] = [
                row
                for row in self._open
                if affinity.matches(self._nodes[row])
                and find_untolerated_taint(
                    self._nodes[row].spec.taints, pod.spec.tolerations
                )
                is None
            ]
        return self._usable[key]

    def large_enough(self, pod: Pod, usable: Sequence[int]) -> Sequence[int]:
        """Return those of some nodes that could hold a pod if they were empty."""
        return self._lacking(pod, usable).nodes

    def need(
        self, pod: Pod, left: UnscheduledPod, usable: Sequence[int]
    ) -> tuple[str, str]:
        """Return the resource that a pending pod needs, and its need in words."""
        if left.reason == _GATED:
            return "", "have scheduling gates"
        if left.reason != _UNSCHEDULABLE:
            return "", f"{left.reason}: {left.message}"
        if not usable:
            return "", "match no node that accepts pods"
        lack = self._lacking(pod, usable)
        if not lack.resource:
            return "", f"wait for: {_other_reasons(left)}"
        word = resource_word(lack.resource)
        place = self._place(lack.nodes or usable)
        if not lack.nodes:
            return lack.resource, f"request more {word} than a node offers{place}"
        return lack.resource, f"need {word}{place}"

    def _lacking(self, pod: Pod, usable: Sequence[int]) -> _Lack:
        """Return what most of some nodes lack; computed once for equal requests."""
        requests = pod_requests(pod)
        names = self._amounts.resources
        amounts = tuple(1 if name == PODS else requests.get(name) for name in names)
        key = (id(usable), amounts)
        if key not in self._lacks:
            self._lacks[key] = self._lack(amounts, usable)
        return self._lacks[key]

    def _lack(self, amounts: Sequence[int], usable: Sequence[int]) -> _Lack:
        """Return what the nodes lack that are large enough; or, without any, all."""
        offered = self._amounts.allocatable
        requested = [
            (column, amount) for column, amount in enumerate(amounts) if amount
        ]
        large = tuple(
            node
            for node in usable
            if all(amount <= offered[column][node] for column, amount in requested)
        )
        counts = [0] * len(amounts)
        for node in large or usable:
            short = [
                column
                for column, amount in requested
                if amount
                > (self._amounts.free(column, node) if large else offered[column][node])
            ]
            if not short:
                return _Lack(resource="", nodes=large)
            for column in short:
                counts[column] += 1
        most = counts.index(max(counts))
        return _Lack(resource=self._amounts.resources[most], nodes=large)

    def _place(self, usable: Sequence[int]) -> str:
        """Name the part of the cluster that has all of some nodes, and not all."""
        for label, word in _PLACES:
            values = {self._nodes[row].labels.get(label, "") for row in usable}
            everywhere = {self._nodes[row].labels.get(label, "") for row in self._open}
            if len(values) == 1 and len(everywhere) > 1:
                [value] = values
                return f" in {word} {value}" if value else ""
        return ""


def _other_reasons(left: UnscheduledPod) -> str:
    others = [reason for reason in left.reasons if not reason.startswith(_NODE_REASONS)]
    return ", ".join(sorted(others or left.reasons)) or left.message


def free_share(
    amounts: NodeAmounts, resource: str, nodes: Iterable[int]
) -> float | None:
    """Return the free part of a resource on some nodes; None if they offer nothing."""
    column = list(amounts.resources).index(resource)
    rows = list(nodes)
    offered = sum(amounts.allocatable[column][row] for row in rows)
    free = sum(amounts.free(column, row) for row in rows)
    return free / offered if offered else None
