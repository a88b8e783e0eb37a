"""The room of nodes for waiting jobs, now and at the ends of the pods on them."""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from quaymaster import Handle, NodeInfo, Pod
from quaymaster.columns import CPU, EPHEMERAL_STORAGE, MEMORY, RowArray
from quaymaster.objects import Resources, pod_requests

from quaymaster_order.jobs import requested_seconds
from quaymaster_order.timeline import Timeline

__all__ = ["PODS", "Rooms", "amounts_of", "least_of"]

PODS: Final = "pods"
_LINES: Final = {"cpu": CPU, "memory": MEMORY, "ephemeral-storage": EPHEMERAL_STORAGE}


class Rooms:
    """Follows when pods on nodes end, and looks for room.

    Args:
        handle: The handle of the plugin.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._ends: dict[str, float] = {}

    def start(self, pod: Pod) -> None:
        """Note that a pod begins to run, unless that has been noted."""
        if pod.uid not in self._ends:
            began = pod.status.start_time
            start = self._handle.clock.now() if began is None else float(began)
            self._ends[pod.uid] = start + requested_seconds(pod)

    def stop(self, pod: Pod) -> bool:
        """Note that a pod does not run any longer; return whether it did."""
        return self._ends.pop(pod.uid, None) is not None

    def end_of(self, pod: Pod) -> float:
        """Return when a pod on a node will end; a pod without an entry starts now."""
        end = self._ends.get(pod.uid)
        now = self._handle.clock.now()
        # A pod that runs longer than requested may end at any moment.
        return max(now, now + requested_seconds(pod) if end is None else end)

    def rows_with(self, request: Mapping[str, int]) -> RowArray:
        """Return the rows of nodes that have room for a request now."""
        nodes = self._handle.snapshot.nodes
        rows = nodes.row_numbers(nodes.rows)
        has = nodes.pod_count[rows] + request[PODS] <= nodes.allowed_pods[rows]
        for name, amount in request.items():
            if name == PODS:
                continue
            line = _LINES.get(name, nodes.resource(name))
            if line is None:
                return rows[:0]
            free = nodes.allocatable[line][rows] - nodes.requested[line][rows]
            has &= free >= amount
        return rows[np.flatnonzero(has)]

    def timeline(self, info: NodeInfo, names: Iterable[str]) -> Timeline:
        """Return how much of some resources a node will have, over time.

        Args:
            info: The node.
            names: The resources.
        """
        names = list(names)
        offered, taken = info.allocatable, info.requested
        free = {
            name: offered.get(name)
            - (len(info.pods) if name == PODS else taken.get(name))
            for name in names
        }
        ends = (
            (self.end_of(pod), _amounts(pod_requests(pod), names))
            for pod in info.pods.values()
        )
        return Timeline(self._handle.clock.now(), free, ends)

    def number_with(self, request: Mapping[str, int], row: int) -> int:
        """Return how many requests have room on a node now."""
        info = self._handle.snapshot.nodes.infos[row]
        if info is None:
            return 0
        free, taken = info.allocatable, info.requested
        return min(
            (free.get(name) - (len(info.pods) if name == PODS else taken.get(name)))
            // amount
            for name, amount in request.items()
        )


def amounts_of(pod: Pod) -> Mapping[str, int]:
    """Return what a pod takes of a node: its requests above 0, and its place."""
    requests = pod_requests(pod)
    amounts = _amounts(requests, (*_LINES, *requests.scalars, PODS))
    return {name: amount for name, amount in amounts.items() if amount > 0}


def _amounts(requests: Resources, names: Iterable[str]) -> dict[str, int]:
    return {name: 1 if name == PODS else requests.get(name) for name in names}


def least_of(requests: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    """Return what each of some pods takes at least."""
    first, *others = requests
    least = {
        name: min(amount, *(other.get(name, 0) for other in others))
        if others
        else amount
        for name, amount in first.items()
    }
    return {name: amount for name, amount in least.items() if amount > 0}
