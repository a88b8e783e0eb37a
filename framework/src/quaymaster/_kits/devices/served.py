"""The scored resources that devices may serve, read from nodes.

Mirrors ``calculateResourceAllocatableRequest`` (kube-scheduler 1.36.2 and 1.37.2,
``pkg/scheduler/framework/plugins/noderesources/resource_allocation.go``).
"""

from collections.abc import Iterable

from quaymaster._core.state.allocation import ReadNode, ResourceColumn
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._kits.devices.extended_resources import (
    ExtendedResources,
    may_be_served_by_devices,
)
from quaymaster._kits.devices.totals import DeviceTotals

__all__ = ["ServedResources"]


class ServedResources:
    """The scored resources that devices may serve.

    Args:
        names: All scored resources.
        extended: Finds the class that serves a resource.
        totals: Counts devices.

    Attributes:
        names: The resources that devices may serve; mostly none.
    """

    def __init__(
        self, names: Iterable[str], extended: ExtendedResources, totals: DeviceTotals
    ) -> None:
        self.names = frozenset(filter(may_be_served_by_devices, names))
        self._extended = extended
        self._totals = totals

    def reader(self, name: str) -> ReadNode | None:
        """Return a reader of a resource that counts devices as allocated now.

        A node that offers the resource itself has it from a device plugin: there,
        devices do not count.

        Args:
            name: The resource.

        Returns:
            The reader; None if no device class serves the resource.
        """
        if name not in self.names:
            return None
        device_class = self._extended.class_of(name)
        if device_class is None:
            return None
        read = ResourceColumn(name).read
        count = self._totals.counter(device_class)

        def read_with_devices(node: NodeInfo) -> tuple[int, int]:
            offered = read(node)
            # A device plugin still offers the resource on this node: its numbers count,
            # not the devices. During a migration, nodes of both kinds exist.
            if offered[0]:
                return offered
            devices = count(node.node)
            return devices if devices[0] else offered

        return read_with_devices
