"""The part of idle GPUs that the typical pods could not use (README, section 5).

Each of the typical pods adds a share of a node's idle GPU to one of several classes.
The sums are computed pod by pod and then class by class, as in the simulator: scores
are truncated to integers, so that the last bit of a sum may decide.
"""

import functools
import operator
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np

from quaymaster import BoolArray, Int64Array
from quaymaster.columns import Float64Array

__all__ = ["Fragmentation", "TypicalPod"]

_Q1_LACKS_BOTH, _Q2_LACKS_GPU, _Q4_LACKS_CPU, _XL_SATISFIED, _XR_LACKS_CPU = range(5)
"""The classes that count, in the order of their addition."""

_CLASSES: Final = 5
_REMEMBERED: Final = 1 << 16


@attrs.frozen(kw_only=True)
class TypicalPod:
    """One of the most frequent kinds of pods.

    Attributes:
        cpu_milli: Its CPU request, in millicores.
        num_gpu: The number of its GPU devices.
        gpu_milli: The part of each device, in thousandths.
        weight: Its frequency; all weights add up to 1.
    """

    cpu_milli: int
    num_gpu: int
    gpu_milli: int
    weight: float


class Fragmentation:
    """Measures the fragmentation of nodes, in thousandths of a device.

    Args:
        typical_pods: The pods that are expected.
    """

    def __init__(self, typical_pods: Sequence[TypicalPod]) -> None:
        self._pods = tuple(typical_pods)
        self._known = functools.lru_cache(_REMEMBERED)(self._measure)

    def of(self, cpu: int, left: Sequence[int]) -> float:
        """Return the fragmentation of one node.

        Args:
            cpu: The free CPU, in millicores.
            left: The free part of each device.
        """
        return self._known(cpu, tuple(sorted(left)))

    def of_nodes(self, cpu: Int64Array, left: Int64Array) -> Float64Array:
        """Return the fragmentation of many nodes.

        Args:
            cpu: Shape ``(N,)``: the free CPU.
            left: Shape ``(N, D)``: the free part of each device.
        """
        idle = left.sum(axis=1)
        fitting = {pod.gpu_milli: left >= pod.gpu_milli for pod in self._pods}
        suiting = {milli: fits.sum(axis=1) for milli, fits in fitting.items()}
        small = {
            milli: np.where(fits, 0, left).sum(axis=1)
            for milli, fits in fitting.items()
        }
        classes = np.zeros((_CLASSES, len(cpu)))
        for pod in self._pods:
            has_cpu = cpu >= pod.cpu_milli
            share = pod.weight * idle
            if not pod.gpu_milli:
                _add(classes, has_cpu, share, _XL_SATISFIED, _XR_LACKS_CPU)
                continue
            has_gpu = suiting[pod.gpu_milli] >= pod.num_gpu
            too_small = pod.weight * small[pod.gpu_milli]
            wasted = np.where(has_gpu, too_small, share)
            _add(classes, has_cpu, wasted, _Q2_LACKS_GPU)
            lacks_cpu = ~has_cpu
            _add(classes, lacks_cpu & has_gpu, share, _Q4_LACKS_CPU)
            _add(classes, lacks_cpu & ~has_gpu, share, _Q1_LACKS_BOTH)
        total: Float64Array = functools.reduce(operator.add, classes)
        return total

    def _measure(self, cpu: int, left: tuple[int, ...]) -> float:
        idle = sum(left)
        classes = [0.0] * _CLASSES
        for pod in self._pods:
            which, amount = _classify(pod, cpu, left, idle)
            classes[which] += pod.weight * amount
        return functools.reduce(operator.add, classes)  # sum() may be more exact


def _classify(
    pod: TypicalPod, cpu: int, left: tuple[int, ...], idle: int
) -> tuple[int, int]:
    """Return the class to which a typical pod adds, and how much before its weight."""
    has_cpu = cpu >= pod.cpu_milli
    if not pod.gpu_milli:
        return (_XL_SATISFIED if has_cpu else _XR_LACKS_CPU), idle
    small = [milli for milli in left if milli < pod.gpu_milli]
    if len(left) - len(small) >= pod.num_gpu:
        return (_Q2_LACKS_GPU, sum(small)) if has_cpu else (_Q4_LACKS_CPU, idle)
    return (_Q2_LACKS_GPU if has_cpu else _Q1_LACKS_BOTH), idle


def _add(
    classes: Float64Array,
    where: BoolArray,
    amounts: Float64Array,
    which: int,
    otherwise: int | None = None,
) -> None:
    """Add amounts to one class where a mask is set, and to another class elsewhere."""
    classes[which] += np.where(where, amounts, 0.0)
    if otherwise is not None:
        classes[otherwise] += np.where(where, 0.0, amounts)
