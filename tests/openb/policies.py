"""The policies that the paper compares: how each rates a node (README, section 6).

All scores are integers from 0 to 100; fractions are truncated. Each policy has two
equal
versions: for one node, and for many at once.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import numpy as np

from quaymaster import Int64Array
from quaymaster.columns import Float64Array
from tests.openb.fgd import FragmentationGradientDescent
from tests.openb.fragmentation import TypicalPod
from tests.openb.gpus import WHOLE, Demand, GpuColumns, GpuNode, suiting_devices

__all__ = ["POLICIES", "Policy", "make_policy"]

_MAX_CPU: Final = 128_000
_MAX_GPU: Final = 8 * WHOLE
"""The limits of the largest node."""


class Policy(Protocol):
    """Rates nodes, and chooses the device of a pod that uses a part of one."""

    def score(self, node: GpuNode, wanted: Demand) -> int:
        """Rate a node that has room."""

    def score_nodes(self, nodes: GpuColumns, wanted: Demand) -> Int64Array:
        """Rate many nodes; shape ``(N,)``."""

    def share_device(self, node: GpuNode, wanted: Demand) -> int:
        """Choose the device for a part of one."""


class DotProduct:
    """Prefers a small product of a node's free resources and the pod's requests."""

    def score(self, node: GpuNode, wanted: Demand) -> int:
        product = (node.cpu / _MAX_CPU) * (wanted.cpu / _MAX_CPU)
        product += (sum(node.left) / _MAX_GPU) * (wanted.total / _MAX_GPU)
        return int(100 * (1 - product / 2))

    def score_nodes(self, nodes: GpuColumns, wanted: Demand) -> Int64Array:
        product = (nodes.cpu / _MAX_CPU) * (wanted.cpu / _MAX_CPU)
        free = nodes.left.sum(axis=1)
        product += (free / _MAX_GPU) * (wanted.total / _MAX_GPU)
        return _cut(100 * (1 - product / 2))

    def share_device(self, node: GpuNode, wanted: Demand) -> int:
        return _tightest(node, wanted)


class GpuClustering:
    """Groups pods with equal GPU requests, and fills nodes."""

    def score(self, node: GpuNode, wanted: Demand) -> int:
        if not wanted.count:
            return 0
        fullness = 25 * (_MAX_GPU - sum(node.left)) // _MAX_GPU
        if node.tags == wanted.tag:
            return fullness + 75
        if node.tags & wanted.tag:
            return fullness + 50
        return fullness if node.tags else fullness + 25

    def score_nodes(self, nodes: GpuColumns, wanted: Demand) -> Int64Array:
        if not wanted.count:
            return np.zeros(len(nodes.cpu), dtype=np.int64)
        fullness = 25 * (_MAX_GPU - nodes.left.sum(axis=1)) // _MAX_GPU
        only = nodes.tags == wanted.tag
        among = nodes.tags & wanted.tag != 0
        kinds = np.select([only, among, nodes.tags == 0], [75, 50, 25], 0)
        scores: Int64Array = fullness + kinds
        return scores

    def share_device(self, node: GpuNode, wanted: Demand) -> int:
        return _tightest(node, wanted)


class GpuPacking:
    """Prefers used devices, then used nodes, then small nodes."""

    def score(self, node: GpuNode, wanted: Demand) -> int:
        if not wanted.count:
            return 0
        empty = node.left.count(WHOLE)
        if empty == len(node.left):
            return max(33 - empty, empty)
        suiting = [node.left[device] for device in suiting_devices(node, wanted)]
        used = sorted(suiting)[: wanted.count]
        newly_used = used.count(WHOLE)
        if newly_used:
            return max(50 - newly_used, 33)
        return max(100 - sum(left * 100 // WHOLE for left in used) // 10, 50)

    def score_nodes(self, nodes: GpuColumns, wanted: Demand) -> Int64Array:
        if not wanted.count:
            return np.zeros(len(nodes.cpu), dtype=np.int64)
        left = nodes.left
        empty = (left == WHOLE).sum(axis=1)
        suiting = np.sort(np.where(left >= wanted.milli, left, WHOLE + 1), axis=1)
        used = suiting[:, : wanted.count]
        newly_used = (used == WHOLE).sum(axis=1)
        shares = (used * 100 // WHOLE).sum(axis=1)
        scores: Int64Array = np.select(
            [empty == nodes.count, newly_used > 0],
            [np.maximum(33 - empty, empty), np.maximum(50 - newly_used, 33)],
            np.maximum(100 - shares // 10, 50),
        )
        return scores

    def share_device(self, node: GpuNode, wanted: Demand) -> int:
        return _tightest(node, wanted)


class BestFit:
    """Prefers nodes on which little would be left."""

    def score(self, node: GpuNode, wanted: Demand) -> int:
        left = (node.cpu - wanted.cpu) / _MAX_CPU * 0.5
        left += (sum(node.left) - wanted.total) / _MAX_GPU * 0.5
        return int((1 - left) * 100)

    def score_nodes(self, nodes: GpuColumns, wanted: Demand) -> Int64Array:
        left = (nodes.cpu - wanted.cpu) / _MAX_CPU * 0.5
        left += (nodes.left.sum(axis=1) - wanted.total) / _MAX_GPU * 0.5
        return _cut((1 - left) * 100)

    def share_device(self, node: GpuNode, wanted: Demand) -> int:
        return _tightest(node, wanted)


_OTHERS: Final[Mapping[str, type[Policy]]] = {
    "02-DotProd": DotProduct,
    "03-GpuClustering": GpuClustering,
    "04-GpuPacking": GpuPacking,
    "05-BestFit": BestFit,
}
_FGD: Final = "06-FGD"

POLICIES: Final = (*_OTHERS, _FGD)
"""The simulator's names of the policies that are functions of their input."""


def make_policy(name: str, typical_pods: Sequence[TypicalPod]) -> Policy:
    """Return the policy of a name.

    Args:
        name: One of `POLICIES`.
        typical_pods: The pods by which fragmentation is measured.
    """
    if name == _FGD:
        return FragmentationGradientDescent(typical_pods)
    return _OTHERS[name]()


def _tightest(node: GpuNode, wanted: Demand) -> int:
    """Return the device with the least left that suffices; of equals, the first one."""
    return min(suiting_devices(node, wanted), key=node.left.__getitem__)


def _cut(scores: Float64Array) -> Int64Array:
    whole: Int64Array = scores.astype(np.int64)
    return whole
