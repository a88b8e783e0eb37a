"""06-FGD: fragmentation gradient descent, the policy of the paper.

Mirrors ``pkg/simulator/plugin/fgd_score.go``; section 4 of the paper.
"""

import math
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from quaymaster import (
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    Scope,
    hookimpl,
)
from quaymaster.columns import CPU

from quaymaster_openb.choices import choices, choices_of_each
from quaymaster_openb.fragmentation import Fragmentation
from quaymaster_openb.gpus import MODEL, Gpus
from quaymaster_openb.target import Target
from quaymaster_openb.typical_pods import TypicalPods
from quaymaster_openb.wishes import Wish

__all__ = ["FGDScore", "scored_choices"]


class FGDScore:
    """Prefers the node whose fragmentation grows least, or shrinks most.

    50 means that nothing changes. When the typical pods change, the next attempt goes
    by them.

    Args:
        args: None.
        handle: The framework.
    """

    scope = Scope.NODE
    kinds = (TypicalPods,)
    reads = ()

    def __init__(self, args: None, handle: Handle) -> None:
        self._handle = handle
        self._gpus, self._target = Gpus.of(handle), Target.of(handle)
        self._fragmentation = self._target.current

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        wish = Wish.of(pod)
        return wish.cpu, wish.count, wish.milli

    @hookimpl
    def pre_score(self) -> None:
        current = self._target.current
        # Identity: it is another object when the typical pods are others.
        if current is not self._fragmentation:
            self._fragmentation = current
            self._handle.changed()

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        cpu = node.allocatable.milli_cpu - node.requested.milli_cpu
        left, current = self._gpus.on(node), self._target.current
        scored = scored_choices(current, Wish.of(pod), node, cpu, left)
        return max((score for score, _ in scored), default=0)

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        wish, fragmentation = Wish.of(pod), self._target.current
        left = self._gpus.left.of(nodes)[rows]
        cpu = nodes.allocatable[CPU, rows] - nodes.requested[CPU, rows]
        models = nodes.label(MODEL).map(fragmentation.code_of, rows)
        before = fragmentation.of_each(cpu, models, left)
        at, after = choices_of_each(wish, left)
        changed = fragmentation.of_each(cpu[at] - wish.cpu, models[at], after)
        scores: Int64Array = np.zeros(len(left), np.int64)
        gains = (before[at] - changed).tolist()
        np.maximum.at(scores, at, [_points(gain) for gain in gains])
        return scores


def scored_choices(
    fragmentation: Fragmentation,
    wish: Wish,
    node: NodeInfo,
    cpu: int,
    left: Sequence[int],
) -> Iterator[tuple[int, int]]:
    """Score each choice of GPUs on a node.

    Args:
        fragmentation: What is to be small.
        wish: What the pod wants.
        node: The node.
        cpu: The CPU that it has left without the pod, in thousandths of a core.
        left: What each of its GPUs has left without the pod.

    Returns:
        For each choice its score, and the number of the GPU as `choices` gives it.
    """
    model = node.labels.get(MODEL, "")
    before = fragmentation.of(cpu, model, left)
    for gpu, after in choices(wish, left):
        yield _points(before - fragmentation.of(cpu - wish.cpu, model, after)), gpu


def _points(gain: float) -> int:
    return int(1 / (1 + math.exp(-gain / 1000)) * 100)
