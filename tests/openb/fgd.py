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
    """Prefers the node, and the device, where fragmentation grows least.

    A score of 50 says that nothing changes, more that fragmentation goes down.

    Args:
        typical_pods: What fragmentation is measured by.
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
        """Each choice of devices, by the first one, with its score."""
        before = self._fragmentation.of(node.cpu, node.left)
        cpu = node.cpu - wanted.cpu
        if wanted.is_share:
            seen = set()
            for device in suiting_devices(node, wanted):
                if node.left[device] not in seen:  # equals change the same
                    seen.add(node.left[device])
                    after = list(node.left)
                    after[device] -= wanted.milli
                    yield device, _rate(before - self._fragmentation.of(cpu, after))
            return
        # Which of the whole devices are used makes no difference.
        left = sorted(node.left, reverse=True)
        left[: wanted.count] = [0] * wanted.count
        yield _NO_DEVICE, _rate(before - self._fragmentation.of(cpu, left))

    def _rated(
        self, before: Float64Array, cpu: Int64Array, left: Int64Array
    ) -> Int64Array:
        less = before - self._fragmentation.of_nodes(cpu, left)
        return np.array([_rate(value) for value in less.tolist()], dtype=np.int64)


def _rate(less: float) -> int:
    """Turn what fragmentation goes down by into a score.

    For one value at a time: NumPy's exponential may differ in the last bit.
    """
    return int(1 / (1 + math.exp(-less / WHOLE)) * 100)


def _first_whole(left: Int64Array, count: int) -> BoolArray:
    """Where the first whole devices of each node are; shape ``(N, D)``."""
    whole = left == WHOLE
    first: BoolArray = whole & (whole.cumsum(axis=1) <= count)
    return first


def _new_choices(left: Int64Array, device: int, milli: int) -> RowArray:
    """The rows where a device has enough left, and none before it has as much."""
    mine = left[:, device]
    seen = (left[:, :device] == mine[:, None]).any(axis=1)
    return np.flatnonzero((mine >= milli) & ~seen)
