"""02-DotProd: prefers nodes whose free resources look least like the pod's.

Mirrors ``pkg/simulator/plugin/dot_product_score.go``. A large node that is free, and a
pod that wants much, have a large product; a *small* product wins.
"""

from collections.abc import Hashable
from typing import Final

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

from quaymaster_openb.gpus import FULL, MOST, Gpus
from quaymaster_openb.wishes import Wish

__all__ = ["MAX_CPU", "MAX_GPU", "DotProductScore"]

MAX_CPU: Final = 128_000.0
"""The CPU of the largest node, in thousandths."""

MAX_GPU: Final = float(MOST * FULL)
"""The GPUs of the largest node, in thousandths."""


class DotProductScore:
    """Scores by the product of what is free with what is wanted.

    Args:
        args: None.
        handle: The framework.
    """

    scope = Scope.NODE
    reads = ()

    def __init__(self, args: None, handle: Handle) -> None:
        self._gpus = Gpus.of(handle)

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        wish = Wish.of(pod)
        return wish.cpu, wish.total

    @hookimpl
    def score(self, pod: Pod, node: NodeInfo) -> int:
        wish, free = Wish.of(pod), sum(self._gpus.on(node))
        cpu_left = node.allocatable.milli_cpu - node.requested.milli_cpu
        product = (cpu_left / MAX_CPU) * (wish.cpu / MAX_CPU)
        product += (free / MAX_GPU) * (wish.total / MAX_GPU)
        return int(100 * (1 - product / 2))

    @hookimpl
    def score_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> Int64Array:
        wish, free = Wish.of(pod), self._gpus.left.of(nodes)[rows].sum(axis=1)
        cpu_left = nodes.allocatable[CPU, rows] - nodes.requested[CPU, rows]
        product = (cpu_left / MAX_CPU) * (wish.cpu / MAX_CPU)
        product += (free / MAX_GPU) * (wish.total / MAX_GPU)
        return (100 * (1 - product / 2)).astype(np.int64)
