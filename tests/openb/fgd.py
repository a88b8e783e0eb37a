"""Fragmentation Gradient Descent, the policy of the paper (README, section 6)."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from quaymaster import BoolArray, Int64Array
from quaymaster.columns import Float64Array, RowArray
from tests.openb.fragmentation import Fragmentation, TypicalPod
from tests.openb.gpus import WHOLE, Demand, GpuColumns, GpuNode, suiting_devices

__all__ = ["FragmentationGradientDescent"]

_NO_DEVICE: Final = -1


class FragmentationGradientDescent:
    """Prefers the node, and the device, on which fragmentation grows least.

    A score of 50 means no change, a higher one means less fragmentation.

    Args:
        typical_pods: The pods by which fragmentation is measured.
    """

    def __init__(self, typical_pods: Sequence[TypicalPod]) -> None:
        self._fragmentation = Fragmentation(typical_pods)

    def score(self, node: GpuNode, wanted: Demand) -> int:
        return max(score for _, score in self._choices(node, wanted))

    def score_nodes(self, nodes: GpuColumns, wanted: Demand) -> Int64Array:
        before = self._fragmentation.of_nodes(nodes.cpu, nodes.left)
        cpu = nodes.cpu - wanted.cpu
        if not wanted.is_share:
            used = _first_whole(nodes.left, wanted.count)
            return self._rated(before, cpu, np.where(used, 0, nodes.left))
        scores = np.zeros(len(cpu), dtype=np.int64)
        for device in range(nodes.left.shape[1]):
            rows = _new_choices(nodes.left, device, wanted.milli)
            after = nodes.left[rows]
            after[:, device] -= wanted.milli
            rated = self._rated(before[rows], cpu[rows], after)
            scores[rows] = np.maximum(scores[rows], rated)
        return scores

    def share_device(self, node: GpuNode, wanted: Demand) -> int:
        device, _ = max(self._choices(node, wanted), key=lambda choice: choice[1])
        return device

    def _choices(self, node: GpuNode, wanted: Demand) -> Iterator[tuple[int, int]]:
        """Yield each choice of devices, by the first device, with its score."""
        before = self._fragmentation.of(node.cpu, node.left)
        cpu = node.cpu - wanted.cpu
        if wanted.is_share:
            seen = set()
            for device in suiting_devices(node, wanted):
                if node.left[device] not in seen:  # equal devices have equal effects
                    seen.add(node.left[device])
                    after = list(node.left)
                    after[device] -= wanted.milli
                    yield device, _rate(before - self._fragmentation.of(cpu, after))
            return
        # The choice between whole devices has no effect.
        left = sorted(node.left, reverse=True)
        left[: wanted.count] = [0] * wanted.count
        yield _NO_DEVICE, _rate(before - self._fragmentation.of(cpu, left))

    def _rated(
        self, before: Float64Array, cpu: Int64Array, left: Int64Array
    ) -> Int64Array:
        less = before - self._fragmentation.of_nodes(cpu, left)
        return np.array([_rate(value) for value in less.tolist()], dtype=np.int64)


def _rate(less: float) -> int:
    """Return the score for a decrease of fragmentation.

    For one value at a time, because NumPy's exponential may differ in the last bit.
    """
    return int(1 / (1 + math.exp(-less / WHOLE)) * 100)


def _first_whole(left: Int64Array, count: int) -> BoolArray:
    """Mark the first whole devices of each node; shape ``(N, D)``."""
    whole = left == WHOLE
    first: BoolArray = whole & (whole.cumsum(axis=1) <= count)
    return first


def _new_choices(left: Int64Array, device: int, milli: int) -> RowArray:
    """Return the rows where a device is the first with enough left."""
    mine = left[:, device]
    seen = (left[:, :device] == mine[:, None]).any(axis=1)
    return np.flatnonzero((mine >= milli) & ~seen)
