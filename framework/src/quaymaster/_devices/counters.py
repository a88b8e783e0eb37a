"""The counters that devices of a pool share.

Mirrors ``checkAvailableCounters`` (k8s.io/dynamic-resource-allocation v0.36,
``structured/internal/incubating/allocator_incubating.go``). As there, the books are
kept by the pool's name without its driver: pools of the same name share them.
"""

from collections.abc import Mapping
from typing import TypeAlias

from quaymaster._devices.allocated import AllocatedDevices
from quaymaster._devices.inventory import Pool
from quaymaster._devices.sliced import SlicedDevice

__all__ = ["AvailableCounters", "ConsumedCounters"]

_Amounts: TypeAlias = dict[tuple[str, str], int]
"""Counter set and counter -> an amount, in units of 10**-9."""


class AvailableCounters:
    """What the devices that are taken have left of each pool's counters.

    Args:
        allocated: The devices that are taken.
    """

    def __init__(self, allocated: AllocatedDevices) -> None:
        self._allocated = allocated
        self._left: dict[str, Mapping[tuple[str, str], int]] = {}

    def of(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        """What is left of a pool's counters; counted once."""
        left = self._left.get(pool.id.pool)
        if left is None:
            left = self._left[pool.id.pool] = self._count(pool)
        return left

    def _count(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        left = {
            (name, counter): amount.value.nanos
            for name, counter_set in pool.counter_sets.items()
            for counter, amount in counter_set.counters.items()
        }
        for device in (*pool.devices, *pool.others):
            if device.device.consumes_counters and device.id in self._allocated:
                for key, amount in _taken_by(device).items():
                    if key in left:
                        left[key] -= amount
        return left


class ConsumedCounters:
    """What the devices that a search has chosen take.

    Args:
        available: What there is.
    """

    def __init__(self, available: AvailableCounters) -> None:
        self._available = available
        self._consumed: dict[str, _Amounts] = {}

    def take(self, device: SlicedDevice, pool: Pool) -> bool:
        """Take what a device needs if no counter of its pool goes below 0."""
        left = self._available.of(pool)
        consumed = self._consumed.setdefault(pool.id.pool, {})
        for key, amount in _taken_by(device).items():
            consumed[key] = consumed.get(key, 0) + amount
        if any(consumed.get(key, 0) > amount for key, amount in left.items()):
            self.give_back(device, pool)
            return False
        return True

    def give_back(self, device: SlicedDevice, pool: Pool) -> None:
        """Give back what a device has taken."""
        consumed = self._consumed[pool.id.pool]
        for key, amount in _taken_by(device).items():
            consumed[key] -= amount


def _taken_by(device: SlicedDevice) -> _Amounts:
    taken: _Amounts = {}
    for part in device.device.consumes_counters:
        for counter, amount in part.counters.items():
            key = part.counter_set, counter
            taken[key] = taken.get(key, 0) + amount.value.nanos
    return taken
