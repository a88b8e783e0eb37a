"""Whether a node has room for a pod's requests, and what it lacks.

Mirrors ``fitsRequest`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/noderesources/fit.go``), except that the reasons come
in a fixed order: pods, cpu, memory, ephemeral-storage, then the others by name.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from quaymaster import (
    BoolArray,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Rows,
    Status,
)
from quaymaster.columns import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster.objects import Resources

__all__ = [
    "IsIgnored",
    "IsServed",
    "Shortage",
    "find_shortages",
    "has_room",
    "judge_nodes",
    "rejection",
]

IsIgnored: TypeAlias = Callable[[str], bool]
"""Whether a resource that is counted by its name is left out of the comparison."""

IsServed: TypeAlias = Callable[[str], bool]
"""Whether devices serve a resource on nodes that offer nothing of it themselves."""


class Shortage(NamedTuple):
    """One reason why a pod does not fit.

    Attributes:
        reason: In upstream's words.
        is_unresolvable: Whether the pod would not fit into the empty node either.
    """

    reason: str
    is_unresolvable: bool


_TOO_MANY_PODS: Final = Shortage("Too many pods", False)


def has_room(wanted: Resources, node: NodeInfo) -> bool:
    """Return whether the resources that every node has show already that a pod fits.

    Args:
        wanted: What the pod requests.
        node: The node with its pods.

    Returns:
        False if there may be a shortage: see `find_shortages`.
    """
    offered, used = node.allocatable, node.requested
    cpu, memory, storage = wanted.milli_cpu, wanted.memory, wanted.ephemeral_storage
    return (
        len(node.pods) < offered.allowed_pods
        and not (cpu and cpu > offered.milli_cpu - used.milli_cpu)
        and not (memory and memory > offered.memory - used.memory)
        and not (
            storage and storage > offered.ephemeral_storage - used.ephemeral_storage
        )
        and not wanted.scalars
    )


def find_shortages(
    wanted: Resources, node: NodeInfo, is_ignored: IsIgnored, is_served: IsServed
) -> list[Shortage]:
    """Return everything that a node has too little of.

    Args:
        wanted: What the pod requests.
        node: The node with its pods.
        is_ignored: Which resources to leave out.
        is_served: Which resources devices serve where the node offers nothing.
    """
    offered, used = node.allocatable, node.requested
    amounts = [
        ("cpu", wanted.milli_cpu, offered.milli_cpu, used.milli_cpu),
        ("memory", wanted.memory, offered.memory, used.memory),
        (
            "ephemeral-storage",
            wanted.ephemeral_storage,
            offered.ephemeral_storage,
            used.ephemeral_storage,
        ),
    ]
    amounts += [
        (name, amount, offered.scalars.get(name, 0), used.scalars.get(name, 0))
        for name, amount in sorted(wanted.scalars.items())
        if not is_ignored(name)
        and (offered.scalars.get(name, 0) > 0 or not is_served(name))
    ]
    found = [_TOO_MANY_PODS] if len(node.pods) + 1 > offered.allowed_pods else []
    for name, amount, capacity, taken in amounts:
        if amount > 0 and amount > capacity - taken:
            found.append(Shortage(_insufficient(name), amount > capacity))
    return found


def rejection(shortages: Sequence[Shortage]) -> Status | None:
    """Make the status for shortages; unresolvable if an empty node has some too."""
    if not shortages:
        return None
    reasons = (shortage.reason for shortage in shortages)
    if any(shortage.is_unresolvable for shortage in shortages):
        return Status.unresolvable(*reasons)
    return Status.unschedulable(*reasons)


def judge_nodes(
    wanted: Resources,
    nodes: NodeTable,
    rows: Rows,
    is_ignored: IsIgnored,
    is_served: IsServed,
) -> NodeVerdicts | None:
    """Judge many nodes as `find_shortages` and `rejection` do.

    A code is a set of bits: 0 for unresolvable, 1 for too many pods, then one for each
    requested resource in the order of the reasons.
    """
    demands = _demands(wanted, nodes, is_ignored, is_served)
    full = nodes.pod_count[rows] >= nodes.allowed_pods[rows]
    lacking = [
        (bit, demand, short)
        for bit, demand in enumerate(demands, 2)
        if (short := demand.is_lacking(rows)).any()
    ]
    if not lacking and not full.any():
        return None
    # Python's own integers take over (dtype object) where 64 bits are not enough.
    dtype = np.min_scalar_type(1 << (len(demands) + 1))
    codes = full.astype(dtype) * 2
    for bit, demand, short in lacking:
        codes |= short.astype(dtype) * (1 << bit)
        codes |= short & (demand.capacity[rows] < demand.amount)
    names = [demand.name for demand in demands]
    return NodeVerdicts(codes, lambda code: _status_of(code, names))


class _Demand(NamedTuple):
    """A requested resource, and the columns of what nodes offer and have given."""

    name: str
    amount: int
    capacity: Int64Array
    taken: Int64Array
    is_served: bool = False

    def is_lacking(self, rows: Rows) -> BoolArray:
        """Return where too little is left, shape (N,)."""
        lacking: BoolArray = self.capacity[rows] - self.taken[rows] < self.amount
        return lacking & (self.capacity[rows] > 0) if self.is_served else lacking


def _demands(
    wanted: Resources, nodes: NodeTable, is_ignored: IsIgnored, is_served: IsServed
) -> list[_Demand]:
    amounts: list[tuple[str, int, int | None, bool]] = [
        ("cpu", wanted.milli_cpu, CPU, False),
        ("memory", wanted.memory, MEMORY, False),
        ("ephemeral-storage", wanted.ephemeral_storage, EPHEMERAL_STORAGE, False),
    ]
    amounts += [
        (name, amount, nodes.resource(name), is_served(name))
        for name, amount in sorted(wanted.scalars.items())
        if not is_ignored(name)
    ]
    return [
        _Demand(name, amount, *_columns(nodes, index), served)
        for name, amount, index, served in amounts
        if amount > 0
    ]


def _columns(nodes: NodeTable, index: int | None) -> tuple[Int64Array, Int64Array]:
    if index is None:
        nothing = np.zeros_like(nodes.pod_count)
        return nothing, nothing
    return nodes.allocatable[index], nodes.requested[index]


def _status_of(code: int, names: Sequence[str]) -> Status:
    reasons = [_TOO_MANY_PODS.reason, *map(_insufficient, names)]
    held = [reason for bit, reason in enumerate(reasons, 1) if code >> bit & 1]
    return Status.unresolvable(*held) if code & 1 else Status.unschedulable(*held)


def _insufficient(name: str) -> str:
    return f"Insufficient {name}"
