"""What a pod wants of GPUs, and what nodes have left of them."""

from collections.abc import Iterator
from typing import Final

import attrs

from quaymaster import Int64Array, Pod
from quaymaster.objects import pod_requests

__all__ = [
    "COUNT",
    "MILLI",
    "WHOLE",
    "Demand",
    "GpuColumns",
    "GpuNode",
    "demand_of",
    "suiting_devices",
]

COUNT: Final = "alibabacloud.com/gpu-count"
"""Of a node, a resource: how many devices it has. Of a pod, an annotation."""

MILLI: Final = "alibabacloud.com/gpu-milli"
"""A pod's annotation: how much it wants of each device."""

WHOLE: Final = 1000
"""All of one device, in thousandths."""

_SHARE_TAG: Final = 1


@attrs.frozen
class Demand:
    """What a pod wants, memory aside.

    Attributes:
        cpu: CPU, in millicores.
        count: How many devices.
        milli: How much of each, in thousandths.
    """

    cpu: int
    count: int
    milli: int

    @property
    def is_share(self) -> bool:
        """Whether it wants a part of one device."""
        return 0 < self.milli < WHOLE

    @property
    def total(self) -> int:
        """How much it wants of all devices."""
        return self.count * self.milli

    @property
    def tag(self) -> int:
        """A bit for its kind, as GpuClustering knows kinds; 0 without GPUs."""
        if not self.count:
            return 0
        return _SHARE_TAG if self.is_share else _SHARE_TAG << self.count


@attrs.frozen
class GpuNode:
    """A node as policies see it.

    Attributes:
        cpu: CPU left, in millicores.
        left: What is left of each device, in thousandths.
        tags: The tags of its GPU pods, as bits.
    """

    cpu: int
    left: tuple[int, ...]
    tags: int = 0


@attrs.frozen(eq=False)
class GpuColumns:
    """Many nodes as policies see them; ``D`` is the number of devices of the largest.

    Attributes:
        cpu: Shape ``(N,)``: CPU left.
        left: Shape ``(N, D)``: what is left of each device; 0 where there is none.
        count: Shape ``(N,)``: how many devices there are.
        tags: Shape ``(N,)``: the tags of the GPU pods.
    """

    cpu: Int64Array
    left: Int64Array
    count: Int64Array
    tags: Int64Array


def demand_of(pod: Pod) -> Demand:
    """Read what a pod wants."""
    annotations = pod.annotations
    count = int(annotations.get(COUNT, "0"))
    milli = int(annotations.get(MILLI, "0")) if count else 0
    return Demand(pod_requests(pod).milli_cpu, count, milli)


def suiting_devices(node: GpuNode, wanted: Demand) -> Iterator[int]:
    """The devices that have enough left, in the order of their numbers."""
    return (device for device, left in enumerate(node.left) if left >= wanted.milli)
