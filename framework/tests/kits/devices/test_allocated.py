"""Devices are taken and freed while claims come and go."""

import pytest

from quaymaster.devices import AllocatedDevices, DeviceId
from quaymaster.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    Quantity,
)

DEVICE = DeviceId("gpu.example.com", "a", "gpu-0")


def taking(share: str | None = None) -> AllocationResult:
    result = DeviceRequestAllocationResult(
        driver=DEVICE.driver,
        pool=DEVICE.pool,
        device=DEVICE.device,
        share_id=share,
        consumed_capacity={"memory": Quantity(1)} if share else {},
    )
    return AllocationResult(devices=DeviceAllocationResult(results=(result,)))


@pytest.mark.parametrize("shares", [(None, None), ("first", "second")])
def test_a_device_is_free_once_no_claim_holds_it(
    shares: tuple[str | None, str | None],
) -> None:
    """A late event of a deleted claim may come after another claim got its device."""
    allocated = AllocatedDevices(map(taking, shares))
    for share in shares:
        assert DEVICE in allocated
        allocated.remove(taking(share))
    assert DEVICE not in allocated
    assert not allocated.whole
    assert not allocated.consumed.of(DEVICE)


def test_a_device_without_a_claim_stays_free() -> None:
    allocated = AllocatedDevices()
    allocated.remove(taking())
    allocated.add(taking())
    assert DEVICE in allocated
