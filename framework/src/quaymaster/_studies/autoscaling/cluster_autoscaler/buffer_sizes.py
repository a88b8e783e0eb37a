"""How many pods a CapacityBuffer has.

Mirrors ``capacitybuffer/translators/replicas.go`` and
``capacitybuffer/controller/resourcequotas.go``.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod, ResourceQuota
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES
from quaymaster._clusters.inmemory.quotas.scopes import is_in_scope
from quaymaster._studies.autoscaling.cluster_autoscaler.buffer_objects import BufferSpec

__all__ = ["BufferSizeError", "QuotaRoom", "buffer_size"]

_MOST: Final = 2**31 - 1
_REQUESTS: Final = "requests."
_ZERO: Final = Quantity(0)


class BufferSizeError(ValueError):
    """A buffer whose size cannot be computed; the text is upstream's."""


def buffer_size(spec: BufferSpec, pod: Pod, workload_pods: int | None) -> int:
    """Return how many pods a buffer asks for.

    Args:
        spec: The spec of the buffer.
        pod: One of its pods.
        workload_pods: The pods of its workload; None without one.

    Raises:
        BufferSizeError: Nothing sets a size, or the limits are of other resources.
    """
    size = -1 if spec.replicas is None else max(0, spec.replicas)
    if spec.percentage is not None and workload_pods is not None:
        size = max(size, _share(spec.percentage, workload_pods))
    if spec.limits is not None:
        most = _most_within(spec.limits, pod)
        return min(size, most) if size >= 0 else most
    if size < 0:
        problem = "replicas, percentage and limits are not defined"
        raise BufferSizeError(problem)
    return size


def _share(percentage: int, pods: int) -> int:
    if percentage <= 0 or pods <= 0:
        return 0
    return (percentage * pods + 99) // 100


def _most_within(limits: Mapping[str, Quantity], pod: Pod) -> int:
    counts = [
        limits[name].milli_value // amount.milli_value
        for name, amount in pod_request_list(pod).items()
        if name in limits and amount.milli_value > 0
    ]
    counts = [count for count in counts if count >= 0]
    if not counts:
        problem = "resources in configured limits not found in the pod template"
        raise BufferSizeError(problem)
    return min(_MOST, *counts)


@attrs.frozen(kw_only=True)
class _Allowed:
    """How many pods quotas allow, and which of them allow fewer than that."""

    pods: int
    quotas: Sequence[str]


class QuotaRoom:
    """What the quotas of a namespace leave to its buffers, one after the other.

    Args:
        quotas: The quotas.
    """

    def __init__(self, quotas: Iterable[ResourceQuota]) -> None:
        self._quotas = [*quotas]
        self._taken: dict[str, dict[str, Quantity]] = defaultdict(dict)

    def take(self, pod: Pod, size: int) -> _Allowed:
        """Return how many pods of a buffer the quotas allow, and take room for them.

        Args:
            pod: A pod of the buffer.
            size: The number of its pods.
        """
        requests = pod_request_list(pod)
        uses = {**requests, **{_REQUESTS + name: requests[name] for name in requests}}
        matching = [
            quota
            for quota in self._quotas
            if is_in_scope(pod, quota.spec, DEFAULT_KUBERNETES)
        ]
        room = {quota.name: self._room(quota, uses) for quota in matching}
        allowed = min((size, *room.values()))
        for quota in matching:
            taken = self._taken[quota.name]
            for name in quota.status.hard:
                if name in uses and allowed > 0:
                    more = _times(uses[name], allowed)
                    taken[name] = taken.get(name, _ZERO) + more
        limiting = [name for name, pods in room.items() if pods < size]
        return _Allowed(pods=allowed, quotas=limiting)

    def _room(self, quota: ResourceQuota, uses: Mapping[str, Quantity]) -> int:
        most, taken = _MOST, self._taken[quota.name]
        for name, hard in quota.status.hard.items():
            amount = uses.get(name, _ZERO)
            if not amount:
                continue
            used = quota.status.used.get(name, _ZERO) + taken.get(name, _ZERO)
            left = hard - used
            if left < _ZERO:
                return 0
            most = min(most, left.milli_value // amount.milli_value)
        return most


def _times(amount: Quantity, count: int) -> Quantity:
    return Quantity.from_milli(amount.milli_value * count)
