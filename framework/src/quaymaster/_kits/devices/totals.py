"""Counts the devices that serve an extended resource, for scores.

Mirrors ``calculateDRAResourceTotals`` (kube-scheduler 1.36.2 and 1.37.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``).
"""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from quaymaster._api.objects import DeviceClass, Node
from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.errors import AllocationError, VerdictError
from quaymaster._kits.devices.inventory import Inventory
from quaymaster._kits.devices.sliced import SlicedDevice

__all__ = ["CountDevices", "DeviceSource", "DeviceTotals"]


CountDevices: TypeAlias = Callable[[Node], tuple[int, int]]
"""Returns the number of devices of a node, and how many of them are allocated."""


class DeviceSource(Protocol):
    """The devices of a cluster, and those that are allocated."""

    @property
    def inventory(self) -> Inventory:
        """The devices of all slices."""

    @property
    def allocated(self) -> AllocatedDevices:
        """The allocated devices, with those of pods that are being bound."""


class DeviceTotals:
    """Counts devices for the plugins that score resources.

    All plugins of a scheduler share one: ``handle.shared(DeviceTotals, DeviceTotals)``.
    The plugin that allocates devices lets it follow these. Until then there are none.
    """

    def __init__(self) -> None:
        self._source: DeviceSource | None = None

    def follow(self, source: DeviceSource) -> None:
        """Count the devices of a source from now on."""
        self._source = source

    def counter(self, device_class: DeviceClass) -> CountDevices:
        """Return a function that counts the devices of a class that a node reaches.

        It counts the allocations of now. Unlike an allocation, it counts the slices of
        every generation, and those of incomplete pools, as upstream does. If a selector
        fails, a node has no devices.

        Args:
            device_class: The class that serves the resource.
        """
        if self._source is None:
            return lambda _node: (0, 0)
        inventory, allocated = self._source.inventory, self._source.allocated

        def count(node: Node) -> tuple[int, int]:
            try:
                devices = list(_devices_of(inventory, node, device_class))
            except (AllocationError, VerdictError):
                return 0, 0
            return len(devices), sum(device.id in allocated for device in devices)

        return count


def _devices_of(
    inventory: Inventory, node: Node, device_class: DeviceClass
) -> Iterator[SlicedDevice]:
    expressions = [
        selector.cel.expression
        for selector in device_class.spec.selectors
        if selector.cel is not None
    ]
    for sliced in inventory.slices_near(node):
        if not sliced.may_be_on(node):
            continue
        for device in sliced.devices:
            if sliced.slice.spec.per_device_node_selection and not device.is_on(node):
                continue
            if all(map(device.matches, expressions)):
                yield device
