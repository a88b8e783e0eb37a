"""How devices and pools are named."""

from typing import NamedTuple

from quaymaster._api.objects import DeviceRequestAllocationResult

__all__ = ["DeviceId", "PoolId", "id_of"]


class PoolId(NamedTuple):
    """The name of a pool: it is unique for its driver only."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """The name of a device: it is unique in its pool only."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


def id_of(result: DeviceRequestAllocationResult) -> DeviceId:
    """The device that a result is about."""
    return DeviceId(result.driver, result.pool, result.device)
