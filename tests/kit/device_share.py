"""A plugin that gives pods a share of one device, and chooses it at Reserve.

It reads a pod's share from an annotation, and writes its choice to another one.
"""

from collections.abc import Hashable, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster import (
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.columns import PodColumn
from quaymaster.testing import make_pod

__all__ = [
    "COUNT",
    "DEVICE",
    "MOST",
    "WANTS",
    "DeviceShare",
    "left_on",
    "make_sharer",
    "share_of",
    "with_device",
]

WANTS: Final = "example.com/wants"
"""A pod's annotation: the share of a device that it needs, in thousandths."""

DEVICE: Final = "example.com/device"
"""A pod's annotation: the number of its device."""

COUNT: Final = "devices"
"""A node's label: its number of devices."""

MOST: Final = 4
"""The highest number of devices of a node."""

_FULL: Final = Status.unschedulable("node(s) had no device with enough left")


@attrs.frozen
class Share:
    """The share of a device that a pod needs, and its device, if one was chosen."""

    milli: int
    device: int | None


def share_of(pod: Pod) -> Share | None:
    """Return the share of a pod, or None if it needs no device."""
    wants, device = pod.annotations.get(WANTS), pod.annotations.get(DEVICE)
    if wants is None:
        return None
    return Share(int(wants), None if device is None else int(device))


def left_on(node: NodeInfo, shares: Sequence[Share]) -> Sequence[int]:
    """Return the free part of each device of a node; waiting shares get one first."""
    left = [1000] * int(node.labels.get(COUNT, "0"))
    for share in sorted(shares, key=lambda share: share.device is None):
        device = _tightest(left, share.milli) if share.device is None else share.device
        if device is not None and device < len(left):
            left[device] = max(0, left[device] - share.milli)
    return left


def _tightest(left: Sequence[int], milli: int) -> int | None:
    suiting = [device for device, rest in enumerate(left) if rest >= milli]
    return min(suiting, key=left.__getitem__, default=None)


def make_sharer(
    *, name: str, wants: int = 500, node: str | None = None, priority: int = 0
) -> Pod:
    """Make a pod that needs a share of a device."""
    wanted = {WANTS: str(wants)}
    return make_pod(name=name, node=node, priority=priority, annotations=wanted)


def with_device(pod: Pod, device: int) -> Pod:
    """Return a pod with another device."""
    annotations = {**pod.annotations, DEVICE: str(device)}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


class DeviceShare:
    """Filters by the free part of devices, and chooses the fullest device that fits."""

    scope = Scope.NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self.handle = handle
        self.left = PodColumn(share_of, left_on, width=MOST)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return _wanted(pod)

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return None if max(self.left.on(node), default=0) >= _wanted(pod) else _FULL

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        most = self.left.of(nodes)[rows].max(axis=1)
        return NodeVerdicts.reject_where(most < _wanted(pod), _FULL)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return max(0, 100 - sum(self.left.on(node)) // (10 * MOST))

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        left = self.left.of(nodes)[rows].sum(axis=1) // (10 * MOST)
        scores: Int64Array = (100 - left).clip(0)
        return scores

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        node = self.handle.snapshot.get(node_name)
        share = share_of(pod)
        if share is None or node is None:
            return
        before = node.clone()
        before.remove_pod(pod)
        device = _tightest(self.left.on(before), share.milli)
        state.annotate(DEVICE, str(device))

    @hookimpl
    def unreserve(self) -> None:
        """Do nothing: the annotation is removed with the node."""


def _wanted(pod: Pod) -> int:
    share = share_of(pod)
    return 0 if share is None else share.milli
