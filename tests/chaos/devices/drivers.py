"""Drivers of devices that are slow, fail or never answer, and their cluster."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from quaymaster import ApiObject
from quaymaster.cluster import Cluster
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    AllocatedDeviceStatus,
    AllocationResult,
    Condition,
    ResourceClaim,
)
from quaymaster.scheduler import Clock
from tests.chaos.devices.objects import BROKEN, READY
from tests.chaos.fault_plan import FaultPlan, HistoryCluster

__all__ = ["DeviceCluster", "Drivers"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class Drivers:
    """The drivers of a history.

    Args:
        cluster: The cluster, without faults.

    Attributes:
        are_prompt: Whether devices are ready as soon as their claim is reserved.
        answers: The number of reports of drivers, of ready or broken devices.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self.are_prompt = False
        self.answers = 0

    def answer(self, position: int, *, is_ready: bool) -> None:
        """Let a driver report the devices of one claim as ready, or as broken."""
        waiting = list(self._waiting())
        if waiting:
            self._report(
                waiting[position % len(waiting)], READY if is_ready else BROKEN
            )

    def work_well(self) -> None:
        """Let drivers report all devices as ready, now and from now on."""
        self.are_prompt = True
        for claim in list(self._waiting()):
            self._report(claim, READY)

    def _waiting(self) -> Iterator[ResourceClaim]:
        for claim in self._cluster.list(ResourceClaim).items:
            if any(not status.conditions for status in claim.status.devices):
                yield claim

    def _report(self, claim: ResourceClaim, condition: str) -> None:
        self.answers += 1
        report = Condition(type=condition, status="True", reason="Told")
        devices = tuple(
            status if status.conditions else replace(status, conditions=(report,))
            for status in claim.status.devices
        )
        self._cluster.patch_status(claim, {"devices": devices})


class DeviceCluster(HistoryCluster):
    """A faulty cluster whose drivers may be slow.

    Args:
        cluster: The cluster behind it.
        clock: The clock of delayed events.
        plan: The history's plan.
        drivers: The drivers.

    Attributes:
        kept: The keys of the claims whose last reservation the scheduler has removed.
        deallocations: How often the scheduler has deallocated a claim.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, plan: FaultPlan, drivers: Drivers
    ) -> None:
        super().__init__(cluster, clock, {}, plan)
        self._drivers = drivers
        self.kept: set[str] = set()
        self.deallocations = 0

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """Change a status; a slow driver first reports devices without conditions."""
        if isinstance(obj, ResourceClaim):
            allocation = changes.get("allocation")
            if isinstance(allocation, AllocationResult):
                if not self._drivers.are_prompt:
                    changes = {**changes, "devices": tuple(_begun(allocation))}
            elif "allocation" in changes:
                self.deallocations += 1
            elif changes.get("reserved_for") == ():
                self.kept.add(obj.key)
        return super().patch_status(obj, changes)


def _begun(allocation: AllocationResult) -> Iterator[AllocatedDeviceStatus]:
    for result in allocation.devices.results:
        if result.binding_conditions:
            yield AllocatedDeviceStatus(
                driver=result.driver,
                pool=result.pool,
                device=result.device,
                share_id=result.share_id,
            )
