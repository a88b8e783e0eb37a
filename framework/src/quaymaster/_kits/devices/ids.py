"""The names of devices and pools."""

from typing import NamedTuple

from quaymaster._api.objects import DeviceRequestAllocationResult

__all__ = ["DeviceId", "PoolId", "id_of"]


class PoolId(NamedTuple):
    """The name of a pool, which is unique only together with its driver."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """The name of a device, which is unique only together with its pool."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


def id_of(result: DeviceRequestAllocationResult) -> DeviceId:
    """Return the name of the device in a result."""
    return DeviceId(result.driver, result.pool, result.device)
