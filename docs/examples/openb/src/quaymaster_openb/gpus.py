"""GPUs: what pods want of them, what pods have, and what nodes have left.

The annotations and labels are those of the simulator of the paper.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import attrs
from quaymaster import Handle, NodeInfo, Pod
from quaymaster.columns import PodColumn

__all__ = [
    "COUNT",
    "FULL",
    "INDEX",
    "MILLI",
    "MODEL",
    "MOST",
    "GpuRequest",
    "Gpus",
    "count_of",
]

COUNT: Final = "alibabacloud.com/gpu-count"
"""A pod's annotation: how many GPUs it wants; a node's label: how many it has."""

MILLI: Final = "alibabacloud.com/gpu-milli"
"""A pod's annotation: how many thousandths it wants of each."""

MODEL: Final = "alibabacloud.com/gpu-card-model"
"""A node's label: its model; a pod's annotation: models that it can use, ``A|B``."""

INDEX: Final = "alibabacloud.com/gpu-index"
"""A pod's annotation: the numbers of the GPUs that it has, ``2-3``."""

FULL: Final = 1000
"""A whole GPU, in thousandths."""

MOST: Final = 8
"""How many GPUs a node has at most."""

_MOST_DIGITS: Final = 18


@attrs.frozen
class GpuRequest:
    """What a pod wants of GPUs.

    Attributes:
        count: How many.
        milli: How many thousandths of each.
        models: The models that will do; empty for any.
    """

    count: int
    milli: int
    models: frozenset[str] = frozenset()

    @classmethod
    def of(cls, pod: Pod) -> "GpuRequest | None":
        """Read a pod; None for one that wants no GPU."""
        written = pod.annotations
        if COUNT not in written:
            return None
        return _read(written[COUNT], written.get(MILLI), written.get(MODEL, ""))

    @property
    def is_shared(self) -> bool:
        """Whether it is a part of one GPU."""
        return self.count == 1 and self.milli < FULL


class Gpus:
    """What each GPU of each node has left; all plugins of a scheduler ask the same one.

    Attributes:
        left: The column, of width 8: thousandths, in the order of the GPUs.
    """

    def __init__(self) -> None:
        self.left = PodColumn(_held_by, _left_on, width=MOST)

    @classmethod
    def of(cls, handle: Handle) -> "Gpus":
        """Return those of a scheduler."""
        return handle.shared(cls, cls)

    def on(self, node: NodeInfo) -> Sequence[int]:
        """Return what each GPU of a node has left, as many as it has."""
        return self.left.on(node)


def count_of(label: str | None) -> int:
    """Return how many GPUs a node has, by its label `COUNT`."""
    return min(_number(label), MOST)


def _held_by(pod: Pod) -> tuple[int, Sequence[int]] | None:
    """The thousandths that a pod has of each GPU, and which; None if it has none."""
    index, wanted = pod.annotations.get(INDEX), GpuRequest.of(pod)
    if index is None or wanted is None:
        return None
    return wanted.milli, [
        int(number) for number in index.split("-") if _is_number(number)
    ]


def _left_on(node: NodeInfo, held: Sequence[tuple[int, Sequence[int]]]) -> list[int]:
    left = [FULL] * count_of(node.labels.get(COUNT))
    for milli, gpus in held:
        for gpu in gpus:
            if gpu < len(left):
                left[gpu] -= milli
    return left


@cache
def _read(count: str, milli: str | None, models: str) -> GpuRequest | None:
    number, thousandths = _number(count), min(_number(milli), FULL)
    if not number or not thousandths:
        return None
    return GpuRequest(number, thousandths, frozenset(filter(None, models.split("|"))))


def _number(text: str | None) -> int:
    return int(text) if text is not None and _is_number(text) else 0


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _MOST_DIGITS
