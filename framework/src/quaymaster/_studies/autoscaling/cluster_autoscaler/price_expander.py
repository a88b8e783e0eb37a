"""The expander ``price``: new nodes should cost little for the pods that they hold.

Mirrors ``expander/price/price.go`` and ``preferred.go``. The price of a pod is that of
the CPU and memory that it requests, as in the price model of the provider GCE
(``gce_price_model.go``); providers may have others.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._api.objects.resources import pod_requests
from quaymaster._studies.autoscaling.cluster_autoscaler.expanders import Expansion
from quaymaster._studies.autoscaling.cluster_autoscaler.gpus import has_gpu
from quaymaster._studies.autoscaling.cluster_autoscaler.templates import Template

__all__ = ["PodPrices", "PriceExpander"]

_MILLI: Final = 1000
_GIB: Final = 2**30
_MIB: Final = 2**20
_STABLE_MILLI_CPU: Final = 500
_STABLE_MEMORY: Final = 500 * _MIB
_GPU_UNFITNESS: Final = 1000.0
_SUPPRESSING_NODES: Final = 15.0
_PREFERRED: Final = ((2, 1), (6, 2), (20, 4), (60, 8), (200, 16))
"""Up to so many nodes in the cluster, so many cores of a new node are preferred."""
_MOST_PREFERRED: Final = 32


@attrs.frozen(kw_only=True)
class PodPrices:
    """The prices of what pods request, per hour.

    Attributes:
        cpu: The price of a core.
        memory: The price of a GiB.
    """

    cpu: float = 0.033174
    memory: float = 0.004446

    def of(self, milli_cpu: int, memory: int) -> float:
        """Return the price of some requests."""
        return milli_cpu / _MILLI * self.cpu + memory / _GIB * self.memory


class PriceExpander:
    """Keeps the options whose nodes cost least for their pods.

    Args:
        prices: Group -> price of a node per hour; groups without one are dropped.
        pod_prices: The prices of what pods request.
        cluster_size: Returns the number of nodes of the cluster.
    """

    def __init__(
        self,
        prices: Mapping[str, float | None],
        pod_prices: PodPrices,
        cluster_size: Callable[[], int],
    ) -> None:
        self._prices = prices
        self._pod_prices = pod_prices
        self._cluster_size = cluster_size

    def __call__(
        self, options: Sequence[Expansion], templates: Mapping[str, Template]
    ) -> Sequence[Expansion]:
        """Return the options with the lowest score."""
        scores = [self.score(each, templates[each.group].node) for each in options]
        least = min((score for score in scores if score is not None), default=None)
        return [
            each
            for each, score in zip(options, scores, strict=True)
            if score is not None and score == least
        ]

    def score(self, option: Expansion, node: Node) -> float | None:
        """Return the score of an option; None if the price of its nodes is unknown.

        Args:
            option: The option.
            node: What a new node looks like.
        """
        price = self._prices.get(option.group)
        if price is None:
            return None
        stable = self._pod_prices.of(_STABLE_MILLI_CPU, _STABLE_MEMORY)
        requests = [pod_requests(pod) for pod in option.pods]
        pods = sum(
            self._pod_prices.of(each.milli_cpu, each.memory) for each in requests
        )
        return self._unfitness(option, node) * (
            (price * option.nodes + stable) / (pods + stable)
        )

    def _unfitness(self, option: Expansion, node: Node) -> float:
        """Return how little nodes match the cluster; less so if there are many."""
        if has_gpu(node):
            return _GPU_UNFITNESS
        preferred = self._preferred_cores() * _MILLI
        capacity = node.status.capacity
        cpu = capacity["cpu"].milli_value if "cpu" in capacity else 0
        if not cpu:
            return math.inf
        unfitness = max(preferred / cpu, cpu / preferred)
        suppressed = 1.0 - math.tanh((option.nodes - 1) / _SUPPRESSING_NODES)
        return (unfitness - 1.0) * suppressed + 1.0

    def _preferred_cores(self) -> int:
        size = self._cluster_size()
        return next(
            (cores for most, cores in _PREFERRED if size <= most), _MOST_PREFERRED
        )
