"""The room of nodes for waiting jobs, now and at the ends of the pods on them."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from quaymaster import Handle, NodeInfo, Pod
from quaymaster.columns import CPU, EPHEMERAL_STORAGE, MEMORY, RowArray
from quaymaster.objects import Resources, pod_requests

from quaymaster_order.jobs import requested_seconds
from quaymaster_order.timeline import Timeline

__all__ = ["PODS", "Rooms", "amounts_of"]

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
        now, names = self._handle.clock.now(), list(names)
        offered, taken = info.allocatable, info.requested
        free = {
            name: offered.get(name)
            - (len(info.pods) if name == PODS else taken.get(name))
            for name in names
        }
        ends = (
            (
                max(now, self._ends.get(uid, math.inf)),
                _amounts(pod_requests(pod), names),
            )
            for uid, pod in info.pods.items()
        )
        return Timeline(now, free, ends)


def amounts_of(pod: Pod) -> Mapping[str, int]:
    """Return what a pod takes of a node: its requests above 0, and its place."""
    requests = pod_requests(pod)
    amounts = _amounts(requests, (*_LINES, *requests.scalars, PODS))
    return {name: amount for name, amount in amounts.items() if amount > 0}


def _amounts(requests: Resources, names: Iterable[str]) -> dict[str, int]:
    return {name: 1 if name == PODS else requests.get(name) for name in names}
