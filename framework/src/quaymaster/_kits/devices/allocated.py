"""The devices that are allocated to claims.

Mirrors ``AllocatedState`` (k8s.io/dynamic-resource-allocation v0.36,
``structured/schedulerapi/types.go``), ``deviceCapacityInUse`` (v0.36 and v0.37,
``structured/internal/incubating/allocator_incubating.go``), and ``allocatedDevices`` of
kube-scheduler 1.36.2
(``pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go``).
"""

from collections.abc import Iterable, Mapping

from quaymaster._api.objects import AllocationResult
from quaymaster._api.objects.quantity import Quantity
from quaymaster._kits.devices.ids import DeviceId, PoolId, id_of

__all__ = ["AllocatedDevices", "Consumption"]


class Consumption:
    """The consumed capacities of shared devices, in units of 10**-9."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: dict[DeviceId, dict[str, int]] = {}

    def __contains__(self, device: DeviceId) -> bool:
        return device in self._taken

    def of(self, device: DeviceId) -> Mapping[str, int]:
        """Return the consumed amounts of a device, by the name of the capacity."""
        return self._taken.get(device, {})

    def add(self, device: DeviceId, amounts: Mapping[str, Quantity]) -> None:
        """Count amounts as consumed."""
        taken = self._taken.setdefault(device, {})
        for name, amount in amounts.items():
            taken[name] = taken.get(name, 0) + amount.nanos

    def remove(self, device: DeviceId, amounts: Mapping[str, Quantity]) -> None:
        """Count amounts as free; a device with no consumed amount is free."""
        taken = self._taken.get(device)
        if taken is None:
            return
        for name, amount in amounts.items():
            if name in taken:
                taken[name] -= amount.nanos
        # Consumption of 0 means that no claim has a share: `__contains__` decides by
        # the presence of the entry whether the counters of a device are paid for
        # already.
        if not any(taken.values()):
            del self._taken[device]


class AllocatedDevices:
    """The allocated devices, except those with admin access.

    Attributes:
        whole: The devices that are allocated as a whole.
        consumed: The consumed capacities of the shared devices.

    Args:
        allocations: The allocations.
    """

    def __init__(self, allocations: Iterable[AllocationResult] = ()) -> None:
        self.whole: set[DeviceId] = set()
        self.consumed = Consumption()
        self._holders: dict[DeviceId, int] = {}
        self._shares: dict[DeviceId, set[str]] = {}
        self._changes: dict[PoolId, int] = {}
        for allocation in allocations:
            self.add(allocation)

    def add(self, allocation: AllocationResult) -> None:
        """Count the devices of an allocation as allocated."""
        for result in allocation.devices.results:
            if result.admin_access:
                continue
            device = id_of(result)
            self._note_change(device)
            if result.share_id is None:
                self.whole.add(device)
                self._holders[device] = self._holders.get(device, 0) + 1
                continue
            self._shares.setdefault(device, set()).add(result.share_id)
            if result.consumed_capacity:
                self.consumed.add(device, result.consumed_capacity)

    def remove(self, allocation: AllocationResult) -> None:
        """Count the devices of an allocation as free."""
        for result in allocation.devices.results:
            if result.admin_access:
                continue
            device = id_of(result)
            self._note_change(device)
            if result.share_id is None:
                self._let_go(device)
                continue
            shares = self._shares.get(device, set())
            shares.discard(result.share_id)
            if not shares:
                self._shares.pop(device, None)
            if result.consumed_capacity:
                self.consumed.remove(device, result.consumed_capacity)

    def changes(self, pool: PoolId) -> int:
        """Return how often allocations of a pool's devices have been counted or freed.

        As long as this number stays the same, so do the allocated devices of the pool.
        """
        return self._changes.get(pool, 0)

    def is_shared_out(self, device: DeviceId, *, is_1_37: bool) -> bool:
        """Return whether some claim has a share of a device.

        Args:
            device: The device.
            is_1_37: Whether shares that consume no capacity count, as since Kubernetes
                1.37.
        """
        return device in self.consumed or (is_1_37 and device in self._shares)

    def _note_change(self, device: DeviceId) -> None:
        pool = PoolId(device.driver, device.pool)
        # A number that only grows, because the counts of nodes are compared with it:
        # adding and removing must not cancel out.
        self._changes[pool] = self._changes.get(pool, 0) + 1

    def _let_go(self, device: DeviceId) -> None:
        """Count one holder less; during a handover, a device has two."""
        left = self._holders.pop(device, 0) - 1
        if left > 0:
            self._holders[device] = left
        else:
            self.whole.discard(device)

    def __contains__(self, device: DeviceId) -> bool:
        """Return whether some claim has a device, or a share of it."""
        return device in self.whole or device in self._shares or device in self.consumed
