"""Typical pods: what a workload mostly consists of, as an object of the cluster.

Mirrors ``GetTypicalPods`` (``pkg/utils/frag.go``).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from quaymaster import ApiObject
from quaymaster.objects import ApiValue

__all__ = ["TypicalPod", "TypicalPods", "typical_pods"]

_THRESHOLD: Final = 95
"""The percentage of all pods that the typical ones are at least."""


class TypicalPod(ApiValue, frozen=True, kw_only=True):
    """Pods that want the same.

    Attributes:
        milli_cpu: The CPU that they want, in thousandths of a core.
        gpus: How many GPUs; 0 for CPU pods.
        gpu_milli: How many thousandths of each.
        models: The models that will do, ``A|B``; empty for any.
        share: Their share of all typical pods.
    """

    milli_cpu: int = 0
    gpus: int = 0
    gpu_milli: int = 0
    models: str = ""
    share: float = 0.0


class TypicalPods(ApiObject, frozen=True, kw_only=True):
    """The typical pods of a workload, the most frequent first."""

    api_version: ClassVar[str] = "openb.example.com/v1"
    kind: ClassVar[str] = "TypicalPods"
    plural: ClassVar[str] = "typicalpods"
    namespaced: ClassVar[bool] = False

    pods: tuple[TypicalPod, ...] = ()


def typical_pods(
    pods: Iterable[tuple[int, int, int, str]],
) -> Sequence[TypicalPod]:
    """Find the typical pods of a workload.

    Args:
        pods: For each pod its milli CPU, the thousandths of each GPU, how many GPUs,
            and the models; 0, 0 and nothing for CPU pods.
    """
    groups = Counter(pods)
    total, taken = groups.total(), 0
    found = []
    for group, count in sorted(groups.items(), key=_more_first, reverse=True):
        found.append((group, count))
        taken += count
        if taken * 100 >= total * _THRESHOLD:
            break
    return [
        TypicalPod(
            milli_cpu=cpu,
            gpus=gpus,
            gpu_milli=milli,
            models=models,
            share=(count / total) / (taken / total),
        )
        for (cpu, milli, gpus, models), count in found
    ]


def _more_first(
    item: tuple[tuple[int, int, int, str], int],
) -> tuple[int, tuple[int, int, int, str]]:
    group, count = item
    return count, group
