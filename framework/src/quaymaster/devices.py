"""Devices for claims: the devices of a node, allocated devices, and allocation.

ResourceSlices list devices, and ResourceClaims request them
(``resource.k8s.io/v1``), as in dynamic resource allocation.
"""

from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.allocator import Allocator
from quaymaster._kits.devices.errors import (
    AllocationError,
    InvalidPoolsError,
    StepLimitError,
)
from quaymaster._kits.devices.extended_resources import (
    ExtendedResources,
    may_be_served_by_devices,
)
from quaymaster._kits.devices.ids import DeviceId
from quaymaster._kits.devices.inventory import Inventory
from quaymaster._kits.devices.obstacles import (
    BlockedDevice,
    DeviceObstacle,
    ObstacleKind,
)
from quaymaster._kits.devices.served import ServedResources
from quaymaster._kits.devices.shortages import Shortage
from quaymaster._kits.devices.totals import CountDevices, DeviceSource, DeviceTotals

__all__ = [
    "AllocatedDevices",
    "AllocationError",
    "Allocator",
    "BlockedDevice",
    "CountDevices",
    "DeviceId",
    "DeviceObstacle",
    "DeviceSource",
    "DeviceTotals",
    "ExtendedResources",
    "InvalidPoolsError",
    "Inventory",
    "ObstacleKind",
    "ServedResources",
    "Shortage",
    "StepLimitError",
    "may_be_served_by_devices",
]
