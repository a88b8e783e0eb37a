"""Fragmentation of a node: how much of its free GPUs the next pod cannot use.

Mirrors ``NodeGpuShareFragAmount`` (``pkg/utils/frag.go``); section 3 of the paper.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from quaymaster import BoolArray, Int64Array
from quaymaster.columns import Float64Array

from quaymaster_openb.typical_pods import TypicalPod

__all__ = ["Fragmentation", "fragmentation_by"]

_KEPT: Final = 1 << 16


@lru_cache(maxsize=16)
def fragmentation_by(typical: tuple[TypicalPod, ...]) -> "Fragmentation":
    """Return the fragmentation by some typical pods; the same object for the same ones.

    Args:
        typical: The typical pods.
    """
    return Fragmentation(typical)


class Fragmentation:
    """What a node's free GPUs are not good for, expected over typical pods.

    A typical pod that fits leaves unused the GPUs that are too small for it; for one
    that does not fit, and for CPU pods, all that is free counts. Numbers are added in
    the order of the simulator, class by class, since scores depend on the last digit.

    Args:
        typical: The typical pods.
    """

    def __init__(self, typical: Sequence[TypicalPod]) -> None:
        cpu_pods = [pods for pods in typical if not pods.gpus]
        gpu_pods = [pods for pods in typical if pods.gpus]
        self._sizes = sorted({pods.gpu_milli for pods in gpu_pods})
        # As tuples, since the loop over them is a tenth of a run.
        self._cpu_pods = [(pods.share, pods.milli_cpu) for pods in cpu_pods]
        self._gpu_pods = [
            (pods.share, pods.milli_cpu, pods.gpus, pods.gpu_milli) for pods in gpu_pods
        ]
        self._wanted = [pods.models.split("|") for pods in gpu_pods]
        self._models: dict[str, int] = {}
        self._is_open: list[list[bool]] = []
        # A cache: each score, the choice of a GPU and the figures compute the value of
        # a node. Of 39,000 calls in a run, 13,000 are new.
        self._amount = lru_cache(maxsize=_KEPT)(self._measured)
        # The same as columns: a row for each typical pod, or for each size.
        self._size_column: Int64Array = np.array(self._sizes, np.int64)[:, None]
        sizes = [self._sizes.index(pods.gpu_milli) for pods in gpu_pods]
        self._size_of: Int64Array = np.array(sizes, np.int64)
        self._count, self._cpu, self._share = _columns(gpu_pods)
        _, self._cpu_of_cpu_pods, self._share_of_cpu_pods = _columns(cpu_pods)

    def of(self, cpu: int, model: str, left: Sequence[int]) -> float:
        """Return the fragmentation of one node, in thousandths of a GPU.

        Args:
            cpu: The CPU that it has left, in thousandths of a core.
            model: The model of its GPUs.
            left: What each GPU has left, in thousandths.
        """
        return self._amount(cpu, model, *left)

    def _measured(self, cpu: int, model: str, *left: int) -> float:
        free = sum(left)
        lack_both = lack_gpu = lack_cpu = no_gpu_fits = no_gpu_lacks = closed = 0.0
        for share, milli_cpu in self._cpu_pods:
            if cpu >= milli_cpu:
                no_gpu_fits += share * free
            else:
                no_gpu_lacks += share * free
        per_size = {}
        for size in self._sizes:
            suiting = [rest for rest in left if rest >= size]
            per_size[size] = len(suiting), free - sum(suiting)
        is_open = self._is_open[self.code_of(model)]
        for typical, may_be in zip(self._gpu_pods, is_open, strict=True):
            share, milli_cpu, gpus, size = typical
            count, too_small = per_size[size]
            if not may_be:
                closed += share * free
            elif cpu >= milli_cpu:
                lack_gpu += share * (too_small if count >= gpus else free)
            elif count >= gpus:
                lack_cpu += share * free
            else:
                lack_both += share * free
        return lack_both + lack_gpu + lack_cpu + no_gpu_fits + no_gpu_lacks + closed

    def of_each(
        self, cpu: Int64Array, models: Int64Array, left: Int64Array
    ) -> Float64Array:
        """Return the fragmentation of many nodes, shape ``(N,)``, just as `of` does.

        Args:
            cpu: Shape ``(N,)``.
            models: Shape ``(N,)``: the models of the nodes, as `code_of` gives them.
            left: Shape ``(N, G)``, 0 where a node has no GPU.
        """
        # A line for each GPU: sums over the first axis take a third of the time.
        gpus = np.ascontiguousarray(left.T)
        free = np.add.reduce(gpus, axis=0)
        fits = cpu >= self._cpu_of_cpu_pods
        amount = self._share_of_cpu_pods * free
        no_gpu_fits, no_gpu_lacks = _added(amount * fits), _added(amount * ~fits)

        suits = gpus[:, None] >= self._size_column
        too_small = free - np.add.reduce(gpus[:, None] * suits, axis=0)
        has_gpus = np.add.reduce(suits, axis=0)[self._size_of] >= self._count
        has_cpu = cpu >= self._cpu
        amount = self._share * free
        closed: Float64Array = np.zeros(len(free))
        lacks: BoolArray = ~has_cpu
        if not all(map(all, self._is_open)):
            is_open = np.array(self._is_open, np.bool_)[models].T
            closed = _added(amount * ~is_open)
            has_cpu, lacks = has_cpu & is_open, lacks & is_open
        unused = np.where(has_gpus, self._share * too_small[self._size_of], amount)
        lack_gpu = _added(unused * has_cpu)
        lack_cpu = _added(amount * (lacks & has_gpus))
        lack_both = _added(amount * (lacks & ~has_gpus))
        return lack_both + lack_gpu + lack_cpu + no_gpu_fits + no_gpu_lacks + closed

    def code_of(self, model: str | None) -> int:
        """Return a number for a model of GPUs."""
        name = model or ""
        code = self._models.setdefault(name, len(self._models))
        if code == len(self._is_open):
            self._is_open.append(
                [models in ([""], [name]) or name in models for models in self._wanted]
            )
        return code


def _columns(
    pods: Sequence[TypicalPod],
) -> tuple[Int64Array, Int64Array, Float64Array]:
    count = np.array([entry.gpus for entry in pods], np.int64)
    cpu = np.array([entry.milli_cpu for entry in pods], np.int64)
    share = np.array([entry.share for entry in pods], np.float64)
    return count[:, None], cpu[:, None], share[:, None]


def _added(terms: Float64Array) -> Float64Array:
    """Add up columns from the top, as `Fragmentation.of` does."""
    total: Float64Array
    if terms.shape[1] == 1 and len(terms):
        # NumPy adds a single column in another order, and rounds otherwise.
        total = np.add.accumulate(terms, axis=0)[-1]
    else:
        # Line by line, as long as each lies in one piece: in a tenth of the time.
        total = np.add.reduce(np.ascontiguousarray(terms), axis=0)
    return total
