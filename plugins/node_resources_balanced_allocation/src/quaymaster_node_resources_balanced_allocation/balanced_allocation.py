"""Prefer nodes whose resources are used evenly with the pod.

Mirrors ``NodeResourcesBalancedAllocation`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go``).
"""

import itertools
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np

from quaymaster import (
    MAX_NODE_SCORE,
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
)
from quaymaster.columns import ResourceColumn, lines_at
from quaymaster.devices import DeviceTotals, ExtendedResources, ServedResources
from quaymaster.objects import DeviceClass, pod_usage
from quaymaster_node_resources_balanced_allocation.args import (
    NodeResourcesBalancedAllocationArgs,
)
from quaymaster_node_resources_balanced_allocation.balance import (
    Balanced,
    Demands,
    balance_of_nodes,
    gain_of,
)

__all__ = ["NodeResourcesBalancedAllocation"]

_PRE_SCORE: Final = StateKey[Demands]("PreScoreNodeResourcesBalancedAllocation")
_HALF: Final = MAX_NODE_SCORE // 2


class NodeResourcesBalancedAllocation:
    """Compares the balance of a node with the pod and without it.

    The score is 75 if the pod changes nothing, up to 100 if it makes the usage more
    even, and down to 50 if it makes it less even.

    Args:
        args: The resources to balance.
        handle: The framework.
    """

    Args = NodeResourcesBalancedAllocationArgs
    scope = Scope.NODE
    reads = (DeviceClass,)

    def __init__(
        self, args: NodeResourcesBalancedAllocationArgs, handle: Handle
    ) -> None:
        self._kubernetes = handle.kubernetes
        self._resources = tuple(ResourceColumn(spec.name) for spec in args.resources)
        self._balanced: dict[tuple[bool, ...], Balanced] = {}
        self._devices = ServedResources(
            (spec.name for spec in args.resources),
            ExtendedResources(handle.informers),
            handle.shared(DeviceTotals, DeviceTotals),
        )

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        requests = self._requests(pod)
        if self._devices.names and self._wants_devices(requests):
            return None  # its score depends on devices, too
        return requests

    @hookimpl
    def pre_score(self, state: CycleState, pod: Pod) -> Status | None:
        demands = self._demands(pod)
        if demands is None:
            return Status.skip()
        state[_PRE_SCORE] = demands
        return None

    @hookimpl
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        demands = state.get(_PRE_SCORE) or self._demands(pod)
        return 0 if demands is None else self._score(demands, node)

    def _score(self, demands: Demands, node: NodeInfo) -> int:
        before, after = [], []
        # Converted to floats before the division, as in upstream. Inlined, because four
        # calls for each changed node take half as long again.
        for read, request in demands.parts:
            capacity, used = read(node)
            if capacity:
                whole, later = float(capacity), used + request
                before.append(float(used) / whole if used < capacity else 1.0)
                after.append(float(later) / whole if later < capacity else 1.0)
        return _HALF + (_HALF + gain_of(before, after)) // 2

    @hookimpl
    def score_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        demands = state.get(_PRE_SCORE) or self._demands(pod)
        if demands is None:
            return np.zeros(nodes.count(rows), dtype=np.int64)
        if demands.has_devices:
            infos = nodes.infos_at(rows)
            return np.array([self._score(demands, n) for n in infos], dtype=np.int64)
        scores = balance_of_nodes(nodes, rows, demands)
        scores += lines_at(demands.balanced.less_before.of(nodes), rows)
        scores >>= 1  # faster than //, and equal for numbers of at least 0
        return scores

    def _requests(self, pod: Pod) -> tuple[int, ...]:
        """Return the pod's requests for each resource, without defaults."""
        requests = pod_usage(pod, self._kubernetes).requests
        return tuple([resource.request(requests) for resource in self._resources])

    def _demands(self, pod: Pod) -> Demands | None:
        """Return the pod's demands; they are empty if it requests nothing.

        Score computes them itself only if PreScore is disabled.
        """
        requests = self._requests(pod)
        if not any(requests):
            return None
        parts = list(zip(self._resources, requests, strict=True))
        counts = tuple([resource.counts(request) for resource, request in parts])
        counted = list(itertools.compress(parts, counts))
        balanced = self._balanced.get(counts)
        if balanced is None:
            balanced = Balanced([resource for resource, _ in counted])
            self._balanced[counts] = balanced
        demands = Demands.of(balanced, [request for _, request in counted])
        if self._devices.names:
            readers = [self._devices.reader(resource.name) for resource, _ in counted]
            demands.read_devices(readers)
        return demands

    def _wants_devices(self, requests: Sequence[int]) -> bool:
        return any(
            request and resource.name in self._devices.names
            for resource, request in zip(self._resources, requests, strict=True)
        )
