"""What tests see of ``quaymaster._kits.devices``."""

from quaymaster._kits.devices.allocated import AllocatedDevices
from quaymaster._kits.devices.allocator import Allocator
from quaymaster._kits.devices.errors import AllocationError, InvalidPoolsError
from quaymaster._kits.devices.inventory import Inventory

__all__ = [
    "AllocatedDevices",
    "AllocationError",
    "Allocator",
    "InvalidPoolsError",
    "Inventory",
]
