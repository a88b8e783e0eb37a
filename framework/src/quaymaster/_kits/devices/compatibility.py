"""Decides which devices may consume the same counter set.

Mirrors ``compatibility_groups.go`` and ``checkAndConsumeCompatibilityGroups``
(k8s.io/dynamic-resource-allocation v0.37, ``structured/internal/experimental``).
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import attrs

from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.ids import PoolId
from quaymaster._kits.devices.inventory import Pool
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["CommonGroups", "DeviceGroups", "TakenGroups"]


@attrs.frozen
class CommonGroups:
    """The groups that the devices of one counter set have in common.

    Attributes:
        has_devices: Whether any device consumes it.
        has_none: Whether the first of them named no groups.
        groups: The groups that all of them name.
    """

    has_devices: bool = False
    has_none: bool = False
    groups: frozenset[str] = frozenset()

    def admits(self, groups: Iterable[str]) -> bool:
        """Return whether a device with these groups is compatible with the others."""
        if not self.has_devices:
            return True
        given = frozenset(groups)
        if self.has_none or not given:
            return self.has_none and not given
        return bool(self.groups & given)

    def joined(self, groups: Iterable[str]) -> "CommonGroups":
        """Return the common groups after one more device."""
        more = frozenset(groups)
        if not self.has_devices:
            return CommonGroups(True, not more, more)
        if self.has_none or not more:
            return self
        return attrs.evolve(self, groups=self.groups & more)


_NOTHING = CommonGroups()

TakenGroups: TypeAlias = Mapping[tuple[PoolId, str], CommonGroups]
"""Pool and counter set -> what was there before a device was taken."""


class DeviceGroups:
    """The groups of the allocated devices, and of those that a search chooses.

    Args:
        allocated: The allocated devices.
    """

    def __init__(self, allocated: AllocatedDevices) -> None:
        self._allocated = allocated
        self._common: dict[tuple[PoolId, str], CommonGroups] = {}
        self._counted: set[PoolId] = set()

    def take(self, device: SlicedDevice, pool: Pool) -> TakenGroups | None:
        """Choose a device; return the previous groups, or None if it does not fit."""
        if pool.id not in self._counted:
            self._count(pool)
        before: dict[tuple[PoolId, str], CommonGroups] = {}
        for part in device.device.consumes_counters:
            key = (pool.id, part.counter_set)
            common = self._common.get(key, _NOTHING)
            if not common.admits(part.compatibility_groups):
                self.give_back(before)
                return None
            # A device may consume the same counter set several times; only the first
            # value is the one to go back to.
            before.setdefault(key, common)
            self._common[key] = common.joined(part.compatibility_groups)
        return before

    def give_back(self, before: TakenGroups) -> None:
        """Drop the device that was chosen last."""
        self._common.update(before)

    def _count(self, pool: Pool) -> None:
        self._counted.add(pool.id)
        for device in (*pool.devices, *pool.others):
            if device.id in self._allocated:
                for part in device.device.consumes_counters:
                    key = (pool.id, part.counter_set)
                    common = self._common.get(key, _NOTHING)
                    self._common[key] = common.joined(part.compatibility_groups)
