"""The counters that devices of a pool share.

Mirrors ``checkAvailableCounters`` (k8s.io/dynamic-resource-allocation v0.36,
``structured/internal/incubating/allocator_incubating.go``). As there,
before Kubernetes 1.37 counters belong to the name of a pool without its driver: pools
of the same name share them.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.inventory import Pool
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["AvailableCounters", "ConsumedCounters"]

_Amounts: TypeAlias = dict[tuple[str, str], int]
"""Counter set and counter -> an amount, in units of 10**-9."""


class AvailableCounters:
    """What allocated devices leave of the counters of each pool.

    Args:
        allocated: The allocated devices.
        by_driver: Whether pools of different drivers with the same name have separate
            counters, as since Kubernetes 1.37.
    """

    def __init__(self, allocated: AllocatedDevices, *, by_driver: bool) -> None:
        self._allocated = allocated
        self._by_driver = by_driver
        self._left: dict[Hashable, Mapping[tuple[str, str], int]] = {}

    def key(self, pool: Pool) -> Hashable:
        """Return the key by which the counters of a pool are stored."""
        return pool.id if self._by_driver else pool.id.pool

    def of(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        """Return what is left of the counters of a pool; computed once."""
        key = self.key(pool)
        left = self._left.get(key)
        if left is None:
            left = self._left[key] = self._count(pool)
        return left

    def short_for(self, device: SlicedDevice, pool: Pool) -> Sequence[tuple[str, str]]:
        """Return the counters of which a device needs more than is left: set, name."""
        taken = _taken_by(device)
        left = self.of(pool)
        return [key for key, amount in left.items() if taken.get(key, 0) > amount]

    def _count(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        left = {
            (name, counter): amount.value.nanos
            for name, counter_set in pool.counter_sets.items()
            for counter, amount in counter_set.counters.items()
        }
        for device in (*pool.devices, *pool.others):
            # Devices that other nodes reach count as well, because the counters belong
            # to the pool.
            if device.device.consumes_counters and device.id in self._allocated:
                for key, amount in _taken_by(device).items():
                    if key in left:
                        left[key] -= amount
        return left


class ConsumedCounters:
    """The counters that the chosen devices of a search consume.

    Args:
        available: The counters that are left before the search.
    """

    def __init__(self, available: AvailableCounters) -> None:
        self._available = available
        self._consumed: dict[Hashable, _Amounts] = {}

    def take(self, device: SlicedDevice, pool: Pool) -> bool:
        """Consume what a device needs, unless a counter would fall below 0."""
        left = self._available.of(pool)
        consumed = self._consumed.setdefault(self._available.key(pool), {})
        for key, amount in _taken_by(device).items():
            consumed[key] = consumed.get(key, 0) + amount
        # Consumed first and compared afterwards, so that a device that names a counter
        # twice is counted with the sum.
        if any(consumed.get(key, 0) > amount for key, amount in left.items()):
            self.give_back(device, pool)
            return False
        return True

    def give_back(self, device: SlicedDevice, pool: Pool) -> None:
        """Release what a device has consumed."""
        consumed = self._consumed[self._available.key(pool)]
        for key, amount in _taken_by(device).items():
            consumed[key] -= amount


def _taken_by(device: SlicedDevice) -> _Amounts:
    taken: _Amounts = {}
    for part in device.device.consumes_counters:
        for counter, amount in part.counters.items():
            key = part.counter_set, counter
            taken[key] = taken.get(key, 0) + amount.value.nanos
    return taken
